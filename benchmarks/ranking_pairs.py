"""Comparisons held out: how often we, LinearSVC on differences and Bradley-Terry say which item was preferred.

Everybody's setting is chosen the same way: the best of a grid on one fold of what is there to learn from.  Seconds are
those of all final fits together.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import choix
import numpy as np
import ranking_data
from ranking_data import Compared
from scipy import sparse
from sklearn.svm import LinearSVC

from softmargin import SoftMarginRanker

PRICES = (0.01, 0.1, 1.0, 10.0)
PENALTIES = (0.01, 0.1, 1.0)
SAMPLES = 2000
DATA: tuple[Callable[[], Compared], ...] = (
    ranking_data.train_trips,
    ranking_data.recipes,
    lambda: ranking_data.arguments(other_debates=True),
    lambda: ranking_data.arguments(other_debates=False),
)


class Judge(NamedTuple):
    """A way to learn: from items, comparisons and a setting to a utility for each item."""

    name: str
    settings: tuple[float, ...]
    learn: Callable[[Any, np.ndarray, float], np.ndarray]


class Verdict(NamedTuple):
    """What a judge said of every comparison when it was held out, 1/2 for no opinion, and the seconds it took."""

    name: str
    right: np.ndarray
    seconds: float
    gap: float = np.nan  # the largest certified one


class Ours:
    """Ours, which remembers the worst it proved."""

    def __init__(self) -> None:
        self.gap = 0.0

    def __call__(self, X: Any, pairs: np.ndarray, C: float) -> np.ndarray:
        """Utilities."""
        model = SoftMarginRanker(C=C, random_state=0).fit_pairs(X, pairs)
        self.gap = max(self.gap, model.certificate_.relative_gap)
        return model.predict(X)


def linear_svc(X: Any, pairs: np.ndarray, C: float) -> np.ndarray:
    """Differences, half of them turned round: LinearSVC wants two classes, and without intercept that is the same."""
    sign = np.where(np.random.default_rng(0).random(len(pairs)) < 0.5, 1.0, -1.0)
    difference = X[pairs[:, 0]] - X[pairs[:, 1]]
    signed = difference.multiply(sign[:, None]).tocsr() if sparse.issparse(X) else difference * sign[:, None]
    model = LinearSVC(C=C, loss="hinge", fit_intercept=False, random_state=0, max_iter=10_000).fit(signed, sign)
    return np.asarray(X @ model.coef_[0])


def bradley_terry(X: Any, pairs: np.ndarray, penalty: float) -> np.ndarray:
    """A utility for each item that was compared, with no look at its features; 0 for others."""
    met, place = np.unique(pairs, return_inverse=True)
    utility = np.zeros(X.shape[0])
    utility[met] = choix.ilsr_pairwise(met.size, place.reshape(-1, 2), alpha=penalty)
    return utility


def right(utility: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """1 where the better item is ahead, 1/2 where neither is."""
    ahead = utility[pairs[:, 0]] - utility[pairs[:, 1]]
    return np.where(ahead == 0, 0.5, ahead > 0)


def hold_out(data: Compared, X: Any, judge: Judge) -> Verdict:
    """Every comparison, judged by a model that has not seen its fold."""
    found, seconds = np.zeros(len(data.pairs)), 0.0
    for known, hidden in data.splits():
        setting = chosen(data, X, judge, known)
        started = time.perf_counter()
        utility = judge.learn(X, data.pairs[known], setting)
        seconds += time.perf_counter() - started
        found[hidden] = right(utility, data.pairs[hidden])
    return Verdict(judge.name, found, seconds, getattr(judge.learn, "gap", np.nan))


def chosen(data: Compared, X: Any, judge: Judge, known: np.ndarray) -> float:
    """The setting that is best on the first fold of what is known, learned from the others."""
    aside = data.fold[known] == data.fold[known].min()
    one, other = data.pairs[known[~aside]], data.pairs[known[aside]]
    scores = [right(judge.learn(X, one, setting), other).mean() for setting in judge.settings]
    return judge.settings[int(np.argmax(scores))]


def interval(values: np.ndarray, unit: np.ndarray) -> tuple[float, float]:
    """The middle 95 % of the mean over samples, with replacement, of whole units."""
    sums, counts = np.bincount(unit, values), np.bincount(unit)
    sums, counts = sums[counts > 0], counts[counts > 0]
    drawn = np.random.default_rng(0).integers(counts.size, size=(SAMPLES, counts.size))
    low, high = np.quantile(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1), (0.025, 0.975))
    return float(low), float(high)


def judged(data: Compared) -> list[Verdict]:
    """By everybody who can: features alone, and where items are met again, their identities too."""
    ours, svc = Judge("softmargin", PRICES, Ours()), Judge("LinearSVC on differences", PRICES, linear_svc)
    verdicts = [hold_out(data, data.X, ours), hold_out(data, data.X, svc)]
    if data.items is not None:
        identity = sparse.identity(data.X.shape[0], format="csr")
        both = sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(data.X), identity]))
        both.indices, both.indptr = both.indices.astype(np.int32), both.indptr.astype(np.int32)
        known = Judge("softmargin, features and a column an item", PRICES, Ours())
        verdicts += [
            hold_out(data, both, known),
            hold_out(data, data.X, Judge("Bradley-Terry (choix)", PENALTIES, bradley_terry)),
        ]
    return verdicts


def lines_of(data: Compared, verdicts: Sequence[Verdict]) -> list[list[str]]:
    """Table lines: accuracy with its interval, and how far ahead the first is."""
    lines, first = [], verdicts[0]
    for verdict in verdicts:
        low, high = interval(verdict.right, data.unit)
        less, more = interval(first.right - verdict.right, data.unit)
        ahead = f"{first.right.mean() - verdict.right.mean():+.3f} ({less:+.3f} to {more:+.3f})"
        lines.append([
            data.name, f"{len(data.pairs):,} / {np.unique(data.unit).size}", verdict.name,
            f"{verdict.right.mean():.3f} ({low:.3f} to {high:.3f})", "" if verdict is first else ahead,
            f"{verdict.seconds:.2f}", "" if np.isnan(verdict.gap) else f"{verdict.gap:.0e}",
        ])  # fmt: skip
    return lines


HEADING = ("data", "comparisons / units", "who", "held-out accuracy", "softmargin ahead by", "s", "gap")


def lines() -> list[list[str]]:
    """The whole table."""
    table = []
    for load in DATA:
        data = load()
        table += lines_of(data, judged(data))
        print(*table[-4:], sep="\n", flush=True)
    return table
