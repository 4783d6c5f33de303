"""Dual coordinate descent over rows with classes: all duals of a row at once are made the best ones.

With ``q = |row|^2`` and ``r_k = dual_k + short_k / q``, the best duals of a row are

    sum    clip(r_k - level, 0, price)     squared: max(0, r_k - level) / (1 + soft)
    max    max(0, r_k - level), in all at most the price

where the level makes ``level = total - total before`` (max, squared: ``(1 + soft) total - total before``), with
``soft = 1 / (2 price q)``; a root in one dimension of a function that rises in straight pieces.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from softmargin.kernels.class_rows import add_outer, scores
from softmargin.kernels.online import look_ahead

NO_LENGTH2 = 1e-12  # in the place of |row|^2 = 0: such a row's slack is the same for all weights
MOST_TRIALS, ENOUGH = 100, 1e-15
FULL = 1.0 - 1e-12  # of the price: duals that sum to it do so up to rounding


class Form(NamedTuple):
    """What one row pays for."""

    every: bool  # "sum": slack to each wrong class; else "max": to the closest one
    squared: bool


@njit(cache=True, nogil=True, error_model="numpy")
def total_above(r, label, level, divisor, ceiling):
    """The sum of ``clip((r_k - level) / divisor, 0, ceiling)`` without the label's, and how many move with level."""
    total, moving = 0.0, 0
    for k in range(r.shape[0]):
        if k != label and r[k] > level:
            part = (r[k] - level) / divisor
            total += min(part, ceiling)
            moving += part < ceiling
    return total, moving


@njit(cache=True, nogil=True, error_model="numpy")
def level_at(r, label, low, high, divisor, ceiling, weight, wanted):
    """The level in [low, high] at which ``weight total + wanted = level``; for weight 0, at which total = wanted."""
    level = low
    for _ in range(MOST_TRIALS):
        total, moving = total_above(r, label, level, divisor, ceiling)
        if weight > 0.0:
            value, slope = level - wanted - weight * total, 1.0 + weight * moving / divisor
        else:
            value, slope = wanted - total, moving / divisor
        if abs(value) <= ENOUGH * (abs(level) + abs(wanted) + total):
            return level
        low, high = (level, high) if value < 0.0 else (low, level)
        new = level - value / slope if slope > 0.0 else low
        if not low < new < high:  # Newton's step may go back and forth between the two ends
            new = 0.5 * (low + high)
        if new == level or not low < new < high:
            return level
        level = new
    return level


@njit(cache=True, nogil=True, error_model="numpy")
def best_duals(short, old, label, price, length2, every, squared, r, new):
    """OUT ``new``: the best duals of a row, given what it lacks now; scratch: ``r``."""
    before, highest, q = 0.0, -np.inf, length2 if length2 > 0.0 else NO_LENGTH2
    for k in range(short.shape[0]):
        if k != label:
            r[k] = old[k] + short[k] / q
            before, highest = before + old[k], max(highest, r[k])
    soft = 0.5 / (price * q) if squared else 0.0
    divisor, ceiling = 1.0 + soft if every else 1.0, np.inf if squared or not every else price
    low = -before
    high = max(low, highest)
    level = level_at(r, label, low, high, divisor, ceiling, 1.0 if every else 1.0 + soft, low)
    if not (every or squared) and total_above(r, label, level, 1.0, np.inf)[0] > price:
        level = level_at(r, label, level, high, 1.0, np.inf, 0.0, price)
    for k in range(short.shape[0]):
        new[k] = min(max(0.0, (r[k] - level) / divisor), ceiling) if k != label else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def unrest(short, dual, label, price, every, squared):
    """How far a row is from its best duals, as a slope; below 0 where it rests at a corner, by how much."""
    total = 0.0
    for k in range(short.shape[0]):
        total += dual[k] if k != label else 0.0
    if every:
        steepest, held_by = -1.0, np.inf
        for k in range(short.shape[0]):
            if k != label:
                lack = short[k] - (0.5 * dual[k] / price if squared else 0.0)
                held = -lack if dual[k] == 0.0 else (lack if dual[k] == price and not squared else -np.inf)
                steepest, held_by = max(steepest, abs(lack) if held < 0.0 else -1.0), min(held_by, held)
        return steepest if steepest >= 0.0 else -held_by
    # The price is shared out among the classes and, last of all, nobody, who lacks nothing: all holders lack the same.
    rest = 0.5 * total / price if squared else 0.0
    holders = int(squared or total < FULL * price)
    least, best, best_other = 0.0 if holders else np.inf, 0.0, -np.inf if holders else 0.0
    for k in range(short.shape[0]):
        if k != label:
            best = max(best, short[k] - rest)
            if dual[k] > 0.0:
                holders, least = holders + 1, min(least, short[k] - rest)
            else:
                best_other = max(best_other, short[k] - rest)
    return best - least if best > least or holders > 1 else best_other - least


