"""What a ranker is told, read into sources: grades in groups, pairs, or a list of both."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from softmargin.constraints.graded import Constraints, Graded, Grades, GroupCounts, Pairs, graded
from softmargin.constraints.pairs import as_pairs, pair_rows
from softmargin.constraints.weights import importance
from softmargin.estimators._inputs import read_column, read_grades
from softmargin.kernels.rows import DenseRows
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
    for given in y:
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


def read_graded(given: Grades, rows: int, weighting: str, share: str, *, bare: bool = False) -> Graded:
    """Grades of X; only within Constraints may a row have none."""
    y = read_grades(given.y, rows) if bare else read_some_grades(given.y, rows)
    groups, empty = None, 0
    if given.sizes is not None:
        groups, empty = groups_of_sizes(given, rows)
    elif given.qid is not None:
        groups = read_groups(given.qid, rows)
    return graded(y, groups, given.weight, weighting, share, empty=empty)


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


def groups_of_sizes(given: Grades, rows: int) -> tuple[np.ndarray, int]:
    """Group numbers, and how many groups are empty."""
    if given.qid is not None:
        message = "qid and sizes both say which rows are a group: pass one of them"
        raise ValueError(message)
    sizes = np.asarray(given.sizes)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any() or sizes.sum() != rows:
        message = f"sizes has to be whole numbers, one a group, that add up to the {rows} rows of X"
        raise ValueError(message)
    return np.repeat(np.arange(sizes.size), sizes), int((sizes == 0).sum())


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
