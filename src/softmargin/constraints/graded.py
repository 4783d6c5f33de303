"""Statements about scores: graded groups and pairs, each with a price of its own, and a list of both."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from softmargin.constraints.weights import LARGEST, is_number, numbers_of, refuse_parts
from softmargin.kernels.sweep import Forest, forest_of, mass_of_pairs

SHARING = ("pairs", "equal")


@dataclass(frozen=True, eq=False)
class Grades:
    """Within a group of ``qid``, a row with a higher grade is better than every row with a lower one.

    ``y`` has one grade for each row of X; NaN says that a row has none.  ``sizes`` may take the place of ``qid``: the
    groups stand one after the other, and so many rows each has.  ``weight`` has one number for each group or each row.
    """

    y: Any
    qid: Any = None
    weight: Any = None
    price: float = 1.0
    sizes: Any = None


@dataclass(frozen=True, eq=False)
class Pairs:
    """``pairs[t] = (better, worse)``, row numbers of X; ``margin`` is how much better, 1 where it is not given."""

    pairs: Any
    weight: Any = None
    margin: Any = None
    price: float = 1.0


class Constraints(tuple[Grades | Pairs, ...]):
    """Statements from several sources, to be fitted together: ``Constraints([Grades(y, qid), Pairs(pairs, price=5)])``.

    ``price`` is what a unit of slack costs in that source, times C.
    """

    __slots__ = ()

    def __new__(cls, sources: Iterable[Grades | Pairs] | Grades | Pairs) -> Self:
        """Refuses what is no source."""
        found = (sources,) if isinstance(sources, Grades | Pairs) else tuple(sources)
        for place, source in enumerate(found):
            if not isinstance(source, Grades | Pairs):
                message = f"Constraints[{place}] is a {type(source).__name__}: pass Grades or Pairs"
                raise TypeError(message)
            if not is_number(source.price):
                message = f"Constraints[{place}].price is {source.price!r}: pass a number above 0"
                raise TypeError(message)
            if not 0 < source.price <= LARGEST:
                message = f"Constraints[{place}].price is {source.price!r}: pass a number above 0, at most {LARGEST:g}"
                raise ValueError(message)
        if not found:
            message = "Constraints is empty: there is nothing to learn from"
            raise ValueError(message)
        return super().__new__(cls, found)


class GroupCounts(NamedTuple):
    """How many groups make comparisons, and how many make none, by reason."""

    compared: int
    single: int  # one row: nobody to compare it with
    level: int  # several rows, one grade
    empty: int  # no row at all, or none with a grade
    pairs: int  # comparisons that the grades imply

    def __str__(self) -> str:
        """One line that a person understands."""
        idle = [f"{count} {what}" for count, what in ((self.single, "of one row"), (self.level, "of one grade"),
                                                      (self.empty, "empty")) if count]  # fmt: skip
        told = f"; no comparison in {', '.join(idle)}" if idle else ""
        return f"{self.compared} groups compared, {self.pairs:.12g} pairs{told}"


class Graded(NamedTuple):
    """Graded groups as compiled code takes them: ``rows[place]`` is a row of X."""

    rows: np.ndarray
    forest: Forest  # prices are without C
    counts: GroupCounts
    total: float  # sum over all pairs of their prices


class Weights(NamedTuple):
    """What weights say: how many of each row there are, or None for one each, and how much each group matters."""

    mass: np.ndarray | None
    scale: np.ndarray


def graded(
    y: np.ndarray, group: np.ndarray | None, weight: Any, weighting: str, share: str, *, count: int = 1
) -> Graded:
    """Read grades: rows by group and grade, and what each group requires and costs.

    ``group`` numbers the ``count`` groups.  With groups, a weight says how much a group matters; where its rows have
    different ones, a pair has their geometric mean.  Without, weights are copies of rows: a pair has their product.
    """
    present = np.flatnonzero(~np.isnan(y)) if y.dtype.kind == "f" else np.arange(y.size)
    numbers = np.zeros(present.size, dtype=np.int64) if group is None else group[present]
    given = read_weights(weight, weighting, None if group is None else numbers, present, count, y.size)
    order = np.lexsort((y[present], numbers))
    rows, by_group, grade = present[order], numbers[order], y[present][order]
    new_group = np.ones(rows.size, dtype=bool)
    new_group[1:] = by_group[1:] != by_group[:-1]
    new_level = new_group.copy()
    new_level[1:] |= grade[1:] != grade[:-1]
    sizes = np.bincount(by_group, minlength=count)
    kept = np.bincount(by_group, new_level, count) > 1
    inside, one = kept[by_group], np.ones(1)
    starts, levels = np.concatenate([[0], np.cumsum(sizes[kept])]), np.flatnonzero(new_level[inside])
    mass = one if given.mass is None else given.mass[order][inside]
    scale = given.scale[kept]
    price = np.ones(scale.size) if weighting == "margin" else scale
    forest = forest_of(starts, levels, scale if weighting == "margin" else one, price, mass)
    pairs, of_pairs = np.zeros(scale.size), np.zeros(scale.size)
    mass_of_pairs(forest._replace(mass=one), pairs)
    mass_of_pairs(forest, of_pairs)
    if share == "equal":  # copies of rows make copies of pairs; weights of groups make none
        shares = of_pairs if group is None else pairs
        price = np.divide(price, shares, out=np.zeros(shares.size), where=shares > 0)
    single, level, empty = (int(np.sum(what)) for what in (sizes == 1, ~kept & (sizes > 1), sizes == 0))
    counts = GroupCounts(int(kept.sum()), single, level, empty, int(pairs.sum()))
    return Graded(rows[inside].astype(np.uint32), forest._replace(price=price), counts, float(np.sum(price * of_pairs)))


def read_weights(
    weight: Any, weighting: str, group: np.ndarray | None, present: np.ndarray, groups: int, rows: int
) -> Weights:
    """One weight a group, or one a row of X, of which those ``present`` count."""
    if weight is None:
        return Weights(None, np.ones(groups))
    by_group = group is not None and np.shape(weight) == (groups,) and groups != rows
    if group is not None and np.ndim(weight) and np.shape(weight) not in {(groups,), (rows,)}:
        message = (
            f"sample_weight has shape {np.shape(weight)}; it takes one number for each of the {groups} groups or for "
            f"each of the {rows} rows"
        )
        raise ValueError(message)
    weight = numbers_of(weight, groups if by_group else rows, "sample_weight")
    if weighting == "replicate":
        refuse_parts(weight, "sample_weight")
    if by_group:
        return Weights(None, weight)
    weight = weight[present]
    if group is not None:
        most, least = np.zeros(groups), np.full(groups, np.inf)
        np.maximum.at(most, group, weight)
        np.minimum.at(least, group, weight)
        if np.array_equal(most, least):
            return Weights(None, most)
    if weighting == "margin" or (weighting == "replicate" and group is not None):
        what = "scales the margin" if weighting == "margin" else "repeats all rows"
        message = (
            f"sample_weight differs from row to row, and weighting={weighting!r} {what} of whole groups: pass qid, and "
            "one weight a group"
        )
        raise ValueError(message)
    return Weights(weight if group is None else np.sqrt(weight), np.ones(groups))
