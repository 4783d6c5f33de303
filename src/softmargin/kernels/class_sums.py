"""Sums over many rows with classes: weights from duals, and the terms of the gap."""

import numpy as np
from numba import njit

from softmargin.kernels.class_rows import add_outer, scores


@njit(cache=True, nogil=True, error_model="numpy")
def class_scores_of(rows, W, start, stop, out):
    """OUT ``out[start:stop]``: the score of each class."""
    for t in range(start, stop):
        scores(rows, np.uint64(t), W, out[t])


@njit(cache=True, nogil=True, error_model="numpy")
def class_weights_of(rows, labels, dual, start, stop, W):
    """OUT ``W``: ``W += sum row pull'``: a class loses its dual, the right class gains all that the others lose."""
    pull = np.empty(W.shape[1])
    for t in range(start, stop):
        total = 0.0
        for k in range(W.shape[1]):
            pull[k] = -dual[t, k]
            total += dual[t, k]
        if total != 0.0:
            pull[labels[t]] += total
            add_outer(rows, np.uint64(t), pull, W)


@njit(cache=True, nogil=True, error_model="numpy")
def one_slack_terms(short, dual, label, required, price, squared):
    """Loss, gain and residual of a row with one slack for all classes; every part of the residual is >= 0."""
    worst, mass = 0.0, 0.0
    for k in range(short.shape[0]):
        if k != label:
            worst, mass = max(worst, short[k]), mass + dual[k]
    spread = 0.0
    for k in range(short.shape[0]):
        if k != label:
            spread += dual[k] * (worst - short[k])
    if not squared:
        return price * worst, mass * required, spread + (price - mass) * worst
    if price == 0.0:
        return 0.0, 0.0, 0.0
    return (
        price * worst**2,
        mass * required - mass**2 / (4.0 * price),
        spread + price * (worst - mass / (2.0 * price)) ** 2,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def many_slack_terms(short, dual, label, required, price, squared):
    """Loss, gain and residual of a row with one slack for each wrong class; every part of the residual is >= 0."""
    loss, gain, residual = 0.0, 0.0, 0.0
    for k in range(short.shape[0]):
        if k == label or price == 0.0:
            continue
        slack, a = max(0.0, short[k]), dual[k]
        if squared:
            conjugate = a * a / (4.0 * price)
            loss, gain = loss + price * slack**2, gain + a * required - conjugate
            residual += price * (slack - a / (2.0 * price)) ** 2 if slack > 0.0 else conjugate - a * short[k]
        else:
            loss, gain = loss + price * slack, gain + a * required
            residual += (price - a) * slack if slack > 0.0 else -a * short[k]
    return loss, gain, residual


@njit(cache=True, nogil=True, error_model="numpy")
def class_gap_terms(constraints, score, dual, every, squared):
    """Sums over all rows of loss, gain and residual; ``every``: one slack for each wrong class."""
    _, labels, requires, prices = constraints
    loss, gain, residual, short = 0.0, 0.0, 0.0, np.empty(score.shape[1])
    for t in range(labels.shape[0]):
        label = labels[t]
        for k in range(short.shape[0]):
            short[k] = requires[t] - (score[t, label] - score[t, k])
        if every:
            terms = many_slack_terms(short, dual[t], label, requires[t], prices[t], squared)
        else:
            terms = one_slack_terms(short, dual[t], label, requires[t], prices[t], squared)
        loss, gain, residual = loss + terms[0], gain + terms[1], residual + terms[2]
    return loss, gain, residual
