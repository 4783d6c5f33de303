"""What a multi-class solver does with one row: K scores at once, and one step of K weight vectors at once.

The weights are an array ``W`` of shape (width, K), C-ordered: the K weights of a feature lie side by side, so a
value of the row is read once and meets all classes.  Overloads as in ``kernels.rows``; pairs have no classes.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from softmargin.kernels.rows import (
    ANY_ORDER,
    ONE,
    ZERO,
    ConstantRows,
    DenseRows,
    SparseRows,
    as_vector,
    is_kind,
)

TWO, THREE, FOUR = np.uint64(2), np.uint64(3), np.uint64(4)

# Without the JIT: slow and obvious.


def scores(rows: Any, t: Any, W: Any, out: Any) -> None:
    """OUT ``out``: ``out[k] = rows[t] . W[:, k]``."""
    out[:] = as_vector(rows, t, W.shape[0]) @ W


def add_outer(rows: Any, t: Any, coefficients: Any, W: Any) -> None:
    """OUT ``W``: ``W[:, k] += coefficients[k] * rows[t]``."""
    W += np.outer(as_vector(rows, t, W.shape[0]), coefficients)


@overload(scores, jit_options=ANY_ORDER)
def _scores(rows, t, W, out):
    if is_kind(rows, DenseRows):

        def dense(rows, t, W, out):
            X, j, stop = rows.X, ZERO, np.uint64(rows.X.shape[1])
            out[:] = 0.0
            # Four features a turn: with few classes, starting the loop over them is what costs (measured 2x).
            while j + FOUR <= stop:
                i, m, n = j + ONE, j + TWO, j + THREE
                a, b, c, d = X[t, j], X[t, i], X[t, m], X[t, n]
                if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
                    for k in range(W.shape[1]):
                        out[k] += a * W[j, k] + b * W[i, k] + c * W[m, k] + d * W[n, k]
                j += FOUR
            while j < stop:
                for k in range(W.shape[1]):
                    out[k] += X[t, j] * W[j, k]
                j += ONE

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t, W, out):
            out[:] = 0.0
            for i in range(rows.indptr[t], rows.indptr[t + ONE]):
                value, j = rows.data[i], rows.indices[i]
                for k in range(W.shape[1]):
                    out[k] += value * W[j, k]

        return sparse
    if is_kind(rows, ConstantRows):

        def constant(rows, t, W, out):
            scores(rows.rows, t, W, out)
            last = W.shape[0] - 1
            for k in range(W.shape[1]):
                out[k] += rows.value * W[last, k]

        return constant
    return None


@overload(add_outer, jit_options=ANY_ORDER)
def _add_outer(rows, t, coefficients, W):
    if is_kind(rows, DenseRows):

        def dense(rows, t, coefficients, W):
            for j in range(rows.X.shape[1]):
                value = rows.X[t, j]
                if value != 0.0:
                    for k in range(W.shape[1]):
                        W[j, k] += value * coefficients[k]

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t, coefficients, W):
            for i in range(rows.indptr[t], rows.indptr[t + ONE]):
                value, j = rows.data[i], rows.indices[i]
                for k in range(W.shape[1]):
                    W[j, k] += value * coefficients[k]

        return sparse
    if is_kind(rows, ConstantRows):

        def constant(rows, t, coefficients, W):
            add_outer(rows.rows, t, coefficients, W)
            last = W.shape[0] - 1
            for k in range(W.shape[1]):
                W[last, k] += rows.value * coefficients[k]

        return constant
    return None
