"""Newton's method where constraints are statements about scores: all pairs count, and no pair is ever listed."""

from dataclasses import dataclass

import numpy as np

from softmargin.data.matrix import stored_numbers
from softmargin.kernels.band import gather
from softmargin.kernels.sweep import Rule
from softmargin.solvers.factor import reason_to_stop, solve_positive
from softmargin.solvers.interrupts import stop_if_interrupted
from softmargin.solvers.line_search import search
from softmargin.solvers.parallel import over_ranges
from softmargin.solvers.problem import PRECISION, Gap, added_up
from softmargin.solvers.score_problem import ScoreProblem, ScoreSolution, gap_between
from softmargin.solvers.sources import Source
from softmargin.solvers.stiffness import GROW, MOST_STEPS, SOFTEN

FIRST, STIFFEST = 0.5, 1e9  # in units of 1 / required; at FIRST and w = 0 every pair is free
SHARE = 0.5  # of the gap, that the gradient may have when the smoothing is tightened
EXACT_ENOUGH = 0.1  # of the first derivative, where a line search may stop
SAMPLE = 20_000  # rows that the curvature is taken from, at first
TOO_MANY = 6  # steps of a round, after which it is taken from more
MOST_NUMBERS = 12_500_000  # of a block of rows written out; with what is made of it, 400 MB
GRAM_WIDTH = 2500  # columns of a matrix that is factored, as for signed rows
PRODUCTS_A_NUMBER = 1500  # of the matrix that take as long as one stored number in the conjugate steps it saves
MOST_CONJUGATE_STEPS = 500
STALLED = 10  # tightenings without a smaller gap: the end of what float64 can tell
DEAD_LEVEL = 1e-30  # of the objective: a gradient that is rounding


def solve_scores(problem: ScoreProblem, tol: float, max_passes: float) -> ScoreSolution:
    """The best weights met, with their gap, when that is small enough, or at the end of passes or patience.

    minimise    1/2 |w|^2 + sum price loss(required - (score[better] - score[worse])),  scores = X w
    each round  for a stiffness s: dual = price clip(s short, 0, 1) is the slope of a smooth loss; Newton steps make
                w - X' pull small; then s grows, and w first goes where the duals of the free pairs would stay as they
                are.  The squared hinge is smooth as it is: one round.
    the proof   the duals of every step are feasible, so its gap costs nothing more
    the cost    of a step: two passes over X, a few sorts of the scores, and the curvature of a sample of the rows,
                which gives the direction only; line search, gradient and gap are of all rows
    Source      the sweep of ``kernels.sweep``; semismooth Newton as in ``solvers.newton``
    """
    run = ScoreNewton(problem)
    reason = reason_to_stop(run.until, tol, max_passes)
    return run.proved(reason)


@dataclass
class _Best:
    """The weights with the smallest gap so far, and the stiffness of the duals that prove it."""

    w: np.ndarray
    stiffness: float
    gap: Gap
    pull: np.ndarray | None = None  # of those duals, once they and the gap were worked out from the data


