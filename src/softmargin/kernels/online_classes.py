"""One online pass over rows with more than two classes: one weight vector a class, side by side in ``V``."""

from typing import NamedTuple

import numpy as np
from numba import njit

from softmargin.kernels.checks import LONGEST_ROW2
from softmargin.kernels.class_rows import add_outer, scores
from softmargin.kernels.ledger import NO_AVERAGE, record
from softmargin.kernels.online import (
    LARGEST_SCALE,
    SMALLEST_SCALE,
    adaptive_step,
    fold,
    grown,
    look_ahead,
    look_beside,
    push_bias,
    weigh,
)
from softmargin.kernels.rows import squared_norm

# One slack a row, for the closest wrong class; one for each wrong class; or one for each class against the rest.
MAX, SUM, OVR = 0, 1, 2


class ClassRules(NamedTuple):
    """What does not change while a run goes on."""

    lam: float
    squared: bool
    free_bias: bool
    averaging: int
    strong: bool
    form: int  # MAX, SUM or OVR


class ClassState(NamedTuple):
    """Where a run stands: as ``kernels.online.OnlineState``, with one column a class."""

    v: np.ndarray
    debt: np.ndarray
    u: np.ndarray
    bias: np.ndarray
    forces: np.ndarray
    ledger: np.ndarray
    trace: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def shortfalls(score, label, required, form, short):
    """OUT ``short``: what each class lacks, zero where nothing; for MAX all but the largest (first of equals).

    Returns the margin against the closest other class.
    """
    closest = -1
    for k in range(score.shape[0]):
        short[k] = 0.0
        if k != label and (closest < 0 or score[k] > score[closest]):
            closest = k
    margin = score[label] - score[closest]
    if form == MAX:
        short[closest] = max(0.0, required - margin)
        return margin
    for k in range(score.shape[0]):
        if form == OVR:
            short[k] = max(0.0, required - score[k] if k == label else required + score[k])
        elif k != label:
            short[k] = max(0.0, required - (score[label] - score[k]))
    return margin


@njit(cache=True, nogil=True, error_model="numpy")
def pulls_of(short, label, price, squared, form, soften, pull):
    """OUT ``pull``: what each class's weights gain, per unit of step; returns loss, total force and conjugate.

    A class that came too close loses ``force``; the right class gains all that the others lose (OVR: its own).
    Squared hinge: the force is divided by ``1 + soften |z|^2``, in rows, which makes the step implicit.
    """
    length2 = 1.0
    if form != OVR:
        for k in range(short.shape[0]):
            length2 += short[k] > 0.0
    loss, conjugate, total = 0.0, 0.0, 0.0
    for k in range(short.shape[0]):
        force = 0.0
        if short[k] > 0.0 and squared:
            force = 2.0 * price * short[k] / (1.0 + soften * length2)
            loss += price * short[k] ** 2
            conjugate += force * force / (4.0 * price) if price > 0.0 else 0.0
        elif short[k] > 0.0:
            force = price
            loss += price * short[k]
        pull[k] = -force
        total += force
    pull[label] = -pull[label] if form == OVR else total
    return loss, total, conjugate


@njit(cache=True, nogil=True, error_model="numpy")
def pay_classes(ledger, lam, required, squared, margin, price, loss, along, length2):
    """OUT ``ledger``: enter what a row costs before the step; ``along`` is pull . V and ``length2`` |pull row|^2."""
    weights2 = ledger["scale"] ** 2 * ledger["v_norm2"]
    ledger["paid"] += 0.5 * lam * weights2 + loss
    ledger["idle"] += price * (required * required if squared else required)
    ledger["farthest"] = max(ledger["farthest"], weights2)
    ledger["mistakes"] += margin <= 0.0
    ledger["violated"] += loss > 0.0
    ledger["gradients"] += length2
    gradient2 = lam**2 * weights2 - 2.0 * lam * ledger["scale"] * along + length2
    ledger["steepest"] = max(ledger["steepest"], gradient2)


@njit(cache=True, nogil=True, error_model="numpy")
def product(a, b):
    """``a . b``; loops, because array arithmetic takes seconds to compile."""
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def one_norm(a):
    """The sum of absolute values."""
    total = 0.0
    for k in range(a.shape[0]):
        total += abs(a[k])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def add_scaled_outer(rows, t, pull, factor, V, scratch):
    """OUT ``V, scratch``: ``V += factor * row pull'``."""
    for k in range(pull.shape[0]):
        scratch[k] = factor * pull[k]
    add_outer(rows, t, scratch, V)


