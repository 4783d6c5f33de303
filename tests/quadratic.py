"""The hard margin as a quadratic program for Clarabel, and whether constraints can be satisfied as a linear one."""

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import linprog


def hard(Z, required, free=0):
    """The least 1/2 |w|² with Z w >= required, where the last ``free`` weights cost nothing; and w."""
    n, d = Z.shape
    cost = sparse.csc_matrix(np.diag(np.r_[np.ones(d - free), np.zeros(free)]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cone = [clarabel.NonnegativeConeT(n)]
    answer = clarabel.DefaultSolver(cost, np.zeros(d), sparse.csc_matrix(-Z), -required, cone, settings).solve()
    w = np.array(answer.x)
    return 0.5 * float(w[: d - free] @ w[: d - free]), w


def class_rows(X, label, number, *, free, ovr=False):
    """Every constraint of rows with classes, written out: weights class by class, then the intercepts."""
    rows = []
    for x, right in zip(X, label, strict=True):
        for k in range(number):
            feels = np.zeros(number)
            if ovr:
                feels[k] = 1.0 if k == right else -1.0
            elif k != right:
                feels[[right, k]] = 1.0, -1.0
            if feels.any():
                rows.append(np.r_[np.outer(feels, x).ravel(), feels] if free else np.outer(feels, x).ravel())
    return np.array(rows)


def satisfiable(Z, required):
    """Whether some w has Z w >= required, by a linear program."""
    length = np.linalg.norm(Z, axis=1)
    if np.any((length == 0) & (required > 0)):
        return False
    Z, required = Z[length > 0], required[length > 0]
    if not len(Z):
        return True
    Z = Z / length[length > 0][:, None]
    answer = linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-required / (required.max() or 1.0), bounds=(None, None))
    return answer.status == 0
