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
from softmargin.kernels.class_sums import many_slack_terms, one_slack_terms
from softmargin.kernels.coordinate import Visit
from softmargin.kernels.online import look_ahead, look_beside

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
def duals_of_nothing(short, label, price, every, squared, new):
    """OUT ``new``: the best duals of a row of zeros, whose slack is the same for all weights."""
    worst = -1
    for k in range(short.shape[0]):
        new[k] = 0.0
        if k != label and short[k] > 0.0:
            if every:
                new[k] = 2.0 * price * short[k] if squared else price
            elif worst < 0 or short[k] > short[worst]:
                worst = k
    if worst >= 0:
        new[worst] = 2.0 * price * short[worst] if squared else price


@njit(cache=True, nogil=True, error_model="numpy")
def best_duals(short, old, label, price, length2, every, squared, r, new):
    """OUT ``new``: the best duals of a row, given what it lacks now; scratch: ``r``."""
    if length2 == 0.0:
        duals_of_nothing(short, label, price, every, squared, new)
        return
    before, highest, q = 0.0, -np.inf, length2
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
    """Visit ``order[:active]`` once; returns how many stay active, and a ``Visit``.

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
    steepest, gap, won, i = 0.0, 0.0, 0.0, 0
    while i < active:
        look_ahead(rows, order, i)
        look_beside(labels, order, i)
        look_beside(requires, order, i)
        look_beside(prices, order, i)
        look_beside(length2, order, i)
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
            if every:
                gap += many_slack_terms(short, dual[t], label, requires[t], price, squared)[2]
            else:
                gap += one_slack_terms(short, dual[t], label, requires[t], price, squared)[2]
            best_duals(short, dual[t], label, price, length2[t], every, squared, r, new)
            won += won_by(short, dual[t], new, label, price, length2[t], every, squared)
            move_row(rows, t, label, new, dual, W, pull)
        i += 1
    return active, Visit(steepest, gap, won)


@njit(cache=True, nogil=True, error_model="numpy")
def won_by(short, old, new, label, price, length2, every, squared):
    """How much the value of the dual rises when the duals of one row go from old to new."""
    won, before, total, squares = 0.0, 0.0, 0.0, 0.0
    soft = 0.5 / price if squared else 0.0
    for k in range(short.shape[0]):
        if k != label:
            change = new[k] - old[k]
            won += change * (short[k] - (soft * old[k] if every else 0.0))
            before, total, squares = before + old[k], total + change, squares + change * change
    if every:
        return won - 0.5 * (length2 * (total * total + squares) + soft * squares)
    return won - total * soft * before - 0.5 * (length2 * (total * total + squares) + soft * total * total)


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
def softness_of_classes(rows, prices, every, one, other):
    """How much squared slack bends the dual along two directions (as ``softness``)."""
    total = 0.0
    for i in range(rows.shape[0]):
        t = rows[i]
        product, mass_one, mass_other = 0.0, 0.0, 0.0
        for k in range(one.shape[1]):
            product += one[t, k] * other[t, k]
            mass_one, mass_other = mass_one + one[t, k], mass_other + other[t, k]
        product = product if every else mass_one * mass_other
        if product != 0.0:
            total += product * (0.5 / prices[t])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def back_inside(line, t, price, form, here, inside):
    """OUT ``here``: where the line leads row t; OUT ``inside``: a point near it in the set of duals.

    Returns whether they differ.
    """
    total, apart = 0.0, False
    for k in range(here.shape[0]):
        here[k] = line.dual[t, k] - line.change[t, k] + line.step * line.along[t, k]
        inside[k] = max(0.0, here[k])
        if form.every and not form.squared:
            inside[k] = min(inside[k], price)
        total, apart = total + inside[k], apart or inside[k] != here[k]
    if not (form.every or form.squared) and total > price:
        apart = True
        for k in range(here.shape[0]):
            inside[k] *= price / total
    return apart


@njit(cache=True, nogil=True, error_model="numpy")
def fold_back_classes(constraints, length2, form, bias, line, share, W):
    """OUT ``W``: += ``share`` times what it takes to put the duals on a line back into their sets (``fold_back``)."""
    rows, labels, requires, prices = constraints
    classes, won, lost = W.shape[1], 0.0, 0.0
    here, inside, short, pull = np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes)
    for i in range(line.rows.shape[0]):
        t = line.rows[i]
        label, price = labels[t], prices[t]
        if not back_inside(line, t, price, form, here, inside):
            continue
        scores(rows, t, W, short)
        right = requires[t] - short[label] - bias[label]
        for k in range(classes):
            short[k] += right + bias[k]
        won += won_by(short, here, inside, label, price, length2[t], form.every, form.squared)
        scores(rows, t, line.w_along, short)
        soft = 0.5 / price if form.squared else 0.0
        total, mass = 0.0, 0.0
        for k in range(classes):
            back = inside[k] - here[k]
            lost += back * (short[label] - short[k] + (soft * line.along[t, k] if form.every else 0.0))
            pull[k], total, mass = -share * back, total + back, mass + line.along[t, k]
        if not form.every:
            lost += soft * total * mass
        pull[label] = share * total
        add_outer(rows, t, pull, W)
    return won, lost


@njit(cache=True, nogil=True, error_model="numpy")
def go_along_classes(prices, form, line):
    """OUT ``line.dual``: where the line leads to, back in its set."""
    here, inside = np.empty(line.dual.shape[1]), np.empty(line.dual.shape[1])
    for i in range(line.rows.shape[0]):
        t = line.rows[i]
        back_inside(line, t, prices[t], form, here, inside)
        for k in range(inside.shape[0]):
            line.dual[t, k] = inside[k]
