"""Newton's method on the dual, made smooth by a proximal point: few passes, whatever C and the scale of the rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import daxpy

from softmargin.data.matrix import stored_numbers
from softmargin.kernels.band import (
    Move,
    Smoothing,
    curve,
    free_rows,
    gather,
    settle,
    slope_along,
    slope_of_bias,
    sum_rows,
    sum_squares,
    trace_of,
)
from softmargin.kernels.gram import add_gram, add_lower
from softmargin.kernels.sums import margins_of
from softmargin.solvers.certificate import Room, solution_at
from softmargin.solvers.factor import reason_to_stop, solve_positive
from softmargin.solvers.interrupts import stop_if_interrupted
from softmargin.solvers.line_search import search
from softmargin.solvers.parallel import over_ranges
from softmargin.solvers.problem import PRECISION, Blanks, Problem, Solution, added_up
from softmargin.solvers.stiffness import MOST_STEPS, stiffer, stiffnesses

GRAM_WIDTH = 2500  # a d x d matrix, or a block of free rows, up to 50 MB
BLOCK_ROWS, BLOCK_NUMBERS = 512, 100_000  # rows written out at once: so many, or more where they are short
SHARE = 0.5  # of the gap, that the gradient may have when the smoothing is tightened
EXACT_ENOUGH = 0.1  # of the first derivative, where a line search may stop
MOST_CONJUGATE_STEPS = 500
ENTRY_FLOPS = 15  # products of matrices that take as long as two entries of a sparse row
FLOPS_A_NUMBER = 20  # products of matrices that take as long as one number of a pass
STALLED = 25  # tightenings without a smaller gap: the end of what float64 can tell


def solve_newton(problem: Problem, tol: float, max_passes: float, start: Solution | None = None) -> Solution:
    """The best weights met, with their gap, when that is small enough, or at the end of passes or patience.

    minimise    1/2 |w|^2 + sum price_t loss(required_t - margin_t),  margin_t = sign_t (row_t . w + bias)
    each round  for a fixed centre and stiffness s: dual_t = clip(centre_t + s price_t (required_t - margin_t), 0,
                price_t) is the slope of a smooth loss; Newton steps make w - sum dual_t z_t small; then the centre
                moves to the dual and s grows.  The squared hinge is smooth as it is: one round.
    the proof   the dual of every step is feasible, so its gap costs nothing more
    given       start  any solution, to go on from its dual; its arrays are used up
    Source      proximal point and augmented Lagrangian semismooth Newton: Yan and Li (2020), Niu et al. (2019)
    """
    run = RowNewton(problem, start)
    reason = reason_to_stop(run.until, tol, max_passes)
    return run.proved(reason)


@dataclass
class _Best:
    """The weights and the dual with the smallest gap so far."""

    w: np.ndarray
    dual: np.ndarray
    bias: float = 0.0
    gap: float = np.inf
    primal: float = 0.0
    present: bool = False  # the run's own: a copy is made when these are about to change


class RowNewton:
    """Newton steps over signed rows; ``until`` makes them for soft margins, ``solvers.hard`` for hard ones."""

    def __init__(self, problem: Problem, start: Solution | None = None) -> None:
        n, d = problem.size, problem.width
        self.problem, self.constraints = problem, problem.constraints
        self.numbers = stored_numbers(self.constraints.rows)
        self.w, self.from_dual, self.gradient, self.bias = np.zeros(d), np.zeros(d), np.zeros(d), 0.0
        self.margins, self.dual, self.centre, self.change = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        self.passes, self.most_passes, self.free, self.drifts = 0.0, np.inf, 0, False
        self.stiffness, self.stiffest = 2.0, 2.0
        if not problem.squared:
            self.stiffness, self.stiffest = stiffnesses(self._trace(), self.constraints.required)
        if start is None:
            self.best = _Best(np.zeros(d), np.zeros(n))
        else:
            self._begin_at(start)

    def _trace(self) -> float:
        rows, _, _, price = self.constraints
        width = self.problem.width

        def part(start: int, stop: int) -> float:
            return float(trace_of(rows, price, width, start, stop))

        self.passes += 1.0
        return sum(over_ranges(part, self.problem.size, self.numbers))

    def _begin_at(self, start: Solution) -> None:
        """Go on from the dual of a solution."""
        self.w[:], self.bias = start.w, float(start.bias)
        self.problem.margins(self.w, self.bias, self.margins)
        if not self.problem.squared:
            self.centre[:] = start.dual
        self.best = _Best(start.w, start.dual, self.bias, start.gap.gap, start.gap.primal)
        self.passes += start.passes + 1.0

    def _keep_best(self) -> None:
        """Before weights or duals change: the best ones may be these."""
        best = self.best
        if best.present:
            best.w, best.dual[:], best.present = self.w.copy(), self.dual, False

    def proved(self, reason: str) -> Solution:
        """The best weights and their proof, which is written where no gradient and no step is under way."""
        self._keep_best()
        best, room = self.best, Room(self.best.dual, self.change, (self.gradient,))
        return solution_at(self.problem, best.w, best.bias, best.dual, self.passes, reason, room)

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
                if half <= SHARE * residual or half <= 1e-30 * self.best.primal or steps == MOST_STEPS:
                    break
                gradient, residual = self.step(smoothing, gradient)
                steps += 1
            stalled = stalled + 1 if self.best.gap >= 0.9 * before else 0
            if stalled == STALLED or (self.problem.squared and steps == 0):
                return PRECISION
            if not self.problem.squared:
                np.copyto(self.centre, self.dual)
                self.stiffness = stiffer(self.stiffness, self.stiffest, steps)
            if self.drifts:
                self.refresh()

    def refresh(self) -> None:
        """Margins and weights from the data again: they are carried along by their changes, which adds up errors."""
        self.problem.margins(self.w, self.bias, self.margins)
        self.from_dual[:], _ = self.problem.weights(self.dual, (self.gradient,))
        self.passes += 2.0

    def holds(self, tol: float) -> bool:
        """Whether the best gap is small enough when worked out from the data; from now on drift is looked after."""
        best, solution = self.best, self.proved("")
        np.subtract(self.w, self.from_dual, out=self.gradient)
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
        slope_here = float(gradient @ direction)
        slope = self.slope_balanced if self.problem.free_bias and self.free == 0 else self.slope
        along = slope(smoothing, linear, quadratic)
        length = search(along, 1.0, -EXACT_ENOUGH * slope_here, slope_here)
        self._keep_best()
        daxpy(direction, self.w, a=length)
        self.bias += length * bias_change
        return self.balance_and_settle(smoothing, length, direction)

    def slope(
        self, smoothing: Smoothing, linear: float, quadratic: float, shift: float = 0.0
    ) -> Callable[[float], tuple[float, float]]:
        """The derivative of the smooth objective where the margins go by ``x * change``, and its own slope."""

        def derivative(x: float) -> tuple[float, float]:
            pull, bend = self._pulled(slope_along, smoothing, Move(self.change, x, shift))
            return linear + quadratic * x - pull, quadratic + bend

        return derivative

    def slope_of_bias(self, smoothing: Smoothing, length: float) -> Callable[[float], tuple[float, float]]:
        """The same in the intercept, where the margins have gone by ``length * change``."""

        def derivative(x: float) -> tuple[float, float]:
            pull, bend = self._pulled(slope_of_bias, smoothing, self._move(length, x))
            return -pull, bend

        return derivative

    def slope_balanced(
        self, smoothing: Smoothing, linear: float, quadratic: float
    ) -> Callable[[float], tuple[float, float]]:
        """As ``slope``, with the intercept at its best everywhere.

        Where nothing is free the best intercepts are an interval, which changes with the weights: one that stays where
        it is would stop every step at the first constraint that it runs into.
        """

        def derivative(x: float) -> tuple[float, float]:
            shift = search(self.slope_of_bias(smoothing, x), 0.0)
            return self.slope(smoothing, linear, quadratic, shift)(x)

        return derivative

    def _pulled(self, kernel: Callable[..., Any], smoothing: Smoothing, move: Move) -> tuple[float, float]:
        """A kernel's pull and curvature over all constraints."""

        def part(start: int, stop: int) -> tuple[float, float]:
            pull, bend = kernel(smoothing, self.margins, self.constraints.sign, move, start, stop)
            return float(pull), float(bend)

        parts = over_ranges(part, self.problem.size, self.problem.size)
        return sum(pull for pull, _ in parts), sum(bend for _, bend in parts)

    def _move(self, length: float, shift: float) -> Move:
        """Between steps ``change`` is room for anything: where nobody goes along it, it is not read."""
        return Move(self.change if length else self.margins, length, shift)

    def balance_and_settle(
        self, smoothing: Smoothing, length: float, spare: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Move the margins, balance a free intercept, and bring dual and gap up to date; gradient and residual."""
        self._keep_best()
        shift = 0.0
        if self.problem.free_bias:
            shift = search(self.slope_of_bias(smoothing, length), 0.0)
            self.bias += shift
        move = self._move(length, shift)
        blank = Blanks(self.problem.width, (self.gradient,) if spare is None else (self.gradient, spare))

        def part(start: int, stop: int) -> tuple[np.ndarray, tuple[float, ...]]:
            w = blank()
            sums = settle(self.constraints, smoothing, move, self.margins, self.dual, w, start, stop)
            return w, sums

        parts = over_ranges(part, self.problem.size, self.numbers)
        self.from_dual += added_up([w for w, _ in parts])
        loss, _, residual, free, moved = np.sum([sums for _, sums in parts], axis=0)
        self.free = int(free)
        self.passes += moved / self.problem.size
        gradient = np.subtract(self.w, self.from_dual, out=self.gradient)
        gap, best = residual + 0.5 * float(gradient @ gradient), self.best
        if gap < best.gap:
            best.w, best.bias, best.gap, best.present = self.w, self.bias, gap, True
            best.primal = 0.5 * float(self.w @ self.w) + loss
        return gradient, float(residual)

    def direction(self, smoothing: Smoothing, gradient: np.ndarray) -> tuple[np.ndarray, float]:
        """Solve ``(I + sum rate row row') direction = -gradient`` over the free rows, centred for a free intercept."""
        width, rows, price = self.problem.width, self.constraints.rows, self.constraints.price
        if self.free == 0:
            return -gradient, 0.0
        # No step is under way: what it would change is room for the numbers of the free rows.
        free = self.change.view(np.uint32 if self.problem.size < 2**32 else np.uint64)[: self.free]
        free_rows(smoothing, self.dual, free)
        rate, mean = price[free] if price.size > 1 else price.copy(), np.zeros(0)
        rate *= smoothing.stiffness
        if self.problem.free_bias:
            mean = np.zeros(width)
            sum_rows(rows, free, rate, 0, free.size, mean)
            mean /= total_of(rate, free)
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
        mean = mean if mean.size else np.zeros(self.problem.width)
        gather(self.constraints.rows, free, np.ones(1), mean, 0, free.size, block)

        def inner() -> np.ndarray:
            products = block @ block.T
            products[np.diag_indices(free.size)] += 1.0 / rate
            return products

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
            block = np.empty((min(max(BLOCK_ROWS, BLOCK_NUMBERS // width), stop - start), width))
            for first in range(start, stop, len(block)):
                last = min(stop, first + len(block))
                gather(rows, free, root, mean, first, last, block)
                add_lower(block[: last - first], gram)
            return gram

        root = rate if by_entry else np.sqrt(rate, out=rate)  # not wanted any more as they are
        mean = mean if mean.size else np.zeros(width)
        work = stored * stored * ENTRY_FLOPS if by_entry else width * width

        def hessian() -> np.ndarray:
            gram = added_up(over_ranges(part, free.size, int(free.size * work / FLOPS_A_NUMBER)))
            if by_entry and self.problem.free_bias:
                scaled = total_of(rate, free) * mean
                for a in range(width):
                    gram[a] -= scaled[a] * mean
            gram[np.diag_indices(width)] += 1.0
            return gram.T

        # The lower half by rows is the upper half by columns, which is what the library takes without a copy.
        return -solve_positive(hessian, gradient, lower=False)

    def _by_conjugate_gradients(
        self, free: np.ndarray, rate: np.ndarray, mean: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray:
        """Many of both: products with the free rows only, columns scaled by the diagonal."""
        rows, total = self.constraints.rows, total_of(rate, free)
        numbers = self.numbers * free.size // self.problem.size
        diagonal = np.ones(gradient.size)
        sum_squares(rows, free, rate, 0, free.size, diagonal)
        if self.problem.free_bias:
            centred = total * mean * mean
            diagonal -= np.minimum(centred, diagonal - 1.0, out=centred)
            del centred

        def product(v: np.ndarray, spare: list[np.ndarray]) -> np.ndarray:
            blank = Blanks(v.size, spare)

            def part(start: int, stop: int) -> np.ndarray:
                out = blank()
                curve(rows, free, rate, v, start, stop, out)
                return out

            parts = over_ranges(part, free.size, numbers)
            spare[:] = parts
            curved = added_up(parts)
            curved += v
            return daxpy(mean, curved, a=-total * float(mean @ v)) if self.problem.free_bias else curved

        # The gradient's own memory serves for what is left of it, and holds the gradient again in the end.
        found, left = np.zeros(gradient.size), np.negative(gradient, out=gradient)
        along, spare = left / diagonal, list[np.ndarray]()
        left_along, enough = float(left @ along), 0.05**2 * float(left @ left)
        for _ in range(MOST_CONJUGATE_STEPS):
            stop_if_interrupted()
            curved = product(along, spare)
            self.passes += free.size / self.problem.size
            length = left_along / float(along @ curved)
            daxpy(along, found, a=length)
            daxpy(curved, left, a=-length)
            if float(left @ left) <= enough or self.passes >= self.most_passes:
                break
            scaled = np.divide(left, diagonal, out=curved)
            before, left_along = left_along, float(left @ scaled)
            along *= left_along / before
            along += scaled
        np.subtract(self.w, self.from_dual, out=gradient)
        return found


def total_of(rate: np.ndarray, free: np.ndarray) -> float:
    """The sum of the rates of the free rows; one rate may stand for all."""
    return float(rate.sum()) if rate.size > 1 else float(rate[0]) * free.size
