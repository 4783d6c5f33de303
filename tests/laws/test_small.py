"""Awkward small problems of every kind, each solved again by a quadratic program that knows nothing of ours."""

import os
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import comparator
import quadratic
from awkward import small

PROBLEMS = 3000 if os.environ.get("SOFTMARGIN_SOAK") else 200
PARTS = 4  # for who runs tests side by side
SLICES = pytest.mark.parametrize("part", range(PARTS))
EXACT = 1e-8  # how near the two solvers' objectives are
KNOWN = 1e-9  # how well the quadratic program must know its own value for that
ROUNDING = 1e-13  # of the loss at w = 0, which both objectives are sums of


def rounding_of(program):
    """What may be left of an objective that is zero."""
    return ROUNDING * comparator.worth(program, np.zeros(program.Z.shape[1]), np.zeros(program.B.shape[1]))


def true(case, model, best):
    """The certificate holds: the objective is as told, the dual is below the best, the weights are near enough."""
    certificate, (w, bias) = model.certificate_, case.weights(model)
    rounding = rounding_of(case.program)
    assert certificate.gap >= 0.0
    assert certificate.relative_gap >= 0.0
    assert certificate.distance >= 0.0
    assert abs(certificate.primal - comparator.worth(case.program, w, bias)) <= 1e-9 * certificate.primal + rounding
    assert certificate.dual <= best.value * (1 + EXACT) + rounding
    assert certificate.primal >= best.dual - EXACT * best.value - rounding
    # How far the program's weights may be off: its own bound is none where it is above what some weights pay.
    below = best.dual if best.dual <= certificate.primal else certificate.dual
    unsure = np.sqrt(2.0 * max(best.value - below, 1e-11 * best.value))
    assert np.linalg.norm(w - best.w) <= certificate.distance * (1 + 1e-9) + unsure + 1e-12


@SLICES
def test_every_small_problem_is_solved(part):
    """With nothing but tol=1e-6, every problem converges without a warning, and its certificate is true."""
    for seed in range(part, PROBLEMS, PARTS):
        case = small(seed)
        model = case.fitted(tol=1e-6)
        assert model.certificate_.converged, case.name
        assert model.certificate_.relative_gap <= 1e-6, case.name
        true(case, model, quadratic.soft(case.program))


@SLICES
def test_objectives_equal_a_quadratic_program(part):
    """Whoever solves: to 1e-8 where the tolerance was reached, and a true certificate where it was not."""
    compared, solvers = 0, ("auto", "dual", "newton")
    for seed in range(part, PROBLEMS, PARTS):
        case = small(seed)
        best = quadratic.soft(case.program)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = case.fitted(tol=1e-10, solver=solvers[seed // PARTS % 3], max_passes=300)
        true(case, model, best)
        if model.certificate_.converged and best.open <= KNOWN:
            assert abs(model.certificate_.primal - best.value) <= EXACT * best.value + rounding_of(case.program), (
                case.name
            )
            compared += 1
    assert compared >= 0.8 * PROBLEMS / PARTS