class ScoreNewton:
    """Newton steps over scores, in ever stiffer rounds."""

    def __init__(self, problem: ScoreProblem) -> None:
        self.problem, self.items, self.numbers = problem, problem.items, stored_numbers(problem.rows)
        self.w, self.scores = np.zeros(problem.width), np.zeros(problem.size)
        self.stiffness, self.stiffest = FIRST / problem.unit, STIFFEST / problem.unit
        self.passes, self.most_passes, self.sample = 0.0, np.inf, SAMPLE
        self.samples = [source.thinned(self.sample) for source in problem.sources]
        self.best = _Best(self.w, self.stiffness, Gap(np.inf, 0.0, np.inf, np.inf))
        self._settle()

    def until(self, tol: float, max_passes: float) -> str:
        """Rounds until the gap is small enough; returns why it stopped."""
        stalled, before, self.most_passes = 0, np.inf, max_passes
        while True:
            steps = 0
            while True:
                stop_if_interrupted()
                if self.best.gap.relative <= tol and self._holds(tol):
                    return "tol"
                if self.passes >= max_passes:
                    return "max_passes"
                half = 0.5 * float(self.gradient @ self.gradient)
                level = half <= SHARE * self.totals.residual or half <= DEAD_LEVEL * self.best.gap.primal
                if level or steps == MOST_STEPS:
                    break
                self._step(self._direction(self.rule, self.gradient))
                steps += 1
                if steps % TOO_MANY == 0:
                    self._sample_more()
            stalled, before = stalled + 1 if self.best.gap.gap >= 0.9 * before else 0, self.best.gap.gap
            if stalled == STALLED or (self.problem.squared and steps == 0):
                return PRECISION
            if not self.problem.squared:
                self._tighten(steps)

    @property
    def rule(self) -> Rule:
        """How duals follow from scores in this round."""
        return self.problem.rule(self.stiffness)

    def proved(self, reason: str) -> ScoreSolution:
        """The best weights and their proof, from the data."""
        best = self.best
        pull, gap = best.pull, best.gap
        if pull is None:
            pull, gap = self.problem.proved(best.w, best.stiffness)
        return ScoreSolution(best.w, 0.0, pull, gap, self.passes, reason, best.stiffness)

    def _holds(self, tol: float) -> bool:
        """Whether the best gap is small enough when worked out from the data; if not, the scores have drifted."""
        best = self.best
        best.pull, best.gap = self.problem.proved(best.w, best.stiffness)
        self.passes += 2.0
        if best.gap.relative <= tol:
            return True
        self.scores = self.items.margins(self.w)
        self.passes += 1.0
        self._settle()
        return False

    def _settle(self) -> None:
        """Duals, gradient and gap at the present scores."""
        self.pull, self.totals = self.problem.settle(self.scores, self.rule)
        self._take_stock()

    def _take_stock(self) -> None:
        """Gradient and gap of the duals that are there."""
        from_dual, _ = self.items.weights(self.pull)
        self.passes += 1.0
        gap = gap_between(self.w, from_dual, self.totals)
        self.gradient = np.subtract(self.w, from_dual, out=from_dual)
        if gap.gap < self.best.gap.gap:
            self.best = _Best(self.w, self.stiffness, gap)

    def _tighten(self, steps: int) -> None:
        """The next round.  Its first step keeps the duals of the pairs that are free now: they lack less, in step."""
        before = self.rule
        if steps == MOST_STEPS:
            self.stiffness /= SOFTEN
            self._settle()
            return
        self.stiffness = min(GROW * self.stiffness, self.stiffest)
        same_pairs = before._replace(rate=self.stiffness)
        pull, _ = self.problem.settle(self.scores, same_pairs)
        direction = self._direction(same_pairs, self.w - self.items.weights(pull)[0])
        self.passes += 1.0
        self._settle()
        if direction @ self.gradient < 0.0:
            self._step(direction)

    def _step(self, direction: np.ndarray) -> None:
        """Go that way as long as it pays."""
        rule, start, here = self.rule, self.scores, float(self.gradient @ direction)
        change = self.items.margins(direction)
        self.passes += 1.0
        linear, quadratic = float(self.w @ direction), float(direction @ direction)

        def derivative(x: float) -> tuple[float, float]:
            """Of the smooth objective; its own slope is not worth another sweep."""
            self.scores = start + x * change
            self.pull, self.totals = self.problem.settle(self.scores, rule)
            return linear + quadratic * x - float(self.pull @ change), 0.0

        length = search(derivative, 1.0, -EXACT_ENOUGH * here, here)
        self.w = self.w + length * direction  # the last trial: its duals are there
        self._take_stock()

    def _sample_more(self) -> None:
        """The curvature of more rows: the steps were too poor."""
        if all(sample is source for sample, source in zip(self.samples, self.problem.sources, strict=True)):
            return
        self.sample *= 4
        self.samples = [source.thinned(self.sample) for source in self.problem.sources]

    def _direction(self, rule: Rule, gradient: np.ndarray) -> np.ndarray:
        """Solve ``(I + X' H X) direction = -gradient``, H the slope of the pulls in the scores."""
        width, most = self.problem.width, max(sample.rows.size for sample in self.samples)
        cheap = most * width**2 <= PRODUCTS_A_NUMBER * self.numbers
        if width <= GRAM_WIDTH and width * most <= MOST_NUMBERS and cheap:
            curved = added_up([self._curvature(sample, rule) for sample in self.samples])

            def hessian() -> np.ndarray:
                matrix = curved.copy()
                matrix[np.diag_indices(width)] += 1.0
                return matrix

            return -solve_positive(hessian, gradient)
        return self._by_conjugate_gradients(rule, gradient)

    def _curvature(self, sample: Source, rule: Rule) -> np.ndarray:
        """``X' H X`` over the rows of a sample."""
        rows, width = sample.rows, self.problem.width
        block = np.empty((rows.size, width))

        def write(start: int, stop: int) -> None:
            gather(self.problem.rows, rows, np.ones(1), np.zeros(width), start, stop, block[start:stop])

        over_ranges(write, rows.size, block.size)
        self.passes += rows.size / self.problem.size
        bent = sample.bend(self.scores, rule, block)

        def part(start: int, stop: int) -> np.ndarray:
            return np.asarray(block[start:stop].T @ bent[start:stop])

        return added_up(over_ranges(part, rows.size, block.size))

    def _by_conjugate_gradients(self, rule: Rule, gradient: np.ndarray) -> np.ndarray:
        """Many columns: products only, each of two passes over X."""
        found, left = np.zeros(gradient.size), -gradient
        along, left2 = left.copy(), float(left @ left)
        enough = 0.05**2 * left2
        for _ in range(MOST_CONJUGATE_STEPS):
            stop_if_interrupted()
            curved = along + self._curved(rule, along)
            length = left2 / float(along @ curved)
            found += length * along
            left -= length * curved
            before, left2 = left2, float(left @ left)
            if left2 <= enough or self.passes >= self.most_passes:
                break
            along = left + (left2 / before) * along
        return found

    def _curved(self, rule: Rule, v: np.ndarray) -> np.ndarray:
        """``X' H X v``."""
        change, pull = self.items.margins(v), np.zeros(self.problem.size)
        for source in self.problem.sources:
            pull[source.rows] += source.bend(self.scores, rule, change[source.rows, None])[:, 0]
        self.passes += 2.0
        return self.items.weights(pull)[0]
