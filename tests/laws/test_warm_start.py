"""A solver that begins at a solution goes on from there: at its own it is done, at another price it is soon."""

import numpy as np
import pytest

from cases import stream
from softmargin.data.matrix import dense_rows
from softmargin.kernels.constraints import ClassConstraints, Constraints
from softmargin.solvers.class_dual import solve_classes_dual
from softmargin.solvers.class_newton import solve_classes
from softmargin.solvers.class_problem import ClassProblem
from softmargin.solvers.dual import solve_dual
from softmargin.solvers.newton import solve_newton
from softmargin.solvers.problem import Problem

TOL = 1e-6


def rng():
    """The same orders every time."""
    return np.random.default_rng(0)


def rows_problem(C, *, squared, free):
    """Two classes at one price."""
    case = stream(11, T=300, d=8)
    constraints = Constraints(dense_rows(case.X), case.sign.astype(np.int8), case.required, C * case.price)
    return Problem(constraints, 8, squared, free)


def class_problem(C, *, squared, free, every):
    """Four classes at one price."""
    case = stream(12, T=300, d=8, classes=4)
    constraints = ClassConstraints(dense_rows(case.X), case.label, case.required, C * case.price)
    return ClassProblem(constraints, 8, 4, every, squared, free)


def by_descent(problem, start=None):
    """Signed rows or classes, by coordinate descent."""
    solve = solve_dual if isinstance(problem, Problem) else solve_classes_dual
    return solve(problem, TOL, 5000, rng(), start)


def by_newton(problem, start=None):
    """Signed rows or classes, by Newton's method."""
    solve = solve_newton if isinstance(problem, Problem) else solve_classes
    return solve(problem, TOL, 5000, start)


MAKERS = {
    "rows": rows_problem,
    "max": lambda C, **how: class_problem(C, every=False, **how),
    "sum": lambda C, **how: class_problem(C, every=True, **how),
}


@pytest.mark.parametrize("solve", [by_descent, by_newton])
@pytest.mark.parametrize("free", [False, True], ids=["no intercept", "free intercept"])
@pytest.mark.parametrize("squared", [False, True], ids=["hinge", "squared"])
@pytest.mark.parametrize("kind", MAKERS)
def test_a_start_is_where_the_solver_goes_on(kind, squared, free, solve):
    """Cold at C, then warm at C and at 1.2 C: certified; at C a fraction of the passes, elsewhere the same optimum."""
    here, near = (MAKERS[kind](C, squared=squared, free=free) for C in (0.2, 0.24))
    cold = solve(here)
    cold_passes, cold_primal = cold.passes, cold.gap.primal
    again = solve(here, cold)
    assert again.gap.relative <= TOL
    assert again.passes - (cold_passes if solve is by_newton else 0.0) <= max(12.0, 0.5 * cold_passes)
    assert again.gap.primal == pytest.approx(cold_primal, rel=2 * TOL)
    warm, fresh = solve(near, again), solve(near)
    assert warm.gap.relative <= TOL
    assert warm.gap.primal == pytest.approx(fresh.gap.primal, rel=2 * TOL)
