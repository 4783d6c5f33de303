"""One door to every solver: which one runs, on what, and what comes back."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from softmargin.kernels.constraints import Constraints
from softmargin.solvers.certificate import solution_at
from softmargin.solvers.online import OnlineRun, Plan
from softmargin.solvers.online_fit import solve_online
from softmargin.solvers.problem import Gap, Problem, Solution

SOLVERS = ("auto", "dual", "newton", "online")


@dataclass(frozen=True)
class Task:
    """What to solve, how well, and how long to try."""

    solver: str
    C: float
    tol: float
    max_passes: float
    rng: np.random.Generator


@dataclass(frozen=True)
class Answer:
    """A solution, who found it, and the online run where there was one."""

    weights: np.ndarray
    bias: float | np.ndarray
    dual: np.ndarray
    gap: Gap
    passes: float
    reason: str
    solver: str
    run: OnlineRun | None = None

    @classmethod
    def of(cls, solution: Solution, solver: str, run: OnlineRun | None = None) -> "Answer":
        """A solution for one weight vector."""
        return cls(
            solution.w, solution.bias, solution.dual, solution.gap, solution.passes, solution.reason, solver, run
        )


def solve(task: Task, stream: Any, batch: Any, plan: Plan, order: np.ndarray) -> Answer:
    """Solve ``batch``, constraints whose prices hold all their copies but not C.

    ``stream`` are the same constraints with the price of one copy, and ``order`` names each copy once.
    """
    if not np.isfinite(task.C):
        message = "C=inf, the hard margin, comes with a later version of softmargin: pass a large finite C, such as 1e6"
        raise NotImplementedError(message)
    batch = batch._replace(price=task.C * batch.price)
    if isinstance(batch, Constraints):
        return _solve_rows(task, stream, Problem(batch, plan.width, plan.squared, plan.free_bias), plan, order)
    raise NotImplementedError


def _solve_rows(task: Task, stream: Constraints, problem: Problem, plan: Plan, order: np.ndarray) -> Answer:
    if task.solver in ("online", "auto"):

        def prove(w: np.ndarray, bias: np.ndarray, dual: np.ndarray, passes: float, reason: str) -> Solution:
            return solution_at(problem, w, float(bias[0]), dual, passes, reason)

        solution, run = solve_online(stream, plan, order, task.C, prove, task.tol, int(task.max_passes), task.rng)
        return Answer.of(solution, "online", run)
    raise NotImplementedError
