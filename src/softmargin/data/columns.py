"""Columns of a table -> features: numbers, standardised or not, and one column of 0 and 1 for each word."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # a model that is loaded has columns, and no need of pyarrow
    from softmargin.data.tables import Table

SHOWN = 60  # characters of a name or a value in a sentence
MOST_WORDS = 1000  # of a column: with more, it is a name and not a property
LARGEST_SPREAD = 1e150  # squares of such numbers overflow


@dataclass(frozen=True)
class Column:
    """What is made of one column: ``(number - middle) / spread``, or 0 and 1 for each of its words."""

    name: str
    words: tuple[str, ...] | None = None
    middle: float = 0.0
    spread: float = 1.0

    @property
    def names(self) -> list[str]:
        """Of the features."""
        return [self.name] if self.words is None else [f"{self.name}={word}" for word in self.words]

    def of(self, table: "Table") -> np.ndarray:
        """The features of every row of a table."""
        table.need(self.name, "which the features are made of")
        if self.words is None:
            numbers = table.numbers(self.name)[:, None]
            return numbers if self.middle == 0.0 and self.spread == 1.0 else (numbers - self.middle) / self.spread
        places = table.places(self.name, self.words)
        if (places < 0).any():
            row = int(np.argmax(places < 0))
            known = f"is none of the words that are known: {named(self.words)}"
            table.refuse(row, self.name, table.value(row, self.name), known)
        return (places[:, None] == np.arange(len(self.words))).astype(np.float64)


@dataclass(frozen=True)
class Columns:
    """How features are made of a table: learned from one, the same for every other, and saved with the model."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """Of the features, in their order: a number has the name of its column, a word ``column=word``."""
        return [name for column in self.columns for name in column.names]

    def of(self, table: "Table") -> np.ndarray:
        """The features of every row of a table, which may have its columns in another order, and others too."""
        return np.ascontiguousarray(np.hstack([column.of(table) for column in self.columns]))

    @classmethod
    def learned(cls, table: "Table", skipped: Iterable[str], words: Iterable[str], *, standardise: bool) -> "Columns":
        """From all columns that are not skipped; those of ``words`` hold words, whatever they look like."""
        left = [name for name in table.columns if name not in {*skipped}]
        if not left:
            message = f"{table.name} has no column that could be a feature: its columns are {named(table.columns)}"
            raise ValueError(message)
        given = {*words}
        for name in given - {*left}:
            table.need(name, "which was said to hold words")
        found = cls(tuple(_column(table, name, standardise=standardise, words=name in given) for name in left))
        seen: dict[str, str] = {}
        for column in found.columns:
            for name in column.names:
                if name in seen:
                    told = f"columns {seen[name]!r} and {column.name!r} both make a feature {name!r}"
                    message = f"{table.name}: {told}, so one of them needs another name"
                    raise ValueError(message)
                seen[name] = column.name
        return found


def _column(table: "Table", name: str, *, standardise: bool, words: bool) -> Column:
    table.whole(name)
    numeric = None if words else table.numeric(name)
    if numeric is None or not numeric.any():
        different = table.different(name)
        if len(different) > MOST_WORDS:
            row = len(table) - 1
            why = f"is one of {len(different)} different words, and at most {MOST_WORDS} become features"
            table.refuse(row, name, table.value(row, name), why)
        return Column(name, tuple(different))
    if not numeric.all():
        row, other = int(np.argmin(numeric)), int(np.argmax(numeric))
        hint = f"{table.where(other)} has one: words={[name]} makes words of them all"
        table.refuse(row, name, table.value(row, name), f"is not a finite decimal number, and {hint}")
    numbers = table.numbers(name)
    if not standardise:
        return Column(name)
    largest = int(np.argmax(np.abs(numbers)))
    if abs(numbers[largest]) > LARGEST_SPREAD:
        table.refuse(largest, name, float(numbers[largest]), f"is too large to standardise, above {LARGEST_SPREAD:g}")
    middle = float(numbers.mean())
    spread = float(np.sqrt(np.mean((numbers - middle) ** 2)))
    # A constant column is the middle and nothing else; rounding must not pass for a spread.
    constant = spread <= 1e-12 * abs(middle) or spread == 0.0
    return Column(name, None, middle, 1.0 if constant else spread)


def read_words(words: Any) -> tuple[str, ...]:
    """Names of columns, from one or several."""
    return (words,) if isinstance(words, str) else tuple(words)


def named(names: Iterable[str]) -> str:
    """A list of names for a sentence, not longer than a sentence."""
    shown = [repr(name if len(name) <= SHOWN else name[:SHOWN] + "...") for name in names]
    return ", ".join([*shown[:10], f"and {len(shown) - 10} more"] if len(shown) > 10 else shown)
