"""What a multi-class solver does with one row: K scores at once, and one step of K weight vectors at once.

The weights are an array ``W`` of shape (width, K), C-ordered: the K weights of a feature lie side by side, so a
value of the row is read once and meets all classes.  Overloads as in ``kernels.rows``; pairs have no classes.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from softmargin.kernels.lanes import LANES, add_product, load_lanes, store_lanes, zero_lanes
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
BLOCK = np.uint64(LANES)  # so many classes are met at once

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
            k, stop = ZERO, np.uint64(rows.X.shape[1])
            while k < np.uint64(W.shape[1]):
                j, left, right = ZERO, zero_lanes(), zero_lanes()
                while j + FOUR <= stop:
                    i, m, n = j + ONE, j + TWO, j + THREE
                    a, b, c, d = rows.X[t, j], rows.X[t, i], rows.X[t, m], rows.X[t, n]
                    if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
                        left = add_product(left, np.float64(a), load_lanes(W, j, k))
                        right = add_product(right, np.float64(b), load_lanes(W, i, k))
                        left = add_product(left, np.float64(c), load_lanes(W, m, k))
                        right = add_product(right, np.float64(d), load_lanes(W, n, k))
                    j += FOUR
                while j < stop:
                    left = add_product(left, np.float64(rows.X[t, j]), load_lanes(W, j, k))
                    j += ONE
                store_lanes(out, ZERO, k, add_product(left, 1.0, right))
                k += BLOCK

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t, W, out):
            k, stop = ZERO, rows.indptr[t + ONE]
            while k < np.uint64(W.shape[1]):
                i, left, right = rows.indptr[t], zero_lanes(), zero_lanes()
                while i + ONE < stop:
                    a, b = np.float64(rows.data[i]), np.float64(rows.data[i + ONE])
                    left = add_product(left, a, load_lanes(W, np.uint64(rows.indices[i]), k))
                    right = add_product(right, b, load_lanes(W, np.uint64(rows.indices[i + ONE]), k))
                    i += TWO
                if i < stop:
                    left = add_product(left, np.float64(rows.data[i]), load_lanes(W, np.uint64(rows.indices[i]), k))
                store_lanes(out, ZERO, k, add_product(left, 1.0, right))
                k += BLOCK

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
            k, stop = ZERO, np.uint64(rows.X.shape[1])
            while k + BLOCK <= np.uint64(W.shape[1]):
                j, step = ZERO, load_lanes(coefficients, ZERO, k)
                while j < stop:
                    value = np.float64(rows.X[t, j])
                    if value != 0.0:
                        store_lanes(W, j, k, add_product(load_lanes(W, j, k), value, step))
                    j += ONE
                k += BLOCK
            for m in range(k, np.uint64(W.shape[1])):  # of few classes fewer still move
                if coefficients[m] != 0.0:
                    for n in range(stop):
                        W[n, m] += coefficients[m] * rows.X[t, n]

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t, coefficients, W):
            k, stop = ZERO, rows.indptr[t + ONE]
            while k + BLOCK <= np.uint64(W.shape[1]):
                i, step = rows.indptr[t], load_lanes(coefficients, ZERO, k)
                while i < stop:
                    j = np.uint64(rows.indices[i])
                    store_lanes(W, j, k, add_product(load_lanes(W, j, k), np.float64(rows.data[i]), step))
                    i += ONE
                k += BLOCK
            for m in range(k, np.uint64(W.shape[1])):  # of few classes fewer still move
                if coefficients[m] != 0.0:
                    for n in range(rows.indptr[t], stop):
                        W[rows.indices[n], m] += coefficients[m] * rows.data[n]

        return sparse
    if is_kind(rows, ConstantRows):

        def constant(rows, t, coefficients, W):
            add_outer(rows.rows, t, coefficients, W)
            last = W.shape[0] - 1
            for k in range(W.shape[1]):
                W[last, k] += rows.value * coefficients[k]

        return constant
    return None
