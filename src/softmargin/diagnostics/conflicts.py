"""Whether comparisons can all be right, for scores that are linear in the features at hand."""

import warnings
from typing import Any

import numpy as np

from softmargin.constraints.pairs import pair_rows
from softmargin.data.matrix import row_count, rows_of
from softmargin.estimators._inputs import read_matrix
from softmargin.estimators.ranker import SoftMarginRanker
from softmargin.kernels.constraints import Constraints
from softmargin.solvers.conflict import Conflict, InfeasibleError
from softmargin.solvers.hard import solve_hard
from softmargin.solvers.parallel import one_blas_thread
from softmargin.solvers.problem import Problem

ANY_WEIGHTS = 1.0  # the relative gap that weights without any merit have
MOST_PASSES = 10_000


def find_conflict(X: Any, pairs: Any) -> Conflict | None:
    """None, or an irreducible set of comparisons that no linear score of the features can satisfy.

    ``pairs[t] = (better, worse)``, row numbers of X.  None means that there are weights with ``w . (X[better] -
    X[worse]) > 0`` for every pair.  The conflict holds ``rows`` (lines of ``pairs``), the ``multipliers`` that prove
    it, and ``cycle``: the items of a cycle, which contradicts any score at all, or None, which says that a feature is
    missing.  A ``RuntimeWarning`` says so where float64 can prove neither.
    """
    model = SoftMarginRanker()
    rows = rows_of(read_matrix(model, X, reset=True))
    compared = pair_rows(rows, pairs, row_count(rows))
    ones = np.ones(compared.better.size)
    problem = Problem(Constraints(compared, ones, ones, ones), int(model.n_features_in_))
    try:
        with one_blas_thread():
            found = solve_hard(problem, ANY_WEIGHTS, MOST_PASSES)
    except InfeasibleError as error:
        return error.conflict
    if not np.isfinite(found.gap.primal):
        message = (
            "neither weights that satisfy every pair nor a conflict could be proved in float64: scale the features"
        )
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return None
