"""Rows as a regression sums them up: centred, with a constant, beside their residuals, each times a root weight."""

import numpy as np
from numba import njit

from softmargin.kernels.checks import LONGEST_ROW2
from softmargin.kernels.rows import ANY_ORDER, add_scaled


@njit(cache=True, nogil=True, **ANY_ORDER)
def fill_design(rows, first, y, root, origin, weights, level, Z):
    """OUT ``Z``: its line i is ``root * [x - origin, 1, y - level - weights.(x - origin)]`` of row ``first + i``.

    Without the 1 where ``Z`` has no column for it.  ``root`` is one number a row, or one for all.
    Returns the first row with a NaN, an infinity or a length that overflows, -1 where there is none.
    """
    width = origin.shape[0]
    constant = Z.shape[1] - width == 2
    for i in range(Z.shape[0]):
        t = first + i
        line = Z[i]
        x = line[:width]
        for j in range(width):
            x[j] = -origin[j]
        add_scaled(rows, np.uint64(t), 1.0, x)
        length, fitted, scale = 0.0, level, root[t if root.shape[0] > 1 else 0]
        for j in range(width):
            length += x[j] * x[j]
            fitted += x[j] * weights[j]
            x[j] *= scale
        if not length <= LONGEST_ROW2:
            return t
        if constant:
            line[width] = scale
        line[-1] = scale * (y[t] - fitted)
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def keep_row(X, y, kept, values, place):
    """OUT ``kept[place], values[place]``: one row and its value; False, and nothing kept, where they are not usable."""
    length = y * y
    for j in range(X.shape[1]):
        length += X[0, j] * X[0, j]
    if not length <= LONGEST_ROW2:
        return False
    for j in range(X.shape[1]):
        kept[place, j] = X[0, j]
    values[place] = y
    return True
