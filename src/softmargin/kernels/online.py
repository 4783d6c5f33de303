"""One online pass over signed rows: the algorithm of the notes, step by step."""

from typing import NamedTuple

import numpy as np
from numba import njit

from softmargin.kernels.checks import LONGEST_ROW2
from softmargin.kernels.ledger import NO_AVERAGE, WEIGHTED, record
from softmargin.kernels.prefetch import prefetch_element
from softmargin.kernels.rows import add_scaled, dot, prefetch, prefetch_pointer, squared_norm

LOOK_AHEAD = 8  # rows; measured flat from 4 to 16
# The average is a difference of two sums that grow like 1/scale and lose digits: beyond these the scale is folded in.
SMALLEST_SCALE, LARGEST_SCALE = 1e-4, 1e4


class OnlineRules(NamedTuple):
    """What does not change while a run goes on."""

    lam: float
    squared: bool  # squared hinge, else hinge
    free_bias: bool  # an intercept that is not penalised
    averaging: int  # NO_AVERAGE, MEAN or WEIGHTED
    strong: bool  # steps are 1/(lam t): then sum force z = lam t w, and need not be kept


class OnlineState(NamedTuple):
    """Where a run stands.  The weights are ``scale * v``; their average is ``(scale_sum * v - debt) / weight_sum``."""

    v: np.ndarray
    debt: np.ndarray  # empty without averaging
    u: np.ndarray  # sum of force * z; empty where the rules are strong
    bias: np.ndarray  # rows: now, sum of averaging weight * bias, sum of pulls, sum of squared pulls
    forces: np.ndarray  # sum of force by constraint, a dual in the making; empty in a stream
    ledger: np.ndarray  # one LEDGER record
    trace: np.ndarray  # TRACE records; when full the caller thins it out


@njit(cache=True, nogil=True, error_model="numpy")
def fold(ledger, v, debt):
    """OUT ``ledger, v, debt``: the same weights and average with scale = 1."""
    for j in range(debt.shape[0]):
        debt[j] -= ledger["scale_sum"] * v[j]
    norm2 = 0.0
    for j in range(v.shape[0]):
        v[j] *= ledger["scale"]
        norm2 += v[j] * v[j]
    ledger["v_norm2"] = norm2
    ledger["scale"], ledger["scale_sum"] = 1.0, 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def look_ahead(rows, order, i):
    """Bring near the row that the pass needs a few steps from now; near the end, the last row again."""
    last = order.shape[0] - 1
    prefetch_pointer(rows, order[min(i + 2 * LOOK_AHEAD, last)])
    prefetch(rows, order[min(i + LOOK_AHEAD, last)])


@njit(cache=True, nogil=True, error_model="numpy")
def look_beside(numbers, order, i):
    """The same for numbers kept beside the rows; forgotten, the pass waits as long for them as for the rows."""
    prefetch_element(numbers, order[min(i + LOOK_AHEAD, order.shape[0] - 1)])


@njit(cache=True, nogil=True, error_model="numpy")
def adaptive_step(ledger, lam):
    """1 / (lam t + R sqrt(sum |force z|^2)), R the longest row: Bartlett, Hazan and Rakhlin (2007).

    Between 1/(lam t) and 1/sqrt(t) by what the gradients turn out to be, and the same if the rows are rescaled.
    """
    return 1.0 / (lam * (ledger["before"] + ledger["steps"]) + np.sqrt(ledger["longest"] * ledger["gradients"]))


@njit(cache=True, nogil=True, error_model="numpy")
def pay(ledger, lam, squared, required, margin, price, along, length2):
    """OUT ``ledger``: enter what this constraint costs at the weights before the step; returns the loss's slope.

    ``along`` is ``z . v`` and ``length2`` is ``z . z``.
    """
    weights2, slack = ledger["scale"] ** 2 * ledger["v_norm2"], max(0.0, required - margin)
    loss = slack * slack if squared else slack
    force = 0.0
    if slack > 0.0:
        force = price * (2.0 * slack if squared else 1.0)
    ledger["paid"] += 0.5 * lam * weights2 + price * loss
    ledger["idle"] += price * (required * required if squared else required)
    ledger["farthest"] = max(ledger["farthest"], weights2)
    ledger["mistakes"] += margin <= 0.0
    ledger["violated"] += slack > 0.0
    ledger["longest"] = max(ledger["longest"], length2)
    ledger["gradients"] += force * force * length2
    gradient2 = lam**2 * weights2 - 2.0 * lam * force * ledger["scale"] * along + force * force * length2
    ledger["steepest"] = max(ledger["steepest"], gradient2)
    return force


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(ledger, averaging):
    """OUT ``ledger``: let the weights after this step into the average; returns how much they count."""
    weight = ledger["steps"] if averaging == WEIGHTED else 1.0
    ledger["weight_sum"] += weight
    ledger["scale_sum"] += weight * ledger["scale"]
    return weight


