"""The same door for statements about scores; see ``solvers.choose``."""

from dataclasses import replace
from typing import Any

import numpy as np

from softmargin.solvers.auto import solve_auto
from softmargin.solvers.choose import Answer, Task
from softmargin.solvers.dual import solve_dual
from softmargin.solvers.group_stream import solve_groups_online
from softmargin.solvers.hard import solve_hard
from softmargin.solvers.online import Plan
from softmargin.solvers.parallel import one_blas_thread
from softmargin.solvers.problem import PRECISION, Problem, Solution
from softmargin.solvers.score_newton import solve_scores
from softmargin.solvers.score_problem import ScoreProblem, ScoreSolution, balanced, pairs_of
from softmargin.solvers.sources import GradedGroups

# A list of so many pairs a row takes less memory than 40 columns, and visits to pairs beat sweeps there (measured).
LISTED_A_ROW = 30
FEW_PAIRS = 1_000_000  # so many are listed where the sweep comes to its end
FIRST_SHARE = 0.5  # of the passes, where there is another way to try


def solve_statements(task: Task, problem: ScoreProblem, X: Any, plan: Plan) -> Answer:
    """Solve a problem whose prices do not hold C yet; ``X`` are its rows as the user has them."""
    with one_blas_thread():
        if task.hard:
            listed = problem.listed()
            return _by_row(problem, listed, solve_hard(listed, task.tol, task.max_passes), "newton")
        priced = replace(problem, sources=[source.times(task.C) for source in problem.sources])
        if task.solver == "dual":
            listed = priced.listed()
            return _by_row(problem, listed, solve_dual(listed, task.tol, task.max_passes, task.rng), "dual")
        if task.solver == "online":
            groups = only_groups(problem)
            found, run = solve_groups_online(priced, X, groups, plan, task.tol, task.whole_passes, task.rng)
            return replace(Answer.of(found, "online", run), stiffness=found.stiffness)
        if task.solver == "newton":
            return _swept(solve_scores(priced, task.tol, task.max_passes))
        return _solve_auto(task, priced)


def _solve_auto(task: Task, priced: ScoreProblem) -> Answer:
    """Visits to listed pairs where these are few a row, else sweeps; the other way too, where one comes to its end."""
    pairs = sum(source.pairs for source in priced.sources)
    list_first = pairs <= LISTED_A_ROW * priced.size and not priced.squared
    if not list_first and pairs > FEW_PAIRS:
        return _swept(solve_scores(priced, task.tol, task.max_passes))
    ways = [_list, _sweep] if list_first else [_sweep, _list]
    first = ways[0](task, priced, FIRST_SHARE * task.max_passes)
    if first.gap.relative <= task.tol or not (first.reason.startswith(PRECISION) or first.reason == "max_passes"):
        return first
    second = ways[1](task, priced, task.max_passes - first.passes)
    best = min(first, second, key=lambda answer: answer.gap.gap)
    told = f"{first.solver}, then {second.solver}"
    reason = second.reason if best is first else best.reason
    return replace(best, solver=told, passes=first.passes + second.passes, reason=reason)


def _list(task: Task, priced: ScoreProblem, passes: float) -> Answer:
    listed = priced.listed()
    solution, solver = solve_auto(listed, task.tol, passes, task.rng)
    return _by_row(priced, listed, solution, f"{solver} on listed pairs")


def _sweep(task: Task, priced: ScoreProblem, passes: float) -> Answer:
    return _swept(solve_scores(priced, task.tol, passes))


def _swept(found: ScoreSolution) -> Answer:
    return replace(Answer.of(found, "newton"), stiffness=found.stiffness)


def _by_row(problem: ScoreProblem, listed: Problem, solution: Solution, solver: str) -> Answer:
    answer = Answer.of(balanced(listed, solution, problem.size), solver)
    return replace(answer, single=in_order_of_rows(problem, listed, solution.dual))


def in_order_of_rows(problem: ScoreProblem, listed: Problem, dual: np.ndarray) -> np.ndarray:
    """Duals of listed pairs by better row and worse row; those that the user listed stay as they are."""
    pairs, parts, start = pairs_of(listed), [], 0
    for source in problem.sources:
        own = slice(start, start + source.pairs)
        start += source.pairs
        found = dual[own]
        if isinstance(source, GradedGroups):
            found = found[np.lexsort((pairs.worse[own], pairs.better[own]))]
        parts.append(found)
    return np.concatenate(parts)


def only_groups(problem: ScoreProblem) -> GradedGroups:
    """The one source of a stream."""
    if len(problem.sources) == 1 and isinstance(problem.sources[0], GradedGroups):
        return problem.sources[0]
    message = "a stream meets the groups of one Grades, and Constraints holds other sources: call fit, which takes them"
    raise ValueError(message)
