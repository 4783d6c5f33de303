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
from softmargin.solvers.problem import PRECISION, Problem, Solution

# Nanoseconds, measured (benchmarks/bench_solvers.py); the choice is the same on every machine and in every run.
VISIT = {"sparse": 1.2, "dense": 0.5}  # one number of a row that is visited
VISIT_ROW, VISIT_CALL = 15.0, 25_000.0
VISIT_CLASS = 25.0  # one class of a row that is visited
PASS = {"sparse": 1.5, "dense": 0.4}  # one number in a pass of Newton's, on two cores
PASS_ROW = 15.0
FLOP = 0.05  # of a product of matrices
NEWTON_CALLS = 1e6
NEWTON_PASSES, PASSES_A_DIGIT, STEPS_A_PASS = 4, 4, 0.6  # what it takes, whatever C
CLASS_PASSES, PASSES_A_CLASS_DIGIT, STEPS_A_CLASS_PASS = 30, 15, 0.25
FREE_A_COLUMN = 10  # a descent at its start has more free rows than Newton will ever meet
CONJUGATE_PASSES = 4000  # more, where the Newton matrix is too large to be written out
GIVEN_UP = (TIRED, PRECISION)  # where Newton goes on
WORTH_A_TRIAL = 1e6  # nanoseconds of Newton's: the answer to a smaller problem shall not depend on an order
# Shares of Newton's time: where a trial ends that looks good no more, and where every trial does.
TRIAL, LONGEST_TRIAL, NEXT_LOOK = 0.2, 0.6, 0.1
HOPELESS = 1.1  # times Newton's time still to go: the trial ends at once, for a descent slows down
NEARLY_DONE, PATIENCE = 0.2, 1.2  # of Newton's time still to go: the trial goes on, up to so much of it in all


def solve_auto(problem: Problem, tol: float, max_passes: float, rng: np.random.Generator) -> tuple[Solution, str]:
    """The answer of ``solve_dual``, or of ``solve_newton`` going on from there; and who found it."""
    rows, n, price = problem.constraints.rows, problem.size, problem.constraints.price
    if newton_nanoseconds(problem, tol, n / 2) < WORTH_A_TRIAL:
        return solve_newton(problem, tol, max_passes), "newton"

    def newton(run: Descent) -> float:
        ceiling = np.inf if problem.squared else price
        free = np.count_nonzero((run.dual > 0) & (run.dual < ceiling)) if run.looks else n / 2
        return newton_nanoseconds(problem, tol, float(free))

    visit = VISIT[layout(rows)] * stored_numbers(rows) + VISIT_ROW * n
    solution = Trial(RowDescent(problem, rng), tol, visit, newton).solve(max_passes)
    if solution.reason not in GIVEN_UP:
        return solution, "dual"
    # Newton counts on from the passes made; the trial and its arrays are gone.
    return solve_newton(problem, tol, max_passes, start=solution), "newton"


def solve_classes_auto(
    problem: ClassProblem, tol: float, max_passes: float, rng: np.random.Generator
) -> tuple[Solution, str]:
    """The same for rows with classes; Newton is no choice where its matrix is too large to be written out."""
    rows, newton = problem.constraints.rows, class_newton_nanoseconds(problem, tol)
    if newton < WORTH_A_TRIAL:
        return solve_classes(problem, tol, max_passes), "newton"
    visit = (VISIT[layout(rows)] * stored_numbers(rows) + VISIT_CLASS * problem.size) * problem.classes
    solution = Trial(ClassDescent(problem, rng), tol, visit, lambda _: newton).solve(max_passes)
    if solution.reason not in GIVEN_UP:
        return solution, "dual"
    return solve_classes(problem, tol, max_passes, start=solution), "newton"


@dataclass
class Trial:
    """A descent, and whether it still promises to be done before Newton would be."""

    run: Descent
    tol: float
    visit_nanoseconds: float  # a visit to every row
    newton: Callable[[Descent], float]  # nanoseconds that Newton would take, without the calls it makes

    def solve(self, max_passes: float) -> Solution:
        """The descent's answer, however good it is when the trial ends."""
        return self.run.solve(self.tol, max_passes, self.is_lost)

    def is_lost(self) -> bool:
        """Asked after every look; plans the next one where the trial goes on."""
        newton, left = self.newton(self.run) + NEWTON_CALLS, self.left()
        spent = self.cost(self.run.passes, self.run.visits)
        if left > HOPELESS * newton:
            return True
        allowed = newton * (1.0 - spent / (LONGEST_TRIAL * newton))
        if spent <= PATIENCE * newton:
            allowed = max(allowed, NEARLY_DONE * newton)
        if spent >= TRIAL * newton and left > allowed:
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
