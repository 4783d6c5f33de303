"""The certificate of a model of grades once more: plain NumPy, no kernel, and no pair of a large group listed.

Grades are parted anew, prices are counted anew: nothing comes from the trees, sorts and sums of the solver.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from softmargin.constraints.graded import Constraints, Grades, read_weights
from softmargin.diagnostics.posed import Posed, one_by_one
from softmargin.diagnostics.scored_sums import one_side
from softmargin.estimators._statements import read_columns, read_pairs
from softmargin.estimators.ranker import SoftMarginRanker
from softmargin.solvers.certificate import distance_bound
from softmargin.solvers.problem import Gap
from softmargin.solvers.score_problem import stiffnesses_to_try

SMALL = 64  # rows of a group whose pairs are written out
AT_ONCE = 2_000_000  # pairs
MOST_PAIRS = 20_000_000  # that are listed, where each has a dual of its own
ROUNDING = 1e-5  # relative, of the balance of duals: what stiff duals make of the rounding of a score


class Sums(NamedTuple):
    """Sums over pairs."""

    loss: float
    gain: float
    residual: float


@dataclass(frozen=True)
class Part(ABC):
    """Some pairs, at a price that holds C."""

    price: Any

    @abstractmethod
    def mass(self) -> float:
        """The prices of all pairs together."""

    @abstractmethod
    def settle(self, scores: np.ndarray, width: float, pull: np.ndarray) -> Sums:
        """OUT ``pull``: += the balance of the duals by row; duals grow until a pair lacks ``width``, inf: for ever."""

    @abstractmethod
    def listed(self) -> tuple[np.ndarray, ...]:
        """All pairs: upper and lower row, required margin, price."""


@dataclass(frozen=True)
class Listed(Part):
    """Pairs that the user listed."""

    upper: np.ndarray
    lower: np.ndarray
    required: np.ndarray

    def mass(self) -> float:
        return float(np.sum(self.price))

    def settle(self, scores: np.ndarray, width: float, pull: np.ndarray) -> Sums:
        short = self.required - (scores[self.upper] - scores[self.lower])
        dual, sums = terms(short, width, self.required, self.price)
        np.add.at(pull, self.upper, dual)
        np.subtract.at(pull, self.lower, dual)
        return sums

    def listed(self) -> tuple[np.ndarray, ...]:
        return self.upper, self.lower, self.required, self.price


@dataclass(frozen=True)
class Alike(Part):
    """Small groups of one size, one a line: rows, grades and the mass of each row."""

    rows: np.ndarray
    grade: np.ndarray
    weight: np.ndarray
    required: np.ndarray  # by group, as is the price

    def above(self) -> np.ndarray:
        """The mass of every pair whose first row has the higher grade, else zero."""
        higher = self.grade[:, :, None] > self.grade[:, None, :]
        return np.where(higher, self.weight[:, :, None] * self.weight[:, None, :], 0.0)

    def mass(self) -> float:
        return float(sum(np.sum(part.price * part.above().sum(axis=(1, 2))) for part in self.pieces()))

    def pieces(self) -> Iterator["Alike"]:
        """A few groups at a time."""
        step = max(1, AT_ONCE // max(1, self.rows.shape[1]) ** 2)
        for start in range(0, len(self.rows), step):
            cut = slice(start, start + step)
            yield Alike(self.price[cut], self.rows[cut], self.grade[cut], self.weight[cut], self.required[cut])

    def settle(self, scores: np.ndarray, width: float, pull: np.ndarray) -> Sums:
        total = np.zeros(3)
        for part in self.pieces():
            own, required = scores[part.rows], part.required[:, None, None]
            price = times(part.price[:, None, None], part.above())
            dual, sums = terms(required - (own[:, :, None] - own[:, None, :]), width, required, price)
            np.add.at(pull, part.rows, dual.sum(axis=2) - dual.sum(axis=1))
            total += sums
        return Sums(*total)

    def listed(self) -> tuple[np.ndarray, ...]:
        above = self.above()
        group, i, j = np.nonzero(self.grade[:, :, None] > self.grade[:, None, :])
        price = times(self.price[group], above[group, i, j])
        return self.rows[group, i], self.rows[group, j], self.required[group], price


@dataclass(frozen=True)
class Halves(Part):
    """Every row of ``upper`` over every row of ``lower``."""

    upper: np.ndarray
    lower: np.ndarray
    upper_weight: np.ndarray
    lower_weight: np.ndarray
    required: float

    def mass(self) -> float:
        return float(self.price * self.upper_weight.sum() * self.lower_weight.sum())

    def settle(self, scores: np.ndarray, width: float, pull: np.ndarray) -> Sums:
        up, low = scores[self.upper], scores[self.lower]
        if up.size * low.size <= AT_ONCE:  # written out, to the last digit
            price = times(self.price, np.outer(self.upper_weight, self.lower_weight))
            dual, written = terms(self.required - (up[:, None] - low), width, self.required, price)
            pull[self.upper] += dual.sum(axis=1)
            pull[self.lower] -= dual.sum(axis=0)
            return written
        held, loss, residual = one_side(up - self.required, self.upper_weight, low, self.lower_weight, width)
        pull[self.upper] += self.price * held
        # From the other side, with all signs turned, the same pairs.
        against, _, _ = one_side(-low - self.required, self.lower_weight, -up, self.upper_weight, width)
        pull[self.lower] -= self.price * against
        gain = self.required * float(held.sum()) - (loss if width == np.inf else 0.0)
        return Sums(self.price * loss, self.price * gain, self.price * residual)

    def listed(self) -> tuple[np.ndarray, ...]:
        upper, lower = (side.ravel() for side in np.broadcast_arrays(self.upper[:, None], self.lower))
        price = times(np.float64(self.price), np.outer(self.upper_weight, self.lower_weight)).ravel()
        return upper, lower, np.full(upper.size, self.required), price


def times(price: Any, mass: np.ndarray) -> np.ndarray:
    """The price of pairs of this mass; what has no mass has no price, at C = inf either."""
    return np.multiply(price, mass, out=np.zeros_like(mass), where=mass > 0.0)


def terms(short: np.ndarray, width: float, required: Any, price: Any) -> tuple[np.ndarray, Sums]:
    """Duals of pairs that lack ``short``, and their sums."""
    slack = np.maximum(short, 0.0)
    if width == np.inf:
        dual, loss = 2.0 * price * slack, price * slack**2
        return dual, Sums(loss.sum(), (dual * required - loss).sum(), 0.0)
    share = np.minimum(slack / width, 1.0)
    dual = price * share
    return dual, Sums(np.sum(price * slack), np.sum(dual * required), np.sum(price * slack * (1.0 - share)))


@dataclass(frozen=True)
class Told:
    """All that was said about the rows of X."""

    sources: list[list[Part]]
    rows: int
    squared: bool
    unit: float  # the largest required margin

    @property
    def parts(self) -> list[Part]:
        """Of all sources."""
        return [part for parts in self.sources for part in parts]


def told(model: SoftMarginRanker, y: Any, qid: Any, weight: Any, rows: int) -> Told:
    """Grades or ``Constraints`` once more, with prices that hold C."""
    sources: list[list[Part]] = []
    for source in y if isinstance(y, Constraints) else [Grades(y, qid, weight)]:
        if isinstance(source, Grades):
            found: list[Part] = list(graded_parts(model, source, rows, bare=not isinstance(y, Constraints)))
        else:
            pairs = read_pairs(source, rows, model.weighting)
            found = [Listed(pairs.price, pairs.better, pairs.worse, pairs.required)]
        sources.append([replace(part, price=float(source.price) * part.price) for part in found])
    everything = [part for parts in sources for part in parts]
    C = float(model.C) if model.lam is None else 1.0 / (float(model.lam) * sum(part.mass() for part in everything))
    unit = max((float(np.max(part.required, initial=0.0)) for part in everything), default=1.0)  # type: ignore[attr-defined]
    for parts in sources:
        parts[:] = [replace(part, price=times(C, np.asarray(part.price, dtype=np.float64))) for part in parts]
    return Told(sources, rows, model.loss == "squared_hinge", unit or 1.0)


def graded_parts(model: SoftMarginRanker, given: Grades, rows: int, *, bare: bool) -> Iterator[Part]:
    """Small groups by size, large ones grade by grade."""
    read = read_columns(given, rows, bare=bare)
    y, present = read.y, np.flatnonzero(~np.isnan(read.y.astype(np.float64)))
    group = np.zeros(present.size, dtype=np.int64) if read.group is None else read.group[present]
    weights = read_weights(
        given.weight, model.weighting, None if read.group is None else group, present, read.count, rows
    )
    mass = np.ones(rows)
    if weights.mass is not None:
        mass[present] = weights.mass
    price, required = weights.scale, np.ones(read.count)
    if model.weighting == "margin":
        price, required = required, price
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=read.count)
    first = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[(sizes > 1) & (sizes <= SMALL)]):
        same = np.flatnonzero(sizes == size)
        lines = present[order[first[same][:, None] + np.arange(size)]]
        alike = Alike(price[same], lines, y[lines].astype(np.float64), mass[lines], required[same])
        yield shared(alike, copies=read.group is None) if model.groups == "equal" else alike
    for g in np.flatnonzero(sizes > SMALL):
        members = present[order[first[g] : first[g] + sizes[g]]]
        halves = list(by_grades(members, y, mass, price[g], required[g]))
        if model.groups == "equal":
            count = sum(part.mass() if read.group is None else part.price * part.upper.size * part.lower.size
                        for part in halves)  # fmt: skip
            halves = [replace(part, price=part.price * price[g] / count) for part in halves if count > 0]
        yield from halves


def shared(alike: Alike, *, copies: bool) -> Alike:
    """Each group's price over the number of its pairs, where weights are copies of rows over their mass."""
    ones = alike if copies else replace(alike, weight=np.ones_like(alike.weight))
    count = np.concatenate([part.above().sum(axis=(1, 2)) for part in ones.pieces()])
    return replace(alike, price=np.divide(alike.price, count, out=np.zeros(count.size), where=count > 0))