@njit(cache=True, nogil=True, error_model="numpy")
def grown(norm2, cross, square):
    """``|a + b|^2`` from ``a.a, a.b, b.b``: no pass over a."""
    return max(0.0, norm2 + (2.0 * cross + square))


@njit(cache=True, nogil=True, error_model="numpy")
def push_bias(ledger, bias, k, pull):
    """OUT ``ledger, bias``: the step of the free intercept of class k (0 where there are no classes)."""
    bias[2, k] += pull
    bias[3, k] += pull * pull
    if bias[3, k] > 0.0:  # the square of a tiny pull is none
        bias[0, k] += pull / np.sqrt(bias[3, k])
    ledger["reach"] = max(ledger["reach"], abs(bias[0, k]))


@njit(cache=True, nogil=True, error_model="numpy")
def learn_in_order(constraints, order, steps, rules, state):
    """Meet the constraints in the given order, one step each; returns how many were met.

    minimise    sum_t  lam/2 |w|^2 + price_t loss(required_t - sign_t (rows_t . w + bias))
    step        margin judged at w; w <- (1 - step lam) w; if margin < required: w <- w + step force sign row
                force = price (hinge), 2 price slack / (1 + 2 price step |row|^2) (squared hinge, implicit: the
                explicit step 1/(lam t) overflows on it)
    bias        free: bias <- bias + force sign / sqrt(sum force^2), never shrunk
    given       order  row numbers; steps  one a row, or empty: ``adaptive_step``; rules; state
    OUT         state
    stops early where the trace is full (thin it and call again with the rest) or a margin is not finite
    Source      the notes' ranking and SVM algorithms; Pegasos (Shalev-Shwartz et al., 2007); Bottou's scaled weights
    """
    # Taken out of their tuples once: a tuple handed to a helper at every step is copied and counted at every step.
    rows, signs, requires, prices = constraints
    v, debt, u, bias, trace = state.v, state.debt, state.u, state.bias, state.trace
    ledger, forces = state.ledger[0], state.forces
    for i in range(order.shape[0]):
        look_ahead(rows, order, i)
        look_beside(signs, order, i)
        look_beside(requires, order, i)
        look_beside(prices, order, i)
        look_beside(forces, order, i)
        t = order[i]
        sign, required, price = signs[t], requires[t], prices[t]
        product = dot(rows, t, v)
        margin = sign * (ledger["scale"] * product + bias[0, 0])
        length2 = squared_norm(rows, t, v.shape[0]) if margin < required else 0.0
        if not (np.isfinite(margin) and length2 <= LONGEST_ROW2) or ledger["records"] == trace.shape[0]:
            return i
        ledger["steps"] += 1.0
        force = pay(ledger, rules.lam, rules.squared, required, margin, price, sign * product, length2)
        step = steps[i] if steps.shape[0] > 0 else adaptive_step(ledger, rules.lam)
        ledger["scale"] *= 1.0 - step * rules.lam
        if not SMALLEST_SCALE <= abs(ledger["scale"]) <= LARGEST_SCALE:
            product *= ledger["scale"]
            fold(ledger, v, debt)
        if force > 0.0:
            if rules.squared:
                force /= 1.0 + 2.0 * price * step * length2
                ledger["gain"] -= force * force / (4.0 * price)
            ledger["gain"] += force * required
            change = step * force * sign / ledger["scale"]
            add_scaled(rows, t, change, v)
            ledger["v_norm2"] = grown(ledger["v_norm2"], change * product, change * change * length2)
            if rules.averaging != NO_AVERAGE:
                add_scaled(rows, t, change * ledger["scale_sum"], debt)
            if not rules.strong:
                ledger["u_norm2"] = grown(ledger["u_norm2"], force * sign * dot(rows, t, u), force * force * length2)
                add_scaled(rows, t, force * sign, u)
            if forces.shape[0] > 0:
                forces[t] += force
            if rules.free_bias:
                push_bias(ledger, bias, 0, force * sign)
        bias[1, 0] += weigh(ledger, rules.averaging) * bias[0, 0]
        if ledger["steps"] >= ledger["next"]:
            record(ledger, rules.strong, abs(bias[2, 0]), rules.lam, trace)
    return order.shape[0]
