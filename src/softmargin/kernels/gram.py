"""The sum of the outer products of rows: of sparse ones without writing them out, of dense ones block by block."""

from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from softmargin.kernels.constraints import of
from softmargin.kernels.rows import ANY_ORDER, ONE, DenseRows, PairRows, SparseRows, as_vector, is_kind

STRIP = 256  # columns multiplied at once


def entries(rows: Any, t: Any, width: Any, places: Any, values: Any) -> Any:
    """OUT ``places, values``: what row t holds, and where; returns how much.  A pair lists both of its rows."""
    if isinstance(rows, PairRows):
        half = entries(rows.rows, rows.better[t], width, places, values)
        both = half + entries(rows.rows, rows.worse[t], width, places[half:], values[half:])
        values[half:both] *= -1.0
        return both
    row = as_vector(rows, t, width)
    found = np.flatnonzero(row)
    places[: found.size], values[: found.size] = found, row[found]
    return found.size


@overload(entries, jit_options=ANY_ORDER)
def _entries(rows, t, width, places, values):
    if is_kind(rows, DenseRows):

        def dense(rows, t, width, places, values):
            for j in range(width):
                places[j], values[j] = j, rows.X[t, j]
            return width

        return dense
    if is_kind(rows, SparseRows):

        def sparse(rows, t, width, places, values):
            start, stop = rows.indptr[t], rows.indptr[t + ONE]
            for k in range(start, stop):
                places[k - start], values[k - start] = rows.indices[k], rows.data[k]
            return np.int64(stop - start)

        return sparse
    if is_kind(rows, PairRows):

        def pair(rows, t, width, places, values):
            half = entries(rows.rows, rows.better[t], width, places, values)
            more = entries(rows.rows, rows.worse[t], width, places[half:], values[half:])
            for k in range(half, half + more):
                values[k] = -values[k]
            return half + more

        return pair

    def constant(rows, t, width, places, values):
        count = entries(rows.rows, t, width - 1, places, values)
        places[count], values[count] = width - 1, rows.value
        return count + 1

    return constant


@njit(cache=True, nogil=True, error_model="numpy")
def add_gram(rows, free, rate, start, stop, gram):
    """OUT ``gram``: the lower half of ``+= sum rate[i] rows[free[i]] rows[free[i]]'``."""
    width = gram.shape[0]
    places, values = np.empty(2 * width, dtype=np.int64), np.empty(2 * width)
    for i in range(start, stop):
        count = entries(rows, free[i], width, places, values)
        for a in range(count):
            value, row = of(rate, i) * values[a], places[a]
            for b in range(a + 1):
                column = places[b]
                if column <= row:
                    gram[row, column] += value * values[b]
                else:
                    gram[column, row] += value * values[b]
                if column == row and a != b:  # a place that comes twice meets itself in both orders
                    gram[row, row] += value * values[b]


def add_lower(block: np.ndarray, gram: np.ndarray) -> None:
    """OUT ``gram``: the lower half of ``+= block' block``, strip by strip: half the products, and no second matrix."""
    for start in range(0, len(gram), STRIP):
        gram[start:, start : start + STRIP] += block[:, start:].T @ block[:, start : start + STRIP]
