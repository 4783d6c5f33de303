"""A table from a file or a data frame, and the place of every value in it.

CSV is read as texts, so that what is a number is decided in one place; Parquet and Arrow files and data frames have
types of their own.  docs/tables.md says what is read.
"""

from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from softmargin.data.columns import SHOWN, named
from softmargin.data.delimited import line_of, read_delimited

LARGEST_TABLE = 2**34  # bytes of the numbers of a table, so that a small file cannot unfold into a whole machine
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"

Source = Any  # a path, or a data frame of pandas, polars or pyarrow


class Table:
    """Columns by name; ``texts`` says that all of them are texts, whatever they mean."""

    def __init__(self, name: str, columns: dict[str, Any], where: Callable[[int], str], *, texts: bool) -> None:
        self.name, self.where, self.texts = name, where, texts
        self._known: dict[str, np.ndarray | None] = {}
        self.columns: dict[str, pa.Array] = {title: _plain(column) for title, column in columns.items()}

    def __len__(self) -> int:
        """How many rows."""
        return len(next(iter(self.columns.values())))

    def refuse(self, row: int, column: str, value: Any, why: str) -> NoReturn:
        """One sentence with the place, the column and the value."""
        shown = repr(value if not isinstance(value, str) or len(value) <= SHOWN else value[:SHOWN] + "...")
        message = f"{self.name}, {self.where(row)}, column {column!r}: {shown} {why}"
        raise ValueError(message)

    def refuse_missing(self, row: int, column: str) -> NoReturn:
        """The same for a value that is not there."""
        message = f"{self.name}, {self.where(row)}, column {column!r}: the value is missing"
        raise ValueError(message)

    def need(self, column: str, what: str) -> None:
        """The table has this column."""
        if column not in self.columns:
            message = f"{self.name} has no column {column!r}, {what}: its columns are {named(self.columns)}"
            raise ValueError(message)

    def is_missing(self, column: str) -> np.ndarray:
        """Where there is no value, or an empty text."""
        values = self.columns[column]
        missing = pc.is_null(values)
        if pa.types.is_string(values.type):
            missing = pc.or_(missing, pc.fill_null(pc.equal(values, ""), False))  # noqa: FBT003  pyarrow's position
        return _as_numpy(missing)

    def whole(self, column: str) -> pa.Array:
        """The values of a column that has one in every row."""
        missing = self.is_missing(column)
        if missing.any():
            self.refuse_missing(int(np.argmax(missing)), column)
        return self.columns[column]

    def value(self, row: int, column: str) -> Any:
        """As Python has it."""
        return self.columns[column][row].as_py()

    # ------------------------------------------------------------------------------- what values mean

    def numeric(self, column: str) -> np.ndarray | None:
        """Which values are written as a number; None where the type of the column says that it has no numbers."""
        values = self.columns[column]
        kind = values.type
        if pa.types.is_string(kind):
            if not self.texts:
                return None
            if self._cast(column) is not None:  # pyarrow takes what ``NUMBER`` says, and names of what is not finite
                return np.ones(len(values), dtype=bool)
            return _as_numpy(pc.match_substring_regex(values, NUMBER))
        numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        return np.ones(len(values), dtype=bool) if numbers or pa.types.is_boolean(kind) else None

    def numbers(self, column: str) -> np.ndarray:
        """The column as finite numbers, each the float64 that is nearest to what is written."""
        self.whole(column)
        found = self._cast(column)
        if found is None:
            self._refuse_numbers(column)
        return found

    def _refuse_numbers(self, column: str) -> NoReturn:
        """The first value that is not written as a number or, where all are, the first that is not finite."""
        values, right = self.columns[column], self.numeric(column)
        if right is None or not right.all():
            row = 0 if right is None else int(np.argmin(right))
            self.refuse(row, column, self.value(row, column), "is not a finite decimal number")
        numbers = _as_numpy(pc.cast(values, pa.float64(), safe=False))
        row = int(np.argmin(np.isfinite(numbers)))
        why = "is too large for a float64" if self.texts else "is not a finite number"
        self.refuse(row, column, self.value(row, column), why)

    def _cast(self, column: str) -> np.ndarray | None:
        """The column as float64, where all of it is finite; worked out once."""
        if column not in self._known:
            values, self._known[column] = self.columns[column], None
            if pa.types.is_boolean(values.type):
                values = pc.cast(values, pa.int8())
            with suppress(pa.ArrowException):
                found = np.array(_as_numpy(pc.cast(values, pa.float64(), safe=False)))
                self._known[column] = found if np.isfinite(found).all() else None
        return self._known[column]

    def words(self, column: str) -> pa.Array:
        """The column as texts: texts as they are, whole numbers and truth values as they are written."""
        values = self.whole(column)
        kind = values.type
        if pa.types.is_string(kind):
            return values
        if not pa.types.is_integer(kind) and not pa.types.is_boolean(kind):
            self.refuse(0, column, self.value(0, column), f"is a {kind}, where texts or whole numbers are read")
        return pc.cast(values, pa.string())

    def different(self, column: str) -> list[str]:
        """The different words of the column, in order."""
        return sorted(pc.unique(self.words(column)).to_pylist())

    def places(self, column: str, names: Any) -> np.ndarray:
        """The place of each word of the column among the names, -1 where it is none of them."""
        known = names if isinstance(names, pa.Array) else pa.array(names, pa.string())
        return np.asarray(pc.fill_null(pc.index_in(self.words(column), known), -1)).astype(np.int64)


