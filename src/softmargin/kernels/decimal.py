"""Decimal digits -> the nearest float64, ties to even, which is what Python's ``float()`` gives.

Up to 19 digits are one whole number w, and the value is w 10^q.
Where w and 10^|q| are float64s, one multiplication or division rounds once and is right (Clinger, 1990).
Otherwise w is multiplied by the first 128 bits of 5^q, which decides the rounding for every such w and q.
Source: Lemire, "Number Parsing at a Gigabyte per Second" (2021); that it never falls short: Mushtak and Lemire,
"Fast Number Parsing Without Fallback" (2023).
Longer numbers lie between w and w + 1 units of their 19th digit; where both round to the same value that is the
value, and otherwise the caller is told so, and asks Python.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from softmargin.kernels.memory import byte_at, trailing_zeros, word_at

ZERO, ONE, TEN = np.uint64(0), np.uint64(1), np.uint64(10)
FINE, ASK_PYTHON, MALFORMED, TOO_LARGE = 0, 1, 2, 3  # codes of what was read
# Factors that are float64s; so is 2^53, but numbers of 16 digits should all go one way, which can be guessed.
EXACT_WHOLE, EXACT_POWER = np.uint64(10**15), 22
MOST_DIGITS = 19  # that any uint64 holds
SMALLEST_POWER, LARGEST_POWER = -342, 308  # of ten; below is 0, and above is too large, whatever the 19 digits
FAR = 10**16  # an exponent beyond this is not made larger: no file has as many digits to make up for it

BLANK, PLUS, MINUS, LETTER_E, POINT = 32, 43, 45, 101, ord(".") - ord("0")

_DIGITS, _TEN_AND_MORE, _UPPER_HALVES = (np.uint64(int(byte * 8, 16)) for byte in ("30", "06", "F0"))
_TENS_AND_ONES, _PAIRS = np.uint64(1 + (10 << 8)), np.uint64(0x00FF00FF00FF00FF)
_HUNDREDS_AND_ONES, _FOURS = np.uint64(1 + (100 << 16)), np.uint64(0x0000FFFF0000FFFF)
_TEN_THOUSANDS_AND_ONES = np.uint64(1 + (10**4 << 32))
_3, _8, _16, _32, _63 = (np.uint64(bits) for bits in (3, 8, 16, 32, 63))
_WHOLE_TENS = np.array([10**power for power in range(9)], dtype=np.uint64)
_INFINITY, _HIDDEN = np.uint64(0x7FF0000000000000), np.uint64(2**52)
_TENS = np.array([float(f"1e{power}") for power in range(EXACT_POWER + 1)])


def _fives() -> np.ndarray:
    """The first 128 bits of 5^q in two words; cut off where q >= 0, rounded up where -27 <= q < 0."""
    table = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), dtype=np.uint64)
    for q in range(SMALLEST_POWER, LARGEST_POWER + 1):
        power = 5 ** abs(q)
        if q >= 0:
            first = power << 128
        else:
            up = (power - 1).bit_length()  # the smallest power of two that is not below
            first = (1 << (up + 127 if q >= -27 else 2 * up + 128)) // power + 1
        first >>= max(0, first.bit_length() - 128)
        table[q - SMALLEST_POWER, 0], table[q - SMALLEST_POWER, 1] = first >> 64, first & 2**64 - 1
    return table


_FIVES = _fives()


@intrinsic
def _high_product(_typing: Any, one: Any, other: Any) -> Any:
    """One instruction, which no NumPy type leads to."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def _leading_zeros(_typing: Any, number: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), codegen


@intrinsic
def _same_bits(_typing: Any, bits: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


def high_product(one: Any, other: Any) -> Any:
    """The upper 64 of the 128 bits of a product."""
    return np.uint64(int(one) * int(other) >> 64)


def leading_zeros(number: Any) -> Any:
    """How many bits of the 64 come before the first one."""
    return np.uint64(64 - int(number).bit_length())


def from_bits(bits: Any) -> Any:
    """The float64 with these bits."""
    return np.uint64(bits).view(np.float64)


@overload(high_product)
def _high_product_of(one, other):
    def emit(one, other):
        return _high_product(one, other)  # type: ignore[call-arg]

    return emit


@overload(leading_zeros)
def _leading_zeros_of(number):
    def emit(number):
        return _leading_zeros(number)  # type: ignore[call-arg]

    return emit


@overload(from_bits)
def _from_bits_of(bits):
    def emit(bits):
        return _same_bits(bits)  # type: ignore[call-arg]

    return emit


@njit(error_model="numpy")
def nearest(whole, power):
    """``whole * 10**power`` rounded to the nearest float64."""
    if whole <= EXACT_WHOLE and -EXACT_POWER <= power <= EXACT_POWER:
        if power < 0:
            return np.float64(whole) / _TENS[-power]
        return np.float64(whole) * _TENS[power]
    if whole == ZERO or power < SMALLEST_POWER:
        return 0.0
    if power > LARGEST_POWER:
        return np.inf
    return from_bits(_nearest_bits(whole, power))


@njit(error_model="numpy")
def _nearest_bits(whole, power):
    shift = leading_zeros(whole)
    whole = whole << shift
    row = power - SMALLEST_POWER
    high, low = high_product(whole, _FIVES[row, 0]), whole * _FIVES[row, 0]
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):  # a carry from the other 64 bits could reach what is kept
        more = high_product(whole, _FIVES[row, 1])
        low = low + more
        if more > low:
            high += ONE
    top = high >> np.uint64(63)
    kept = high >> (top + np.uint64(9))  # 53 bits, and one to round by
    # 152170 / 2^16 is the logarithm of 5 to the base 2, plus 1 for that of 10.
    exponent = (((152170 + 65536) * power) >> 16) + 63 + np.int64(top) - np.int64(shift) + 1023
    if exponent <= 0:
        if exponent <= -63:
            return ZERO
        kept = kept >> np.uint64(1 - exponent)
        return (kept + (kept & ONE)) >> ONE  # a carry into the bit of the exponent is what it should be
    # Half-way between two float64s, exactly: only where 5^|q| divides what is left or fits in it.
    exact = low <= ONE and -4 <= power <= 23 and kept & np.uint64(3) == ONE
    if exact and kept << (top + np.uint64(9)) == high:
        kept &= ~ONE
    kept = (kept + (kept & ONE)) >> ONE
    if kept >= _HIDDEN << ONE:
        kept = _HIDDEN
        exponent += 1
    if exponent >= 2047:
        return _INFINITY
    return (kept & ~_HIDDEN) | (np.uint64(exponent) << np.uint64(52))


