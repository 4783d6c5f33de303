"""Dual coordinate descent with conjugate steps: what signed rows and rows with classes have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from softmargin.kernels.coordinate import Line, Visit, add_two, changes_of_rows, copy_rows, shuffle, turn_rows
from softmargin.solvers.interrupts import stop_if_interrupted
from softmargin.solvers.problem import PRECISION, Solution

FIRST_LOOK = 3  # visits before the first look at the gap
DONE = 0.1  # of the gap at the last look: what the active rows may still add to it at the next look
MOST_VISITS = 20  # between two looks, or more until they are
WORTH_A_LOOK = 2.0  # passes
CLEAR = 0.1  # of the steepest slope: a corner that holds a row by more is not visited until the next look
STALLED = 3  # looks without a smaller gap at a dual that no longer rises: the end of what float64 can tell
WORDS = 2**16  # random numbers drawn at once
MOST_RESTS = 15  # visits without a conjugate step after steps that led nowhere
# A direction so small against the weights is rounding; so is the difference of two that are so close.
ROUNDING, NEARLY_THE_SAME = 1e-24, 1e-6
TIRED = "another solver is quicker"
BIAS_COLUMN = 0.3  # of the root mean square length of a row: the constant column that stands for a free intercept


def bias_column(length2: np.ndarray, constraints: Any) -> float:
    """The constant that stands for a free intercept in every row, given their squared lengths.

    As rows are long; but where they are short, so that one visit can take the intercept to what is required.
    """
    required, price = constraints.required, constraints.price
    whole_price = float(price.mean()) * length2.size
    reach2 = float(required.max()) / whole_price if whole_price > 0 else 0.0
    return float(np.sqrt(max(BIAS_COLUMN**2 * length2.mean(), reach2))) or 1.0


class Point(NamedTuple):
    """How far a descent was after a visit, and what the gap of the rows visited was when they were."""

    passes: float
    visits: int
    gap: float


class Descent(ABC):
    """Visits, windows and looks; which kernels they call is up to the kind of constraints."""

    def __init__(self, size: int, classes: int, weights: Any, rng: np.random.Generator) -> None:
        shape = (size, classes) if classes else size
        self.rng, self.size, self.w = rng, size, weights
        self.dual, self.length2 = np.zeros(shape), np.empty(size)
        self.order = np.arange(size, dtype=np.uint32 if size < 2**32 else np.uint64)
        self.active, self.clear, self.passes, self.looks, self.looked = size, np.inf, 0.0, 0, 0.0
        self.visits, self.due, self.course = 0, np.inf, list[Point]()  # a look is due after so many passes
        self.moving = self.order  # rows whose duals may have changed since the last look
        self.change, self.along = np.zeros(shape), np.zeros(shape)
        self.margins = self.change  # wanted at looks only, where no line is under way
        self.w_change, self.w_along = np.zeros_like(weights), np.zeros_like(weights)
        self.shift, self.share = np.zeros(classes or 1), np.ones(classes or 1)  # of the centre, at the last look
        self.proof: Solution | None = None  # the last, of a gap that seemed small enough
        self.bend, self.left, self.rests, self.resting = 0.0, 0.0, 0, 0
        self.best_w, self.best_bias, self.primal, self.gap = weights.copy(), self.bias, np.inf, np.inf

    # -------------------------------------------------------------- what the kind of constraints has to say

    centre: Any  # of the proximal term that stands for the penalty of a free intercept, which has none

    @property
    @abstractmethod
    def bias(self) -> Any:
        """The intercept at the present weights."""

    @abstractmethod
    def descend(self, active: int, clear: float) -> tuple[int, Visit]:
        """One visit to the active rows; how many stay active, and what was met."""

    @abstractmethod
    def softness(self, one: np.ndarray, other: np.ndarray) -> float:
        """What squared slack adds to the product of two directions of the duals."""

    @abstractmethod
    def fold_back(self, line: Line, share: float) -> tuple[float, float]:
        """Weights back from where the line left the set of duals (``kernels.coordinate.fold_back``)."""

    @abstractmethod
    def go_along(self, line: Line) -> None:
        """Duals to where the line leads, back in their set."""

    @abstractmethod
    def refresh(self) -> None:
        """Weights from the duals again: they are carried along by their changes, which adds up errors."""

    @abstractmethod
    def measure(self) -> tuple[float, float]:
        """Bring margins up to date; the primal at the present weights, and its gap to the dual."""

    @abstractmethod
    def sort_out(self) -> int:
        """Put rows worth a visit first in the order; how many they are."""

    @abstractmethod
    def proved(self, reason: str) -> Solution:
        """The best weights, and what the dual proves about them."""

    # -------------------------------------------------------------- the algorithm

    def solve(self, tol: float, max_passes: float, tired: Callable[[], bool] = lambda: False) -> Solution:
        """Run until the gap is proved, the passes are used up, ``tired()`` after a look, or somebody interrupts."""
        reason = "interrupted"
        try:
            reason = self.until(tol, max_passes, tired)
        except KeyboardInterrupt:
            if not np.isfinite(self.primal):
                self.look()
        return self.proof if reason == "tol" and self.proof else self.proved(reason)

    def until(self, tol: float, max_passes: float, tired: Callable[[], bool]) -> str:
        """Visits and looks; returns why it stopped."""
        stalled, visits = 0, 0
        self.active = self.sort_out()
        self.moving = self.order[: self.active]
        while True:
            stop_if_interrupted()
            met = self.conjugate_step() if self.looks else self.visit()
            visits += 1
            if self.passes < max_passes and not self.time_to_look(visits, met, tol):
                continue
            before, visits = self.gap, 0
            self.look()
            if self.gap <= tol * self.primal and self.holds(tol):
                return "tol"
            if self.passes >= max_passes:
                return "max_passes"
            if tired():
                return TIRED
            stalled = stalled + 1 if self.gap >= before and met.won <= 1e-16 * self.primal else 0
            if stalled == STALLED:
                return PRECISION
            if stalled:
                self.refresh()

    def time_to_look(self, visits: int, met: Visit, tol: float) -> bool:
        """Whether the rows visited last say that the gap may be small, or have been visited often enough."""
        if not self.looks:
            return visits >= FIRST_LOOK
        small = met.gap <= max(0.5 * tol * self.primal, DONE * self.gap)
        often = visits >= MOST_VISITS and self.passes - self.looked >= WORTH_A_LOOK
        return small or often or self.passes >= self.due

    def visit(self) -> Visit:
        """The active rows once, in random order."""
        for stop in range(self.active, 0, -WORDS):  # thrice as quick as NumPy's
            start = max(0, stop - WORDS)
            shuffle(self.order, start, self.rng.integers(0, 2**32, stop - start, dtype=np.uint32))
        self.passes += self.active / self.size
        self.visits += 1
        self.active, met = self.descend(self.active, self.clear)
        self.clear = met.steepest or np.inf
        self.course.append(Point(self.passes, self.visits, met.gap))
        return met

    def conjugate_step(self) -> Visit:
        """Two visits in random orders, and from where they started a step along where they and the last step lead.

        Visits slow down along directions in which the rows barely differ; what they change is then a poor direction
        that conjugate gradients make a good one.  All products with slopes come from what the visits won and from
        changes of the weights: the step costs no pass, and no digits.
        """
        if self.resting:
            self.resting -= 1
            return self.visit()
        dual, change, along = (table.reshape(self.size, -1) for table in (self.dual, self.change, self.along))
        copy_rows(self.moving, dual, change)
        self.w_change[...] = self.w
        first = self.visit()
        won = first.won + self.visit().won
        changes_of_rows(self.moving, dual, change)
        np.subtract(self.w, self.w_change, out=self.w_change)
        curve = self.product(self.change, self.w_change, self.change, self.w_change)
        if not curve > ROUNDING * float(np.vdot(self.w, self.w)):  # nothing left but rounding
            self.bend = 0.0
            return Visit(first.steepest, first.gap, won)
        turn = 0.0
        if self.bend > 0.0:
            shared = min(0.0, self.product(self.change, self.w_change, self.along, self.w_along))
            if curve - shared * shared / self.bend > NEARLY_THE_SAME * curve:
                turn = -shared / self.bend
        slope = won + 0.5 * curve + turn * self.left
        turn_rows(self.moving, turn, change, along)
        self.w_along *= turn
        self.w_along += self.w_change
        self.bend = self.product(self.along, self.w_along, self.along, self.w_along)
        line = Line(self.moving, self.dual, self.change, self.along, self.w_along, slope / self.bend)
        self.move_weights(line.step, -1.0)
        gained, lost = self.fold_back(line, 1.0)
        gained += line.step * (slope - 0.5 * line.step * self.bend)
        if gained >= won:
            self.go_along(line)
            self.left, self.rests = slope - line.step * self.bend - lost, 0
            return Visit(first.steepest, first.gap, gained)
        self.fold_back(line, -1.0)
        self.move_weights(-line.step, 1.0)
        self.bend, self.rests = 0.0, min(2 * self.rests + 1, MOST_RESTS)
        self.resting = self.rests
        return Visit(first.steepest, first.gap, won)

    def move_weights(self, along: float, change: float) -> None:
        """So many times along the line, and so many times what the last visits changed."""
        add_two(self.w.reshape(-1), along, self.w_along.reshape(-1), change, self.w_change.reshape(-1))

    def product(self, one: np.ndarray, w_one: np.ndarray, other: np.ndarray, w_other: np.ndarray) -> float:
        """How much the value of the dual bends along two directions."""
        return float(np.vdot(w_one, w_other)) + self.softness(one, other)

    def look(self) -> None:
        """Margins and gap of all rows; which rows are worth a visit."""
        primal, gap = self.measure()
        self.passes += 1.0
        self.looks, self.looked = self.looks + 1, self.passes
        if primal <= self.primal:
            self.primal, self.best_bias = primal, self.bias
            self.best_w[...] = self.w
        # Any weights have a gap to the best dual so far, which is the present one.
        self.gap = min(gap, self.primal - (primal - gap))
        self.active, self.clear = self.sort_out(), np.inf
        self.moving = self.order[: self.active]
        self.centre_bias()
        self.bend = 0.0  # other rows may move now, and another centre is another problem

    def centre_bias(self) -> None:
        """Move the centre of a free intercept's proximal term to the intercept, or part of the way.

        Visits have not solved the problem of the present centre, and where all of the way is too far the intercept
        comes back at the next look, and goes there again at the one after.
        """
        shift = self.bias - self.centre
        self.share = np.where(shift * self.shift < 0.0, 0.5 * self.share, np.minimum(1.0, 1.5 * self.share))
        self.centre = self.centre + self.share * shift
        self.shift = shift

    def holds(self, tol: float) -> bool:
        """Whether the gap is small enough when worked out from the data."""
        self.passes += 2.0
        self.proof = self.proved("tol")
        self.gap, self.primal = self.proof.gap.gap, self.proof.gap.primal
        if self.gap <= tol * self.primal:
            return True
        self.refresh()
        return False
