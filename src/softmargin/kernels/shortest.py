"""A float64 -> the shortest decimal number that is read as the same float64, and of those the nearest.

These are the digits of Python's ``repr``.
Source: Giulietti, "The Schubfach way to render doubles" (2020), with powers of ten of 128 bits.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from softmargin.kernels.decimal import high_product
from softmargin.kernels.memory import put_byte

ZERO, ONE, TWO, FOUR, TEN, FORTY = (np.uint64(number) for number in (0, 1, 2, 4, 10, 40))
SMALLEST_POWER, LARGEST_POWER = -292, 324  # of ten, that some float64 is multiplied by
LONGEST = 24  # bytes of a number: -2.2250738585072014e-308
_FRACTION, _HIDDEN = np.uint64(2**52 - 1), np.uint64(2**52)
_WHOLE_TENS = np.array([10**power for power in range(20)], dtype=np.uint64)
_POINT, _MINUS, _PLUS, _LETTER_E, _DIGIT = b".-+e0"


def _tens() -> np.ndarray:
    """The first 128 bits of powers of ten, rounded up."""
    table = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), dtype=np.uint64)
    for power in range(SMALLEST_POWER, LARGEST_POWER + 1):
        shift = 127 - _log2_of_ten(power)
        above, below = 10 ** max(0, power) << max(0, shift), 10 ** max(0, -power) << max(0, -shift)
        first = -(-above // below)
        table[power - SMALLEST_POWER, 0], table[power - SMALLEST_POWER, 1] = first >> 64, first & 2**64 - 1
    return table


def _log2_of_ten(power: int) -> int:
    """The logarithm of a power of ten to the base 2, rounded down."""
    return power * 1741647 >> 19


_TENS = _tens()


@intrinsic
def _same_bits(_typing: Any, number: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), codegen


def to_bits(number: Any) -> Any:
    """The bits of a float64."""
    return np.float64(number).view(np.uint64)


@overload(to_bits)
def _to_bits_of(number):
    def emit(number):
        return _same_bits(number)  # type: ignore[call-arg]

    return emit


@njit(error_model="numpy")
def _scaled(row, factor):
    """The upper 64 of the 192 bits of a power of ten times ``factor``, with the last one set if anything is lost."""
    high, low = high_product(_TENS[row, 0], factor), _TENS[row, 0] * factor
    carry = high_product(_TENS[row, 1], factor)
    low = low + carry
    if low < carry:
        high += ONE
    return high | np.uint64(low > ONE)


@njit(error_model="numpy")
def shortest(bits):
    """``digits, power`` so that the number is ``digits * 10**power``; it is positive and finite."""
    fraction, biased = bits & _FRACTION, np.int64(bits >> np.uint64(52))
    whole = fraction | _HIDDEN if biased else fraction
    q = biased - 1075 if biased else np.int64(-1074)
    closer = fraction == ZERO and biased > 1  # the float64 below is nearer than the one above
    odd = whole & ONE
    power = (q * 1262611 - (524031 if closer else 0)) >> 22
    shift = np.uint64(q + ((-power * 1741647) >> 19) + 1)
    row = -power - SMALLEST_POWER
    middle = _scaled(row, whole << TWO << shift)
    lower = _scaled(row, ((whole << TWO) - (ONE if closer else TWO)) << shift) + odd
    upper = _scaled(row, ((whole << TWO) + TWO) << shift) - odd
    digits = middle >> TWO
    if digits >= TEN:
        fewer = digits // TEN
        below, above = lower <= FORTY * fewer, FORTY * fewer + FORTY <= upper
        if below != above:
            return fewer + np.uint64(above), power + 1
    below, above = lower <= FOUR * digits, FOUR * digits + FOUR <= upper
    if below != above:
        return digits + np.uint64(above), power
    half = FOUR * digits + TWO
    return digits + np.uint64(middle > half or (middle == half and digits & ONE == ONE)), power


@njit(error_model="numpy")
def count_digits(whole):
    """How many digits a whole number has; 0 has one."""
    count = 1
    while count < 20 and whole >= _WHOLE_TENS[count]:
        count += 1
    return count


@njit(error_model="numpy")
def put_digits(at, whole, count):
    """The last ``count`` digits, from ``at`` on; what is left of the number."""
    end = at + np.uint64(count)
    while end > at:
        end -= ONE
        rest = whole // TEN
        put_byte(end, np.int64(whole - rest * TEN) + _DIGIT)
        whole = rest
    return whole


@njit(error_model="numpy")
def put_number(at, number):
    """Write a finite number as ``repr`` does, whole ones below 1e16 without a point; where it ends."""
    bits = to_bits(number)
    if bits >> np.uint64(63):
        put_byte(at, _MINUS)
        at += ONE
        bits &= ~(ONE << np.uint64(63))
        if bits == ZERO:
            put_byte(at + ONE, _POINT)
            put_byte(at + TWO, _DIGIT)
    if bits == ZERO:
        put_byte(at, _DIGIT)
        return at + np.uint64(3 if np.signbit(number) else 1)
    digits, power = shortest(bits)
    rest = digits // TEN
    while rest * TEN == digits:
        digits = rest
        rest = digits // TEN
        power += 1
    count = count_digits(digits)
    return _put_decimal(at, digits, count, count + power)


@njit(error_model="numpy")
def _put_decimal(at, digits, count, before):
    """``count`` digits, of which ``before`` come before the point; fewer than none, and there are zeros behind it."""
    if 0 < before <= 16:
        behind = max(0, count - before)
        if behind:
            digits = put_digits(at + np.uint64(before + 1), digits, behind)
            put_byte(at + np.uint64(before), _POINT)
        for _ in range(before - count):
            digits *= TEN
        put_digits(at, digits, before)
        return at + np.uint64(before + behind + (behind > 0))
    if -4 < before <= 0:
        put_digits(at + np.uint64(2), digits, count - before)
        put_byte(at, _DIGIT)
        put_byte(at + ONE, _POINT)
        return at + np.uint64(2 + count - before)
    if count > 1:
        digits = put_digits(at + TWO, digits, count - 1)
        put_byte(at + ONE, _POINT)
    put_byte(at, np.int64(digits) + _DIGIT)
    at += np.uint64(count + (count > 1))
    put_byte(at, _LETTER_E)
    put_byte(at + ONE, _PLUS if before > 0 else _MINUS)
    size = abs(before - 1)
    length = 3 if size > 99 else 2
    put_digits(at + TWO, np.uint64(size), length)
    return at + np.uint64(2 + length)
