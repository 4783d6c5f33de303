"""How good a ranking is: pair accuracy, Kendall's tau-b, NDCG and mean average precision.

Every metric takes grades ``y``, scores (higher is better) and ``qid``, the group of each row, in any order; without it
all rows are one group.  Only rows of one group are compared.  The result is the mean of the groups' values over the
groups that have one, and NaN where none has.  No tie is broken: each metric says what ties count.
m rows cost O(m log m).

>>> pair_accuracy([3, 1, 2], [0.9, 0.1, 0.1])     # two pairs right, one tied
0.8333333333333334
>>> round(ndcg([3, 1, 2], [0.9, 0.1, 0.5]), 12)
1.0
"""

from typing import Any, NamedTuple

import numpy as np

from softmargin.constraints.weights import is_number
from softmargin.kernels.pairs import count_pairs

AVERAGES = ("groups", "pairs")
GAINS = ("exponential", "linear")


def pair_accuracy(y: Any, score: Any, qid: Any = None, *, average: str = "groups") -> float:
    """Share of the pairs with different grades whose higher grade has the higher score; a tie in score counts half.

    A group without two different grades has no pair and is left out.  ``average="groups"`` is the mean of the groups'
    shares; ``"pairs"`` the share among the pairs of all groups together, as in ``SoftMarginRanker.score``.
    """
    _refuse_unless_one_of(average, AVERAGES, "average")
    pairs = _count(_read(y, score, qid))
    twice = 2 * (pairs.comparable - pairs.wrong) - pairs.tied
    if average == "pairs":
        return _mean(twice.sum(keepdims=True), 2 * pairs.comparable.sum(keepdims=True), None)
    return _mean(twice, 2 * pairs.comparable, None)


def kendall_tau_b(y: Any, score: Any, qid: Any = None) -> float:
    """Kendall's tau-b: pairs right minus pairs wrong, over the root of (pairs untied in y) (pairs untied in score).

    A group without two different grades is left out.  One whose scores are all equal counts 0: it orders nothing, and
    a mean that left it out would reward a model for not answering (``scipy.stats.kendalltau`` returns NaN).
    """
    pairs = _count(_read(y, score, qid))
    ahead = pairs.comparable - pairs.tied - 2 * pairs.wrong
    roots = np.sqrt(pairs.comparable.astype(np.float64) * np.maximum(pairs.untied, 1))
    return _mean(ahead, roots, None)


def ndcg(
    y: Any, score: Any, qid: Any = None, *, k: int | None = None, gain: str = "exponential", blank: float | None = None
) -> float:
    """Normalised discounted cumulative gain of the first ``k`` places, all by default.

    DCG = sum over places p = 1, ..., k of gain(grade at p) / log2(p + 1); NDCG = DCG / that of the best order.

    Parameters
    ----------
    y : grades, none negative.
    score : higher is better; rows of equal score share the mean gain of their places, as in scikit-learn.
    qid : the group of each row.
    k : places that count.
    gain : "exponential" is ``2**grade - 1``, as LightGBM and XGBoost have it; "linear" is the grade, as scikit-learn.
    blank : what a group without any gain counts: None leaves it out, scikit-learn counts 0, LightGBM 1.
    """
    _refuse_unless_one_of(gain, GAINS, "gain")
    if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1):
        message = f"k={k!r}: pass a whole number of places, 1 or more, or None for all"
        raise ValueError(message)
    blank = _read_blank(blank)
    rows = _read(y, score, qid)
    gains = _gains(rows.y.astype(np.float64), rows.group, gain)
    ranking = _ranking(rows)
    by_group = rows.group[ranking.order]
    place = np.arange(gains.size) - ranking.row_start[by_group]
    discount = np.where(place < (gains.size if k is None else k), 1.0 / np.log2(place + 2.0), 0.0)
    shared = np.add.reduceat(gains[ranking.order], ranking.run_start) / (ranking.run_stop - ranking.run_start)
    reached = np.add.reduceat(shared * np.add.reduceat(discount, ranking.run_start), ranking.first_run)
    best = np.add.reduceat(gains[np.lexsort((-gains, rows.group))] * discount, ranking.row_start)
    return _mean(np.minimum(reached, best), best, blank)


