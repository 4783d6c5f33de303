"""Explicit pairs as a function of scores; see ``kernels.sweep`` for the same of all pairs of a group."""

import numpy as np
from numba import njit

from softmargin.kernels.constraints import of


@njit(cache=True, nogil=True, error_model="numpy")
def pull_pairs(better, worse, required, price, scores, rule, pull):
    """OUT ``pull``: += the balance of the duals; returns loss, gain and residual."""
    width, rate, most = rule
    loss, gain, residual = 0.0, 0.0, 0.0
    for t in range(better.shape[0]):
        short = of(required, t) - (scores[better[t]] - scores[worse[t]])
        if not short > 0.0:
            continue
        held = rate * short if short < width else most
        pull[better[t]] += of(price, t) * held
        pull[worse[t]] -= of(price, t) * held
        if width == np.inf:
            loss += of(price, t) * short * short
            gain += of(price, t) * (held * of(required, t) - short * short)
        else:
            loss += of(price, t) * short
            gain += of(price, t) * held * of(required, t)
            residual += of(price, t) * short * (1.0 - held)
    return np.array([loss, gain, residual])


@njit(cache=True, nogil=True, error_model="numpy")
def bend_pairs(better, worse, required, price, scores, rule, V, out):
    """OUT ``out``: ``+= H V``, H the slope of the pulls in the scores."""
    width, rate, _ = rule
    for t in range(better.shape[0]):
        a, b = better[t], worse[t]
        short = of(required, t) - (scores[a] - scores[b])
        if 0.0 < short < width:
            for c in range(V.shape[1]):
                by = rate * of(price, t) * (V[a, c] - V[b, c])
                out[a, c] += by
                out[b, c] -= by
