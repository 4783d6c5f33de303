"""Smoothed constraints: what the dual Newton solver does with all of them, and with the few that are free.

The loss of a constraint is smoothed by holding its dual near a centre.  With ``short = required - margin``,

    dual = clip(centre + stiffness price short, 0, price)     hinge
    dual = max(0, 2 price short)                              squared hinge: stiffness 2, centre 0, no ceiling

A constraint is free where the clip does nothing; its dual then moves with its margin at ``stiffness * price``.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from softmargin.kernels.rows import add_scaled, add_squares, dot, squared_norm


class Smoothing(NamedTuple):
    """What turns margins into duals."""

    required: np.ndarray
    price: np.ndarray
    centre: np.ndarray
    stiffness: float
    squared: bool


class Move(NamedTuple):
    """How far the margins go: ``step * change``, and ``sign * shift`` for the intercept."""

    change: np.ndarray
    step: float
    shift: float


# Any order of summation, so that vector units can be used (5x): the search only looks for the sign's change.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def slope_along(smoothing, margins, change, step, start, stop):
    """At ``margins + step * change``: the sum of ``dual * change``, and how fast it falls with the step."""
    required, price, centre, stiffness, squared = smoothing
    pull, curvature = 0.0, 0.0
    for t in range(start, stop):
        by = change[t]
        rate = stiffness * price[t]
        raw = centre[t] + rate * (required[t] - margins[t] - step * by)
        dual = max(0.0, raw) if squared else min(max(0.0, raw), price[t])
        pull += dual * by
        curvature += rate * by * by if dual == raw else 0.0
    return pull, curvature


@njit(cache=True, nogil=True, error_model="numpy")
def settle(constraints, smoothing, move, margins, dual, w, start, stop):
    """OUT ``margins``: moved; OUT ``dual``: theirs; OUT ``w``: += what the change of the dual brings.

    Returns the sums over the range of the loss, the dual's gain and the residual (see ``kernels.sums.gap_terms``),
    how many constraints are free, and how many duals changed.
    """
    rows, signs, required, price = constraints
    change, step, shift = move
    centre, stiffness, squared = smoothing.centre, smoothing.stiffness, smoothing.squared
    loss, gain, residual, free, moved = 0.0, 0.0, 0.0, 0, 0
    for t in range(start, stop):
        margins[t] += step * change[t] + signs[t] * shift
        short = required[t] - margins[t]
        new = centre[t] + stiffness * price[t] * short
        if new <= 0.0:
            new = 0.0
        elif squared or new < price[t]:
            free += 1
        else:
            new = price[t]
        if new != dual[t]:
            add_scaled(rows, np.uint64(t), (new - dual[t]) * signs[t], w)
            dual[t] = new
            moved += 1
        slack = max(0.0, short)
        if squared:
            loss += price[t] * slack * slack
            conjugate = new * new / (4.0 * price[t]) if price[t] > 0.0 else 0.0
            gain += new * required[t] - conjugate
        else:
            loss += price[t] * slack
            gain += new * required[t]
            residual += (price[t] - new) * short if short > 0.0 else -new * short
    return loss, gain, residual, free, moved


@njit(cache=True, nogil=True, error_model="numpy")
def trace_of(rows, price, width, start, stop):
    """``sum price |row|^2`` over the range: how steeply all constraints together can bend the objective."""
    total = 0.0
    for t in range(start, stop):
        if price[t] > 0.0:
            total += price[t] * squared_norm(rows, np.uint64(t), width)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def free_rows(smoothing, dual, free):
    """OUT ``free``: the numbers of the free constraints; returns how many."""
    price, squared = smoothing.price, smoothing.squared
    count = 0
    for t in range(dual.shape[0]):
        if dual[t] > 0.0 and (squared or dual[t] < price[t]):
            free[count] = t
            count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def gather(rows, free, scale, mean, start, stop, block):
    """OUT ``block``: row i is ``scale[start + i] * (rows[free[start + i]] - mean)``."""
    for i in range(stop - start):
        t = start + i
        for j in range(block.shape[1]):
            block[i, j] = -scale[t] * mean[j]
        add_scaled(rows, free[t], scale[t], block[i])


@njit(cache=True, nogil=True, error_model="numpy")
def sum_rows(rows, free, scale, start, stop, w):
    """OUT ``w``: ``w += sum scale[i] rows[free[i]]``."""
    for i in range(start, stop):
        add_scaled(rows, free[i], scale[i], w)


@njit(cache=True, nogil=True, error_model="numpy")
def curve(rows, free, rate, v, start, stop, w):
    """OUT ``w``: ``w += sum rate[i] (rows[free[i]] . v) rows[free[i]]``."""
    for i in range(start, stop):
        add_scaled(rows, free[i], rate[i] * dot(rows, free[i], v), w)


@njit(cache=True, nogil=True, error_model="numpy")
def sum_squares(rows, free, rate, start, stop, diagonal):
    """OUT ``diagonal``: ``+= sum rate[i] rows[free[i]]^2``, column by column (of a pair, about that)."""
    for i in range(start, stop):
        add_squares(rows, free[i], rate[i], diagonal)
