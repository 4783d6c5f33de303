"""Smoothed constraints: what the dual Newton solver does with all of them, and with the few that are free.

The loss of a constraint is smoothed by holding its dual near a centre.  With ``short = required - margin``,

    dual = clip(centre + stiffness price short, 0, price)     hinge
    dual = max(0, 2 price short)                              squared hinge: stiffness 2, centre 0, no ceiling

A constraint is free where the clip does nothing; its dual then moves with its margin at ``stiffness * price``.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from softmargin.kernels.constraints import of
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
def slope_along(smoothing, margins, signs, move, start, stop):
    """At the margins moved: the sum of ``dual * change``, and how fast it falls with the step."""
    required, price, centre, stiffness, squared = smoothing
    change, step, shift = move
    pull, curvature = 0.0, 0.0
    for t in range(start, stop):
        by, most = change[t], of(price, t)
        rate = stiffness * most
        raw = centre[t] + rate * (of(required, t) - margins[t] - step * by - shift * signs[t])
        dual = max(0.0, raw) if squared else min(max(0.0, raw), most)
        pull += dual * by
        curvature += rate * by * by if dual == raw else 0.0
    return pull, curvature


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def slope_of_bias(smoothing, margins, signs, move, start, stop):
    """At the margins moved: the sum of ``dual * sign``, and how fast it falls with the shift."""
    required, price, centre, stiffness, squared = smoothing
    change, step, shift = move
    pull, curvature = 0.0, 0.0
    for t in range(start, stop):
        most = of(price, t)
        rate = stiffness * most
        raw = centre[t] + rate * (of(required, t) - margins[t] - step * change[t] - shift * signs[t])
        dual = max(0.0, raw) if squared else min(max(0.0, raw), most)
        pull += dual * signs[t]
        curvature += rate if dual == raw else 0.0
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
        short, most = of(required, t) - margins[t], of(price, t)
        new = centre[t] + stiffness * most * short
        if new <= 0.0:
            new = 0.0
        elif squared or new < most:
            free += 1
        else:
            new = most
        if new != dual[t]:
            add_scaled(rows, np.uint64(t), (new - dual[t]) * signs[t], w)
            dual[t] = new
            moved += 1
        slack = max(0.0, short)
        if squared:
            loss += most * slack * slack
            conjugate = new * new / (4.0 * most) if most > 0.0 else 0.0
            gain += new * of(required, t) - conjugate
        else:
            loss += most * slack
            gain += new * of(required, t)
            residual += (most - new) * short if short > 0.0 else -new * short
    return loss, gain, residual, free, moved


@njit(cache=True, nogil=True, error_model="numpy")
def trace_of(rows, price, width, start, stop):
    """``sum price |row|^2`` over the range: how steeply all constraints together can bend the objective."""
    total = 0.0
    for t in range(start, stop):
        if of(price, t) > 0.0:
            total += of(price, t) * squared_norm(rows, np.uint64(t), width)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def free_rows(smoothing, dual, free):
    """OUT ``free``: the numbers of the free constraints; returns how many."""
    price, squared = smoothing.price, smoothing.squared
    count = 0
    for t in range(dual.shape[0]):
        if dual[t] > 0.0 and (squared or dual[t] < of(price, t)):
            free[count] = t
            count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def gather(rows, free, scale, mean, start, stop, block):
    """OUT ``block``: row i is ``scale[start + i] * (rows[free[start + i]] - mean)``."""
    for i in range(stop - start):
        t = start + i
        for j in range(block.shape[1]):
            block[i, j] = -of(scale, t) * mean[j]
        add_scaled(rows, free[t], of(scale, t), block[i])


@njit(cache=True, nogil=True, error_model="numpy")
def sum_rows(rows, free, scale, start, stop, w):
    """OUT ``w``: ``w += sum scale[i] rows[free[i]]``."""
    for i in range(start, stop):
        add_scaled(rows, free[i], of(scale, i), w)


@njit(cache=True, nogil=True, error_model="numpy")
def curve(rows, free, rate, v, start, stop, w):
    """OUT ``w``: ``w += sum rate[i] (rows[free[i]] . v) rows[free[i]]``."""
    for i in range(start, stop):
        add_scaled(rows, free[i], of(rate, i) * dot(rows, free[i], v), w)


@njit(cache=True, nogil=True, error_model="numpy")
def sum_squares(rows, free, rate, start, stop, diagonal):
    """OUT ``diagonal``: ``+= sum rate[i] rows[free[i]]^2``, column by column (of a pair, about that)."""
    for i in range(start, stop):
        add_squares(rows, free[i], of(rate, i), diagonal)