def by_grades(members: np.ndarray, y: np.ndarray, mass: np.ndarray, price: float, required: float) -> Iterator[Halves]:
    """The rows of a group cut at a grade, and both halves again, until each has one grade."""
    levels, sizes = np.unique(y[members], return_counts=True)
    if levels.size < 2:
        return
    cut = levels[max(1, int(np.searchsorted(np.cumsum(sizes), members.size // 2)))]
    upper, lower = members[y[members] >= cut], members[y[members] < cut]
    yield Halves(price, upper, lower, mass[upper], mass[lower], required)
    for half in (upper, lower):
        yield from by_grades(half, y, mass, price, required)


def settle(asked: Told, scores: np.ndarray, stiffness: float) -> tuple[np.ndarray, Sums]:
    """Duals that follow from the scores: ``price min(1, stiffness short)``, or ``2 price short`` for the square."""
    pull, width = np.zeros(asked.rows), np.inf if asked.squared else 1.0 / stiffness
    total = np.zeros(3)
    for part in asked.parts:
        total += part.settle(scores, width, pull)
    return pull, Sums(*total)


def every_pair_posed(X: Any, asked: Told) -> Posed:
    """Small data whose solver listed the pairs: each has a dual of its own, of grades in the order of its rows."""
    if sum(pairs_in(part) for part in asked.parts) > MOST_PAIRS:
        message = f"X and y make more than {MOST_PAIRS:,} pairs, too many to verify one by one, as C=inf has to"
        raise ValueError(message)
    lists = []
    for parts in asked.sources:
        columns = [np.concatenate(column) for column in zip(*(part.listed() for part in parts), strict=True)]
        if columns and not isinstance(parts[0], Listed):
            order = np.lexsort(columns[1::-1])
            columns = [column[order] for column in columns]
        lists.append(columns)
    return one_by_one(
        X, *(np.concatenate(column) for column in zip(*filter(None, lists), strict=True)), squared=asked.squared
    )


def pairs_in(part: Part) -> int:
    """How many pairs a part has."""
    if isinstance(part, Halves):
        return int(part.upper.size * part.lower.size)
    return int(np.size(part.price)) if isinstance(part, Listed) else int(part.rows.size * part.rows.shape[1])  # type: ignore[attr-defined]


def gap_of(asked: Told, X: Any, w: np.ndarray, stiffness: float) -> tuple[np.ndarray, Gap]:
    """The balance of the duals at these weights, and what they prove."""
    pull, sums = settle(asked, np.asarray(X @ w), stiffness)
    w_dual = np.asarray(X.T @ pull)
    apart2 = float(np.sum((w - w_dual) ** 2))
    primal, dual = 0.5 * float(w @ w) + sums.loss, sums.gain - 0.5 * float(w_dual @ w_dual)
    # The same number twice; where rounding tells them apart, the worse one.
    gap = max(sums.residual + 0.5 * apart2, primal - dual)
    if not np.isfinite(gap):
        message = "coef_ of the model is so large that products of it are no numbers: nothing can be proved"
        raise ValueError(message)
    return pull, Gap(primal, min(dual, primal), gap, distance_bound(gap, float(np.sqrt(apart2))))


def proof(model: SoftMarginRanker, asked: Told, X: Any, w: np.ndarray) -> tuple[Gap, float, str]:
    """The gap of weights to the best duals at hand, the passes it took, and where the duals came from."""
    stored, stiffness = getattr(model, "dual_", None), getattr(model, "stiffness_", None)
    missing = "no duals stored, so derived from the weights"
    if stored is not None and np.shape(stored) != (asked.rows,):
        message = (
            f"X has {asked.rows} rows, and dual_ of the model has shape {np.shape(stored)}: pass the X and y that it "
            "was fitted on"
        )
        raise ValueError(message)
    tried = list(stiffnesses_to_try(asked.unit, squared=asked.squared))
    if stored is not None and stiffness is not None and 0.0 < stiffness < np.inf:
        pull, gap = gap_of(asked, X, w, float(stiffness))
        tried.append(float(stiffness))
        if np.all(np.abs(pull - stored) <= ROUNDING * max(1e-300, float(np.abs(pull).max()))):
            return gap, 2.0, "with the duals as stored"
        missing = "the stored duals do not follow from the weights, so others were derived"
    gaps = [gap_of(asked, X, w, stiffness)[1] for stiffness in tried]
    return min(gaps, key=lambda gap: gap.gap), 2.0 * len(tried), missing
