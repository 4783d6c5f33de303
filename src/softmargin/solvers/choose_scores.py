"""The same door for statements about scores; see ``solvers.choose``."""

from dataclasses import replace
from typing import Any

from softmargin.solvers.auto import solve_auto
from softmargin.solvers.choose import Answer, Task
from softmargin.solvers.dual import solve_dual
from softmargin.solvers.group_stream import solve_groups_online
from softmargin.solvers.hard import solve_hard
from softmargin.solvers.online import Plan
from softmargin.solvers.parallel import one_blas_thread
from softmargin.solvers.problem import PRECISION, Solution
from softmargin.solvers.score_newton import solve_scores
from softmargin.solvers.score_problem import ScoreProblem, ScoreSolution, balanced
from softmargin.solvers.sources import GradedGroups

FEW_PAIRS, FIRST_SHARE = 1_000_000, 0.5  # so many may be listed where so many of the passes did not help


def solve_statements(task: Task, problem: ScoreProblem, X: Any, plan: Plan) -> Answer:
    """Solve a problem whose prices do not hold C yet; ``X`` are its rows as the user has them."""
    with one_blas_thread():
        if task.hard:
            return _by_row(problem, solve_hard(problem.listed(), task.tol, task.max_passes), "newton")
        priced = replace(problem, sources=[source.times(task.C) for source in problem.sources])
        if task.solver == "dual":
            solution: Solution = solve_dual(priced.listed(), task.tol, task.max_passes, task.rng)
            return _by_row(problem, solution, "dual")
        if task.solver == "online":
            groups = only_groups(problem)
            found, run = solve_groups_online(priced, X, groups, plan, task.tol, task.whole_passes, task.rng)
            return replace(Answer.of(found, "online", run), stiffness=found.stiffness)
        few = sum(source.pairs for source in problem.sources) <= FEW_PAIRS
        found = solve_scores(priced, task.tol, task.max_passes * (FIRST_SHARE if few else 1.0))
        if few and found.reason in (PRECISION, "max_passes"):
            return _by_list(replace(task, max_passes=task.max_passes - found.passes), priced, found)
        return replace(Answer.of(found, "newton"), stiffness=found.stiffness)


def _by_list(task: Task, priced: ScoreProblem, found: ScoreSolution) -> Answer:
    """Another try, with duals of their own for the pairs, which bear less stiffness; the better of the two."""
    solution, solver = solve_auto(priced.listed(), task.tol, task.max_passes, task.rng)
    if found.gap.gap <= solution.gap.gap:
        return replace(Answer.of(found, "newton"), stiffness=found.stiffness)
    passes = found.passes + solution.passes
    return _by_row(priced, replace(solution, passes=passes), f"newton and {solver} on listed pairs")


def _by_row(problem: ScoreProblem, solution: Solution, solver: str) -> Answer:
    answer = Answer.of(balanced(problem.listed(), solution, problem.size), solver)
    return replace(answer, single=solution.dual)


def only_groups(problem: ScoreProblem) -> GradedGroups:
    """The one source of a stream."""
    if len(problem.sources) == 1 and isinstance(problem.sources[0], GradedGroups):
        return problem.sources[0]
    message = "solver='online' meets the groups of one Grades, and Constraints holds other sources: pass solver='auto'"
    raise ValueError(message)
