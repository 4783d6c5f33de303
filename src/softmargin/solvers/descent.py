"""Dual coordinate descent, extrapolated: what signed rows and rows with classes have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from softmargin.kernels.coordinate import gram_of_changes
from softmargin.solvers.problem import Solution

FIRST_LOOK, SPACING = 3, 0.2  # visits to the active rows before the next look at the gap: at least, and as a share
WORTH_A_LOOK = 1.0  # passes: as much work between two looks as the look itself is
CLEAR = 0.5  # of the steepest slope: a corner that holds a row by more is not visited until the next look
SETTLED = 0.1  # of the active rows that may have left between two looks, where extrapolation begins
WINDOW, HISTORY = 10, 5  # visits in one fixed order, and how many of their last changes are combined
MEMORY = 2.0  # vectors of one number a dual that the history of a window may take
STALLED = 3  # looks without a better dual: the end of what float64 can tell
TIRED = "another solver is quicker"
BIAS_COLUMN = 0.3  # of the root mean square length of a row: the constant column that stands for a free intercept


def bias_column(length2: np.ndarray) -> float:
    """The constant that stands for a free intercept in every row, given their squared lengths."""
    return BIAS_COLUMN * float(np.sqrt(length2.mean())) or 1.0


class Descent(ABC):
    """Visits, windows and looks; which kernels they call is up to the kind of constraints."""

    def __init__(self, size: int, classes: int, weights: Any, rng: np.random.Generator) -> None:
        shape = (size, classes) if classes else size
        self.rng, self.size, self.w = rng, size, weights
        self.dual, self.margins, self.length2 = np.zeros(shape), np.zeros(shape), np.empty(size)
        self.order = np.arange(size, dtype=np.uint64)
        self.active, self.clear, self.settled = size, np.inf, False
        self.passes, self.visits = 0.0, 0
        self.best_w, self.best_bias, self.primal, self.gap = weights.copy(), self.bias, np.inf, np.inf

    # -------------------------------------------------------------- what the kind of constraints has to say

    @property
    @abstractmethod
    def bias(self) -> Any:
        """The intercept at the present weights."""

    @abstractmethod
    def descend(self, active: int, clear: float) -> tuple[int, float]:
        """One visit to the active rows; how many stay active, and the steepest slope met."""

    @abstractmethod
    def move_to(self, order: np.ndarray, history: np.ndarray, share: np.ndarray) -> None:
        """Make the dual an affine combination of earlier ones."""

    @abstractmethod
    def value(self) -> float:
        """The value of the dual."""

    @abstractmethod
    def measure(self) -> tuple[float, float]:
        """Bring margins up to date; the primal at the present weights, and its gap to the dual."""

    @abstractmethod
    def sort_out(self) -> int:
        """Put rows worth a visit first in the order; how many they are."""

    @abstractmethod
    def centre_bias(self) -> None:
        """Move the centre of a free intercept's proximal term to the intercept."""

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
        return self.proved(reason)

    def until(self, tol: float, max_passes: float, tired: Callable[[], bool]) -> str:
        """Visits and looks; returns why it stopped."""
        stalled, next_look, looked, value = 0, 1, self.passes, -np.inf
        self.active = self.sort_out()
        while True:
            if self.settled:
                self.window()
            else:
                self.rng.shuffle(self.order[: self.active])
                self.clear = self.visit(self.clear) or np.inf
            early = self.visits < next_look or self.passes < looked + WORTH_A_LOOK
            if early and self.visits > 1 and self.passes < max_passes:
                continue
            self.look()
            looked = self.passes
            if self.gap <= tol * self.primal and self.holds(tol):
                return "tol"
            if self.passes >= max_passes:
                return "max_passes"
            if tired():
                return TIRED
            before, value = value, self.value()
            stalled = stalled + 1 if abs(value - before) <= 1e-15 * abs(value) else 0
            if stalled == STALLED:
                return "precision of float64"
            next_look = self.visits + (2 * WINDOW if self.settled else max(FIRST_LOOK, int(SPACING * self.visits)))

    def visit(self, clear: float) -> float:
        """The active rows once, in the order they are in; the steepest slope met."""
        self.passes += self.active / self.size
        self.visits += 1
        self.active, steepest = self.descend(self.active, clear)
        return steepest

    def window(self) -> None:
        """Visits in one fixed order, then the point that they lead to, if it is better than where they end."""
        order = self.order[: self.active]
        self.rng.shuffle(order)
        kept = int(np.clip(MEMORY * self.size // max(1, self.active), 2, HISTORY))
        history = np.empty((kept + 1, *self.dual[order].shape))
        for k in range(-WINDOW, 0):
            if k >= -kept:
                np.take(self.dual, order, axis=0, out=history[k - 1])
            self.visit(np.inf)
        np.take(self.dual, order, axis=0, out=history[-1])
        gram = np.empty((kept, kept))
        gram_of_changes(history.reshape(kept + 1, -1), gram)
        if not (trace := np.trace(gram)) > 0.0:
            return
        share = np.linalg.solve(gram + 1e-10 * trace * np.eye(kept), np.ones(kept))
        before, w = self.value(), self.w.copy()
        self.move_to(order, history[1:], share / share.sum())
        self.passes += self.active / self.size
        if not self.value() >= before:
            self.dual[order], self.w[...] = history[-1], w

    def look(self) -> None:
        """Margins and gap of all rows; which rows are worth a visit."""
        primal, gap = self.measure()
        self.passes += 1.0
        if primal <= self.primal:
            self.primal, self.best_bias = primal, self.bias
            self.best_w[...] = self.w
        # Any weights have a gap to the best dual so far, which is the present one.
        self.gap = min(gap, self.primal - (primal - gap))
        before, self.active, self.clear = self._active_before, self.sort_out(), np.inf
        self._active_before = self.active
        self.settled = self.active > (1.0 - SETTLED) * before
        self.centre_bias()

    _active_before = np.inf

    def holds(self, tol: float) -> bool:
        """Whether the gap is small enough when worked out from the data."""
        gap = self.proved("").gap
        self.passes += 2.0
        self.gap, self.primal = gap.gap, gap.primal
        return gap.gap <= tol * gap.primal
