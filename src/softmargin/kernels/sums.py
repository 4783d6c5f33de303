"""Sums over many constraints at given weights: margins, weights from duals, and the terms of the gap.

Each kernel takes a range of constraints, so that two threads can share the work (the JIT code runs without the GIL).
"""

import numpy as np
from numba import njit

from softmargin.kernels.rows import add_scaled, dot


@njit(cache=True, nogil=True, error_model="numpy")
def margins_of(constraints, w, bias, start, stop, margins):
    """OUT ``margins[start:stop]``: ``sign (row . w + bias)``."""
    rows, signs = constraints.rows, constraints.sign
    for t in range(start, stop):
        margins[t] = signs[t] * (dot(rows, np.uint64(t), w) + bias)


@njit(cache=True, nogil=True, error_model="numpy")
def weights_of(constraints, dual, start, stop, w):
    """OUT ``w``: ``w += sum dual sign row`` over the range; returns the same sum for the intercept."""
    rows, signs, flow = constraints.rows, constraints.sign, 0.0
    for t in range(start, stop):
        if dual[t] != 0.0:
            pull = dual[t] * signs[t]
            add_scaled(rows, np.uint64(t), pull, w)
            flow += pull
    return flow


@njit(cache=True, nogil=True, error_model="numpy")
def gap_terms(required, price, squared, margins, dual, start, stop):
    """Sums over the range of: the loss, the dual's gain, and their Fenchel-Young residual.

    loss      price slack                 price slack^2
    gain      dual required               dual required - dual^2 / (4 price)
    residual  loss - (dual (required - margin) - conjugate), written so that every term is >= 0 in floating point
    """
    loss, gain, residual = 0.0, 0.0, 0.0
    for t in range(start, stop):
        short = required[t] - margins[t]
        slack = max(0.0, short)
        if squared:
            loss += price[t] * slack * slack
            conjugate = dual[t] * dual[t] / (4.0 * price[t]) if price[t] > 0.0 else 0.0
            gain += dual[t] * required[t] - conjugate
            if short > 0.0 and price[t] > 0.0:
                residual += price[t] * (short - dual[t] / (2.0 * price[t])) ** 2
            else:
                residual += conjugate - dual[t] * short
        else:
            loss += price[t] * slack
            gain += dual[t] * required[t]
            residual += (price[t] - dual[t]) * short if short > 0.0 else -dual[t] * short
    return loss, gain, residual