def mean_average_precision(
    y: Any, score: Any, qid: Any = None, *, relevant: float = 1, blank: float | None = None
) -> float:
    """MAP: the mean over groups of the average precision, where rows of grade ``relevant`` or more are to be found.

    Average precision = mean over relevant rows of the share of relevant rows among those that score no less, so rows
    of equal score are all taken at once, as in scikit-learn.

    Parameters
    ----------
    y : grades.
    score : higher is better.
    qid : the group of each row.
    relevant : the lowest grade that is relevant.
    blank : what a group without a relevant row counts: None leaves it out, scikit-learn counts 0, LightGBM 1.
    """
    if not is_number(relevant) or not -np.inf < relevant < np.inf:
        message = f"relevant={relevant!r}: pass the lowest grade that is relevant, a finite number"
        raise ValueError(message)
    blank = _read_blank(blank)
    rows = _read(y, score, qid)
    ranking = _ranking(rows)
    hits = np.add.reduceat((rows.y >= relevant)[ranking.order].astype(np.int64), ranking.run_start)
    found, group = np.cumsum(hits), rows.group[ranking.order][ranking.run_start]
    found -= (found - hits)[ranking.first_run][group]
    precision = found / (ranking.run_stop - ranking.row_start[group])
    return _mean(np.add.reduceat(hits * precision, ranking.first_run), np.add.reduceat(hits, ranking.first_run), blank)


# ----------------------------------------------------------------------------------- groups, ranks and counts


class _Rows(NamedTuple):
    """What was handed in, with groups numbered 0, 1, ..."""

    y: np.ndarray
    score: np.ndarray
    group: np.ndarray


class _Pairs(NamedTuple):
    """Pairs of each group: of different grades; of these tied in score, and the wrong way round; of other scores."""

    comparable: np.ndarray
    tied: np.ndarray
    wrong: np.ndarray
    untied: np.ndarray


class _Ranking(NamedTuple):
    """Rows by group, best first, cut into runs of equal score."""

    order: np.ndarray
    row_start: np.ndarray  # of each group, where it starts in ``order``
    run_start: np.ndarray
    run_stop: np.ndarray
    first_run: np.ndarray  # of each group


def _count(rows: _Rows) -> _Pairs:
    grade, rank = _ranks(rows.y), _ranks(rows.score)
    order = np.lexsort((rank, grade, rows.group))
    starts = np.append(_starts(rows.group[order]), order.size)
    counts = np.empty((starts.size - 1, 5), dtype=np.int64)
    count_pairs(starts, grade[order], rank[order], counts)
    pairs, same_grade, same_score, same, wrong = counts.T
    return _Pairs(pairs - same_grade, same_score - same, wrong, pairs - same_score)


def _ranking(rows: _Rows) -> _Ranking:
    rank = _ranks(rows.score)
    order = np.lexsort((-rank, rows.group))
    group = rows.group[order]
    run_start = _starts(group, rank[order])
    run_stop = np.append(run_start, order.size)[1:]
    return _Ranking(order, _starts(group), run_start, run_stop, _starts(group[run_start]))


def _ranks(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1].astype(np.int64, copy=False)


def _starts(*columns: np.ndarray) -> np.ndarray:
    """Where a value differs from the one before it, in any of the columns."""
    new = np.ones(columns[0].size, dtype=bool)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(new)


