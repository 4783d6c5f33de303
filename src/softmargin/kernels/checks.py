"""Looks for values that no model may learn from."""

import numpy as np
from numba import njit

from softmargin.kernels.rows import squared_norm

# Products of rows are squared and summed; beyond this they may leave the range of float64 half-way through.
LONGEST_ROW2 = 1e150


@njit(cache=True, nogil=True, error_model="numpy")
def first_bad_row(rows, count, width):
    """The first row with a NaN, an infinity or a length that overflows; -1 where there is none."""
    for t in range(count):
        if not squared_norm(rows, np.uint64(t), width) <= LONGEST_ROW2:
            return t
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def first_bad_stored(data, indices, indptr, y, columns):
    """The first row of a stored block that would do harm: out of bounds, out of order or not finite; or -1."""
    last = 0
    for t in range(y.size):
        begin, end = last, indptr[t + 1]
        if indptr[t] != begin or not begin <= end <= data.size or not np.isfinite(y[t]):
            return t
        before = -1
        for k in range(begin, end):
            if not before < indices[k] < columns or not np.isfinite(data[k]):
                return t
            before = indices[k]
        last = end
    return -1 if last == data.size else max(0, y.size - 1)
