"""Newton's method on the dual, made smooth by a proximal point: few passes, whatever C and the scale of the rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softmargin.data.matrix import stored_numbers
from softmargin.kernels.band import (
    Move,
    Smoothing,
    curve,
    free_rows,
    gather,
    settle,
    slope_along,
    sum_rows,
    sum_squares,
    trace_of,
)
from softmargin.kernels.gram import add_gram
from softmargin.kernels.sums import margins_of
from softmargin.solvers.certificate import solution_at
from softmargin.solvers.factor import solve_positive
from softmargin.solvers.interrupts import stop_if_interrupted
from softmargin.solvers.line_search import search
from softmargin.solvers.parallel import over_ranges
from softmargin.solvers.problem import Problem, Solution, added_up

GRAM_WIDTH = 2500  # a d x d matrix, or a block of free rows, up to 50 MB
BLOCK_ROWS = 2048
SHARE = 0.25  # of the gap, that the gradient may have when the smoothing is tightened
GROW = 4.0  # how much tighter
EXACT_ENOUGH = 0.1  # of the first derivative, where a line search may stop
MOST_CONJUGATE_STEPS = 500
ENTRY_FLOPS = 15  # products of matrices that take as long as two entries of a sparse row
FLOPS_A_NUMBER = 20  # products of matrices that take as long as one number of a pass
# The first and the last stiffness, as far as sum price |row|^2 allows: too soft takes more rounds, too stiff and the
# rounding of a margin moves its dual.  A sum, so that k copies of a row and one row of weight k take the same steps.
FIRST_TRACE, LAST_TRACE, STIFFEST = 1e9, 1e22, 1e6
PRECISION = "precision of float64"
STALLED = 25  # tightenings without a smaller gap: the end of what float64 can tell


def solve_newton(problem: Problem, tol: float, max_passes: float, start: Solution | None = None) -> Solution:
    """The best weights met, with their gap, when that is small enough, or at the end of passes or patience.

    minimise    1/2 |w|^2 + sum price_t loss(required_t - margin_t),  margin_t = sign_t (row_t . w + bias)
    each round  for a fixed centre and stiffness s: dual_t = clip(centre_t + s price_t (required_t - margin_t), 0,
                price_t) is the slope of a smooth loss; Newton steps make w - sum dual_t z_t small; then the centre
                moves to the dual and s grows.  The squared hinge is smooth as it is: one round.
    the proof   the dual of every step is feasible, so its gap costs nothing more
    given       start  any solution, to go on from its dual
    Source      proximal point and augmented Lagrangian semismooth Newton: Yan and Li (2020), Niu et al. (2019)
    """
    run = RowNewton(problem)
    if start is not None:
        run.begin_at(start)
    reason = "max_passes"
    try:
        reason = run.until(tol, max_passes)
    except KeyboardInterrupt:
        reason = "interrupted"
    except np.linalg.LinAlgError:  # a Newton matrix that is not made of numbers
        reason = PRECISION
    best = run.best
    return solution_at(problem, best.w, best.bias, best.dual, run.passes, reason)


def stiffnesses(trace: float, required: np.ndarray) -> tuple[float, float]:
    """The first and the last stiffness: in proportion to what is required, for so is what constraints lack."""
    unit, trace = float(required.max()) or 1.0, max(trace, 1e-300)
    first = min(1.0 / unit, FIRST_TRACE / trace)
    return first, max(first, min(STIFFEST / unit, LAST_TRACE / trace))


@dataclass
class _Best:
    """The weights and the dual with the smallest gap so far."""

    w: np.ndarray
    dual: np.ndarray
    bias: float = 0.0
    gap: float = np.inf
    primal: float = 0.0


class RowNewton:
    """Newton steps over signed rows; ``until`` makes them for soft margins, ``solvers.hard`` for hard ones."""

    def __init__(self, problem: Problem) -> None:
        n, d = problem.size, problem.width
        self.problem, self.constraints = problem, problem.constraints
        self.numbers = stored_numbers(self.constraints.rows)
        self.w, self.from_dual, self.bias = np.zeros(d), np.zeros(d), 0.0
        self.margins, self.dual, self.centre, self.change = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        self.passes, self.most_passes, self.free, self.drifts = 0.0, np.inf, 0, False
        self.best = _Best(self.w.copy(), self.dual.copy())
        self.stiffness, self.stiffest = 2.0, 2.0
        if not problem.squared:
            self.stiffness, self.stiffest = stiffnesses(self._trace(), self.constraints.required)

    def _trace(self) -> float:
        rows, _, _, price = self.constraints
        width = self.problem.width

        def part(start: int, stop: int) -> float:
            return float(trace_of(rows, price, width, start, stop))

        self.passes += 1.0
        return sum(over_ranges(part, self.problem.size, self.numbers))

    def begin_at(self, start: Solution) -> None:
        """Go on from the dual of a solution."""
        self.w, self.bias = start.w.copy(), float(start.bias)
        self.margins = self.problem.margins(self.w, self.bias)
        if not self.problem.squared:
            self.centre = start.dual.copy()
        self.best = _Best(start.w.copy(), start.dual.copy(), self.bias, start.gap.gap, start.gap.primal)
        self.passes += start.passes + 1.0

    def smoothing(self) -> Smoothing:
        """What turns margins into duals in this round."""
        _, _, required, price = self.constraints
        return Smoothing(required, price, self.centre, self.stiffness, self.problem.squared)

    def until(self, tol: float, max_passes: float) -> str:
        """Newton steps in ever stiffer rounds; returns why it stopped."""
        stalled, self.most_passes = 0, max_passes
        while True:
            smoothing, before = self.smoothing(), self.best.gap
            gradient, residual = self.balance_and_settle(smoothing, 0.0)
            steps = 0
            while True:
                stop_if_interrupted()
                if self.best.gap <= tol * self.best.primal and self.holds(tol):
                    return "tol"
                if self.passes >= max_passes:
                    return "max_passes"
                half = 0.5 * float(gradient @ gradient)
                if half <= SHARE * residual or half <= 1e-30 * self.best.primal or steps == 50:
                    break
                gradient, residual = self.step(smoothing, gradient)
                steps += 1
            stalled = stalled + 1 if self.best.gap >= 0.9 * before else 0
            if stalled == STALLED or (self.problem.squared and steps == 0):
                return PRECISION
            if not self.problem.squared:
                np.copyto(self.centre, self.dual)
                self.stiffness = min(self.stiffness * GROW, self.stiffest)
            if self.drifts:
                self.refresh()

    def refresh(self) -> None:
        """Margins and weights from the data again: they are carried along by their changes, which adds up errors."""
        self.margins = self.problem.margins(self.w, self.bias)
        self.from_dual, _ = self.problem.weights(self.dual)
        self.passes += 2.0

    def holds(self, tol: float) -> bool:
        """Whether the best gap is small enough when worked out from the data; from now on drift is looked after."""
        best = self.best
        solution = solution_at(self.problem, best.w, best.bias, best.dual, self.passes, "")
        self.passes += 2.0
        best.gap, best.primal = solution.gap.gap, solution.gap.primal
        self.drifts = best.gap > tol * best.primal
        return not self.drifts

    def step(self, smoothing: Smoothing, gradient: np.ndarray) -> tuple[np.ndarray, float]:
        """One Newton step, as long as it pays."""
        direction, bias_change = self.direction(smoothing, gradient)

        def part(start: int, stop: int) -> None:
            margins_of(self.constraints, direction, bias_change, start, stop, self.change)

        over_ranges(part, self.problem.size, self.numbers)
        self.passes += 1.0
        linear, quadratic = float(self.w @ direction), float(direction @ direction)
        accept = -EXACT_ENOUGH * float(gradient @ direction)
        slope = self.slope_balanced if self.problem.free_bias and self.free == 0 else self.slope
        length = search(slope(smoothing, self.change, linear, quadratic), 1.0, accept)
        self.w += length * direction
        self.bias += length * bias_change
        return self.balance_and_settle(smoothing, length)

    def slope(
        self, smoothing: Smoothing, change: np.ndarray, linear: float, quadratic: float, margins: Any = None
    ) -> Callable[[float], tuple[float, float]]:
        """The derivative of the smooth objective where the margins go by ``x * change``, and its own slope."""
        margins = self.margins if margins is None else margins

        def derivative(x: float) -> tuple[float, float]:
            def part(start: int, stop: int) -> tuple[float, float]:
                pull, bend = slope_along(smoothing, margins, change, x, start, stop)
                return float(pull), float(bend)

            parts = over_ranges(part, change.size, change.size)
            return linear + quadratic * x - sum(pull for pull, _ in parts), quadratic + sum(bend for _, bend in parts)

        return derivative

    def slope_balanced(
        self, smoothing: Smoothing, change: np.ndarray, linear: float, quadratic: float
    ) -> Callable[[float], tuple[float, float]]:
        """As ``slope``, with the intercept at its best everywhere.

        Where nothing is free the best intercepts are an interval, which changes with the weights: one that stays where
        it is would stop every step at the first constraint that it runs into.
        """
        signs = self.constraints.sign

        def derivative(x: float) -> tuple[float, float]:
            margins = self.margins + x * change
            shift = search(self.slope(smoothing, signs, 0.0, 0.0, margins), 0.0)
            return self.slope(smoothing, change, linear + quadratic * x, quadratic, margins + shift * signs)(0.0)

        return derivative

    def balance_and_settle(self, smoothing: Smoothing, length: float) -> tuple[np.ndarray, float]:
        """Move the margins, balance a free intercept, and bring dual and gap up to date; gradient and residual."""
        shift = 0.0
        if self.problem.free_bias:
            self.margins += length * self.change
            length = 0.0
            shift = search(self.slope(smoothing, self.constraints.sign, 0.0, 0.0), 0.0)
            self.bias += shift
        move = Move(self.change, length, shift)

        def part(start: int, stop: int) -> tuple[np.ndarray, tuple[float, ...]]:
            w = np.zeros(self.problem.width)
            sums = settle(self.constraints, smoothing, move, self.margins, self.dual, w, start, stop)
            return w, sums

        parts = over_ranges(part, self.problem.size, self.numbers)
        self.from_dual += added_up([w for w, _ in parts])
        loss, _, residual, free, moved = np.sum([sums for _, sums in parts], axis=0)
        self.free = int(free)
        self.passes += moved / self.problem.size
        gradient = self.w - self.from_dual
        gap = residual + 0.5 * float(gradient @ gradient)
        if gap < self.best.gap:
            primal = 0.5 * float(self.w @ self.w) + loss
            self.best = _Best(self.w.copy(), self.dual.copy(), self.bias, gap, primal)
        return gradient, float(residual)

    def direction(self, smoothing: Smoothing, gradient: np.ndarray) -> tuple[np.ndarray, float]:
        """Solve ``(I + sum rate row row') direction = -gradient`` over the free rows, centred for a free intercept."""
        width, rows = self.problem.width, self.constraints.rows
        free = np.empty(self.free, dtype=np.uint64)
        free_rows(smoothing, self.dual, free)
        rate, mean = smoothing.stiffness * self.constraints.price[free], np.zeros(width)
        if free.size == 0:
            return -gradient, 0.0
        if self.problem.free_bias:
            sum_rows(rows, free, rate, 0, free.size, mean)
            mean /= rate.sum()
        self.passes += free.size / self.problem.size
        if free.size < width and free.size * width <= GRAM_WIDTH**2:
            found = self._by_rows(free, rate, mean, gradient)
        elif width <= GRAM_WIDTH:
            found = self._by_columns(free, rate, mean, gradient)
        else:
            found = self._by_conjugate_gradients(free, rate, mean, gradient)
        return found, -float(mean @ found) if self.problem.free_bias else 0.0

    def _by_rows(self, free: np.ndarray, rate: np.ndarray, mean: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Fewer free rows than columns: Woodbury's form."""
        block = np.empty((free.size, self.problem.width))
        gather(self.constraints.rows, free, np.ones(free.size), mean, 0, free.size, block)
        inner = block @ block.T
        inner[np.diag_indices(free.size)] += 1.0 / rate
        return np.asarray(block.T @ solve_positive(inner, block @ gradient) - gradient)

    def _by_columns(self, free: np.ndarray, rate: np.ndarray, mean: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Fewer columns than free rows: the Gram matrix, of whole blocks or, where rows are sparse, row by row."""
        rows, width, stored = self.constraints.rows, self.problem.width, self.numbers / self.problem.size
        by_entry = stored * stored * ENTRY_FLOPS < width * width

        def part(start: int, stop: int) -> np.ndarray:
            gram = np.zeros((width, width))
            if by_entry:
                add_gram(rows, free, rate, start, stop, gram)
                return gram
            block = np.empty((min(BLOCK_ROWS, stop - start), width))
            for first in range(start, stop, len(block)):
                last = min(stop, first + len(block))
                gather(rows, free, root, mean, first, last, block)
                gram += block[: last - first].T @ block[: last - first]
            return gram

        root = np.sqrt(rate)
        work = stored * stored * ENTRY_FLOPS if by_entry else width * width
        parts = over_ranges(part, free.size, int(free.size * work / FLOPS_A_NUMBER))
        hessian = added_up(parts)
        if by_entry and self.problem.free_bias:
            hessian -= rate.sum() * np.outer(mean, mean)
        hessian[np.diag_indices(width)] += 1.0
        return -solve_positive(hessian, gradient)

    def _by_conjugate_gradients(
        self, free: np.ndarray, rate: np.ndarray, mean: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray:
        """Many of both: products with the free rows only, columns scaled by the diagonal."""
        rows, total = self.constraints.rows, rate.sum()
        numbers = self.numbers * free.size // self.problem.size
        diagonal = np.ones(gradient.size)
        sum_squares(rows, free, rate, 0, free.size, diagonal)
        if self.problem.free_bias:
            diagonal -= np.minimum(total * mean * mean, diagonal - 1.0)

        def product(v: np.ndarray) -> np.ndarray:
            def part(start: int, stop: int) -> np.ndarray:
                out = np.zeros(v.size)
                curve(rows, free, rate, v, start, stop, out)
                return out

            curved = added_up(over_ranges(part, free.size, numbers))
            curved += v
            return curved - total * (mean @ v) * mean if self.problem.free_bias else curved

        found, left = np.zeros(gradient.size), -gradient
        along = left / diagonal
        left2, enough = float(left @ along), 0.05**2 * float(left @ left)
        for _ in range(MOST_CONJUGATE_STEPS):
            stop_if_interrupted()
            curved = product(along)
            self.passes += free.size / self.problem.size
            length = left2 / float(along @ curved)
            found += length * along
            left = left - length * curved
            if float(left @ left) <= enough or self.passes >= self.most_passes:
                break
            scaled = left / diagonal
            before, left2 = left2, float(left @ scaled)
            along = scaled + (left2 / before) * along
        return found
