"""Newton's method for several classes at once: as ``solvers.newton``, with a column of weights a class."""

from dataclasses import dataclass, replace

import numpy as np

from softmargin.data.matrix import stored_numbers, with_constant
from softmargin.kernels.band import gather, trace_of
from softmargin.kernels.class_band import ClassSmoothing, bend_classes, curvatures, settle_classes, slope_along_classes
from softmargin.kernels.constraints import ClassConstraints
from softmargin.solvers.class_problem import ClassProblem, class_solution_at
from softmargin.solvers.factor import reason_to_stop, solve_positive
from softmargin.solvers.interrupts import stop_if_interrupted
from softmargin.solvers.line_search import search
from softmargin.solvers.newton import EXACT_ENOUGH, SHARE, STALLED
from softmargin.solvers.parallel import over_ranges
from softmargin.solvers.problem import PRECISION, Solution
from softmargin.solvers.stiffness import MOST_STEPS, stiffer, stiffnesses

DIRECT_UNKNOWNS = 1200  # weights of all classes for which the Newton matrix is written out
BLOCK_ROWS = 16_384
BIAS_RIDGE = 1e-6  # of the proximal term that holds free intercepts near those of the last round
FAR, SLACKEN = 10.0, 1e-2  # intercepts that go so far in a round are held so much less in the next
INTERCEPT_WEIGHS = 1e-3  # in the place of the penalty
MOST_CONJUGATE_STEPS = 300


def solve_classes(problem: ClassProblem, tol: float, max_passes: float, start: Solution | None = None) -> Solution:
    """The best weights met, with their gap, when that is small enough, or at the end of passes or patience.

    minimise    1/2 |W|^2 + sum price_t loss_t, "max" or "sum" (see ``ClassProblem``)
    each round  for a fixed centre and stiffness the duals are piecewise linear in the scores (``kernels.class_band``);
                Newton steps make W - sum dual z small; then the centre moves to the duals and the stiffness grows
    intercepts  free ones are one more row of W with a proximal term instead of a penalty; duals are balanced in the
                certificate (``class_problem.balancing``)
    given       start  any solution, to go on from its duals
    """
    run = ClassNewton(problem)
    if start is not None:
        run.begin_at(start)
    reason = reason_to_stop(run.until, tol, max_passes)
    solution = run.proved(run.best, reason)
    return solution if run.kept is None or solution.gap.gap <= run.kept.gap.gap else replace(run.kept, reason=reason)


@dataclass
class _Best:
    """The weights and the duals with the smallest gap so far."""

    V: np.ndarray
    dual: np.ndarray
    gap: float = np.inf
    primal: float = 0.0


