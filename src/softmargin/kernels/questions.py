"""What each question is worth, in closed form: all it takes is the mean and the variance of a difference."""

import math

from numba import njit

from softmargin.kernels.judges import chance
from softmargin.kernels.probit import LOG_ROOT_2PI

RANK, BEST, CONTEND = 0, 1, 2
LOG_2 = math.log(2.0)


@njit(cache=True, nogil=True, error_model="numpy")
def bits(p):
    """Entropy of a yes or no of probability p."""
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return -(p * math.log(p) + (1.0 - p) * math.log1p(-p)) / LOG_2


@njit(cache=True, nogil=True, error_model="numpy")
def information(m, v, error, floor, spread2):
    """What an answer is expected to say about the weights, in bits, for ``u ~ N(m, v)``.

    The entropy of the answer minus the one that is expected once ``u`` is known, ``h(u)``, which is written as
    ``floor + (1 - floor) exp(-u^2 / (2 spread2))``, so that its mean is in closed form (Houlsby 2011).
    """
    p = error + (1.0 - 2.0 * error) * chance(m / math.sqrt(1.0 + v))
    known = math.sqrt(spread2 / (v + spread2)) * math.exp(-0.5 * m * m / (v + spread2))
    return bits(p) - floor - (1.0 - floor) * known


@njit(cache=True, nogil=True, error_model="numpy")
def better_of_two(m, v):
    """How much the better of two is expected to be above their average, twice: ``E|u|`` for ``u ~ N(m, v)``."""
    s = math.sqrt(v)
    z = m / s
    return m * (2.0 * chance(z) - 1.0) + 2.0 * s * math.exp(-0.5 * z * z - LOG_ROOT_2PI)


@njit(cache=True, nogil=True, error_model="numpy")
def sharpness(m, v, error):
    """Which share of ``v`` an answer is expected to take away, divided by ``v``."""
    z = m / math.sqrt(1.0 + v)
    p = error + (1.0 - 2.0 * error) * chance(z)
    if p <= 0.0 or p >= 1.0:
        return 0.0
    slope = (1.0 - 2.0 * error) * math.exp(-0.5 * z * z - LOG_ROOT_2PI)
    return slope * slope / (p * (1.0 - p) * (1.0 + v))


@njit(cache=True, nogil=True, error_model="numpy")
def score(rule, spread, aim, utility, left, right, noise, worth):
    """OUT ``worth``: of each pair; ``spread`` are rows of items whose differences have the squared length ``v``.

    Differences of ``aim`` have the squared length that is to be gained by an answer without noise; ``noise`` is
    (error, floor, spread2) of ``information``.
    """
    width, (error, floor, spread2) = spread.shape[1], noise
    for t in range(left.shape[0]):
        a, b, v, gain = left[t], right[t], 0.0, 0.0
        for j in range(width):
            step = spread[a, j] - spread[b, j]
            v += step * step
        m = utility[a] - utility[b]
        if rule == RANK:
            worth[t] = information(m, v, error, floor, spread2)
        elif rule == BEST:
            worth[t] = 0.5 * (utility[a] + utility[b]) + (0.5 * better_of_two(m, v) if v > 0.0 else 0.5 * abs(m))
        else:
            for j in range(width):
                step = aim[a, j] - aim[b, j]
                gain += step * step
            worth[t] = gain * sharpness(m, v, error)


@njit(cache=True, nogil=True, error_model="numpy")
def expected_order(spread, utility, left, right, price):
    """The mean of ``2 Phi(|m| / sqrt v) - 1`` over pairs, ``price`` counting each."""
    total, mass, width = 0.0, 0.0, spread.shape[1]
    for t in range(left.shape[0]):
        a, b, v = left[t], right[t], 0.0
        for j in range(width):
            step = spread[a, j] - spread[b, j]
            v += step * step
        m = abs(utility[a] - utility[b])
        share = 0.0 if m == 0.0 else (2.0 * chance(m / math.sqrt(v)) - 1.0 if v > 0.0 else 1.0)
        total += price[t] * share
        mass += price[t]
    return total / mass
