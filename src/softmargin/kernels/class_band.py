"""Smoothed constraints of rows with classes: what the Newton solver for several classes does with all of them.

As ``kernels.band``.  With ``z_k = centre_k + rate short_k`` and ``rate = stiffness price``, the dual of a row is

    sum    z_k between 0 and the price (squared: above 0)
    max    max(0, z_k - rate level), with the level at which the dual's sum is the price, or 0 where it is less
           (squared: at which the sum is 2 price level)

and moves with the shortfalls by ``rate (short_k - share * sum of short over the free)``.
"""

from typing import NamedTuple

import numpy as np
from numba import njit


class ClassSmoothing(NamedTuple):
    """What turns scores into duals."""

    label: np.ndarray
    required: np.ndarray
    price: np.ndarray
    centre: np.ndarray
    stiffness: float
    every: bool
    squared: bool


@njit(cache=True, nogil=True, error_model="numpy")
def water_level(z, label, rate, price, squared):
    """The level of "max" for a row, and how many of ``z`` are above it."""
    count, total = 0, 0.0
    inside = 0.0
    for k in range(z.shape[0]):
        if k != label and z[k] > 0.0:
            inside += z[k]
    if not squared and inside <= price:
        for k in range(z.shape[0]):
            count += k != label and z[k] > 0.0
        return 0.0, count
    # Take in the largest, then the next, while it stays above the level that it makes.
    last, last_at, level = np.inf, -1, 0.0
    while True:
        best = -1
        for k in range(z.shape[0]):
            after = z[k] < last or (z[k] == last and k > last_at)
            if k != label and after and (best < 0 or z[k] > z[best]):
                best = k
        if best < 0 or z[best] <= rate * level:
            return level, count
        count, total = count + 1, total + z[best]
        level = total / (count * rate + 2.0 * price) if squared else (total - price) / (count * rate)
        if z[best] <= rate * level:
            return level, count
        last, last_at = z[best], best


@njit(cache=True, nogil=True, error_model="numpy")
def row_dual(smoothing, t, score, dual, free):
    """OUT ``dual, free``: of row t, at these scores; returns the share (see the head of this file)."""
    label, required, price = smoothing.label[t], smoothing.required[t], smoothing.price[t]
    rate, classes = smoothing.stiffness * price, score.shape[0]
    for k in range(classes):
        dual[k], free[k] = 0.0, False
    if price == 0.0:
        return 0.0
    for k in range(classes):
        if k != label:
            dual[k] = smoothing.centre[t, k] + rate * (required - score[label] + score[k])
    if smoothing.every:
        for k in range(classes):
            ceiling = not smoothing.squared and dual[k] >= price
            free[k] = k != label and dual[k] > 0.0 and not ceiling
            dual[k] = max(0.0, price if ceiling else dual[k])
        return 0.0
    level, count = water_level(dual, label, rate, price, smoothing.squared)
    for k in range(classes):
        free[k] = k != label and dual[k] > rate * level
        dual[k] = dual[k] - rate * level if free[k] else 0.0
    if smoothing.squared:
        return rate / (count * rate + 2.0 * price)
    return 1.0 / count if level > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def settle_classes(smoothing, scores, start, stop, dual, free, share):
    """OUT ``dual, free, share``: of every row in the range; returns how many rows have something free."""
    alive = 0
    for t in range(start, stop):
        share[t] = row_dual(smoothing, t, scores[t], dual[t], free[t])
        some = False
        for k in range(dual.shape[1]):
            some = some or free[t, k]
        alive += some
    return alive


@njit(cache=True, nogil=True, error_model="numpy")
def slope_along_classes(smoothing, scores, change, step, start, stop):
    """At ``scores + step * change``: the sum of pull . change over the range, and how fast it falls with the step."""
    classes = scores.shape[1]
    score, dual, free = np.empty(classes), np.empty(classes), np.empty(classes, dtype=np.bool_)
    pull, curvature = 0.0, 0.0
    for t in range(start, stop):
        for k in range(classes):
            score[k] = scores[t, k] + step * change[t, k]
        share = row_dual(smoothing, t, score, dual, free)
        label, rate = smoothing.label[t], smoothing.stiffness * smoothing.price[t]
        total, square = 0.0, 0.0
        for k in range(classes):
            by = change[t, k] - change[t, label]
            pull -= dual[k] * by
            if free[k]:
                total, square = total + by, square + by * by
        curvature += rate * (square - share * total * total)
    return pull, curvature


@njit(cache=True, nogil=True, error_model="numpy")
def bend_classes(smoothing, free, share, change, start, stop, dual):
    """OUT ``dual``: how the duals of the range move when the scores move by ``change``."""
    for t in range(start, stop):
        label, rate = smoothing.label[t], smoothing.stiffness * smoothing.price[t]
        total = 0.0
        for k in range(free.shape[1]):
            if free[t, k]:
                total += change[t, k] - change[t, label]
        for k in range(free.shape[1]):
            dual[t, k] = 0.0
            if free[t, k]:
                dual[t, k] = rate * (change[t, k] - change[t, label] - share[t] * total)


@njit(cache=True, nogil=True, error_model="numpy")
def curvatures(smoothing, free, share, rows, a, b, out):
    """OUT ``out``: for each of ``rows``, how the pull on class a falls when the score of class b rises."""
    for i in range(rows.shape[0]):
        t = rows[i]
        label, rate = smoothing.label[t], smoothing.stiffness * smoothing.price[t]
        count = 0
        for k in range(free.shape[1]):
            count += free[t, k]
        # d dual_k / d short_l = rate (1[k = l] - share) on the free; short_l = ... + s_l - s_label.
        kept = 1.0 - share[t] * count
        if a == label and b == label:
            out[i] = rate * count * kept
        elif label in (a, b):
            other = b if a == label else a
            out[i] = -rate * kept if free[t, other] else 0.0
        else:
            both = free[t, a] and free[t, b]
            out[i] = rate * ((1.0 if a == b else 0.0) - share[t]) if both else 0.0
