"""One door to every solver: which one runs, on what, and what comes back."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from softmargin.data.matrix import lean
from softmargin.kernels.constraints import ClassConstraints, Constraints, for_all
from softmargin.solvers.auto import solve_auto, solve_classes_auto
from softmargin.solvers.certificate import solution_at
from softmargin.solvers.class_dual import solve_classes_dual
from softmargin.solvers.class_newton import solve_classes
from softmargin.solvers.class_problem import ClassProblem, class_solution_at
from softmargin.solvers.conflict import InfeasibleError
from softmargin.solvers.dual import solve_dual
from softmargin.solvers.hard import solve_hard
from softmargin.solvers.newton import solve_newton
from softmargin.solvers.online import OnlineRun, Plan
from softmargin.solvers.online_fit import solve_online
from softmargin.solvers.parallel import one_blas_thread
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

    @property
    def hard(self) -> bool:
        """Whether slack is not for sale."""
        return not np.isfinite(self.C)

    @property
    def whole_passes(self) -> int:
        """``max_passes`` for who counts in whole passes; inf is a number here."""
        return int(min(self.max_passes, 2.0**53))


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
    stiffness: float | None = None  # of duals that follow from the scores, and are summed up by row
    single: np.ndarray | None = None  # the duals that were summed up by row, where pairs were listed

    @classmethod
    def of(cls, solution: Solution, solver: str, run: OnlineRun | None = None) -> "Answer":
        """A solution for one weight vector."""
        return cls(
            solution.w, solution.bias, solution.dual, solution.gap, solution.passes, solution.reason, solver, run
        )


def solve(task: Task, stream: Any, batch: Any, plan: Plan, order: np.ndarray) -> Answer:
    """Solve ``batch``, constraints whose prices hold all their copies but not C; for a finite C they may be short.

    ``stream`` are the same constraints with the price of one copy, and ``order`` names each copy once.  Where it is
    the batch itself, its prices are used up.
    """
    own = batch.price if stream is batch else None  # handed over for good: no second array
    batch = batch._replace(rows=lean(batch.rows))
    with one_blas_thread():
        if task.hard:
            return _solve_hard(task, batch, plan)
        batch = batch._replace(price=np.multiply(batch.price, task.C, out=own))
        return _solve(task, stream, batch, plan, order)


def _solve_hard(task: Task, batch: Any, plan: Plan) -> Answer:
    """No slack: a price says only whether a constraint counts, and the loss nothing at all."""
    if isinstance(batch, Constraints):
        problem = Problem(batch, plan.width, free_bias=plan.free_bias)
        return Answer.of(solve_hard(problem, task.tol, task.max_passes), "newton")
    if plan.form != "ovr":
        several = ClassProblem(batch, plan.width, plan.classes, every=True, free_bias=plan.free_bias)
        return Answer.of(solve_hard(several, task.tol, task.max_passes), "newton")
    parts = []
    for k, problem in enumerate(_each_class(batch, plan)):
        try:
            parts.append(solve_hard(problem, task.tol, task.max_passes))
        except InfeasibleError as error:
            classes = np.full(len(error.conflict), k)
            raise InfeasibleError(replace(error.conflict, classes=classes)) from None
    return Answer.of(_together_all(parts), "newton")


def _solve(task: Task, stream: Any, batch: Any, plan: Plan, order: np.ndarray) -> Answer:
    if isinstance(batch, Constraints):
        return _solve_rows(task, stream, Problem(batch, plan.width, plan.squared, plan.free_bias), plan, order)
    if plan.form == "ovr":
        batch = batch._replace(required=for_all(batch.required), price=for_all(batch.price))
        return _solve_each(task, stream, batch, plan, order)
    problem = ClassProblem(batch, plan.width, plan.classes, plan.form == "sum", plan.squared, plan.free_bias)
    if task.solver == "dual":
        return Answer.of(solve_classes_dual(problem, task.tol, task.max_passes, task.rng), "dual")
    if task.solver == "newton":
        return Answer.of(solve_classes(problem, task.tol, task.max_passes), "newton")
    if task.solver == "auto":
        return Answer.of(*solve_classes_auto(problem, task.tol, task.max_passes, task.rng))
    prove = partial(class_solution_at, problem)
    solution, run = solve_online(stream, plan, order, task.C, prove, task.tol, task.whole_passes, task.rng)
    return Answer.of(solution, "online", run)


def _solve_rows(task: Task, stream: Constraints, problem: Problem, plan: Plan, order: np.ndarray) -> Answer:
    if task.solver != "online":
        return Answer.of(*_solve_batch(task, problem))

    def prove(w: np.ndarray, bias: np.ndarray, dual: np.ndarray, passes: float, reason: str) -> Solution:
        return solution_at(problem, w, float(bias[0]), dual, passes, reason)

    solution, run = solve_online(stream, plan, order, task.C, prove, task.tol, task.whole_passes, task.rng)
    return Answer.of(solution, "online", run)


def _solve_batch(task: Task, problem: Problem) -> tuple[Solution, str]:
    """The solution for signed rows, and who found it."""
    if task.solver == "dual":
        return solve_dual(problem, task.tol, task.max_passes, task.rng), "dual"
    if task.solver == "newton":
        return solve_newton(problem, task.tol, task.max_passes), "newton"
    return solve_auto(problem, task.tol, task.max_passes, task.rng)


def _solve_each(task: Task, stream: ClassConstraints, batch: ClassConstraints, plan: Plan, order: np.ndarray) -> Answer:
    """Each class against the rest: problems that share nothing but their rows."""
    problems = _each_class(batch, plan)
    if task.solver != "online":
        solved, solvers = zip(*(_solve_batch(task, problem) for problem in problems), strict=True)
        return Answer.of(_together_all(list(solved)), " and ".join(sorted(set(solvers))))

    def prove(W: np.ndarray, bias: np.ndarray, dual: np.ndarray, passes: float, reason: str) -> Solution:
        parts = [
            solution_at(problem, np.ascontiguousarray(W[:, k]), float(bias[k]), dual[:, k], passes, reason)
            for k, problem in enumerate(problems)
        ]
        return together(parts, passes, reason)

    solution, run = solve_online(stream, plan, order, task.C, prove, task.tol, task.whole_passes, task.rng)
    return Answer.of(solution, "online", run)


def _each_class(batch: ClassConstraints, plan: Plan) -> list[Problem]:
    signs = np.where(np.arange(plan.classes)[:, None] == batch.label, np.int8(1), np.int8(-1))
    return [
        Problem(Constraints(batch.rows, sign, batch.required, batch.price), plan.width, plan.squared, plan.free_bias)
        for sign in signs
    ]


def _together_all(parts: list[Solution]) -> Solution:
    """Solved one after the other: passes add, and so do the reasons for stopping short of the tolerance."""
    reasons = {part.reason for part in parts} - {"tol"}
    return together(parts, sum(part.passes for part in parts), ", ".join(sorted(reasons)) or "tol")


def together(parts: list[Solution], passes: float, reason: str) -> Solution:
    """Independent problems as one: objectives and gaps add."""
    gaps = [part.gap for part in parts]
    gap = Gap(
        primal=sum(gap.primal for gap in gaps),
        dual=sum(gap.dual for gap in gaps),
        gap=sum(gap.gap for gap in gaps),
        distance=float(np.sqrt(sum(gap.distance**2 for gap in gaps))),
    )
    columns = np.column_stack([part.w for part in parts]), np.array([part.bias for part in parts])
    return Solution(*columns, np.column_stack([part.dual for part in parts]), gap, passes, reason)
