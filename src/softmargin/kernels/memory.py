"""Bytes at an address.

An address is a number: an array that a loop or a branch takes has its references counted each time, with two atomic
instructions, and a function of a few bytes that is called with an array is ten times slower for it (measured).
Whoever calls keeps the array alive, and leaves seven bytes beyond the last one that is meant.
"""

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from softmargin.kernels.prefetch import _address_of

PADDING = 8  # bytes that an array needs behind its text


def _loader(bits: int) -> Any:
    def load(_typing: Any, address: Any) -> Any:
        def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            place = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            word = builder.load(place, align=1)
            return word if bits == 64 else builder.zext(word, ir.IntType(64))

        return (types.uint64 if bits == 64 else types.int64)(types.uint64), codegen

    return intrinsic(load)


_load_byte, _load_word = _loader(8), _loader(64)


@intrinsic
def _store_byte(_typing: Any, address: Any, byte: Any) -> Any:
    def codegen(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        builder.store(builder.trunc(arguments[1], ir.IntType(8)), place, align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64), codegen


@intrinsic
def _trailing_zeros(_typing: Any, number: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), codegen


def address_of(array: Any) -> Any:
    """Where the first element of an array is."""
    return np.uint64(array.ctypes.data)


def byte_at(address: Any) -> Any:
    """As a signed number, from 0 to 255."""
    return np.int64(ctypes.c_uint8.from_address(int(address)).value)


def word_at(address: Any) -> Any:
    """Eight bytes, the first one the least."""
    return np.uint64(int.from_bytes(ctypes.string_at(int(address), 8), "little"))


def put_byte(address: Any, byte: Any) -> None:
    """Write one byte, given as a signed number from 0 to 255."""
    ctypes.c_uint8.from_address(int(address)).value = int(byte)


def trailing_zeros(number: Any) -> Any:
    """How many bits of the 64 come after the last one."""
    number = int(number)
    return np.uint64((number & -number).bit_length() - 1 if number else 64)


@overload(address_of)
def _address(array):
    def emit(array):
        return _address_of(array)  # type: ignore[call-arg]

    return emit


@overload(byte_at)
def _byte(address):
    def emit(address):
        return _load_byte(address)

    return emit


@overload(word_at)
def _word(address):
    def emit(address):
        return _load_word(address)

    return emit


@overload(put_byte)
def _put(address, byte):
    def emit(address, byte):
        _store_byte(address, byte)  # type: ignore[call-arg]

    return emit


@overload(trailing_zeros)
def _zeros(number):
    def emit(number):
        return _trailing_zeros(number)  # type: ignore[call-arg]

    return emit