class ClassNewton:
    """Newton steps over rows with classes; ``until`` makes them for soft margins, ``solvers.hard`` for hard ones."""

    def __init__(self, problem: ClassProblem) -> None:
        self.asked, constraints = problem, problem.constraints
        if problem.free_bias:
            constraints = constraints._replace(rows=with_constant(constraints.rows))
        # The same problem with the intercepts among the weights.
        self.problem = ClassProblem(
            constraints, problem.width + problem.free_bias, problem.classes, problem.every, problem.squared
        )
        n, d, k = problem.size, self.problem.width, problem.classes
        self.V, self.from_dual, self.anchor = np.zeros((d, k)), np.zeros((d, k)), np.zeros((d, k))
        self.penalty = np.ones((d, 1))
        if problem.free_bias:
            self.penalty[-1] = BIAS_RIDGE
        self.scores, self.change = np.zeros((n, k)), np.zeros((n, k))
        self.dual, self.centre = np.zeros((n, k)), np.zeros((n, k))
        self.free, self.share = np.zeros((n, k), dtype=np.bool_), np.zeros(n)
        self.no_bias, self.passes, self.most_passes, self.alive = np.zeros(k), 0.0, np.inf, 0
        self.best = _Best(self.V.copy(), self.dual.copy())
        self.kept: Solution | None = None  # the best that was proved with balanced duals at the end of a round
        # "sum" of squares is smooth as it is: one round, no centre.
        self.smooth = problem.every and problem.squared
        rows, _, _, price = constraints
        trace = trace_of(rows, price, d, 0, n)
        self.stiffness, self.stiffest = (2.0, 2.0) if self.smooth else stiffnesses(trace, constraints.required)
        self.numbers = stored_numbers(rows) * k

    def begin_at(self, start: Solution) -> None:
        """Go on from the weights and the duals of a solution."""
        self.V[: self.asked.width] = start.w
        if self.asked.free_bias:
            self.V[-1] = self.anchor[-1] = start.bias
        if not self.smooth:
            self.centre[...] = start.dual
        self.best = _Best(self.V.copy(), start.dual.copy(), start.gap.gap, start.gap.primal)
        self.passes += start.passes

    def half(self, gradient: np.ndarray) -> float:
        """What the gradient adds to the gap; that of intercepts, which have no penalty of their own, weighs more."""
        return 0.5 * float(np.sum(gradient**2 / np.maximum(self.penalty, INTERCEPT_WEIGHS)))

    def smoothing(self) -> ClassSmoothing:
        """What turns scores into duals in this round."""
        _, label, required, price = self.constraints
        return ClassSmoothing(
            label, required, price, self.centre, self.stiffness, self.problem.every, self.problem.squared
        )

    @property
    def constraints(self) -> ClassConstraints:
        """With the intercepts among the weights."""
        return self.problem.constraints

    def proved(self, best: _Best, reason: str) -> Solution:
        """The certificate of weights and duals, from the data."""
        W, bias = (best.V[:-1], best.V[-1]) if self.asked.free_bias else (best.V, self.no_bias)
        return class_solution_at(self.asked, np.ascontiguousarray(W), bias.copy(), best.dual, self.passes, reason)

    def until(self, tol: float, max_passes: float) -> str:
        """Newton steps in ever stiffer rounds; returns why it stopped."""
        stalled, self.most_passes = 0, max_passes
        while True:
            smoothing, before, steps = self.smoothing(), self.best.gap, 0
            gradient, residual = self.settle(smoothing)
            while True:
                stop_if_interrupted()
                if self.best.gap <= tol * self.best.primal and self.holds(tol):
                    return "tol"
                if self.passes >= max_passes:
                    return "max_passes"
                half = self.half(gradient)
                if half <= SHARE * residual or half <= 1e-30 * self.best.primal or steps == MOST_STEPS:
                    break
                gradient, residual = self.step(smoothing, gradient)
                steps += 1
            if self.asked.free_bias and self.keep(tol):
                return "tol"
            stalled = stalled + 1 if self.best.gap >= 0.9 * before else 0
            if stalled == STALLED:
                return PRECISION
            if self.asked.free_bias:
                self.penalty[-1] *= SLACKEN if np.abs(self.V[-1] - self.anchor[-1]).max() > FAR else 1.0
                self.anchor[-1] = self.V[-1]
            if not self.smooth:
                np.copyto(self.centre, self.dual)
                self.stiffness = stiffer(self.stiffness, self.stiffest, steps)

    def holds(self, tol: float) -> bool:
        """Whether the best gap is small enough when worked out from the data and with balanced duals."""
        solution = self.proved(self.best, "")
        self.passes += 2.0
        self.best.gap, self.best.primal = solution.gap.gap, solution.gap.primal
        return self.best.gap <= tol * self.best.primal

    def keep(self, tol: float) -> bool:
        """Prove where the round has ended; whether that is enough.

        With free intercepts a gap is only guessed before its duals are balanced, and the guess may be far too large.
        """
        solution = self.proved(_Best(self.V.copy(), self.dual), "tol")
        self.passes += 2.0
        if self.kept is None or solution.gap.gap < self.kept.gap.gap:
            self.kept = solution
        return self.kept.gap.gap <= tol * self.kept.gap.primal

    def step(self, smoothing: ClassSmoothing, gradient: np.ndarray) -> tuple[np.ndarray, float]:
        """One Newton step, as long as it pays."""
        direction = self.direction(smoothing, gradient)
        self.change = self.problem.scores(direction, self.no_bias)
        self.passes += 1.0
        linear = float(np.sum(self.penalty * (self.V - self.anchor) * direction))
        quadratic = float(np.sum(self.penalty * direction**2))

        def derivative(x: float) -> tuple[float, float]:
            def part(start: int, stop: int) -> tuple[float, float]:
                pull, bend = slope_along_classes(smoothing, self.scores, self.change, x, start, stop)
                return float(pull), float(bend)

            parts = over_ranges(part, self.problem.size, self.scores.size)
            return linear + quadratic * x - sum(pull for pull, _ in parts), quadratic + sum(bend for _, bend in parts)

        slope_here = float(np.sum(gradient * direction))
        length = search(derivative, 1.0, -EXACT_ENOUGH * slope_here, slope_here)
        self.V += length * direction
        return self.settle(smoothing)

    def settle(self, smoothing: ClassSmoothing) -> tuple[np.ndarray, float]:
        """Bring scores, duals and gap up to date; gradient and residual."""
        self.scores = self.problem.scores(self.V, self.no_bias)

        def part(start: int, stop: int) -> int:
            return int(settle_classes(smoothing, self.scores, start, stop, self.dual, self.free, self.share))

        self.alive = sum(over_ranges(part, self.problem.size, self.scores.size))
        self.from_dual = self.problem.weights(self.dual)
        self.passes += 2.0
        loss, residual = self.problem.loss_and_residual(self.scores, self.dual)
        gradient = self.penalty * (self.V - self.anchor) - self.from_dual
        W = self.V[:-1] if self.asked.free_bias else self.V
        gap = residual + 0.5 * float(np.sum((W - self.from_dual[: len(W)]) ** 2))
        if self.asked.free_bias:
            gap += float(np.abs(self.from_dual[-1] * self.V[-1]).sum())
        if gap < self.best.gap:
            self.best = _Best(self.V.copy(), self.dual.copy(), gap, 0.5 * float(np.sum(W**2)) + loss)
        return gradient, residual

    def direction(self, smoothing: ClassSmoothing, gradient: np.ndarray) -> np.ndarray:
        """Solve ``(penalty + sum of curvatures) direction = -gradient``."""
        if self.alive == 0:
            return -gradient / self.penalty
        if gradient.size <= DIRECT_UNKNOWNS:
            return self._by_matrix(smoothing, gradient)
        return self._by_conjugate_gradients(smoothing, gradient)

    def _by_matrix(self, smoothing: ClassSmoothing, gradient: np.ndarray) -> np.ndarray:
        """Few unknowns: one d x d block for each two classes, over the rows with something free."""
        d, classes = gradient.shape
        solved = solve_positive(lambda: self._matrix(smoothing, d, classes), gradient.T.ravel())
        return np.ascontiguousarray(-solved.reshape(classes, d).T)

    def _matrix(self, smoothing: ClassSmoothing, d: int, classes: int) -> np.ndarray:
        rows = np.flatnonzero(self.free.any(axis=1)).astype(np.uint64)
        hessian = np.zeros((classes, d, classes, d))
        ones, nothing = np.ones(rows.size), np.zeros(d)
        block = np.empty((min(BLOCK_ROWS, rows.size), d))
        pairs = [(a, b) for a in range(classes) for b in range(a + 1)]
        for start in range(0, rows.size, len(block)):
            part = rows[start : start + len(block)]
            gather(self.constraints.rows, part, ones, nothing, 0, part.size, block)

            def add(first: int, last: int, X: np.ndarray = block[: part.size], part: np.ndarray = part) -> None:
                bend = np.empty(part.size)
                for a, b in pairs[first:last]:
                    curvatures(smoothing, self.free, self.share, part, a, b, bend)
                    bent = np.flatnonzero(bend)  # few: most rows have two classes at most that are free
                    hessian[a, :, b, :] += X[bent].T @ (bend[bent, None] * X[bent])

            over_ranges(add, len(pairs), part.size * d * len(pairs))
        matrix = hessian.reshape(classes * d, classes * d)
        matrix[np.diag_indices(classes * d)] += np.tile(self.penalty.ravel(), classes)
        self.passes += rows.size / self.problem.size
        return matrix

    def _by_conjugate_gradients(self, smoothing: ClassSmoothing, gradient: np.ndarray) -> np.ndarray:
        """Many unknowns: two products with the data a step."""
        moved = np.empty_like(self.dual)

        def product(D: np.ndarray) -> np.ndarray:
            change = self.problem.scores(D, self.no_bias)

            def part(start: int, stop: int) -> None:
                bend_classes(smoothing, self.free, self.share, change, start, stop, moved)

            over_ranges(part, self.problem.size, self.scores.size)
            self.passes += 2.0
            return self.penalty * D - self.problem.weights(moved)

        found, left = np.zeros_like(gradient), -gradient
        along, left2 = left.copy(), float(np.sum(left**2))
        enough = 0.05**2 * left2
        for _ in range(MOST_CONJUGATE_STEPS):
            stop_if_interrupted()
            curved = product(along)
            length = left2 / float(np.sum(along * curved))
            found += length * along
            left = left - length * curved
            before, left2 = left2, float(np.sum(left**2))
            if left2 <= enough or self.passes >= self.most_passes:
                break
            along = left + (left2 / before) * along
        return found
