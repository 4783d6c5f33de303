"""What a ranker is told, read into sources: grades in groups, pairs, or a list of both."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from softmargin.constraints.graded import Constraints, Graded, Grades, GroupCounts, Pairs, graded
from softmargin.constraints.pairs import as_pairs, pair_rows
from softmargin.constraints.weights import importance
from softmargin.estimators._inputs import read_column, read_grades
from softmargin.kernels.rows import DenseRows
from softmargin.kernels.sweep import HINGE
from softmargin.solvers.sources import GradedGroups, PairList, ScoredPairs, Source


@dataclass(frozen=True)
class Statements:
    """Sources whose prices are without C."""

    sources: list[Source]
    groups: GroupCounts
    total: float  # the sum of the prices of all pairs: the T of lam = 1/(C T)
    rounds: int  # how many groups and pairs a stream would meet


def read_statements(
    y: Any, qid: Any, sample_weight: Any, rows: int, *, weighting: str, share: str, idle: bool = False
) -> Statements:
    """Grades or ``Constraints``, checked; ``idle`` allows that there is nothing to compare, as in a stream."""
    refuse_bare_source(y)
    if not isinstance(y, Constraints):
        read = read_graded(Grades(y, qid, sample_weight), rows, weighting, share, bare=True)
        if not idle:
            refuse_nothing(read, rows)
        return Statements([GradedGroups(read.rows, read.forest)], read.counts, read.total, read.counts.compared)
    for name, value in (("qid", qid), ("sample_weight", sample_weight)):
        if value is not None:
            message = f"{name} goes with grades: where y is Constraints, its Grades hold it"
            raise ValueError(message)
    sources: list[Source] = []
    counts, total, rounds = GroupCounts(0, 0, 0, 0, 0), 0.0, 0
    for place, given in enumerate(y):
        with named_source(place):
            if isinstance(given, Grades):
                read = read_graded(given, rows, weighting, share)
                source: Source = GradedGroups(read.rows, read.forest)
                counts = GroupCounts(*(a + b for a, b in zip(counts, read.counts, strict=True)))
                mass, met = read.total, read.counts.compared
            else:
                listed = read_pairs(given, rows, weighting)
                source, mass, met = ScoredPairs(listed), float(listed.price.sum()), listed.price.size
        sources.append(source.times(float(given.price)))
        total, rounds = total + float(given.price) * mass, rounds + met
    if total == 0.0:
        message = "y holds Constraints that compare nothing, or whose weights are all zero: nothing to learn from"
        raise ValueError(message)
    return Statements(sources, counts, total, rounds)


@contextmanager
def named_source(place: int) -> Iterator[None]:
    """A refusal inside says which source of Constraints it is about."""
    try:
        yield
    except ValueError as error:
        message = f"Constraints[{place}]: {error}"
        raise ValueError(message) from error


def refuse_bare_source(y: Any) -> None:
    """Grades and Pairs come in Constraints, also where they come alone."""
    held = y if isinstance(y, list | tuple) else [y]
    if not isinstance(y, Constraints) and any(isinstance(one, Grades | Pairs) for one in held):
        message = "y holds Grades or Pairs that are in no Constraints: pass Constraints([...])"
        raise ValueError(message)


@dataclass(frozen=True)
class Columns:
    """Grades as they were given: one a row or NaN, the number of each row's group, and how many groups there are."""

    y: np.ndarray
    group: np.ndarray | None
    count: int


def read_columns(given: Grades, rows: int, *, bare: bool = False) -> Columns:
    """Grades of X; only within Constraints may a row have none."""
    y = read_grades(given.y, rows) if bare else read_some_grades(given.y, rows)
    if given.sizes is not None:
        sizes = read_sizes(given, rows)
        return Columns(y, np.repeat(np.arange(sizes.size), sizes), sizes.size)
    if given.qid is None:
        return Columns(y, None, 1)
    names, group = np.unique(read_groups(given.qid, rows), return_inverse=True)
    return Columns(y, group, names.size)


def read_graded(given: Grades, rows: int, weighting: str, share: str, *, bare: bool = False) -> Graded:
    """Grades of X, ready for a sweep."""
    read = read_columns(given, rows, bare=bare)
    return graded(read.y, read.group, given.weight, weighting, share, count=read.count)


def read_groups(qid: Any, rows: int) -> np.ndarray:
    """The group of each row, a number or a name."""
    groups = read_column(qid, rows, "qid", "group number")
    if groups.dtype.kind == "O":
        try:
            np.unique(groups)
        except TypeError as error:
            kinds = ", ".join(sorted({type(group).__name__ for group in groups}))
            message = f"qid mixes values that have no order ({kinds}): pass group numbers or names, and none missing"
            raise ValueError(message) from error
    return groups


def read_some_grades(y: Any, rows: int) -> np.ndarray:
    """One number a row, or NaN."""
    y = np.asarray(y)
    if y.dtype.kind != "f":
        return read_grades(y, rows)
    missing = np.isnan(y)
    return np.where(missing, np.nan, read_grades(np.where(missing, 0.0, y), rows))


def read_sizes(given: Grades, rows: int) -> np.ndarray:
    """How many rows each group has."""
    if given.qid is not None:
        message = "qid and sizes both say which rows are a group: pass one of them"
        raise ValueError(message)
    sizes = np.asarray(given.sizes)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any() or sizes.sum() != rows:
        message = f"sizes has to be whole numbers, one a group, that add up to the {rows} rows of X"
        raise ValueError(message)
    return sizes


def read_pairs(given: Pairs, rows: int, weighting: str) -> PairList:
    """Pairs of rows of X, with what they require and cost."""
    held = pair_rows(DenseRows(np.zeros((rows, 0))), given.pairs, rows)
    margin = 1.0 if given.margin is None else given.margin
    matter = importance(len(as_pairs(given.pairs)), given.weight, weighting, margin, "weight")
    better, worse = held.better.astype(np.int64), held.worse.astype(np.int64)
    return PairList(better, worse, matter.required, matter.whole_price.astype(np.float64))


def refuse_nothing(read: Graded, rows: int) -> None:
    """A batch without a comparison is a mistake."""
    if read.counts.compared == 0:
        message = f"y has no two different grades within a group (n_samples = {rows}): nothing to compare"
        raise ValueError(message)
    if read.total == 0.0:
        message = "sample_weight is zero everywhere: there is nothing to learn from"
        raise ValueError(message)


def weighted_pair_accuracy(utility: np.ndarray, y: Any, qid: Any, weight: Any) -> float:
    """Share of the weight of all pairs that is ordered rightly; half of a tie's.

    With ranks for scores and a required margin of 1/2, a pair lacks something where it is tied or wrong; with the signs
    of ranks turned, where it is tied or right.
    """
    read = read_graded(Grades(y, qid, weight), utility.size, "slack", "pairs", bare=True)
    refuse_nothing(read, utility.size)
    rank = np.unique(utility, return_inverse=True)[1].astype(np.float64)
    half = GradedGroups(read.rows, read.forest._replace(required=np.array([0.5])))
    not_right, not_wrong = (2.0 * half.settle(sign * rank, HINGE, np.zeros(rank.size))[1] for sign in (1.0, -1.0))
    return float((not_wrong - not_right + read.total) / (2.0 * read.total))
