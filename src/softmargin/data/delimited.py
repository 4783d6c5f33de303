"""CSV as texts: read fast where nothing is quoted, else by Python's reader, which also says where a fault is.

Where no byte is a quotation mark, a row is a line and a value is what stands between two commas: pyarrow splits that on
all cores.  Whatever it refuses, and every quoted file, goes through ``_Slow``, which knows the line of each row.
"""

import csv
import io
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.csv as pa_csv

BOM = b"\xef\xbb\xbf"
OTHERS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip (is it a spreadsheet?)",
    b"\xd0\xcf\x11\xe0": "a spreadsheet",
}
NEWLINES, BLANK = re.compile(rb"[\r\n]*+"), re.compile(rb"\s*+\Z")
LONGEST_VALUE = 2**24  # characters
SHOWN = 60


def read_delimited(name: str, data: bytes) -> dict[str, Any]:
    """The columns of a CSV file, by the names of its first line; ``ValueError`` for what is not in docs/tables.md."""
    for start, other in OTHERS.items():
        if data.startswith(start):
            _refuse(name, f"is {other}, and tables are read as CSV in UTF-8, Parquet or Arrow")
    if BLANK.match(data, len(BOM) if data.startswith(BOM) else 0):
        _refuse(name, "is empty")
    found = _fast(name, data)
    return found if found is not None else _Slow(name, data).read()


def line_of(data: bytes, row: int) -> int:
    """The line on which a row begins; the first line is 1, and the header no row."""
    numbers = (line for line, _ in _rows(data.removeprefix(BOM).decode()))
    next(numbers)
    return next(line for place, line in enumerate(numbers) if place == row)


def check_header(name: str, line: int, header: list[str]) -> None:
    """Every column has a name of its own."""
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        _refuse(name, f"has no comma on line {line}, but a {'semicolon' if ';' in header[0] else 'tab'}: "
                      "columns are read with commas between them")  # fmt: skip
    for place, title in enumerate(header):
        if not title.strip():
            _refuse(name, f"names no column {place + 1} on line {line}: every column has a name")
        if title in header[:place]:
            _refuse(name, f"names the column {title!r} twice on line {line}")


def _refuse(name: str, why: str) -> NoReturn:
    message = f"{name} {why}"
    raise ValueError(message)


# ----------------------------------------------------------------------------------- fast


def _fast(name: str, data: bytes) -> dict[str, Any] | None:
    """All columns, or None where the other reader has to look."""
    data = data.removeprefix(BOM)
    if b'"' in data or b"\0" in data or (b"\r" in data and data.count(b"\r") != data.count(b"\r\n")):
        return None
    start = NEWLINES.match(data).end()  # type: ignore[union-attr]  # of none, it matches too
    end = data.find(b"\n", start)
    if end < 0 or BLANK.match(data, end):
        return None
    try:
        header = data[start:end].removesuffix(b"\r").decode().split(",")
        check_header(name, 1 + data.count(b"\n", 0, start), header)
        table = pa_csv.read_csv(
            pa.BufferReader(pa.py_buffer(data).slice(end + 1)),
            pa_csv.ReadOptions(column_names=header),
            pa_csv.ParseOptions(quote_char=False, ignore_empty_lines=True),
            pa_csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False),
        )
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    return dict(zip(header, table.columns, strict=True))


# ----------------------------------------------------------------------------------- slow


class _Slow:
    """One row at a time, with its line."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = name, data.removeprefix(BOM)

    def read(self) -> dict[str, Any]:
        rows = _rows(self._text())
        first = self._next(rows, 1)
        if first is None:
            _refuse(self.name, "is empty")
        line, header = first
        check_header(self.name, line, header)
        columns: list[list[str]] = [[] for _ in header]
        while (found := self._next(rows, line + 1)) is not None:
            line, values = found
            if len(values) != len(header):
                self._refuse_width(line, values, header)
            for column, value in zip(columns, values, strict=True):
                column.append(value)
        if not columns[0]:
            _refuse(self.name, "has no rows below the names of its columns")
        return {title: pa.array(column, pa.string()) for title, column in zip(header, columns, strict=True)}

    def _next(self, rows: Iterator[tuple[int, list[str]]], line: int) -> tuple[int, list[str]] | None:
        try:
            return next(rows, None)
        except csv.Error as error:
            why = "a quotation mark stands alone, and within quotation marks one is written as two"
            if "limit" in str(error):
                why = f"a value has more than {LONGEST_VALUE} characters"
            _refuse(f"{self.name}, line {line}:", why)

    def _refuse_width(self, line: int, values: list[str], header: list[str]) -> NoReturn:
        told = f"for the line has {len(values)} values and there are {len(header)} columns"
        if len(values) < len(header):
            _refuse(f"{self.name}, line {line}, column {header[len(values)]!r}:", f"the value is missing, {told}")
        token = values[len(header)]
        shown = repr(token if len(token) <= SHOWN else token[:SHOWN] + "...")
        _refuse(f"{self.name}, line {line}, after column {header[-1]!r}:", f"{shown} is a value too many, {told}")

    def _text(self) -> str:
        nul = self.data.find(b"\0")
        if nul >= 0:
            self._refuse_at(nul, "a NUL is a character that no text has")
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            token = self.data[error.start : error.start + 1]
            self._refuse_at(error.start, f"the byte {token.hex()} is no UTF-8")

    def _refuse_at(self, place: int, why: str) -> NoReturn:
        before = self.data[:place]
        text = before.decode(errors="replace")
        line = 1 + before.count(b"\n")
        _refuse(f"{self.name}, line {line}, character {len(text) - text.rfind(chr(10))}:", why)


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The line on which each row begins, and its values; blank lines are no rows."""
    before = csv.field_size_limit(LONGEST_VALUE)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        line = 1
        for values in reader:
            if values:
                yield line, values
            line = reader.line_num + 1
    finally:
        csv.field_size_limit(before)
