"""Dual coordinate descent over signed rows: one dual after the other is made the best one, given all others."""

from typing import NamedTuple

import numpy as np
from numba import njit

from softmargin.kernels.constraints import of
from softmargin.kernels.online import look_ahead, look_beside
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
def shuffle(order, start, words):
    """OUT ``order``: places from ``start`` on drawn from those up to them, by a random word below 2^32 for each.

    From the last places to the first, all of them are then in random order (Fisher and Yates).
    """
    for i in range(words.shape[0] - 1, -1, -1):
        place = start + i
        j = (np.uint64(words[i]) * np.uint64(place + 1)) >> np.uint64(32)
        order[place], order[j] = order[j], order[place]


class Visit(NamedTuple):
    """What a visit to some rows met."""

    steepest: float  # slope
    gap: float  # what these rows add to the gap, each when it was met
    won: float  # how much the value of the dual has risen


@njit(cache=True, nogil=True, error_model="numpy")
def descend(constraints, length2, squared, bias, order, active, clear, dual, w):
    """Visit ``order[:active]`` once; returns how many stay active, and a ``Visit``.

    minimise    1/2 |w|^2 - sum dual_t (required_t - sign_t bias)  [+ sum dual_t^2 / (4 price_t), squared]
    subject to  w = sum dual_t sign_t row_t,  0 <= dual_t  [<= price_t, not squared]
    given       length2  |row_t|^2; working it out again at each visit makes a sparse one 1.4 times longer
    leaves out  duals at an end of their box whose slope points out of it by more than ``clear``; their rows are
                swapped behind the active ones
    OUT         order, dual, w
    Source      Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008, algorithm 3
    """
    rows, signs, requires, prices = constraints
    steepest, gap, won, i = 0.0, 0.0, 0.0, 0
    several = requires.shape[0] > 1 or prices.shape[0] > 1
    while i < active:
        look_ahead(rows, order, i)
        look_beside(signs, order, i)
        if several:
            look_beside(requires, order, i)
            look_beside(prices, order, i)
        look_beside(length2, order, i)
        look_beside(dual, order, i)
        t = order[i]
        sign, old, price = np.float64(signs[t]), dual[t], of(prices, t)
        short = of(requires, t) - sign * (dot(rows, t, w) + bias)
        soft = 0.5 / price if squared else 0.0
        short -= soft * old
        out = -short if old == 0.0 else (short if old == price and not squared else -np.inf)
        if out > clear:
            active -= 1
            order[i], order[active] = order[active], t
            continue
        if out < 0.0:
            steepest = max(steepest, abs(short))
            new = best_dual(old, short, length2[t], price, squared)
            if squared:
                gap += price * short * short
            else:
                gap += (price - old) * short if short > 0.0 else -old * short
            change = new - old
            if change != 0.0:
                won += change * (short - 0.5 * change * (length2[t] + soft))
                add_scaled(rows, t, change * sign, w)
                dual[t] = new
        i += 1
    return active, Visit(steepest, gap, won)


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
            short, price, old = of(requires, t) - margins[t], of(prices, t), dual[t]
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


class Line(NamedTuple):
    """Where a line begins, ``dual - change``, and how far it goes ``along`` some direction of the duals.

    Only the duals of ``rows`` differ along it.
    """

    rows: np.ndarray
    dual: np.ndarray
    change: np.ndarray
    along: np.ndarray
    w_along: np.ndarray
    step: float


@njit(cache=True, nogil=True, error_model="numpy")
def add_two(w, one, w_one, other, w_other):
    """OUT ``w``: ``+= one w_one + other w_other``."""
    for j in range(w.shape[0]):
        w[j] += one * w_one[j] + other * w_other[j]


# What follows takes a table with one column a class, so that it serves rows with classes too.


@njit(cache=True, nogil=True, error_model="numpy")
def copy_rows(rows, dual, change):
    """OUT ``change``: the duals of these rows."""
    for i in range(rows.shape[0]):
        for k in range(dual.shape[1]):
            change[rows[i], k] = dual[rows[i], k]


@njit(cache=True, nogil=True, error_model="numpy")
def changes_of_rows(rows, dual, change):
    """OUT ``change``: how far the duals of these rows have come since ``copy_rows``."""
    for i in range(rows.shape[0]):
        for k in range(dual.shape[1]):
            change[rows[i], k] = dual[rows[i], k] - change[rows[i], k]


@njit(cache=True, nogil=True, error_model="numpy")
def turn_rows(rows, turn, change, along):
    """OUT ``along``: ``turn`` times what it was, and the change."""
    for i in range(rows.shape[0]):
        for k in range(along.shape[1]):
            old = turn * along[rows[i], k] if turn > 0.0 else 0.0
            along[rows[i], k] = old + change[rows[i], k]


@njit(cache=True, nogil=True, error_model="numpy")
def softness(rows, prices, one, other):
    """``sum one_t other_t / (2 price_t)``: how much the squared hinge bends the dual along two directions."""
    total = 0.0
    for i in range(rows.shape[0]):
        t = rows[i]
        if one[t] != 0.0:
            total += one[t] * other[t] * (0.5 / of(prices, t))
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def fold_back(constraints, length2, squared, bias, line, share, w):
    """OUT ``w``: += ``share`` times what it takes to put the duals on a line back into their box.

    Returns what that wins of the dual's value, and by how much it lowers the slope along the line.
    """
    rows, signs, requires, prices = constraints
    won, lost = 0.0, 0.0
    for i in range(line.rows.shape[0]):
        t = line.rows[i]
        here = line.dual[t] - line.change[t] + line.step * line.along[t]
        inside = max(0.0, here) if squared else min(max(0.0, here), of(prices, t))
        back = inside - here
        if back != 0.0:
            sign = np.float64(signs[t])
            soft = 0.5 / of(prices, t) if squared else 0.0
            short = of(requires, t) - sign * (dot(rows, t, w) + bias) - soft * here
            won += back * (short - 0.5 * back * (length2[t] + soft))
            lost += back * (sign * dot(rows, t, line.w_along) + soft * line.along[t])
            add_scaled(rows, t, share * back * sign, w)
    return won, lost


@njit(cache=True, nogil=True, error_model="numpy")
def go_along(prices, squared, line):
    """OUT ``line.dual``: where the line leads to, back in its box."""
    dual = line.dual
    for i in range(line.rows.shape[0]):
        t = line.rows[i]
        here = dual[t] - line.change[t] + line.step * line.along[t]
        dual[t] = max(0.0, here) if squared else min(max(0.0, here), of(prices, t))