def _gains(grades: np.ndarray, group: np.ndarray, gain: str) -> np.ndarray:
    """Gains as shares of the highest of their group, or nearly: NDCG is the same, and no grade is too high for it."""
    if (grades < 0).any():
        row = int(np.argmax(grades < 0))
        message = f"y[{row}] is {grades[row]:g}, a negative gain: NDCG takes grades that are not negative"
        raise ValueError(message)
    highest = np.zeros(int(group.max(initial=-1)) + 1)
    np.maximum.at(highest, group, grades)
    if gain == "linear":
        return grades / np.where(highest > 0, highest, 1.0)[group]
    return np.exp2(grades - highest[group]) * -np.expm1(-np.log(2.0) * grades)  # (2**y - 1) / 2**highest


def _mean(above: np.ndarray, below: np.ndarray, blank: float | None) -> float:
    """The mean of ``above / below``; where ``below`` is 0 it is ``blank``, or left out."""
    has = below > 0
    values = above[has] / below[has]
    if blank is not None:
        values = np.append(values, np.full(has.size - values.size, blank))
    return float(values.mean()) if values.size else float("nan")


# ----------------------------------------------------------------------------------- what is handed in


def _read(y: Any, score: Any, qid: Any) -> _Rows:
    y, score = _numbers(y, "y", "grade"), _numbers(score, "score", "score")
    _refuse_other_length(score, y.size, "score")
    if qid is None:
        return _Rows(y, score, np.zeros(y.size, dtype=np.int64))
    qid = _column(qid, "qid", "group")
    _refuse_other_length(qid, y.size, "qid")
    try:
        _refuse_rows(
            qid, np.not_equal(qid, qid).astype(bool), "qid", "a group is never NaN"
        )  # only NaN and NaT differ from themselves
        return _Rows(y, score, _ranks(qid))
    except TypeError as error:
        kinds = ", ".join(sorted({type(one).__name__ for one in qid}))
        message = (
            f"qid mixes values that have no order ({kinds}): pass group numbers or names, and none that is missing"
        )
        raise ValueError(message) from error


def _column(values: Any, name: str, what: str) -> np.ndarray:
    try:
        column = np.asarray(values)
    except ValueError as error:
        message = f"{name} is not a column: pass one {what} a row"
        raise ValueError(message) from error
    if column.ndim != 1:
        message = f"{name} has shape {column.shape}: pass one {what} a row, in one dimension"
        raise ValueError(message)
    return column


def _numbers(values: Any, name: str, what: str) -> np.ndarray:
    """Whole numbers are kept as they are: float64 could tie two of them.  A score may be infinite, a grade not."""
    column = _column(values, name, what)
    if column.dtype.kind in "biu":
        return column
    if column.dtype.kind != "f":
        try:
            column = column.astype(np.float64, casting="unsafe" if column.dtype.kind == "O" else "safe")
        except (TypeError, ValueError) as error:
            message = f"{name} holds {column.dtype} values: a {what} is a number"
            raise ValueError(message) from error
    if name == "score":
        _refuse_rows(column, np.isnan(column), name, "a score is never NaN")
    else:
        _refuse_rows(column, ~np.isfinite(column), name, "a grade is a finite number")
    return column


def _refuse_rows(column: np.ndarray, bad: np.ndarray, name: str, why: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        message = f"{name}[{row}] is {column[row]}: {why}"
        raise ValueError(message)


def _refuse_other_length(column: np.ndarray, rows: int, name: str) -> None:
    if column.size != rows:
        message = f"{name} has {column.size} values and y has {rows}: pass one for each row"
        raise ValueError(message)


def _refuse_unless_one_of(value: Any, known: tuple[str, ...], name: str) -> None:
    if value not in known:
        message = f"{name}={value!r}: pass one of {', '.join(known)}"
        raise ValueError(message)


def _read_blank(blank: Any) -> float | None:
    if blank is None:
        return None
    if not is_number(blank) or not 0 <= blank <= 1:
        message = f"blank={blank!r}: pass a number from 0 to 1, or None to leave such groups out"
        raise ValueError(message)
    return float(blank)
