"""The solver "dual" for signed rows."""

import numpy as np

from softmargin.data.matrix import stored_numbers, with_constant
from softmargin.kernels.coordinate import Line, Visit, descend, fold_back, go_along, lengths2, softness, sort_out
from softmargin.kernels.sums import margins_of
from softmargin.solvers.certificate import Room, feasible, solution_at
from softmargin.solvers.descent import CLEAR, Descent, bias_column
from softmargin.solvers.parallel import over_ranges
from softmargin.solvers.problem import Problem, Solution


def solve_dual(
    problem: Problem, tol: float, max_passes: float, rng: np.random.Generator, start: Solution | None = None
) -> Solution:
    """The best weights met, with their gap, when that is small enough, or at the end of passes or patience.

    maximise    sum dual_t required_t - 1/2 |sum dual_t z_t|^2 [- sum dual_t^2 / (4 price_t), squared hinge]
    subject to  0 <= dual_t [<= price_t, hinge], and sum dual_t sign_t = 0 for a free intercept
    visits      in random order, leaving out rows whose dual rests at an end of its box; all come back at every look
    between     two visits, a conjugate gradient step along where they led (``Descent.conjugate_step``)
    intercept   a constant column with a proximal term instead of a penalty, whose centre moves at every look
    given       start  any solution, of another C perhaps, to go on from its dual
    Source      Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008
    """
    run = RowDescent(problem, rng)
    if start is not None:
        run.begin_at(start)
    return run.solve(tol, max_passes)


class RowDescent(Descent):
    """Descent over rows that each hold one dual."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.problem, self.constraints = problem, problem.constraints
        self.column, self.centre = 0.0, 0.0
        super().__init__(problem.size, 0, np.zeros(problem.width + problem.free_bias), rng)
        lengths2(self.constraints.rows, problem.width, 0, problem.size, self.length2)
        self.passes += 1.0
        if problem.free_bias:
            self.column = bias_column(self.length2, problem.constraints)
            self.length2 += self.column**2
            self.constraints = self.constraints._replace(rows=with_constant(self.constraints.rows, self.column))

    def begin_at(self, start: Solution) -> None:
        """Go on from the dual of a solution, perhaps of another price."""
        self.dual[:], self.centre = feasible(self.problem, start.dual), float(start.bias)
        self.refresh()
        self.look()

    def refresh(self) -> None:
        weights, flow = self.problem.weights(self.dual, (self.w_change, self.w_along))
        self.w[: self.problem.width], self.w[self.problem.width :] = weights, self.column * flow
        self.passes, self.bend = self.passes + 1.0, 0.0

    @property
    def bias(self) -> float:
        return self.centre + self.column * float(self.w[-1]) if self.problem.free_bias else 0.0

    def centre_bias(self) -> None:
        super().centre_bias()
        self.centre = float(self.centre[0])

    def descend(self, active: int, clear: float) -> tuple[int, Visit]:
        squared = self.problem.squared
        return descend(
            self.constraints, self.length2, squared, self.centre, self.order, active, clear, self.dual, self.w
        )

    def softness(self, one: np.ndarray, other: np.ndarray) -> float:
        return float(softness(self.moving, self.constraints.price, one, other)) if self.problem.squared else 0.0

    def fold_back(self, line: Line, share: float) -> tuple[float, float]:
        return fold_back(self.constraints, self.length2, self.problem.squared, self.centre, line, share, self.w)

    def go_along(self, line: Line) -> None:
        go_along(self.constraints.price, self.problem.squared, line)

    def measure(self) -> tuple[float, float]:
        def part(start: int, stop: int) -> None:
            margins_of(self.constraints, self.w, self.centre, start, stop, self.margins)

        over_ranges(part, self.size, stored_numbers(self.constraints.rows))
        loss, _, residual = self.problem.gap_terms(self.margins, self.dual)
        w = self.w[: self.problem.width]
        return 0.5 * float(w @ w) + loss, residual

    def sort_out(self) -> int:
        return int(sort_out(self.constraints, self.problem.squared, self.margins, CLEAR, self.order, self.dual))

    def proved(self, reason: str) -> Solution:
        # No line is under way: what describes one is room for the proof.
        room = Room(self.change, self.along, (self.w_change, self.w_along))
        w = self.best_w[: self.problem.width]
        return solution_at(self.problem, w, self.best_bias, self.dual, self.passes, reason, room)
