"""Sources of pairs: statements about scores, whether they are graded groups or a list of pairs.

A source sees one score for each row of X and answers with how hard its duals pull each row up or down.  It holds no
dual: under a ``Rule`` every dual follows from the scores.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from softmargin.kernels.scored_pairs import bend_pairs, pull_pairs
from softmargin.kernels.sweep import (
    BY_INSERTION,
    Forest,
    Rule,
    Sorted,
    Stage,
    bend_of,
    forest_of,
    list_pairs,
    mass_of_pairs,
    pull_of,
    sort_small,
)
from softmargin.solvers.parallel import over_ranges

FAR_MORE = 20.0  # than the mean group: at most one in so many is
FEWEST = 256  # rows of a group that are worth sampling from
EPS, LEAST = float(np.finfo(np.float64).eps), 1e-280
GRAIN_BITS = 50  # of a required margin: differences of up to eight margins are exact
STEPS_A_ROW = 40  # a sweep takes as long a row as a pass over so many numbers
MOST_PAIRS = 20_000_000  # that are listed where a solver needs them listed, at some 230 bytes each


class Totals(NamedTuple):
    """Sums over pairs."""

    loss: float
    gain: float
    residual: float  # of Fenchel and Young, see ``kernels.sums.gap_terms``

    @classmethod
    def of(cls, parts: list[np.ndarray]) -> "Totals":
        """Of several kernels' returns."""
        return cls(*(float(part) for part in np.sum(parts, axis=0)))


class PairList(NamedTuple):
    """Pairs written out: row numbers of X, what each requires, and its price."""

    better: np.ndarray
    worse: np.ndarray
    required: np.ndarray
    price: np.ndarray


class Source(ABC):
    """Statements about the scores of some rows of X."""

    rows: np.ndarray  # numbers of the rows that are compared, each once
    largest: float  # of the required margins

    @abstractmethod
    def settle(self, scores: np.ndarray, rule: Rule, pull: np.ndarray) -> np.ndarray:
        """OUT ``pull``: += the balance of the duals at these scores, by row of X; returns ``Totals`` as an array."""

    @abstractmethod
    def bend(self, scores: np.ndarray, rule: Rule, V: np.ndarray) -> np.ndarray:
        """``H V``, H the slope of the pulls in the scores; a line for each of ``rows``."""

    @abstractmethod
    def times(self, factor: float) -> "Source":
        """The same statements at so many times the price."""

    @property
    @abstractmethod
    def pairs(self) -> int:
        """How many pairs it stands for."""

    @abstractmethod
    def listed(self) -> PairList:
        """All pairs, for who cannot do without."""

    def thinned(self, most: int) -> "Source":  # noqa: ARG002 a list is as long as its user made it
        """About the same curvature from fewer rows, where there are more than ``most``."""
        return self


class ScoredPairs(Source):
    """Explicit pairs: ``score[better] - score[worse] >= required``, slack at a price."""

    def __init__(self, pairs: PairList) -> None:
        self._listed, self.largest = pairs, float(pairs.required.max(initial=0.0))
        both = np.concatenate([pairs.better, pairs.worse])
        self.rows, places = np.unique(both, return_inverse=True)
        better, worse = places.astype(np.uint32).reshape(2, -1)
        self._local = pairs._replace(better=better, worse=worse)

    def settle(self, scores: np.ndarray, rule: Rule, pull: np.ndarray) -> np.ndarray:
        held = np.zeros(self.rows.size)
        totals = pull_pairs(*self._local, scores[self.rows], rule, held)
        pull[self.rows] += held
        return np.asarray(totals)

    def bend(self, scores: np.ndarray, rule: Rule, V: np.ndarray) -> np.ndarray:
        out = np.zeros_like(V)
        bend_pairs(*self._local, scores[self.rows], rule, V, out)
        return out

    def times(self, factor: float) -> "ScoredPairs":
        return ScoredPairs(self._listed._replace(price=factor * self._listed.price))

    @property
    def pairs(self) -> int:
        return int(self._listed.better.size)

    def listed(self) -> PairList:
        return self._listed