@njit(cache=True, nogil=True, error_model="numpy")
def descend_classes(constraints, length2, form, bias, order, active, clear, dual, W):
    """Visit ``order[:active]`` once; returns how many stay active, and the steepest slope met.

    minimise    1/2 |W|^2 - sum dual_tk (required_t - bias_label + bias_k)  [+ conjugates, squared]
    subject to  W = sum_t row_t (e_label sum_k dual_tk - dual_t)',  dual >= 0, and in each row at most the price:
                each dual ("sum", ``every``), or all together ("max"); squared: no upper end
    leaves out  rows that a corner of their set holds by more than ``clear``
    OUT         order, dual, W
    Source      Keerthi et al., "A sequential dual method for large scale multi-class linear SVMs", KDD 2008 (max);
                Wang and Scott, "An exact solver for the Weston-Watkins SVM subproblem", ICML 2021 (sum)
    """
    rows, labels, requires, prices = constraints
    every, squared = form
    classes = W.shape[1]
    short, r, new, pull = np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes)
    steepest, i = 0.0, 0
    while i < active:
        look_ahead(rows, order, i)
        t = order[i]
        label, price = labels[t], prices[t]
        scores(rows, t, W, short)
        right = requires[t] - short[label] - bias[label]
        for k in range(classes):
            short[k] += right + bias[k]
        slope = unrest(short, dual[t], label, price, every, squared)
        if -slope > clear:
            active -= 1
            order[i], order[active] = order[active], t
            continue
        if slope > 0.0:
            steepest = max(steepest, slope)
            best_duals(short, dual[t], label, price, length2[t], every, squared, r, new)
            move_row(rows, t, label, new, dual, W, pull)
        i += 1
    return active, steepest


@njit(cache=True, nogil=True, error_model="numpy")
def move_row(rows, t, label, new, dual, W, pull):
    """OUT ``dual, W``: the duals of row t become ``new``; scratch: ``pull``."""
    total, moved = 0.0, False
    for k in range(new.shape[0]):
        change = new[k] - dual[t, k]
        pull[k], total, moved = -change, total + change, moved or change != 0.0
        dual[t, k] = new[k]
    pull[label] = total
    if moved:
        add_outer(rows, t, pull, W)


@njit(cache=True, nogil=True, error_model="numpy")
def sort_out_classes(constraints, form, score, share, order, dual):
    """OUT ``order``: rows worth a visit first, the others behind them; returns how many are (as ``sort_out``)."""
    _, labels, requires, prices = constraints
    every, squared = form
    short = np.empty(score.shape[1])
    first, last, clear = 0, dual.shape[0], 0.0
    for again in range(2):
        for t in range(dual.shape[0]):
            label, slope = labels[t], -np.inf
            for k in range(short.shape[0]):
                short[k] = requires[t] - score[t, label] + score[t, k]
            if prices[t] > 0.0:
                slope = unrest(short, dual[t], label, prices[t], every, squared)
            if again == 0:
                clear = max(clear, share * slope)
            elif -slope > clear:
                last -= 1
                order[last] = t
            else:
                order[first] = t
                first += 1
    return first


@njit(cache=True, nogil=True, error_model="numpy")
def move_classes_to(constraints, form, order, history, share, dual, W):
    """OUT ``dual, W``: the duals become ``share``-weighted sums of ``history``, kept in their sets by scaling."""
    rows, labels, _, prices = constraints
    every, squared = form
    classes = W.shape[1]
    new, pull = np.empty(classes), np.empty(classes)
    for i in range(history.shape[1]):
        t, total = order[i], 0.0
        for k in range(classes):
            new[k] = 0.0
            for m in range(share.shape[0]):
                new[k] += share[m] * history[m, i, k]
            new[k] = max(0.0, new[k])
            if every and not squared:
                new[k] = min(new[k], prices[t])
            total += new[k]
        if not (every or squared) and total > prices[t]:
            for k in range(classes):
                new[k] *= prices[t] / total
        move_row(rows, t, labels[t], new, dual, W, pull)


@njit(cache=True, nogil=True, error_model="numpy")
def value_of_classes(constraints, form, bias, dual, W):
    """What ``descend_classes`` minimises, with the sign turned: the value of the dual."""
    _, labels, requires, prices = constraints
    every, squared = form
    value = 0.0
    for j in range(W.shape[0]):
        for k in range(W.shape[1]):
            value -= 0.5 * W[j, k] * W[j, k]
    for t in range(dual.shape[0]):
        total, squares = 0.0, 0.0
        for k in range(W.shape[1]):
            total, squares = total + dual[t, k], squares + dual[t, k] * dual[t, k]
            value += dual[t, k] * (requires[t] - bias[labels[t]] + bias[k])
        if squared and total > 0.0:
            value -= (squares if every else total * total) / (4.0 * prices[t])
    return value
