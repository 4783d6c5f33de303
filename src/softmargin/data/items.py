"""Tables of items and of comparisons -> what a model takes, or one sentence that names the value that is wrong."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from softmargin.data.columns import Columns, named, read_words
from softmargin.data.tables import Source, Table, read_table

LARGEST = 1e25  # of a weight or a margin, as constraints take them
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
OPTIONAL = ("weight", "margin", "judge", "equal", "time")


@dataclass(frozen=True, eq=False)
class Items:
    """Items, one a row: names, features, and how the features were made."""

    ids: np.ndarray  # texts, no two alike
    X: np.ndarray  # one row an item, one column a feature
    columns: Columns
    pictures: np.ndarray | None = None  # texts; None where an item has none
    labels: np.ndarray | None = None  # texts or numbers, as they are in the table

    @property
    def feature_names(self) -> np.ndarray:
        """Of the columns of X."""
        return np.array(self.columns.names, dtype=object)

    @cached_property
    def frame(self) -> pa.Table:
        """X with the names of its columns: what is fitted on it keeps them, and refuses others."""
        return pa.table(dict(zip(self.columns.names, self.X.T, strict=True)))

    @cached_property
    def known(self) -> pa.Array:
        """The ids as pyarrow has them, to look others up."""
        return pa.array(self.ids, pa.string())

    def __len__(self) -> int:
        """How many items."""
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of items, one a row; ``equal`` are the answers "as good as each other", which are no pairs."""

    pairs: np.ndarray  # (better, worse), row numbers of the items
    rows: np.ndarray  # where each stands in the table, from 0
    weight: np.ndarray | None = None
    margin: np.ndarray | None = None
    judge: np.ndarray | None = None  # texts; None for nobody in particular
    time: np.ndarray | None = None  # numbers as they are; dates as seconds since 1970 in UTC
    equal: "Comparisons | None" = None  # None where the table has no such column
    unused: tuple[str, ...] = ()  # columns that mean nothing here

    def __len__(self) -> int:
        """How many pairs."""
        return len(self.pairs)

    def of(self, chosen: np.ndarray) -> dict[str, Any]:
        """The same of some of the rows."""
        parts = {name: getattr(self, name) for name in ("pairs", "rows", "weight", "margin", "judge", "time")}
        return {name: None if part is None else part[chosen] for name, part in parts.items()}


# ----------------------------------------------------------------------------------- items


def read_items(
    path_or_frame: Source,
    *,
    id: str | None = None,  # noqa: A002  the word for it
    picture: str | None = None,
    label: str | None = None,
    standardise: bool = False,
    words: str | Iterable[str] = (),
    columns: Columns | None = None,
) -> Items:
    """Read a table of items: ids, features, and the rest.

    Parameters
    ----------
    path_or_frame : str, PathLike, or data frame
        A file of CSV, Parquet or Arrow, or a data frame of pandas, polars or pyarrow.
    id, picture, label : str, optional
        Columns that are no features; without it those of the name "id", "picture" and "label", where they are there.
        Without a column of ids the id of an item is its row number, from 0.
    standardise : bool
        Whether columns of numbers get mean 0 and standard deviation 1.
    words : str or list of str
        Columns of words that look like numbers, such as years.
    columns : Columns, optional
        How features were made of another table, ``items.columns`` or ``model.columns_``: made the same way again.

    Returns
    -------
    Items
        ``ids``, ``X``, ``feature_names``, ``columns``, ``pictures``, ``labels``.

    Raises
    ------
    ValueError
        For whatever is not as docs/tables.md says, in one sentence that names file, line, column and value.
    """
    table = read_table(path_or_frame)
    roles = _roles(table, {"id": id, "picture": picture, "label": label})
    ids = _ids(table, roles.get("id"))
    if columns is None:
        columns = Columns.learned(table, roles.values(), read_words(words), standardise=standardise)
    elif standardise or words:
        message = "columns says how features are made: standardise and words go with a table that is read without it"
        raise ValueError(message)
    X = columns.of(table)
    pictures = _optional_texts(table, roles["picture"]) if "picture" in roles else None
    return Items(ids, X, columns, pictures, _labels(table, roles["label"]) if "label" in roles else None)


def _roles(table: Table, asked: dict[str, str | None]) -> dict[str, str]:
    """The column for each role; one that was asked for has to be there."""
    roles: dict[str, str] = {}
    for role, column in asked.items():
        if column is not None:
            table.need(column, f"which {role}= names")
        elif role not in table.columns:
            continue
        found = role if column is None else column
        if found in roles.values():
            message = f"{role}={found!r} has another role already: a column is the id, the picture or the label"
            raise ValueError(message)
        roles[role] = found
    return roles


def _ids(table: Table, column: str | None) -> np.ndarray:
    if column is None:
        return np.array([str(row) for row in range(len(table))], dtype=object)
    values = table.words(column)
    ids = np.array(values.to_pylist(), dtype=object)
    if pc.count_distinct(values).as_py() < len(ids):
        first: dict[str, int] = {}
        for row, one in enumerate(ids):
            if first.setdefault(one, row) != row:
                table.refuse(row, column, one, f"is the id of {table.where(first[one])} too")
    return ids


