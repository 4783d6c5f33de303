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
