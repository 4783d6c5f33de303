"""Which pair to ask about next: what says most about the ranking, or about the best item."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from softmargin.elicitation.fit import even
from softmargin.kernels.questions import BEST, RANK, bits, score

GOALS = {"rank": RANK, "best": BEST}
CANDIDATES = 20_000  # pairs that are looked at; of 200 items these are all
HOPEFUL = 200  # items that may still be the best, all pairs of them among the candidates
ONE_BY_ONE = 64  # questions at once, each chosen as if those before it were answered; further ones are not


class Kinds(NamedTuple):
    """Items by their features: those of one kind cannot be told apart, so nobody is asked to."""

    first: np.ndarray  # a row number for each kind
    of: np.ndarray  # the kind of each row
    size: np.ndarray

    @property
    def pairs(self) -> int:
        """How many pairs there are to ask about."""
        return self.first.size * (self.first.size - 1) // 2


class View(NamedTuple):
    """The kinds as a belief sees them: differences of ``spread`` have the squared length ``v``."""

    utility: np.ndarray
    spread: np.ndarray


def kinds_of(items: np.ndarray) -> Kinds:
    """Numbered in the order of their first rows."""
    _, first, of, size = np.unique(items, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return Kinds(first[order], place[of.ravel()], size[order])


def view_of(items: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> View:
    """Utilities, and a spread that has the variance of every difference in it."""
    centred = items - items.mean(axis=0)
    return View(centred @ mean, np.ascontiguousarray(centred @ even(covariance)))


def next_questions(
    view: View, kinds: Kinds, goal: str, n: int, asked: np.ndarray, error: float, seed: int
) -> np.ndarray:
    """At most n lines (left, right) of row numbers; none of the pairs of kinds in ``asked``, and no pair twice."""
    rng = np.random.default_rng(seed)
    left, right = _candidates(view, kinds.pairs, goal, n + len(asked), rng)
    count = kinds.first.size
    fresh = ~np.isin(left * count + right, asked.min(axis=1) * count + asked.max(axis=1))
    left, right = left[fresh], right[fresh]
    chosen: list[int] = []
    worth, (floor, spread2) = np.empty(left.size), _shape(error)
    spread = view.spread
    for _ in range(min(n, left.size, ONE_BY_ONE)):
        score(GOALS[goal], spread, view.utility, left, right, error, floor, spread2, worth)
        worth[chosen] = -np.inf
        best = int(np.argmax(worth))
        chosen.append(best)
        spread = _answered(spread, view.utility, left[best], right[best], error)
    worth[chosen] = -np.inf
    more = np.argsort(-worth, kind="stable")[: min(n, left.size) - len(chosen)]
    chosen += more.tolist()
    lines = np.column_stack((kinds.first[left[chosen]], kinds.first[right[chosen]]))
    turned = rng.random(len(chosen)) < 0.5
    lines[turned] = lines[turned][:, ::-1]
    return lines


def _answered(spread: np.ndarray, utility: np.ndarray, a: int, b: int, error: float) -> np.ndarray:
    """The spread once the pair is answered, whatever the answer; the information is what is expected of it."""
    along = spread[a] - spread[b]
    v, m = float(along @ along), float(utility[a] - utility[b])
    z = m / np.sqrt(1.0 + v)
    p = error + (1.0 - 2.0 * error) * float(ndtr(z))
    slope2 = (1.0 - 2.0 * error) ** 2 * np.exp(-z * z) / (2.0 * np.pi)
    less = slope2 / max(p * (1.0 - p), 1e-300) / (1.0 + v) if 0.0 < p < 1.0 else 0.0
    shrink = (1.0 - np.sqrt(max(0.0, 1.0 - less * v))) / v
    return np.asarray(spread - np.outer(shrink * (spread @ along), along))


def _candidates(
    view: View, total: int, goal: str, needed: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of kinds, the lower number first: all of them, or as many as are needed and CANDIDATES more."""
    count = view.utility.size
    if total <= CANDIDATES + 2 * needed:
        left, right = np.triu_indices(count, 1)
        return left.astype(np.int64), right.astype(np.int64)
    first = rng.integers(0, count, CANDIDATES + 2 * needed)
    second = (first + rng.integers(1, count, first.size)) % count
    codes = [np.minimum(first, second) * count + np.maximum(first, second)]
    if goal == "best":
        hope = view.utility + np.sqrt((view.spread**2).sum(axis=1))
        top = np.sort(np.argsort(-hope, kind="stable")[:HOPEFUL])
        a, b = np.triu_indices(top.size, 1)
        codes.append(top[a] * count + top[b])
    code = np.unique(np.concatenate(codes))
    return code // count, code % count


@lru_cache(maxsize=64)
def _shape(error: float) -> tuple[float, float]:
    """Entropy of an answer about items far apart, and the width of the bell that has the area of the rest."""
    floor = bits(error)
    if floor >= 1.0:
        return 1.0, 1.0
    u = np.linspace(-12.0, 12.0, 4801)
    p = error + (1.0 - 2.0 * error) * ndtr(u)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -(p * np.log2(p) + (1.0 - p) * np.log2(1.0 - p))
    rest = (np.nan_to_num(entropy) - floor) / (1.0 - floor)
    return floor, float((rest.sum() * (u[1] - u[0])) ** 2 / (2.0 * np.pi))