def _optional_texts(table: Table, column: str) -> np.ndarray:
    missing, values = table.is_missing(column), table.columns[column]
    texts = values if pa.types.is_string(values.type) else pc.cast(values, pa.string())
    found = np.array(texts.to_pylist(), dtype=object)
    found[missing] = None
    return found


def _labels(table: Table, column: str) -> np.ndarray:
    """Numbers where all of them are, texts otherwise."""
    table.whole(column)
    numeric = table.numeric(column)
    if numeric is not None and numeric.all():
        return table.numbers(column)
    return np.array(table.words(column).to_pylist(), dtype=object)


# ----------------------------------------------------------------------------------- comparisons


def read_comparisons(path_or_frame: Source, items: Any) -> Comparisons:
    """Read a table of comparisons: columns better and worse, and those of weight, margin, judge, equal, time it has.

    Parameters
    ----------
    path_or_frame : str, PathLike, or data frame
        A file of CSV, Parquet or Arrow, or a data frame of pandas, polars or pyarrow.
    items : Items, or a list of ids
        What is compared: ``better`` and ``worse`` name their ids.

    Returns
    -------
    Comparisons
        ``pairs`` for ``fit_pairs``, with ``weight``, ``margin``, ``judge`` and ``time``, each None where the table does
        not have it; answers with ``equal`` apart from the pairs; and the names of the columns that were not ``unused``.

    Raises
    ------
    ValueError
        For whatever is not as docs/tables.md says, in one sentence that names file, line, column and value.
    """
    table = read_table(path_or_frame)
    known = items.known if isinstance(items, Items) else _known(items)
    sides = {}
    for side in ("better", "worse"):
        table.need(side, f"the id of the {side} item of each row")
        sides[side] = _places(table, side, known)
    same = sides["better"] == sides["worse"]
    if same.any():
        row = int(np.argmax(same))
        table.refuse(row, "worse", known[int(sides["worse"][row])].as_py(), "is compared with itself")
    has = {name: name in table.columns for name in OPTIONAL}
    found = Comparisons(
        np.column_stack((sides["better"], sides["worse"])),
        np.arange(len(table)),
        _size(table, "weight") if has["weight"] else None,
        _size(table, "margin") if has["margin"] else None,
        _optional_texts(table, "judge") if has["judge"] else None,
        _times(table, "time") if has["time"] else None,
    )
    unused = tuple(name for name in table.columns if name not in {"better", "worse", *OPTIONAL})
    if not has["equal"]:
        return Comparisons(**found.of(np.ones(len(table), dtype=bool)), unused=unused)
    equal = _truths(table, "equal")
    return Comparisons(**found.of(~equal), equal=Comparisons(**found.of(equal)), unused=unused)


def _known(ids: Iterable[Any]) -> pa.Array:
    names = [str(one) for one in ids]
    if len({*names}) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        message = f"items names {twice!r} twice: an id is that of one item"
        raise ValueError(message)
    return pa.array(names, pa.string())


def _places(table: Table, column: str, known: pa.Array) -> np.ndarray:
    places = table.places(column, known)
    if (places < 0).any():
        row = int(np.argmax(places < 0))
        value = str(table.value(row, column))
        near = f", but {value.strip()!r} is" if value.strip() != value and value.strip() in known.to_pylist() else ""
        table.refuse(row, column, value, f"is not the id of any of the {len(known)} items{near}")
    return places


def _size(table: Table, column: str) -> np.ndarray:
    numbers = table.numbers(column)
    bad = ~((numbers >= 0.0) & (numbers <= LARGEST))
    if bad.any():
        row = int(np.argmax(bad))
        why = f"is not a {column}, which is 0 or more, and at most {LARGEST:g}"
        table.refuse(row, column, table.value(row, column), why)
    return numbers


def _truths(table: Table, column: str) -> np.ndarray:
    values = table.words(column).to_pylist()
    found = [TRUTHS.get(value.lower()) for value in values]
    if None in found:
        row = found.index(None)
        table.refuse(row, column, values[row], f"is none of {named(TRUTHS)}")
    return np.array(found, dtype=bool)


def _times(table: Table, column: str) -> np.ndarray:
    """Numbers are their own unit; a date without a time zone is one of UTC."""
    values = table.whole(column)
    if pa.types.is_date(values.type):
        values = pc.cast(values, pa.timestamp("us"))
    if pa.types.is_timestamp(values.type):
        return np.asarray(pc.cast(values, pa.timestamp("us", values.type.tz)).cast(pa.int64())) / 1e6
    numeric = table.numeric(column)
    if numeric is not None and numeric.any():
        return table.numbers(column)
    found = np.empty(len(values))
    for row, text in enumerate(table.words(column).to_pylist()):
        try:
            time = datetime.fromisoformat(text)
        except ValueError:
            table.refuse(row, column, text, "is neither a number nor a date like 2026-07-29 or 2026-07-29T12:30:00")
        found[row] = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return found