class GradedGroups(Source):
    """Graded groups: in each, every row over every row of a lower grade.

    ``rows[place]`` is a row of X; the scores stay sorted from one question to the next, which are often about the same.

    Scores and required margins are rounded to a grain of 1e-15 of what is required.  What a pair lacks near its margin
    is then exact, so its two rows see one and the same dual, however stiff: what they prove is true.
    """

    def __init__(self, rows: np.ndarray, forest: Forest) -> None:
        required = forest.required
        grain = 2.0 ** (np.ceil(np.log2(np.where(required > 0.0, np.maximum(required, LEAST), 1.0))) - GRAIN_BITS)
        self._grain = grain if grain.size == 1 else np.repeat(grain, np.diff(forest.starts))
        self.rows, self.forest = rows, forest._replace(required=np.rint(required / grain) * grain)
        self.largest = float(required.max(initial=0.0))
        self._by_score = Sorted(np.arange(rows.size, dtype=np.uint32), np.zeros(rows.size))
        self._seen: np.ndarray | None = None
        sizes = np.diff(forest.starts)
        self._large, self._largest = np.flatnonzero(sizes > BY_INSERTION), int(sizes.max(initial=0))

    @property
    def groups(self) -> int:
        """How many groups are compared."""
        return int(self.forest.starts.size - 1)

    def settle(self, scores: np.ndarray, rule: Rule, pull: np.ndarray) -> np.ndarray:
        self._sort(scores)
        held = np.zeros((2, self.rows.size))

        def part(start: int, stop: int) -> np.ndarray:
            totals = np.zeros(3)
            for side, groups, stage in self._sides(start, stop):
                sums = pull_of(self.forest, self._by_score, rule, side == 0, groups, stage, held[side])
                totals += sums if side == 0 else 0.0
            return totals

        totals = over_ranges(part, 2 * self.groups, STEPS_A_ROW * self.rows.size)
        pull[self.rows] += held[0] - held[1]
        return np.asarray(np.sum(totals, axis=0))

    def bend(self, scores: np.ndarray, rule: Rule, V: np.ndarray) -> np.ndarray:
        self._sort(scores)
        out = np.zeros((2, *V.shape))

        def part(start: int, stop: int) -> None:
            for side, groups, stage in self._sides(start, stop):
                bend_of(self.forest, self._by_score, rule, side == 0, groups, stage, V, out[side])

        over_ranges(part, 2 * self.groups, STEPS_A_ROW * V.size)
        return np.asarray(out[0] + out[1])

    def _sort(self, scores: np.ndarray) -> None:
        if self._seen is scores:
            return
        own, by_score, starts = scores[self.rows], self._by_score, self.forest.starts
        with np.errstate(over="ignore"):
            np.copyto(own, np.rint(own / self._grain) * self._grain, where=np.abs(own) < 4.0 / EPS * self._grain)
        for g in self._large:
            start, stop = starts[g], starts[g + 1]
            order = np.argsort(own[start:stop])
            by_score.places[start:stop], by_score.scores[start:stop] = order + start, own[start:stop][order]
        sort_small(starts, own, by_score, (0, self.groups))
        self._seen = scores

    def _sides(self, start: int, stop: int) -> list[tuple[int, tuple[int, int], Stage]]:
        """A range of twice the groups, in which the upper rows of all come first and then the lower ones."""
        count, size = self.groups, self._largest
        stage = Stage(np.empty(size, np.uint32), np.empty(size), np.empty(size, np.uint32), np.empty(size))
        ranges = (start, min(stop, count)), (max(start, count) - count, stop - count)
        return [(side, groups, stage) for side, groups in enumerate(ranges) if groups[0] < groups[1]]

    def times(self, factor: float) -> "GradedGroups":
        return GradedGroups(self.rows, self.forest._replace(price=factor * self.forest.price))

    def as_met(self) -> np.ndarray:
        """Groups in the order in which their first rows stand in X."""
        starts = self.forest.starts[:-1]
        return np.argsort(np.minimum.reduceat(self.rows, starts), kind="stable") if starts.size else starts

    def one(self, g: int) -> tuple[np.ndarray, Forest]:
        """The rows of a group, and a forest of it alone."""
        starts, roots, nodes, required, price, mass = self.forest
        start, stop = starts[g], starts[g + 1]
        alone = Forest(
            np.array([0, stop - start]), np.array([0, roots[g + 1] - roots[g]]), nodes[roots[g] : roots[g + 1]] - start,
            required[g : g + 1] if required.size > 1 else required, price[g : g + 1] if price.size > 1 else price,
            mass[start:stop] if mass.size > 1 else mass,
        )  # fmt: skip
        return self.rows[start:stop], alone

    def levels(self, g: int) -> np.ndarray:
        """Places where a grade begins in group g, and the end of the group."""
        starts, roots, nodes = self.forest[:3]
        inner = nodes[roots[g] : roots[g + 1], 1]
        return np.sort(np.concatenate([starts[g : g + 2], inner]))

    @property
    def pairs(self) -> int:
        nodes = self.forest.nodes
        return int(np.sum((nodes[:, 1] - nodes[:, 0]) * (nodes[:, 2] - nodes[:, 1])))

    def listed(self) -> PairList:
        if self.pairs > MOST_PAIRS:
            message = (
                f"y and qid imply {self.pairs:.3g} pairs, and this solver lists them, at most {MOST_PAIRS:.2g}: pass "
                "solver='newton' and a finite C, which list none"
            )
            raise ValueError(message)
        upper, lower, group = (np.empty(self.pairs, dtype=np.uint32) for _ in range(3))
        list_pairs(self.forest, upper, lower, group)
        _, _, _, required, price, mass = self.forest
        prices = price[group] if price.size != 1 else np.full(self.pairs, price[0])
        if mass.size > 1:
            prices *= mass[upper] * mass[lower]
        required = required[group] if required.size != 1 else np.full(self.pairs, required[0])
        return PairList(self.rows[upper], self.rows[lower], required, prices)

    def thinned(self, most: int) -> Source:
        if self.rows.size <= most:
            return self
        # Of many groups not all: then each may still send so many rows.
        every = max(1, -(-min(self.rows.size, self.groups * FEWEST) // most))
        kept, stands_for = self._sample_of_groups(every)
        chosen, copies, levels = [], [], []
        for g in kept:
            edges = self.levels(g)
            places, stand_for = sample(edges, max(2, most // len(kept)))
            chosen.append(places)
            copies.append(stand_for)
            new = np.unique(np.searchsorted(places, edges[:-1]))
            levels.append(new[new < places.size])
        starts = np.concatenate([[0], np.cumsum([places.size for places in chosen])])
        places, mass = np.concatenate(chosen), np.concatenate(copies)
        _, _, _, required, price, own = self.forest
        forest = forest_of(
            starts, np.concatenate([start + new for start, new in zip(starts[:-1], levels, strict=True)]),
            required[kept] if required.size > 1 else required,
            stands_for * (price[kept] if price.size > 1 else price[0]),
            mass * (own[places] if own.size > 1 else own),
        )  # fmt: skip
        return GradedGroups(self.rows[places], forest)

    def _sample_of_groups(self, every: int) -> tuple[np.ndarray, np.ndarray]:
        """One in so many groups, and how many each stands for; those that cost far more than others stay, for one."""
        if every == 1:
            return np.arange(self.groups), np.ones(self.groups)
        cost = np.zeros(self.groups)
        mass_of_pairs(self.forest, cost)
        cost *= self.forest.price
        light = np.flatnonzero(cost <= FAR_MORE * cost.mean())
        chosen = light[::every]
        kept = np.concatenate([np.setdiff1d(np.arange(self.groups), light), chosen])
        stands_for = np.ones(kept.size)
        stands_for[kept.size - chosen.size :] = light.size / max(1, chosen.size)
        order = np.argsort(kept)
        return kept[order], stands_for[order]


def sample(edges: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """About ``size`` places between these edges of levels, and how many places each stands for.

    Half of them go to all levels alike, so that a grade that is rare is there; of too many levels some are left out.
    """
    start, stop = edges[0], edges[-1]
    if stop - start <= size:
        return np.arange(start, stop), np.ones(stop - start)
    sizes = np.diff(edges)
    if 2 * sizes.size > size:
        return start + np.arange(size) * (stop - start) // size, np.full(size, (stop - start) / size)
    keep = np.minimum(sizes, size // (2 * sizes.size) + sizes * size // (2 * (stop - start)))
    places = [first + np.arange(k) * n // k for first, k, n in zip(edges[:-1], keep, sizes, strict=True)]
    return np.concatenate(places), np.repeat(sizes / keep, keep)