@njit(error_model="numpy")
def eight_digits(at):
    """Up to eight digits: their number, and how many they are.

    No branch, whose outcome would be guessed wrong where lengths vary; the bytes are added in three multiplications.
    """
    word = word_at(at) ^ _DIGITS
    strange = (word | (word + _TEN_AND_MORE)) & _UPPER_HALVES  # the first one is right, and no other is asked for
    count = trailing_zeros(strange) >> _3
    word = (word << ((_8 - count) << _3 & _63)) if count != ZERO else ZERO
    word = (word * _TENS_AND_ONES) >> _8 & _PAIRS
    word = (word * _HUNDREDS_AND_ONES) >> _16 & _FOURS
    return (word * _TEN_THOUSANDS_AND_ONES) >> _32, count


@njit(error_model="numpy")
def read_digits(at, whole):
    """Digits that continue ``whole``: the longer number, modulo 2^64, and where they end."""
    more, count = eight_digits(at)
    whole = whole * _WHOLE_TENS[count] + more
    at += count
    while count == _8:
        more, count = eight_digits(at)
        whole = whole * _WHOLE_TENS[count] + more
        at += count
    return whole, at


@njit(error_model="numpy")
def _first_digits(at, power):
    """The first 19 digits that count, the power of ten that stays, and whether anything but zeros was left out."""
    whole, digits, rest = ZERO, 0, False
    while True:
        digit = byte_at(at) - 48
        if 0 <= digit <= 9:
            if digits == MOST_DIGITS:
                rest |= digit != 0
                power += 1
            elif digits > 0 or digit > 0:
                whole = whole * TEN + np.uint64(digit)
                digits += 1
        elif digit != POINT:
            return whole, power, rest
        at += ONE


@njit(error_model="numpy")
def _exponent(at):
    """The exponent whose sign or first digit is at ``at``, where it ends, and whether it has a digit."""
    minus = byte_at(at) == MINUS
    if minus or byte_at(at) == PLUS:
        at += ONE
    digit, exponent = byte_at(at) - 48, 0
    written = 0 <= digit <= 9
    while 0 <= digit <= 9:
        if exponent < FAR:
            exponent = exponent * 10 + digit
        at += ONE
        digit = byte_at(at) - 48
    return (-exponent if minus else exponent), at, written


@njit(error_model="numpy")
def read_number(at):
    """The number that begins at ``at``: its value, where it ends, and one of the codes above.

    Something that is no part of a number, such as the end of the line, must follow somewhere.
    """
    first = byte_at(at)
    if byte_at(at + ONE) <= BLANK and 48 <= first <= 57:  # one digit: every value of many a file
        return np.float64(first - 48), at + ONE, FINE
    minus = first == MINUS
    at += np.uint64(minus | (first == PLUS))  # no branch: signs cannot be guessed
    begin = at
    whole, at = read_digits(at, ZERO)
    digits, power = np.int64(at - begin), np.int64(0)
    if byte_at(at) - 48 == POINT:
        point = at + ONE
        whole, at = read_digits(point, whole)
        power = -np.int64(at - point)
        digits -= power
    if digits == 0:
        return 0.0, at, MALFORMED
    if byte_at(at) | 32 == LETTER_E:
        exponent, at, written = _exponent(at + ONE)
        if not written:
            return 0.0, at, MALFORMED
        power += exponent
    rest = False
    if digits > MOST_DIGITS:
        whole, power, rest = _first_digits(begin, power)
    value = nearest(whole, power)
    if rest and nearest(whole + ONE, power) != value:
        return 0.0, at, ASK_PYTHON
    if value == np.inf:
        return 0.0, at, TOO_LARGE
    return (-value if minus else value), at, FINE
