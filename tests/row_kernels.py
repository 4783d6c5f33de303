"""Compiled doors to the operations on rows, so that tests meet the code that solvers meet."""

from numba import njit

from softmargin.kernels.class_rows import add_outer, scores
from softmargin.kernels.rows import add_scaled, dot, prefetch, prefetch_pointer, squared_norm


@njit(cache=True)
def row_operations(rows, t, w, scale, into):
    """OUT ``into``: ``into += scale * row``; returns the products of row t with w and with itself."""
    prefetch_pointer(rows, t)
    prefetch(rows, t)
    add_scaled(rows, t, scale, into)
    return dot(rows, t, w), squared_norm(rows, t, w.shape[0])


@njit(cache=True)
def class_operations(rows, t, W, out, coefficients, into):
    """OUT ``out, into``: the scores of row t, and ``into[:, k] += coefficients[k] * row``."""
    scores(rows, t, W, out)
    add_outer(rows, t, coefficients, into)
