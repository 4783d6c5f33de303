"""Dual coordinate descent over signed rows: one dual after the other is made the best one, given all others."""

import numpy as np
from numba import njit

from softmargin.kernels.online import look_ahead
from softmargin.kernels.rows import add_scaled, dot, squared_norm


@njit(cache=True, nogil=True, error_model="numpy")
def best_dual(old, short, length2, price, squared):
    """The best value of one dual; ``short`` is what its constraint lacks now (squared: less ``old / (2 price)``)."""
    if squared:
        return max(0.0, old + short / (length2 + 0.5 / price))
    if length2 == 0.0:  # a row of zeros: its slack is the same for all weights
        return price if short > 0.0 else 0.0
    return min(max(0.0, old + short / length2), price)


@njit(cache=True, nogil=True, error_model="numpy")
def descend(constraints, length2, squared, bias, order, active, clear, dual, w):
    """Visit ``order[:active]`` once; returns how many stay active, and the steepest slope met.

    minimise    1/2 |w|^2 - sum dual_t (required_t - sign_t bias)  [+ sum dual_t^2 / (4 price_t), squared]
    subject to  w = sum dual_t sign_t row_t,  0 <= dual_t  [<= price_t, not squared]
    given       length2  |row_t|^2; working it out again at each visit makes a sparse one 1.4 times longer
    leaves out  duals at an end of their box whose slope points out of it by more than ``clear``; their rows are
                swapped behind the active ones
    OUT         order, dual, w
    Source      Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008, algorithm 3
    """
    rows, signs, requires, prices = constraints
    steepest, i = 0.0, 0
    while i < active:
        look_ahead(rows, order, i)
        t = order[i]
        sign, old, price = signs[t], dual[t], prices[t]
        short = requires[t] - sign * (dot(rows, t, w) + bias)
        if squared:
            short -= 0.5 * old / price
        out = -short if old == 0.0 else (short if old == price and not squared else -np.inf)
        if out > clear:
            active -= 1
            order[i], order[active] = order[active], t
            continue
        if out < 0.0:
            steepest = max(steepest, abs(short))
            new = best_dual(old, short, length2[t], price, squared)
            if new != old:
                add_scaled(rows, t, (new - old) * sign, w)
                dual[t] = new
        i += 1
    return active, steepest


@njit(cache=True, nogil=True, error_model="numpy")
def lengths2(rows, width, start, stop, length2):
    """OUT ``length2[start:stop]``: ``|row|^2``."""
    for t in range(start, stop):
        length2[t] = squared_norm(rows, np.uint64(t), width)


@njit(cache=True, nogil=True, error_model="numpy")
def sort_out(constraints, squared, margins, share, order, dual):
    """OUT ``order``: constraints worth a visit first, the others behind them; returns how many are worth one.

    Not worth one is a dual at an end of its box whose slope points out of the box by more than ``share`` of the
    steepest slope that does not.
    """
    _, _, requires, prices = constraints
    first, last, clear = 0, dual.shape[0], 0.0
    for again in range(2):
        for t in range(dual.shape[0]):
            short, price, old = requires[t] - margins[t], prices[t], dual[t]
            if price == 0.0:
                out = np.inf
            else:
                short -= 0.5 * old / price if squared else 0.0
                out = -short if old == 0.0 else (short if old == price and not squared else -np.inf)
            if again == 0:
                clear = max(clear, share * abs(short)) if out < 0.0 else clear
            elif out > clear:
                last -= 1
                order[last] = t
            else:
                order[first] = t
                first += 1
    return first


@njit(cache=True, nogil=True, error_model="numpy")
def move_to(constraints, squared, order, history, share, dual, w):
    """OUT ``dual, w``: dual i becomes the sum of ``share[k] * history[k, i]``, kept in its box."""
    rows, signs, _, prices = constraints
    for i in range(history.shape[1]):
        t, new = order[i], 0.0
        for k in range(share.shape[0]):
            new += share[k] * history[k, i]
        new = max(0.0, new) if squared else min(max(0.0, new), prices[t])
        if new != dual[t]:
            add_scaled(rows, t, (new - dual[t]) * signs[t], w)
            dual[t] = new


@njit(cache=True, nogil=True, error_model="numpy")
def gram_of_changes(history, gram):
    """OUT ``gram``: the inner products of the differences between successive lines of ``history``."""
    count = gram.shape[0]
    change = np.empty(count)
    gram[:] = 0.0
    for i in range(history.shape[1]):
        for k in range(count):
            change[k] = history[k + 1, i] - history[k, i]
            for m in range(k + 1):
                gram[k, m] += change[k] * change[m]
    for k in range(count):
        for m in range(k):
            gram[m, k] = gram[k, m]


@njit(cache=True, nogil=True, error_model="numpy")
def value_of(constraints, squared, bias, dual, w):
    """What ``descend`` minimises, with the sign turned: the value of the dual."""
    _, signs, requires, prices = constraints
    value = 0.0
    for j in range(w.shape[0]):
        value -= 0.5 * w[j] * w[j]
    for t in range(dual.shape[0]):
        if dual[t] != 0.0:
            value += dual[t] * (requires[t] - signs[t] * bias)
            if squared:
                value -= dual[t] * dual[t] / (4.0 * prices[t])
    return value