@njit(cache=True, nogil=True, error_model="numpy")
def follow_biases(ledger, bias, pull, weight, free):
    """OUT ``ledger, bias``: the steps of the free intercepts, and their averages."""
    for k in range(pull.shape[0]):
        if free and pull[k] != 0.0:
            push_bias(ledger, bias, k, pull[k])
        bias[1, k] += weight * bias[0, k]


@njit(cache=True, nogil=True, error_model="numpy")
def learn_classes_in_order(constraints, order, steps, rules, state):
    """Meet the rows in the given order, one step each; returns how many were met.

    minimise    sum_t  lam/2 |W|^2 + price_t loss_t,  s = rows_t . W + bias, y = label_t
                MAX  loss_t = hinge(required_t - (s_y - max_{k != y} s_k))
                SUM  loss_t = sum_{k != y} hinge(required_t - (s_y - s_k))
                OVR  loss_t = hinge(required_t - s_y) + sum_{k != y} hinge(required_t + s_k)
    step        judged at W; W <- (1 - step lam) W; each class that pays loses step force row, y gains it
    given, OUT, stops early    as ``kernels.online.learn_in_order``
    Source      the notes' two sets of multi-class constraints; Crammer and Singer (2001); Weston and Watkins (1999)
    """
    rows, labels, requires, prices = constraints
    v, debt, u, bias, trace = state.v, state.debt, state.u, state.bias, state.trace
    ledger, classes, squared, form = state.ledger[0], state.v.shape[1], rules.squared, rules.form
    along, score, short, pull = np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes)
    for i in range(order.shape[0]):
        look_ahead(rows, order, i)
        look_beside(labels, order, i)
        look_beside(requires, order, i)
        look_beside(prices, order, i)
        t = order[i]
        label, required, price = labels[t], requires[t], prices[t]
        scores(rows, t, v, along)
        for k in range(classes):
            score[k] = ledger["scale"] * along[k] + bias[0, k]
        margin = shortfalls(score, label, required, form, short)
        length2 = squared_norm(rows, t, v.shape[0])
        if not (np.isfinite(margin) and length2 <= LONGEST_ROW2) or ledger["records"] == trace.shape[0]:
            return i
        ledger["steps"] += 1.0
        loss, _, _ = pulls_of(short, label, price, squared, form, 0.0, pull)
        ledger["longest"] = max(ledger["longest"], 2.0 * length2 if loss > 0.0 else 0.0)
        gradient2 = length2 * product(pull, pull)
        pay_classes(ledger, rules.lam, required, squared, margin, price, loss, product(pull, along), gradient2)
        step = steps[i] if steps.shape[0] > 0 else adaptive_step(ledger, rules.lam)
        ledger["scale"] *= 1.0 - step * rules.lam
        if not SMALLEST_SCALE <= abs(ledger["scale"]) <= LARGEST_SCALE:
            fold(ledger, v.ravel(), debt.ravel())
            scores(rows, t, v, along)
        if loss > 0.0:
            _, force, conjugate = pulls_of(short, label, price, squared, form, 2.0 * price * step * length2, pull)
            ledger["gain"] += force * required - conjugate
            change = step / ledger["scale"]
            pull2 = product(pull, pull) * length2
            ledger["v_norm2"] = grown(ledger["v_norm2"], change * product(pull, along), change * change * pull2)
            add_scaled_outer(rows, t, pull, change, v, score)
            if rules.averaging != NO_AVERAGE:
                add_scaled_outer(rows, t, pull, change * ledger["scale_sum"], debt, score)
            if not rules.strong:
                scores(rows, t, u, score)
                ledger["u_norm2"] = grown(ledger["u_norm2"], product(pull, score), pull2)
                add_outer(rows, t, pull, u)
            for k in range(classes if state.forces.shape[0] > 0 else 0):
                if k != label or form == OVR:
                    state.forces[t, k] += abs(pull[k])
        follow_biases(ledger, bias, pull, weigh(ledger, rules.averaging), rules.free_bias)
        if ledger["steps"] >= ledger["next"]:
            record(ledger, rules.strong, one_norm(bias[2]), rules.lam, trace)
    return order.shape[0]
