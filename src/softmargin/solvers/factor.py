"""Newton's equations, solved also where rounding has left their matrix a little short of positive definite."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from softmargin.solvers.problem import PRECISION

FIRST_RIDGE, RIDGE_GROWS = 1e-15, 100.0  # of each number on the diagonal


def solve_positive(make: Callable[[], np.ndarray], right: np.ndarray, *, lower: bool = True) -> np.ndarray:
    """``make()^-1 right`` by Cholesky, for a matrix that is positive definite but for rounding.

    At large C the curvature of slack is 1e16 times that of 1/2 |w|^2 and more, which is then lost: the least ridge
    that lets the factors exist takes its place.  The step stays downhill, and the line search gives it its length.
    The factors take the place of the matrix, so another ridge, which is rare, makes it again.
    """
    ridge = 0.0
    while True:
        matrix = make()
        diagonal = np.diag_indices(len(matrix))
        matrix[diagonal] *= 1.0 + ridge
        finite = np.isfinite(matrix[diagonal]).all()
        try:
            factor = cho_factor(matrix, lower=lower, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            if ridge > 1.0 or not finite:
                raise
            ridge = max(FIRST_RIDGE, RIDGE_GROWS * ridge)
        else:
            return np.asarray(cho_solve(factor, right, check_finite=False))


def reason_to_stop(until: Callable[[float, float], str], tol: float, max_passes: float) -> str:
    """Why Newton's steps came to an end: by themselves, by Ctrl-C, or by a matrix that is not made of numbers."""
    try:
        return until(tol, max_passes)
    except KeyboardInterrupt:
        return "interrupted"
    except np.linalg.LinAlgError:
        return PRECISION
