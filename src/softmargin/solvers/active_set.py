"""Weights that satisfy every constraint, or a few constraints that none can: one constraint at a time, exactly.

The search works on a system: any constraints that can say what margins weights have and write out one row.
"""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import qr_delete, solve_triangular

DEPENDENT = 1e-11  # of the length of a row: what is left of it outside a span that it is taken to lie in
FAR_ENOUGH = 0.5  # of what is required: margins that scaling the weights makes sufficient
BELOW_ZERO = 1e-12  # of the product of lengths: what rounding makes of a margin that should be zero
MOST_NUMBERS = 10_000_000  # of the rows held, written out


class System(Protocol):
    """``rows . v >= required``, a free intercept among the weights."""

    width: int
    required: np.ndarray
    lengths: np.ndarray  # of the rows; infinite where a constraint has no say

    def margins(self, v: np.ndarray) -> np.ndarray:
        """What every constraint has."""

    def row(self, t: int) -> np.ndarray:
        """One row, written out."""


class Outcome(NamedTuple):
    """What the search ended with; both None where it gave up."""

    v: np.ndarray | None = None  # margins of at least FAR_ENOUGH of what is required
    conflict: np.ndarray | None = None  # numbers of constraints: all but the last are linearly independent


class _Span:
    """The rows held at exactly what they require, as the product of an orthonormal and a triangular matrix."""

    def __init__(self, width: int) -> None:
        self.held: list[int] = []
        self.goals = np.zeros(0)
        self.Q, self.R = np.zeros((width, 0)), np.zeros((0, 0))

    def split(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``row = Q @ along + rest``, the rest at right angles to all held rows, to rounding (hence twice)."""
        along = self.Q.T @ row
        rest = row - self.Q @ along
        again = self.Q.T @ rest
        return along + again, rest - self.Q @ again

    def shares(self, along: np.ndarray) -> np.ndarray:
        """How much of each held row there is in ``Q @ along``."""
        return np.asarray(solve_triangular(self.R, along)) if self.held else along

    def add(self, t: int, goal: float, along: np.ndarray, rest: np.ndarray) -> None:
        """Hold another row, as it was split."""
        k, length = len(self.held), float(np.linalg.norm(rest))
        new = rest / length
        new -= self.Q @ (self.Q.T @ new)
        R = np.zeros((k + 1, k + 1))
        R[:k, :k], R[:k, k], R[k, k] = self.R, along, length
        self.Q, self.R = np.column_stack([self.Q, new / np.linalg.norm(new)]), R
        self.held.append(t)
        self.goals = np.append(self.goals, goal)

    def drop(self, place: int) -> None:
        """Let go of one of the held rows."""
        del self.held[place]
        self.goals = np.delete(self.goals, place)
        if not self.held:
            self.Q, self.R = np.zeros((len(self.Q), 0)), np.zeros((0, 0))
            return
        self.Q, self.R = qr_delete(self.Q, self.R, place, which="col", check_finite=False)
        self.Q, self.R = self.Q[:, : len(self.held)], self.R[: len(self.held)]

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """The shortest v that gives every held row its goal, and the multipliers that make it."""
        inner = solve_triangular(self.R, self.goals, trans="T")
        return self.Q @ inner, solve_triangular(self.R, inner)


def satisfy(system: System, scale: np.ndarray, among: np.ndarray | None = None) -> Outcome:
    """Weights with sufficient margins, or constraints that no weights satisfy together, or neither at the end of steps.

    minimise    1/2 |scale * v|^2 subject to rows . v >= required, by its dual: start at v = 0, take in the constraint
                that is violated most, let go of those whose multipliers would fall below zero
    a conflict  the constraint to take in is minus a sum of held rows with multipliers that are not negative
    given       scale  of the columns: what the rows are divided by; among  numbers of constraints to look at, or all
    Source      Goldfarb and Idnani, "A numerically stable dual method for solving strictly convex quadratic programs"
                (1983)
    """
    span, v = _Span(system.width), np.zeros(system.width)
    multipliers = np.zeros(0)
    looked_at = np.zeros(system.required.size, dtype=bool)
    looked_at[slice(None) if among is None else among] = True
    looked_at &= np.isfinite(system.lengths)
    lengths = np.where(looked_at, system.lengths, 1.0)
    for _ in range(20 * system.width + 1000):
        short = np.where(looked_at, system.required - system.margins(v / scale), -np.inf)
        size = float(np.linalg.norm(v))
        rounding = np.where(system.required > 0, 0.0, BELOW_ZERO * size * lengths)
        enough = (1.0 - FAR_ENOUGH) * system.required + rounding
        if not np.any(looked_at & (short > enough)):
            return Outcome(v=v / scale)
        entering = int(np.argmax(np.where(short > enough, short / np.maximum(lengths, 1e-300), -np.inf)))
        row = system.row(entering) / scale
        length = float(np.linalg.norm(row))
        if length == 0.0:
            return Outcome(conflict=np.array([entering]))
        if (len(span.held) + 1) * system.width > MOST_NUMBERS:
            break
        row, goal = row / length, float(system.required[entering]) / length
        while True:
            along, rest = span.split(row)
            shares = span.shares(along)
            bend = float(rest @ rest)
            full = (goal - float(row @ v)) / bend if bend > DEPENDENT**2 else np.inf
            falling = np.flatnonzero(shares > 1e-13)
            limits = multipliers[falling] / shares[falling]
            step = min(full, float(limits.min(initial=np.inf)))
            if not np.isfinite(step):
                return Outcome(conflict=np.append(np.array(span.held, dtype=np.int64)[shares < 0.0], entering))
            multipliers = multipliers - step * shares
            if full < np.inf:
                v = v + step * rest
            if step == full:
                span.add(entering, goal, along, rest)
                v, multipliers = span.solve()
                multipliers = np.maximum(multipliers, 0.0)
                break
            leaving = int(falling[np.argmin(limits)])
            span.drop(leaving)
            multipliers = np.delete(np.maximum(multipliers, 0.0), leaving)
    return Outcome()
