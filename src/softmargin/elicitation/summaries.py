"""What a belief says in words that a person can use: a ranking with intervals, weights, and when to stop."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from softmargin.elicitation.questions import Kinds, View
from softmargin.kernels.questions import expected_order

PAIRS = 100_000  # of more pairs of kinds than this, so many are drawn
DRAWS, FEWER_DRAWS, MANY = 1000, 400, 2000  # of weights, and how many of them where there are many kinds
MOST_LINES = 10


@dataclass(frozen=True)
class Ranking:
    """Every item with its rank, 1 for the best, and the ranks that it has in the share ``level`` of cases.

    Items with the same features have the same rank.  All arrays but ``order`` have one value for each row of X.
    """

    level: float
    order: np.ndarray  # row numbers, best first
    rank: np.ndarray
    low: np.ndarray  # the best rank that is likely
    high: np.ndarray  # the worst
    utility: np.ndarray

    def __str__(self) -> str:
        """A small table, best first."""
        lines = [f"{'rank':>6}  {f'{self.level:.0%} of cases':>15}  {'row':>6}  {'utility':>10}"]
        for row in self.order[:MOST_LINES]:
            between = f"{self.low[row]} to {self.high[row]}"
            lines.append(f"{self.rank[row]:>6}  {between:>15}  {row:>6}  {self.utility[row]:>10.4g}")
        return "\n".join([*lines, *_left_out(self.order.size, "item")])


@dataclass(frozen=True)
class Weights:
    """Every weight with the interval that holds it in the share ``level`` of cases."""

    level: float
    names: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __str__(self) -> str:
        """A small table, those that are surest not to be zero first."""
        order = np.argsort(-np.abs(self.mean) / self.sd, kind="stable")[:MOST_LINES]
        names = [str(self.names[place]) for place in order]
        wide = max(map(len, ["feature", *names]))
        lines = [f"{'feature':<{wide}}  {'weight':>10}  {f'{self.level:.0%} of cases':>24}"]
        for name, place in zip(names, order, strict=True):
            between = f"{self.low[place]:.4g} to {self.high[place]:.4g}"
            lines.append(f"{name:<{wide}}  {self.mean[place]:>10.4g}  {between:>24}")
        return "\n".join([*lines, *_left_out(self.names.size, "feature")])


def ranking_of(view: View, kinds: Kinds, level: float) -> Ranking:
    """Ranks of the mean utilities, and intervals of ranks from weights that are drawn, always the same ones."""
    rank = _ranks(view.utility, kinds.size)
    count = view.utility.size
    draws = _draws(DRAWS if count <= MANY else FEWER_DRAWS, view.spread.shape[1])
    ranks = np.empty((len(draws), count), dtype=np.int64)
    for k, draw in enumerate(draws):
        ranks[k] = _ranks(view.utility + view.spread @ draw, kinds.size)
    ranks.sort(axis=0)
    out = int(np.floor(0.5 * (1.0 - level) * len(draws)))  # draws beyond either end
    low, high = np.minimum(ranks[out], rank), np.maximum(ranks[len(draws) - 1 - out], rank)
    order = np.argsort(rank[kinds.of], kind="stable")
    return Ranking(level, order, rank[kinds.of], low[kinds.of], high[kinds.of], view.utility[kinds.of])


def weights_of(names: np.ndarray, mean: np.ndarray, covariance: np.ndarray, level: float) -> Weights:
    """Each weight on its own."""
    sd = np.sqrt(np.diag(covariance))
    reach = float(ndtri(0.5 + 0.5 * level)) * sd
    return Weights(level, names, mean, sd, mean - reach, mean + reach)


def expected_tau_of(view: View, kinds: Kinds) -> float:
    """Kendall's tau that is expected between the ranking and the true one, over pairs that features tell apart."""
    if not kinds.pairs:
        return 1.0
    if kinds.pairs <= PAIRS:
        left, right = np.triu_indices(kinds.first.size, 1)
    else:
        rng = np.random.default_rng(0)
        left = rng.integers(0, kinds.first.size, PAIRS)
        right = (left + rng.integers(1, kinds.first.size, PAIRS)) % kinds.first.size
    price = (kinds.size[left] * kinds.size[right]).astype(np.float64)
    return float(expected_order(view.spread, view.utility, left, right, price))


def expected_regret_of(view: View) -> float:
    """What the item of the highest utility is expected to lack of the best, as a share of best minus worst."""
    draws = _draws(DRAWS, view.spread.shape[1])
    chosen, lost, between = int(np.argmax(view.utility)), 0.0, 0.0
    for draw in draws:
        utility = view.utility + view.spread @ draw
        best = utility.max()
        lost += best - utility[chosen]
        between += best - utility.min()
    return float(lost / between) if between > 0.0 else 0.0


def better_chance(view: View, a: int, b: int) -> float:
    """The probability that the utility of kind a is above that of kind b; one half where they are the same."""
    along = view.spread[a] - view.spread[b]
    m, s = view.utility[a] - view.utility[b], float(np.sqrt(along @ along))
    return 0.5 if m == 0.0 and s == 0.0 else float(ndtr(np.float64(m) / s)) if s > 0.0 else float(m > 0.0)


def _ranks(utility: np.ndarray, size: np.ndarray) -> np.ndarray:
    """1 plus the number of items above, for each kind."""
    order = np.argsort(-utility, kind="stable")
    ranks = np.empty(utility.size, dtype=np.int64)
    ranks[order] = 1 + np.concatenate(([0], np.cumsum(size[order])[:-1]))
    return ranks


@lru_cache(maxsize=16)
def _draws(count: int, width: int) -> np.ndarray:
    """Standard normal vectors, always the same, each with its opposite."""
    half = np.random.default_rng(0).normal(size=(count // 2, width))
    return np.concatenate((half, -half))


def _left_out(count: int, what: str) -> list[str]:
    more = count - MOST_LINES
    return [f"{more} more {what}{'s' if more > 1 else ''}"] if more > 0 else []
