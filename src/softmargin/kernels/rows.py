"""Rows: what a solver sees of the data, and the few things it may do with one row.

Dense arrays, CSR arrays, pairs of rows and rows with a constant column are four named tuples.  A solver calls
``dot``, ``add_scaled``, ``squared_norm`` and ``prefetch``; which code runs is chosen by the type of the tuple when
the kernel is compiled, so every solver is written once and a difference of two rows is never stored.

Row numbers and sparse indices are *unsigned*: a signed index costs a wrap-around test at every element.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from softmargin.kernels.prefetch import prefetch_elements

# Sums may be taken in any order and fused (that is what lets them use vector units: 3x), but NaN and infinity keep
# their meaning, because a bad value must stay visible in the result.
ANY_ORDER: Any = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
ZERO, ONE = np.uint64(0), np.uint64(1)


class DenseRows(NamedTuple):
    """The rows of a C-ordered array of float64 or float32."""

    X: np.ndarray


class SparseRows(NamedTuple):
    """The rows of a CSR array whose indices are sorted, unique and *unsigned* views."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


class PairRows(NamedTuple):
    """Row t is ``rows[better[t]] - rows[worse[t]]``; ``rows`` is dense or sparse."""

    rows: "DenseRows | SparseRows"
    better: np.ndarray
    worse: np.ndarray


class ConstantRows(NamedTuple):
    """``rows`` with one more column that holds ``value`` everywhere: the dummy feature of the notes."""

    rows: "Rows"
    value: float


Rows = DenseRows | SparseRows | PairRows | ConstantRows


def is_kind(rows: Any, kind: type) -> bool:
    """Whether the compiled type of ``rows`` is this named tuple."""
    return isinstance(rows, types.BaseNamedTuple) and getattr(rows, "instance_class", None) is kind


# Without the JIT: the same operations, slow and obvious.


def as_vector(rows: Rows, t: int, width: int) -> np.ndarray:
    """Row t written out in full."""
    match rows:
        case DenseRows(X):
            return np.asarray(X[t], dtype=np.float64)
        case SparseRows(data, indices, indptr):
            row = np.zeros(width)
            row[indices[indptr[t] : indptr[t + ONE]]] = data[indptr[t] : indptr[t + ONE]]
            return row
        case PairRows(inner, better, worse):
            return as_vector(inner, better[t], width) - as_vector(inner, worse[t], width)
        case ConstantRows(inner, value):
            return np.append(as_vector(inner, t, width - 1), value)


def dot(rows: Any, t: Any, w: Any) -> Any:
    """``rows[t] . w``."""
    return as_vector(rows, t, w.shape[0]) @ w


def add_scaled(rows: Any, t: Any, scale: Any, w: Any) -> None:
    """OUT ``w``: ``w += scale * rows[t]``."""
    w += scale * as_vector(rows, t, w.shape[0])


def add_squares(rows: Any, t: Any, scale: Any, w: Any) -> None:
    """OUT ``w``: ``w += scale * rows[t]^2``, column by column; a pair counts as two rows."""
    if isinstance(rows, PairRows):
        add_squares(rows.rows, rows.better[t], scale, w)
        add_squares(rows.rows, rows.worse[t], scale, w)
    else:
        w += scale * as_vector(rows, t, w.shape[0]) ** 2


def squared_norm(rows: Any, t: Any, width: Any) -> Any:
    """``rows[t] . rows[t]``."""
    row = as_vector(rows, t, width)
    return row @ row


def prefetch(rows: Any, t: Any) -> None:
    """Ask for row t to be brought near; changes nothing."""


def prefetch_pointer(rows: Any, t: Any) -> None:
    """Ask for the words that tell where row t begins; changes nothing."""


@overload(dot, jit_options=ANY_ORDER)
def _dot(rows, t, w):
    if is_kind(rows, DenseRows):

        def dense(rows, t, w):
            total = 0.0
            for j in range(rows.X.shape[1]):
                total += rows.X[t, j] * w[j]
            return total

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t, w):
            total = 0.0
            for k in range(rows.indptr[t], rows.indptr[t + ONE]):
                total += rows.data[k] * w[rows.indices[k]]
            return total

        return sparse
    if is_kind(rows, PairRows) and is_kind(rows[0], DenseRows):

        def dense_pair(rows, t, w):
            X, better, worse, total = rows.rows.X, rows.better[t], rows.worse[t], 0.0
            for j in range(X.shape[1]):
                total += (np.float64(X[better, j]) - X[worse, j]) * w[j]
            return total

        return dense_pair
    if is_kind(rows, PairRows):
        return lambda rows, t, w: dot(rows.rows, rows.better[t], w) - dot(rows.rows, rows.worse[t], w)
    return lambda rows, t, w: dot(rows.rows, t, w) + rows.value * w[w.shape[0] - 1]


