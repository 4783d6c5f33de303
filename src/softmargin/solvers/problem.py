"""One problem, whatever the constraints came from, and the two maps between its weights and its duals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softmargin.data.matrix import stored_numbers
from softmargin.kernels.constraints import Constraints
from softmargin.kernels.sums import gap_terms, margins_of, weights_of
from softmargin.solvers.parallel import over_ranges

Spare = Sequence[np.ndarray]  # arrays that nobody reads any more: where one is at hand, none is made


class Blanks:
    """Zeros to sum up in, one array a thread: spare ones first."""

    def __init__(self, size: int, spare: Spare = ()) -> None:
        self.size, self.spare = size, list(spare)

    def __call__(self) -> np.ndarray:
        """One that nobody else has; ``pop`` is one step for all threads."""
        try:
            blank = self.spare.pop()[: self.size]
        except IndexError:
            return np.zeros(self.size)
        blank[:] = 0.0
        return blank


PRECISION = "precision of float64"  # why a solver stopped that could tell no more


@dataclass(frozen=True)
class Problem:
    """minimise ``1/2 |w|^2 + sum price_t loss(required_t - sign_t (row_t . w + bias))``.

    The loss is the hinge, or its square.  ``price`` already holds C.  ``bias`` is zero unless ``free_bias``; a
    penalised intercept is a constant column of the rows.
    """

    constraints: Constraints
    width: int
    squared: bool = False
    free_bias: bool = False

    @property
    def size(self) -> int:
        """How many constraints."""
        return int(self.constraints.sign.size)

    def margins(self, w: np.ndarray, bias: float = 0.0, out: np.ndarray | None = None) -> np.ndarray:
        """What each constraint has: ``sign (row . w + bias)``."""
        margins = np.empty(self.size) if out is None else out

        def part(start: int, stop: int) -> None:
            margins_of(self.constraints, w, bias, start, stop, margins)

        over_ranges(part, self.size, stored_numbers(self.constraints.rows))
        return margins

    def weights(self, dual: np.ndarray, spare: Spare = ()) -> tuple[np.ndarray, float]:
        """``sum dual z``, and the same sum for the intercept (zero where the dual is feasible for a free one)."""
        blank = Blanks(self.width, spare)

        def part(start: int, stop: int) -> tuple[np.ndarray, float]:
            w = blank()
            return w, weights_of(self.constraints, dual, start, stop, w)

        parts = over_ranges(part, self.size, stored_numbers(self.constraints.rows))
        return added_up([w for w, _ in parts]), float(sum(flow for _, flow in parts))

    def gap_terms(self, margins: np.ndarray, dual: np.ndarray) -> tuple[float, float, float]:
        """Loss, dual gain and residual (see ``kernels.sums.gap_terms``)."""
        _, _, required, price = self.constraints
        return gap_terms(required, price, self.squared, margins, dual, 0, self.size)


def added_up(parts: list[np.ndarray]) -> np.ndarray:
    """The sum of arrays, in the first of them: ``np.sum`` would stack them first."""
    for part in parts[1:]:
        parts[0] += part
    return parts[0]


@dataclass(frozen=True)
class Gap:
    """The numbers of a certificate, without the story of how they were reached."""

    primal: float
    dual: float
    gap: float
    distance: float

    @property
    def relative(self) -> float:
        """The gap as a share of the objective; zero where both are, infinite where no weights are known at all."""
        if not np.isfinite(self.primal):
            return float("inf")
        return self.gap / self.primal if self.primal > 0 else self.gap


@dataclass(frozen=True)
class Solution:
    """What a solver hands back, at whatever moment it stopped: the best weights it met, and their proof."""

    w: np.ndarray  # one column a class where there are several
    bias: Any  # one number, or one a class
    dual: np.ndarray  # one multiplier a constraint, feasible
    gap: Gap  # of exactly these weights and this dual
    passes: float  # over the data
    reason: str  # why the solver stopped
