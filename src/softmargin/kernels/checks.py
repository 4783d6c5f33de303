"""Looks for values that no model may learn from."""

import numpy as np
from numba import njit
from numba.extending import overload

from softmargin.kernels.rows import ANY_ORDER, ONE, DenseRows, SparseRows, is_kind


def _scan(rows, t):
    """Column of the first NaN or infinity in row t, or -1."""
    values, columns = (rows.X[t], None) if isinstance(rows, DenseRows) else _stored(rows, t)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size == 0:
        return -1
    return int(bad[0]) if columns is None else int(columns[bad[0]])


def _stored(rows, t):
    span = slice(int(rows.indptr[t]), int(rows.indptr[t + ONE]))
    return rows.data[span], rows.indices[span]


@overload(_scan, jit_options=ANY_ORDER)
def _scan_compiled(rows, t):
    # 0 * x is 0 unless x is NaN or infinite, and a sum of it runs on vector units; only a bad row is looked at twice.
    if is_kind(rows, DenseRows):

        def dense(rows, t):
            total = 0.0
            for j in range(rows.X.shape[1]):
                total += 0.0 * rows.X[t, j]
            if total == 0.0:
                return -1
            for j in range(rows.X.shape[1]):
                if not np.isfinite(rows.X[t, j]):
                    return j
            return -1

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t):
            total = 0.0
            for k in range(rows.indptr[t], rows.indptr[t + ONE]):
                total += 0.0 * rows.data[k]
            if total == 0.0:
                return -1
            for k in range(rows.indptr[t], rows.indptr[t + ONE]):
                if not np.isfinite(rows.data[k]):
                    return np.int64(rows.indices[k])
            return -1

        return sparse
    return None


@njit(cache=True, nogil=True, error_model="numpy")
def first_bad_value(rows, count):
    """Row and column of the first NaN or infinity, or (-1, -1)."""
    for t in range(count):
        column = _scan(rows, np.uint64(t))
        if column >= 0:
            return t, column
    return -1, -1
