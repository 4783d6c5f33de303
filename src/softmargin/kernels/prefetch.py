"""Ask the memory for cache lines before they are needed.

A shuffled pass over rows larger than the cache waits for memory, not for arithmetic: on 100,000 sparse rows the wait
is five sixths of the time (docs/decisions/0004).  The order of the rows is known in advance, so the row that comes a
few steps later can be asked for now; the processor goes on working meanwhile.

Addresses are numbers here.  An array that a loop or a branch takes has its references counted each time, with two
atomic instructions, which cost more than the prefetch brings.
"""

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

READ, KEEP_IN_ALL_CACHES, DATA = 0, 3, 1
LINE = 64  # bytes


@intrinsic
def _address_of(_typing: Any, array: Any) -> Any:
    """Where the first element of an array is."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(view.data, context.get_value_type(types.uint64))

    return types.uint64(array), codegen


@intrinsic
def _prefetch_line(_typing: Any, address: Any) -> Any:
    """Emit LLVM's ``llvm.prefetch`` for the line at an address; it never faults and changes nothing."""

    def codegen(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        place = builder.inttoptr(arguments[0], byte)
        builder.call(function, [place, word(READ), word(KEEP_IN_ALL_CACHES), word(DATA)])
        return context.get_dummy_value()

    return types.void(types.uint64), codegen


@njit(error_model="numpy")
def _prefetch_lines(address, stop):
    # A while loop: a range with a step divides to count its turns, which costs more than the prefetches.
    while address < stop:
        _prefetch_line(address)  # type: ignore[call-arg]
        address += LINE


def prefetch_element(array: Any, index: Any) -> None:
    """Bring near one element; the JIT's alone, for it is a hint."""


@overload(prefetch_element, inline="always")
def _prefetch_element(array, index):
    size = array.dtype.bitwidth // 8

    def emit(array, index):
        _prefetch_line(_address_of(array) + index * size)  # type: ignore[call-arg]

    return emit


def prefetch_elements(array: Any, start: Any, stop: Any) -> None:
    """Bring near the elements from ``start`` to ``stop`` of a contiguous array; the JIT's alone, for it is a hint."""


@overload(prefetch_elements, inline="always")
def _prefetch_elements(array, start, stop):
    size = array.dtype.bitwidth // 8

    def emit(array, start, stop):
        _prefetch_lines(_address_of(array) + start * size, _address_of(array) + stop * size)  # type: ignore[call-arg]

    return emit
