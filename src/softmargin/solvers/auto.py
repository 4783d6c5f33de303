"""The solver "auto": coordinate descent, until its own progress says that Newton would be quicker."""

from dataclasses import dataclass, field

import numpy as np

from softmargin.data.matrix import stored_numbers
from softmargin.kernels.rows import ConstantRows, PairRows, Rows, SparseRows
from softmargin.solvers.descent import TIRED, Descent
from softmargin.solvers.dual import RowDescent
from softmargin.solvers.newton import ENTRY_FLOPS, GRAM_WIDTH, solve_newton
from softmargin.solvers.problem import Problem, Solution

# Nanoseconds, measured (benchmarks/bench_solvers.py); the choice is the same on every machine and in every run.
VISIT = {"sparse": 3.0, "dense": 0.5}  # one number of a row that is visited
VISIT_ROW = 15.0
PASS = {"sparse": 1.5, "dense": 0.4}  # one number in a pass of Newton's, on two cores
PASS_ROW = 15.0
FLOP = 0.05  # of a product of matrices
NEWTON_PASSES, PASSES_A_DIGIT, STEPS_A_PASS = 8, 5, 0.6  # what it takes, whatever C
CONJUGATE_PASSES = 4000  # more, where the Newton matrix is too large to be written out
WORTH_A_TRIAL = 1e6  # nanoseconds of Newton's: the answer to a smaller problem shall not depend on an order
DOUBTS = (np.inf, 4.0, 2.0, 1.0)  # at the first looks, how many times quicker Newton must be; at later ones: quicker


def solve_auto(problem: Problem, tol: float, max_passes: float, rng: np.random.Generator) -> tuple[Solution, str]:
    """The answer of ``solve_dual``, or of ``solve_newton`` going on from there; and who found it."""
    run = RowDescent(problem, rng)
    progress = Progress(run, problem, tol)
    if progress.newton_nanoseconds() < WORTH_A_TRIAL:
        return solve_newton(problem, tol, max_passes), "newton"
    solution = run.solve(tol, max_passes, progress.newton_is_quicker)
    if solution.reason != TIRED:
        return solution, "dual"
    # Newton counts on from the passes made.
    return solve_newton(problem, tol, max_passes, start=solution), "newton"


@dataclass
class Progress:
    """The gap at every look of a descent, and what is to be expected of it."""

    run: Descent
    problem: Problem
    tol: float
    passes: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    def newton_is_quicker(self) -> bool:
        """Asked after every look."""
        self.passes.append(self.run.passes)
        self.gaps.append(self.run.gap / self.run.primal)
        doubt = DOUBTS[min(len(self.gaps), len(DOUBTS)) - 1]
        if not np.isfinite(doubt):
            return False
        return self.passes_left() * self.visit_nanoseconds() > doubt * self.newton_nanoseconds()

    def passes_left(self) -> float:
        """Passes until the gap is small enough, if it goes on to shrink as in the latter half of the passes."""
        half = int(np.searchsorted(self.passes, 0.5 * self.passes[-1]))
        half = min(half, len(self.passes) - 2)
        shrunk = np.log(self.gaps[half] / max(self.gaps[-1], 1e-300))
        left = np.log(max(self.gaps[-1], 1e-300) / max(self.tol, 1e-14))
        return left / shrunk * (self.passes[-1] - self.passes[half]) if shrunk > 0 else np.inf

    def visit_nanoseconds(self) -> float:
        """A visit to every row."""
        rows = self.problem.constraints.rows
        return VISIT[layout(rows)] * stored_numbers(rows) + VISIT_ROW * self.problem.size

    def newton_nanoseconds(self) -> float:
        """Newton's passes, and its matrices for as many free rows as there are now."""
        rows, d = self.problem.constraints.rows, self.problem.width
        dual, price = self.run.dual, self.problem.constraints.price
        free = float(np.sum((dual > 0) & (dual < price))) if not self.problem.squared else float(np.sum(dual > 0))
        passes, flops = NEWTON_PASSES + PASSES_A_DIGIT * max(0.0, -np.log10(max(self.tol, 1e-14))), 0.0
        steps = STEPS_A_PASS * passes
        if free < d and free * d <= GRAM_WIDTH**2:
            flops = free * free * d + free**3 / 3
        elif d <= GRAM_WIDTH:
            flops = free * min(d * d, ENTRY_FLOPS * (stored_numbers(rows) / self.problem.size) ** 2) + d**3 / 3
        else:
            passes += CONJUGATE_PASSES
        one = PASS[layout(rows)] * stored_numbers(rows) + PASS_ROW * self.problem.size
        return passes * one + steps * FLOP * flops


def layout(rows: Rows) -> str:
    """Whether a visit reads neighbouring numbers or scattered ones."""
    while isinstance(rows, PairRows | ConstantRows):
        rows = rows.rows
    return "sparse" if isinstance(rows, SparseRows) else "dense"
