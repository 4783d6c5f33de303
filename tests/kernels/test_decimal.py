"""Decimal numbers become what Python's float() makes of them, to the last bit."""

import os
from fractions import Fraction

import numpy as np
import pytest

from softmargin.data import blocks
from softmargin.kernels.decimal import ASK_PYTHON, FINE, MALFORMED, TOO_LARGE, read_number
from softmargin.kernels.memory import PADDING, address_of

pytestmark = pytest.mark.nojit
SOAK = bool(os.environ.get("SOFTMARGIN_SOAK"))
MANY = 500_000 if SOAK else 4_000


def numbers(rng, many):
    """Decimal numbers of all kinds, the hard ones more often than life has them."""
    bits = rng.integers(0, 0x7FEFFFFFFFFFFFFF, many, dtype=np.uint64)
    yield from map(repr, bits.view(np.float64).tolist())
    yield from map(repr, (bits >> np.uint64(12)).view(np.float64).tolist())  # subnormal
    for whole, power in zip(bits.tolist(), rng.integers(-360, 320, many).tolist(), strict=True):
        yield f"{whole}e{power}"
    for whole, digits, power in zip(bits.tolist(), rng.integers(1, 19, many), rng.integers(-30, 30, many), strict=True):
        yield f"{str(whole)[:digits]}.{str(whole)[digits:]}E{power:+}"
    for whole, power in zip((bits >> np.uint64(10)).tolist(), rng.integers(-80, 70, many // 8).tolist(), strict=False):
        yield from around_the_middle(whole | 1 << 53, power)


def around_the_middle(whole, power):
    """The number half-way between two float64s, written in full, and its neighbours by one unit far behind."""
    middle = Fraction(2 * whole + 1) * Fraction(2) ** power
    digits = max(0, -power)  # behind the point; all of them are needed
    written = str(middle.numerator * 10**digits // middle.denominator)
    yield f"{written}e-{digits}"
    yield f"{written}{'0' * 30}1e-{digits + 31}"
    yield f"{int(written) - 1}{'9' * 30}e-{digits + 30}"
    yield f"{written[:19]}e{len(written) - 19 - digits}"


@pytest.mark.parametrize("seed", range(4))
def test_every_value_is_that_of_python(tmp_path, seed):
    """Values of files are those of float() to the last bit, for numbers of up to 19 digits and for longer ones."""
    rng = np.random.default_rng(None if SOAK else seed)
    path, written = tmp_path / "data.txt", list(numbers(rng, MANY // 4))
    values = np.array(list(map(float, written)))
    fine = np.isfinite(values)
    path.write_text("".join(f"1 1:{number}\n" for number, right in zip(written, fine, strict=True) if right))
    read = np.concatenate([block.data for block in blocks(path)])
    assert read.tobytes() == values[fine].tobytes()


def one(text):
    """Value, length and code of a number with a blank behind it."""
    array = np.frombuffer(text.encode() + b" " * PADDING, dtype=np.uint8).copy()
    start = address_of(array)
    value, end, code = read_number(start)
    return float(value), int(end) - int(start), int(code)


@pytest.fixture(autouse=True)
def _wrap_around():
    """As the reader asks of NumPy, where there is no JIT."""
    with np.errstate(over="ignore"):
        yield


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("0", 0.0), ("-0", -0.0), ("0e999999999999999999999", 0.0), ("0." + "0" * 400 + "1e401", 1.0)],
        *[
            ("1" + "0" * 400 + "e-400", 1.0),
            ("1e-99999999999999999999", 0.0),
            ("2.", 2.0),
            (".5", 0.5),
            ("+1E+2", 100.0),
        ],
        *[("9007199254740993", 9007199254740992.0), ("9007199254740995", 9007199254740996.0), ("1e23", 1e23)],
        *[("4.9406564584124654e-324", 5e-324), ("2.4703282292062327e-324", 0.0), ("2.4703282292062328e-324", 5e-324)],
        *[("2.2250738585072011e-308", 2.225073858507201e-308), ("2.2250738585072014e-308", 2.2250738585072014e-308)],
        *[("1.7976931348623157e308", np.finfo(float).max), ("8.5e-343", 0.0), ("00000000000000000000000000001.5", 1.5)],
        *[("12345678", 12345678.0), ("123456789", 123456789.0), ("1234567890123456789", 1234567890123456789.0)],
    ],
)
def test_numbers_worth_a_name(text, value):
    """Zeros and signs, long numbers of few digits, ties, subnormals and the largest one."""
    read, length, code = one(text)
    assert (read.hex(), length, code) == (value.hex() if hasattr(value, "hex") else float(value).hex(), len(text), FINE)
    assert float(text) == value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *[
            (text, MALFORMED)
            for text in ("", "+", "-", ".", "+.", "e5", ".e5", "1e", "1e+", "1e-", "--1", "nan", "inf", "x")
        ],
        *[(text, TOO_LARGE) for text in ("1e309", "1.7976931348623159e308", "9" * 400, "1e99999999999999999999")],
        ("9007199254740993." + "0" * 30 + "1", ASK_PYTHON),
    ],
)
def test_what_is_no_number(text, code):
    """Malformed, beyond the largest float64, or not decided by 19 digits."""
    assert one(text)[2] == code