@overload(add_scaled, jit_options=ANY_ORDER)
def _add_scaled(rows, t, scale, w):
    if is_kind(rows, DenseRows):

        def dense(rows, t, scale, w):
            for j in range(rows.X.shape[1]):
                w[j] += scale * rows.X[t, j]

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t, scale, w):
            for k in range(rows.indptr[t], rows.indptr[t + ONE]):
                w[rows.indices[k]] += scale * rows.data[k]

        return sparse
    if is_kind(rows, PairRows):

        def pair(rows, t, scale, w):
            add_scaled(rows.rows, rows.better[t], scale, w)
            add_scaled(rows.rows, rows.worse[t], -scale, w)

        return pair

    def constant(rows, t, scale, w):
        add_scaled(rows.rows, t, scale, w)
        w[w.shape[0] - 1] += scale * rows.value

    return constant


@overload(add_squares, jit_options=ANY_ORDER)
def _add_squares(rows, t, scale, w):
    if is_kind(rows, DenseRows):

        def dense(rows, t, scale, w):
            for j in range(rows.X.shape[1]):
                w[j] += scale * (np.float64(rows.X[t, j]) * rows.X[t, j])

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t, scale, w):
            for k in range(rows.indptr[t], rows.indptr[t + ONE]):
                w[rows.indices[k]] += scale * (np.float64(rows.data[k]) * rows.data[k])

        return sparse
    if is_kind(rows, PairRows):

        def pair(rows, t, scale, w):
            add_squares(rows.rows, rows.better[t], scale, w)
            add_squares(rows.rows, rows.worse[t], scale, w)

        return pair

    def constant(rows, t, scale, w):
        add_squares(rows.rows, t, scale, w)
        w[w.shape[0] - 1] += scale * (rows.value * rows.value)

    return constant


def _inner_product(rows, a, b):
    """``rows[a] . rows[b]`` of sparse rows, by walking both sorted index lists."""
    raise NotImplementedError


@overload(_inner_product, jit_options=ANY_ORDER)
def _sparse_inner_product(rows, a, b):
    def merge(rows, a, b):
        i, end_i, j, end_j = rows.indptr[a], rows.indptr[a + ONE], rows.indptr[b], rows.indptr[b + ONE]
        total = 0.0
        while i < end_i and j < end_j:
            left, right = rows.indices[i], rows.indices[j]
            if left == right:
                total += rows.data[i] * np.float64(rows.data[j])
            i += np.uint64(left <= right)
            j += np.uint64(right <= left)
        return total

    return merge


@overload(squared_norm, jit_options=ANY_ORDER)
def _squared_norm(rows, t, width):
    if is_kind(rows, DenseRows):

        def dense(rows, t, width):
            total = 0.0
            for j in range(rows.X.shape[1]):
                total += np.float64(rows.X[t, j]) * rows.X[t, j]
            return total

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t, width):
            total = 0.0
            for k in range(rows.indptr[t], rows.indptr[t + ONE]):
                total += np.float64(rows.data[k]) * rows.data[k]
            return total

        return sparse
    if is_kind(rows, PairRows) and is_kind(rows[0], DenseRows):

        def dense_pair(rows, t, width):
            X, better, worse, total = rows.rows.X, rows.better[t], rows.worse[t], 0.0
            for j in range(X.shape[1]):
                total += (np.float64(X[better, j]) - X[worse, j]) ** 2
            return total

        return dense_pair
    if is_kind(rows, PairRows):

        def sparse_pair(rows, t, width):
            better, worse = rows.better[t], rows.worse[t]
            both = squared_norm(rows.rows, better, width) + squared_norm(rows.rows, worse, width)
            return max(0.0, both - 2.0 * _inner_product(rows.rows, better, worse))

        return sparse_pair
    return lambda rows, t, width: squared_norm(rows.rows, t, width) + rows.value * rows.value


@overload(prefetch)
def _prefetch(rows, t):
    if is_kind(rows, DenseRows):

        def dense(rows, t):
            width = np.uint64(rows.X.shape[1])
            prefetch_elements(rows.X, t * width, (t + ONE) * width)

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t):
            start, stop = rows.indptr[t], rows.indptr[t + ONE]
            prefetch_elements(rows.data, start, stop)
            prefetch_elements(rows.indices, start, stop)

        return sparse
    if is_kind(rows, PairRows):

        def pair(rows, t):
            prefetch(rows.rows, rows.better[t])
            prefetch(rows.rows, rows.worse[t])

        return pair
    return lambda rows, t: prefetch(rows.rows, t)


@overload(prefetch_pointer)
def _prefetch_pointer(rows, t):
    if is_kind(rows, DenseRows):
        return lambda rows, t: None
    if is_kind(rows, SparseRows):
        return lambda rows, t: prefetch_elements(rows.indptr, t, t + ONE)
    if is_kind(rows, PairRows):

        def pair(rows, t):
            prefetch_elements(rows.better, t, t + ONE)
            prefetch_elements(rows.worse, t, t + ONE)

        return pair
    return lambda rows, t: prefetch_pointer(rows.rows, t)
