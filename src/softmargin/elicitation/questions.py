"""Which pair to ask about next: what says most about the ranking, or about the best item."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from softmargin.elicitation.fit import even
from softmargin.kernels.questions import BEST, CONTEND, RANK, bits, score, sharpness

GOALS = {"rank": RANK, "best": BEST}
ALL, CANDIDATES = 20_000, 10_000  # pairs: up to the first all are looked at, of more so many and what may be needed
HOPEFUL = 100  # items that may still be the best, all pairs of them among the candidates
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


class Asked(NamedTuple):
    """What was asked already: pairs of kinds, a line each."""

    answered: np.ndarray
    pending: np.ndarray  # without an answer so far
    repeats: bool  # whether a pair that was answered may be asked again


def next_questions(
    view: View, kinds: Kinds, goal: str, n: int, asked: Asked, error: float, seed: int
) -> list[tuple[int, int, bool]]:
    """At most n questions, no pair of kinds twice: left, right (row numbers), and whether it was answered before."""
    rng = np.random.default_rng(seed)
    known = len(asked.answered) + len(asked.pending)
    left, right = _candidates(view, kinds.pairs, goal, n + known, rng)
    code = left * kinds.first.size + right
    again = np.isin(code, _codes(asked.answered, kinds))
    fresh = ~np.isin(code, _codes(asked.pending, kinds))
    if not asked.repeats:
        fresh &= ~again
    left, right, again = left[fresh], right[fresh], again[fresh]
    chosen = _choose(view, left, right, goal, n, known, error)
    lines = np.column_stack((kinds.first[left[chosen]], kinds.first[right[chosen]]))
    turned = rng.random(len(chosen)) < 0.5
    lines[turned] = lines[turned][:, ::-1]
    return [(one, other, told) for (one, other), told in zip(lines.tolist(), again[chosen].tolist(), strict=True)]


def _choose(view: View, left: np.ndarray, right: np.ndarray, goal: str, n: int, known: int, error: float) -> list[int]:
    """Numbers of the candidates that are asked, each as if those before it were answered."""
    spread, width = view.spread, view.spread.shape[1]
    chosen: list[int] = []
    worth, noise = np.empty(left.size), (error, *_shape(error))
    for k in range(min(n, left.size, ONE_BY_ONE)):
        rule, aim = GOALS[goal], spread
        if rule == BEST and known + k >= width and (known + k) % 2:
            rule, aim = CONTEND, _aim(view.utility, spread)
        score(rule, spread, aim, view.utility, left, right, noise, worth)
        worth[chosen] = -np.inf
        chosen.append(int(np.argmax(worth)))
        spread = _answered(spread, view.utility, left[chosen[-1]], right[chosen[-1]], error)
    worth[chosen] = -np.inf
    more = np.argsort(-worth, kind="stable")[: min(n, left.size) - len(chosen)]
    return chosen + more.tolist()


def _aim(utility: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Rows whose differences have the squared length by which one answer without noise would lower the regret.

    An item that is ``m`` behind the best and differs from it by a variance ``v`` costs ``sqrt(v) phi(z) - m Phi(-z)``,
    ``z = m / sqrt(v)``, on average; the slope of that in ``v`` is ``phi(z) / (2 sqrt(v))``.
    """
    behind = spread - spread[np.argmax(utility)]
    v = (behind**2).sum(axis=1)
    rival = v > 0.0
    m, v, behind = utility.max() - utility[rival], v[rival], behind[rival]
    weight = np.exp(-0.5 * m * m / v) / np.sqrt(v)
    return np.asarray(spread @ even((behind * weight[:, None]).T @ behind))


def _answered(spread: np.ndarray, utility: np.ndarray, a: int, b: int, error: float) -> np.ndarray:
    """The spread once the pair is answered, whatever the answer; the information is what is expected of it."""
    along = spread[a] - spread[b]
    v = float(along @ along)
    if v == 0.0:
        return spread
    less = v * sharpness(float(utility[a] - utility[b]), v, error)
    shrink = (1.0 - np.sqrt(max(0.0, 1.0 - less))) / v
    return np.asarray(spread - np.outer(shrink * (spread @ along), along))


def _codes(pairs: np.ndarray, kinds: Kinds) -> np.ndarray:
    return np.asarray(pairs.min(axis=1) * kinds.first.size + pairs.max(axis=1))


def _candidates(
    view: View, total: int, goal: str, needed: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of kinds, the lower number first: all of them, or CANDIDATES and as many as are needed."""
    count = view.utility.size
    if total <= ALL + 2 * needed:
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
    code = np.sort(np.concatenate(codes))
    code = code[np.concatenate(([True], code[1:] != code[:-1]))]
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
