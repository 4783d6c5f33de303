"""The solver "auto": coordinate descent, until its own progress says that Newton would be quicker."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from softmargin.data.matrix import stored_numbers
from softmargin.kernels.rows import ConstantRows, PairRows, Rows, SparseRows
from softmargin.solvers.class_dual import ClassDescent
from softmargin.solvers.class_newton import DIRECT_UNKNOWNS, solve_classes
from softmargin.solvers.class_problem import ClassProblem
from softmargin.solvers.descent import TIRED, Descent
from softmargin.solvers.dual import RowDescent
from softmargin.solvers.newton import ENTRY_FLOPS, GRAM_WIDTH, solve_newton
from softmargin.solvers.problem import Problem, Solution

# Nanoseconds, measured (benchmarks/bench_solvers.py); the choice is the same on every machine and in every run.
VISIT = {"sparse": 1.2, "dense": 0.5}  # one number of a row that is visited
VISIT_ROW, VISIT_CALL = 15.0, 40_000.0
VISIT_CLASS = 25.0  # one class of a row that is visited
PASS = {"sparse": 1.5, "dense": 0.4}  # one number in a pass of Newton's, on two cores
PASS_ROW = 15.0
FLOP = 0.05  # of a product of matrices
NEWTON_CALLS = 2e6
NEWTON_PASSES, PASSES_A_DIGIT, STEPS_A_PASS = 4, 4, 0.6  # what it takes, whatever C
CLASS_PASSES, PASSES_A_CLASS_DIGIT, STEPS_A_CLASS_PASS = 30, 15, 0.25
FREE_A_COLUMN = 10  # a descent at its start has more free rows than Newton will ever meet
CONJUGATE_PASSES = 4000  # more, where the Newton matrix is too large to be written out
WORTH_A_TRIAL = 1e6  # nanoseconds of Newton's: the answer to a smaller problem shall not depend on an order
# Shares of Newton's time: where a trial ends that looks good no more, and where every trial does.
TRIAL, LONGEST_TRIAL, NEXT_LOOK = 0.2, 0.6, 0.1
HOPELESS = 2.0  # times Newton's time still to go: the trial ends at once


def solve_auto(problem: Problem, tol: float, max_passes: float, rng: np.random.Generator) -> tuple[Solution, str]:
    """The answer of ``solve_dual``, or of ``solve_newton`` going on from there; and who found it."""
    solution = _tried(problem, tol, max_passes, rng)
    if solution is None:
        return solve_newton(problem, tol, max_passes), "newton"
    if solution.reason != TIRED:
        return solution, "dual"
    # Newton counts on from the passes made.
    return solve_newton(problem, tol, max_passes, start=solution), "newton"


def _tried(problem: Problem, tol: float, max_passes: float, rng: np.random.Generator) -> Solution | None:
    """How far a descent came, of which nothing else is kept; none where Newton is sure to be quick."""
    run = RowDescent(problem, rng)
    rows, n = problem.constraints.rows, problem.size
    visit = VISIT[layout(rows)] * stored_numbers(rows) + VISIT_ROW * n

    def free() -> float:
        dual, price = run.dual, problem.constraints.price
        return float(np.sum((dual > 0) & (dual < price))) if not problem.squared else float(np.sum(dual > 0))

    trial = Trial(run, tol, visit, lambda: newton_nanoseconds(problem, tol, free() if run.looks else n / 2))
    return None if trial.newton() < WORTH_A_TRIAL else run.solve(tol, max_passes, trial.is_lost)


def solve_classes_auto(
    problem: ClassProblem, tol: float, max_passes: float, rng: np.random.Generator
) -> tuple[Solution, str]:
    """The same for rows with classes; Newton is no choice where its matrix is too large to be written out."""
    run = ClassDescent(problem, rng)
    rows, n, classes = problem.constraints.rows, problem.size, problem.classes
    visit = (VISIT[layout(rows)] * stored_numbers(rows) + VISIT_CLASS * n) * classes
    trial = Trial(run, tol, visit, lambda: class_newton_nanoseconds(problem, tol))
    if trial.newton() < WORTH_A_TRIAL:
        return solve_classes(problem, tol, max_passes), "newton"
    solution = run.solve(tol, max_passes, trial.is_lost)
    if solution.reason != TIRED:
        return solution, "dual"
    return solve_classes(problem, tol, max_passes, start=solution), "newton"


@dataclass
class Trial:
    """A descent, and whether it still promises to be done before Newton would be."""

    run: Descent
    tol: float
    visit_nanoseconds: float  # a visit to every row
    newton: Callable[[], float]  # nanoseconds that Newton would take, without the calls it makes

    def is_lost(self) -> bool:
        """Asked after every look."""
        newton, spent, left = self.newton() + NEWTON_CALLS, self.cost(self.run.passes, self.run.visits), self.left()
        if left > HOPELESS * newton:
            return True
        if spent >= TRIAL * newton and left > newton * (1.0 - spent / (LONGEST_TRIAL * newton)):
            return True
        wanted = max(TRIAL * newton, spent + NEXT_LOOK * newton)
        self.run.due = self.run.passes * wanted / spent
        return False

    def cost(self, passes: float, visits: float) -> float:
        """Nanoseconds of so many passes in so many visits."""
        return passes * self.visit_nanoseconds + visits * VISIT_CALL

    def left(self) -> float:
        """Nanoseconds to go, if what visits meet goes on to shrink as in the latter half of the passes."""
        course = self.run.course
        last = course[-1]
        half = next(point for point in course if point.passes >= 0.5 * last.passes or point is course[-2])
        shrunk = np.log(max(half.gap, 1e-300) / max(last.gap, 1e-300))
        to_go = np.log(max(last.gap, 1e-300) / (max(self.tol, 1e-14) * self.run.primal))
        if to_go <= 0.0:
            return 0.0
        if shrunk <= 0.0:
            return np.inf
        return self.cost(last.passes - half.passes, last.visits - half.visits) * to_go / shrunk


def newton_nanoseconds(problem: Problem, tol: float, free: float) -> float:
    """Newton's passes, and its matrices for about so many free rows."""
    rows, d = problem.constraints.rows, problem.width
    free = min(free, FREE_A_COLUMN * d)
    passes, flops = NEWTON_PASSES + PASSES_A_DIGIT * max(0.0, -np.log10(max(tol, 1e-14))), 0.0
    steps = STEPS_A_PASS * passes
    if free < d and free * d <= GRAM_WIDTH**2:
        flops = free * free * d + free**3 / 3
    elif d <= GRAM_WIDTH:
        flops = free * min(d * d, ENTRY_FLOPS * (stored_numbers(rows) / problem.size) ** 2) + d**3 / 3
    else:
        passes += CONJUGATE_PASSES
    one = PASS[layout(rows)] * stored_numbers(rows) + PASS_ROW * problem.size
    return passes * one + steps * FLOP * flops


def class_newton_nanoseconds(problem: ClassProblem, tol: float) -> float:
    """The same for classes, as if a quarter of the products of every row were needed."""
    rows, d, classes = problem.constraints.rows, problem.width, problem.classes
    if d * classes > DIRECT_UNKNOWNS:
        return np.inf
    passes = CLASS_PASSES + PASSES_A_CLASS_DIGIT * max(0.0, -np.log10(max(tol, 1e-14)))
    steps = STEPS_A_CLASS_PASS * passes
    flops = problem.size * d * d * classes * (classes + 1) / 8 + (d * classes) ** 3 / 3
    one = (PASS[layout(rows)] * stored_numbers(rows) + PASS_ROW * problem.size) * classes
    return passes * one + steps * FLOP * flops


def layout(rows: Rows) -> str:
    """Whether a visit reads neighbouring numbers or scattered ones."""
    while isinstance(rows, PairRows | ConstantRows):
        rows = rows.rows
    return "sparse" if isinstance(rows, SparseRows) else "dense"
