"""Sums over many constraints at given weights: margins, weights from duals, and the terms of the gap.

Each kernel takes a range of constraints, so that two threads can share the work (the JIT code runs without the GIL).
"""

import numpy as np
from numba import njit

from softmargin.kernels.constraints import of
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
        short, most, worth = of(required, t) - margins[t], of(price, t), dual[t]
        slack = max(0.0, short)
        if squared:
            loss += most * slack * slack
            conjugate = worth * worth / (4.0 * most) if most > 0.0 else 0.0
            gain += worth * of(required, t) - conjugate
            if short > 0.0 and most > 0.0:
                residual += most * (short - worth / (2.0 * most)) ** 2
            else:
                residual += conjugate - worth * short
        else:
            loss += most * slack
            gain += worth * of(required, t)
            residual += (most - worth) * short if short > 0.0 else -worth * short
    return loss, gain, residual