def _as_numpy(values: Any) -> np.ndarray:
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _plain(column: Any) -> pa.Array:
    """One piece, with one type of text."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(values, pa.ChunkedArray):  # no piece at all, or texts of more than 2^31 bytes
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    texts = pa.types.is_large_string(values.type) or pa.types.is_string_view(values.type)
    return pc.cast(values, pa.string()) if texts or pa.types.is_null(values.type) else values


# ----------------------------------------------------------------------------------- where tables come from


def read_table(source: Source) -> Table:
    """The table of a file (CSV, Parquet or Arrow, by what is in it) or of a data frame."""
    if isinstance(source, str | PathLike):
        return _of_file(Path(source))
    kind = type(source)
    if kind.__module__.split(".")[0] == "pandas" and hasattr(source, "columns"):
        return _of_pandas(source)
    if hasattr(source, "__arrow_c_stream__"):
        return _of_arrow(pa.table(source), "the table")
    message = f"a {kind.__name__} is no table: pass a path, or a data frame of pandas, polars or pyarrow"
    raise TypeError(message)


def _of_file(path: Path) -> Table:
    name = str(path)
    with path.open("rb") as stream:
        start = stream.read(8)
    if start.startswith(b"PAR1"):
        return _of_arrow(_unfolded(name, "Parquet", lambda: _parquet(path)), name)
    if start.startswith(b"ARROW1"):
        return _of_arrow(_unfolded(name, "Arrow", lambda: _arrow(path)), name)
    data = path.read_bytes()
    return Table(name, read_delimited(name, data), lambda row: f"line {line_of(data, row)}", texts=True)


def _unfolded(name: str, what: str, read: Callable[[], pa.Table]) -> pa.Table:
    try:
        table = read()
        table.validate(full=True)
        table.column_names  # noqa: B018  names that are no texts are refused here
    except MemoryError:
        message = f"{name} unfolds into more than {LARGEST_TABLE} bytes"
        raise ValueError(message) from None
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        message = f"{name} begins like {what}, but it is damaged or cut off"
        raise ValueError(message) from error
    return table


def _parquet(path: Path) -> pa.Table:
    with pq.ParquetFile(path, thrift_string_size_limit=2**26, thrift_container_size_limit=2**20) as file:
        told = file.metadata
        unfolded = sum(told.row_group(part).total_byte_size for part in range(told.num_row_groups))
        if max(unfolded, 8 * told.num_rows * told.num_columns) > LARGEST_TABLE:
            raise MemoryError
        return file.read()


def _arrow(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


def _of_arrow(table: pa.Table, name: str) -> Table:
    _check_names(table.column_names, name)
    _check_rows(table.num_rows, name)
    return Table(name, dict(zip(table.column_names, table.columns, strict=True)), lambda row: f"row {row}", texts=False)


def _of_pandas(frame: Any) -> Table:
    names = list(frame.columns)
    _check_names(names, "the table")
    _check_rows(len(frame), "the table")
    columns = {}
    for name in names:
        try:
            columns[name] = pa.array(frame[name], from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            message = f"the table, column {name!r}: its values are of more than one kind, or of one that is not read"
            raise ValueError(message) from error
    return Table("the table", columns, lambda row: f"row {row}", texts=False)


def _check_names(names: list[Any], table: str) -> None:
    seen = set()
    for place, name in enumerate(names, 1):
        if not isinstance(name, str) or not name.strip():
            message = f"{table}: column {place} has no name, which is a text that is not blank"
            raise ValueError(message)
        if name in seen:
            message = f"{table}: two columns have the name {name!r}"
            raise ValueError(message)
        seen.add(name)


def _check_rows(rows: int, table: str) -> None:
    if rows == 0:
        message = f"{table} has no rows"
        raise ValueError(message)
