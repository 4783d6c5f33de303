"""The solver "dual" for rows with classes."""

import numpy as np

from softmargin.data.matrix import with_constant
from softmargin.kernels.class_coordinate import (
    Form,
    descend_classes,
    fold_back_classes,
    go_along_classes,
    softness_of_classes,
    sort_out_classes,
)
from softmargin.kernels.coordinate import Line, Visit, lengths2
from softmargin.solvers.class_problem import ClassProblem, class_solution_at, feasible_classes
from softmargin.solvers.descent import CLEAR, Descent, bias_column
from softmargin.solvers.problem import Solution


def solve_classes_dual(
    problem: ClassProblem, tol: float, max_passes: float, rng: np.random.Generator, start: Solution | None = None
) -> Solution:
    """The best weights met, with their gap, when that is small enough, or at the end of passes or patience.

    minimise    1/2 |W|^2 + sum price_t loss_t, "max" or "sum" (see ``ClassProblem``)
    visits      all duals of a row become the best ones, given all other rows (``kernels.class_coordinate``)
    the rest    as ``solvers.dual.solve_dual``
    """
    run = ClassDescent(problem, rng)
    if start is not None:
        run.begin_at(start)
    return run.solve(tol, max_passes)


class ClassDescent(Descent):
    """Descent over rows that each hold as many duals as there are classes."""

    def __init__(self, problem: ClassProblem, rng: np.random.Generator) -> None:
        self.asked, self.column, self.centre = problem, 0.0, np.zeros(problem.classes)
        constraints, width = problem.constraints, problem.width + problem.free_bias
        super().__init__(problem.size, problem.classes, np.zeros((width, problem.classes)), rng)
        lengths2(constraints.rows, problem.width, 0, problem.size, self.length2)
        self.passes += 1.0
        if problem.free_bias:
            self.column = bias_column(self.length2, problem.constraints)
            self.length2 += self.column**2
            constraints = constraints._replace(rows=with_constant(constraints.rows, self.column))
        self.constraints = constraints
        self.form = Form(problem.every, problem.squared)
        # The same problem with the intercepts among the weights.
        self.problem = ClassProblem(constraints, width, problem.classes, problem.every, problem.squared)

    @property
    def bias(self) -> np.ndarray:
        return self.centre + self.column * self.w[-1] if self.asked.free_bias else self.centre

    def descend(self, active: int, clear: float) -> tuple[int, Visit]:
        return descend_classes(
            self.constraints, self.length2, self.form, self.centre, self.order, active, clear, self.dual, self.w
        )

    def softness(self, one: np.ndarray, other: np.ndarray) -> float:
        if not self.form.squared:
            return 0.0
        return float(softness_of_classes(self.moving, self.constraints.price, self.form.every, one, other))

    def fold_back(self, line: Line, share: float) -> tuple[float, float]:
        return fold_back_classes(self.constraints, self.length2, self.form, self.centre, line, share, self.w)

    def go_along(self, line: Line) -> None:
        go_along_classes(self.constraints.price, self.form, line)

    def begin_at(self, start: Solution) -> None:
        """Go on from the duals of a solution, perhaps of another price."""
        self.dual[...], self.centre = feasible_classes(self.asked, start.dual), np.array(start.bias)
        self.refresh()
        self.look()

    def refresh(self) -> None:
        self.w[...] = self.problem.weights(self.dual)
        self.passes, self.bend = self.passes + 1.0, 0.0

    def measure(self) -> tuple[float, float]:
        self.margins = self.problem.scores(self.w, self.centre)
        loss, residual = self.problem.loss_and_residual(self.margins, self.dual)
        return 0.5 * float(np.sum(self.w[: self.asked.width] ** 2)) + loss, residual

    def sort_out(self) -> int:
        return int(sort_out_classes(self.constraints, self.form, self.margins, CLEAR, self.order, self.dual))

    def proved(self, reason: str) -> Solution:
        W = self.best_w[: self.asked.width].copy()
        return class_solution_at(self.asked, W, self.best_bias.copy(), self.dual, self.passes, reason)
