"""Hard and soft margins as quadratic programs for Clarabel; whether constraints can be satisfied, as a linear one."""

from typing import NamedTuple

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import comparator


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


class Soft(NamedTuple):
    """What Clarabel makes of a soft margin: weights and intercepts, what they are worth, and its lower bound."""

    w: np.ndarray
    bias: np.ndarray
    value: float
    dual: float

    @property
    def open(self):
        """What is left between the two, as a share."""
        return max(0.0, self.value - self.dual) / max(self.value, 1e-300)


def soft(program):
    """The best weights of a ``comparator.Program``, its slack made variables; constraints of price zero left out.

    Clarabel gives up early on some, so there are two tries: slack in its own unit, and in one that costs 1.
    """
    paid = program.price > 0
    price = program.price[paid]
    units = (np.sqrt(0.5 / price) if program.squared else 1.0 / price), np.ones(price.size)
    return min((_soft(program, paid, unit) for unit in units), key=lambda found: found.value)


def _soft(program, paid, unit):
    rows = program.owner[:, paid].any(axis=1)
    Z, B, owner = program.Z[rows], program.B[rows], program.owner[np.ix_(rows, paid)] * unit
    price, (d, k, n) = program.price[paid] * unit, (Z.shape[1], B.shape[1], unit.size)
    curves = np.r_[np.full(d, program.curve), np.zeros(k), 2.0 * price * unit * program.squared]
    linear = np.r_[np.zeros(d + k), price * (not program.squared)]
    sides = np.block([[-Z, -B, -owner], [np.zeros((n, d + k)), -np.eye(n)]])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, 500
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    right = np.r_[-program.required[rows], np.zeros(n)]
    cone = [clarabel.NonnegativeConeT(len(right))]
    cost = sparse.csc_matrix(sparse.diags_array(curves))
    answer = clarabel.DefaultSolver(cost, linear, sparse.csc_matrix(sides), right, cone, settings).solve()
    w, bias = np.array(answer.x[:d]), np.array(answer.x[d : d + k])
    return Soft(w, bias, comparator.worth(program, w, bias), answer.obj_val_dual)
