"""Statements about scores: graded groups and pairs, each with a price of its own, and a list of both."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from softmargin.constraints.weights import LARGEST, numbers_of, refuse_parts
from softmargin.kernels.sweep import Forest, forest_of

SHARING = ("pairs", "equal")


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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

    def __new__(cls, sources: Iterable[Grades | Pairs]) -> Self:
        """Refuses what is no source."""
        found = tuple(sources)
        for place, source in enumerate(found):
            if not isinstance(source, Grades | Pairs):
                message = f"Constraints[{place}] is a {type(source).__name__}: pass Grades or Pairs"
                raise TypeError(message)
            if isinstance(source.price, bool) or not isinstance(source.price, int | float | np.number):
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
    y: np.ndarray, groups: np.ndarray | None, weight: Any, weighting: str, share: str, *, empty: int = 0
) -> Graded:
    """Read grades: rows by group and grade, and what each group requires and costs.

    With groups, a weight says how much a group matters; where its rows have different ones, a pair has their geometric
    mean.  Without groups, weights are copies of rows: a pair has their product.
    """
    present = np.flatnonzero(~np.isnan(y)) if y.dtype.kind == "f" else np.arange(y.size)
    if groups is None:
        names, group = np.zeros(1), np.zeros(present.size, dtype=np.int64)
    else:
        names, group = np.unique(groups, return_inverse=True)
        group = group[present]
    given = read_weights(weight, weighting, group if groups is not None else None, present, names.size, y.size)
    order = np.lexsort((y[present], group))
    rows, by_group, grade = present[order], group[order], y[present][order]
    new_group = np.ones(rows.size, dtype=bool)
    new_group[1:] = by_group[1:] != by_group[:-1]
    new_level = new_group.copy()
    new_level[1:] |= grade[1:] != grade[:-1]
    sizes = np.bincount(by_group, minlength=names.size)
    kept = np.bincount(by_group, new_level, names.size) > 1
    inside, single = kept[by_group], sizes == 1
    pairs = (sizes @ sizes - np.sum(np.diff(np.append(np.flatnonzero(new_level), rows.size)) ** 2)) // 2
    level = ~kept & (sizes > 1)
    empty += int((sizes == 0).sum()) if groups is not None else 0
    counts = GroupCounts(int(kept.sum()), int(single.sum()), int(level.sum()), empty, int(pairs))
    starts, levels = np.concatenate([[0], np.cumsum(sizes[kept])]), np.flatnonzero(new_level[inside])
    mass = np.ones(1) if given.mass is None else given.mass[order][inside]
    scale, one = given.scale[kept], np.ones(1)
    price = one if weighting == "margin" else scale
    of_pairs = _mass_of_pairs(starts, levels, mass)
    if share == "equal":
        price = np.divide(price, of_pairs, out=np.zeros(of_pairs.size), where=of_pairs > 0)
    forest = forest_of(starts, levels, scale if weighting == "margin" else one, price, mass)
    return Graded(rows[inside].astype(np.uint32), forest, counts, float(np.sum(price * of_pairs)))


def _mass_of_pairs(starts: np.ndarray, levels: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The pairs of each group, each as heavy as the product of its rows."""
    first = starts[:-1]
    if first.size == 0:
        return np.zeros(0)
    mass = mass if mass.size > 1 else np.ones(int(starts[-1]))
    of_levels = np.add.reduceat(np.add.reduceat(mass, levels) ** 2, np.searchsorted(levels, first))
    return np.asarray(0.5 * (np.add.reduceat(mass, first) ** 2 - of_levels))


def read_weights(
    weight: Any, weighting: str, group: np.ndarray | None, present: np.ndarray, groups: int, rows: int
) -> Weights:
    """One weight a group, or one a row of X, of which those ``present`` count."""
    if weight is None:
        return Weights(None, np.ones(groups))
    by_group = group is not None and np.shape(weight) == (groups,) and groups != rows
    if group is not None and np.ndim(weight) and np.shape(weight) not in {(groups,), (rows,)}:
        message = (
            f"sample_weight has shape {np.shape(weight)}; it takes one number for each of the {groups} groups of qid "
            f"or for each of the {rows} rows"
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
    if weighting == "margin":
        message = (
            "sample_weight differs from row to row, and weighting='margin' scales the margin of whole groups: pass "
            "qid, and one weight a group"
        )
        raise ValueError(message)
    return Weights(weight if group is None else np.sqrt(weight), np.ones(groups))
