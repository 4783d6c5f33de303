"""What one answer says about a utility difference that is Gaussian so far: its probability, and how it moves.

A judge sees the difference ``u`` through noise of standard deviation 1, calls items equal where what he sees is less
than ``width``, and with probability ``error`` names the wrong side of two that he can tell apart:

    better:  (1 - error) Phi(u - width) + error Phi(-u - width)
    equal:   Phi(width - u) - Phi(-width - u)
"""

import math

from numba import njit

ROOT2, LOG_ROOT_2PI = math.sqrt(2.0), 0.5 * math.log(2.0 * math.pi)
FAR = -30.0  # from here on the tail is its series; erfc would end at -37
BETTER, EQUAL = 0, 1
LEAST = -1e300  # the logarithm of a probability that is zero


@njit(cache=True, nogil=True, error_model="numpy")
def log_tail(z):
    """Log Phi(z)."""
    if z > FAR:
        return math.log(0.5 * math.erfc(-z / ROOT2))
    q = 1.0 / (z * z)
    return -0.5 * z * z - LOG_ROOT_2PI - math.log(-z) + math.log1p(-q * (1.0 - q * (3.0 - q * (15.0 - q * 105.0))))


@njit(cache=True, nogil=True, error_model="numpy")
def hazard(z):
    """``r = phi(z) / Phi(z)`` and ``r (r + z)``, how much of the variance of a truncated Gaussian is gone."""
    if z > FAR:
        r = math.exp(-0.5 * z * z - LOG_ROOT_2PI) / (0.5 * math.erfc(-z / ROOT2))
        return r, r * (r + z)
    q = 1.0 / (z * z)
    missing = q * (1.0 - q * (3.0 - q * (15.0 - q * 105.0)))
    r = -z / (1.0 - missing)
    return r, r * (-z) * missing / (1.0 - missing)


@njit(cache=True, nogil=True, error_model="numpy")
def better(m, s, width, error):
    """Log probability of "better", its slope in ``m`` and minus its curvature, for ``u ~ N(m, s^2 - 1)``."""
    a, b = (m - width) / s, (-m - width) / s
    if error == 0.0:
        r, k = hazard(a)
        return log_tail(a), r / s, min(max(k, 0.0), 1.0) / (s * s)
    right, wrong = math.log1p(-error) + log_tail(a), math.log(error) + log_tail(b)
    top = max(right, wrong)
    total = top + math.log(math.exp(right - top) + math.exp(wrong - top))
    p, q = math.exp(right - total), math.exp(wrong - total)
    (r_a, k_a), (r_b, k_b) = hazard(a), hazard(b)
    curve = p * min(max(k_a, 0.0), 1.0) + q * min(max(k_b, 0.0), 1.0) - p * q * (r_a + r_b) ** 2
    return total, (p * r_a - q * r_b) / s, curve / (s * s)


@njit(cache=True, nogil=True, error_model="numpy")
def equal(m, s, width):
    """The same for "equal"; written for the tail that is nearer, where differences of Phi would cancel."""
    size = abs(m)
    high, low = (width - size) / s, (-width - size) / s
    ratio = math.exp(-2.0 * width * size / (s * s))  # phi(low) / phi(high)
    if high > 0.0:
        inside = 0.5 * math.erfc(-high / ROOT2) - 0.5 * math.erfc(-low / ROOT2)
        peak = math.exp(-0.5 * high * high - LOG_ROOT_2PI)
        total, share = math.log(inside), peak / inside
    else:
        r_high, r_low = hazard(high)[0], hazard(low)[0]
        inside = 1.0 / r_high - ratio / r_low
        total, share = -0.5 * high * high - LOG_ROOT_2PI + math.log(inside), 1.0 / inside
    slope = -share * (1.0 - ratio)
    curve = slope * slope + share * (high - ratio * low)
    return total, math.copysign(1.0, m) * slope / s, min(max(curve, 0.0), 1.0) / (s * s)


@njit(cache=True, nogil=True, error_model="numpy")
def of_answer(kind, m, v, width, error):
    """Log probability, slope and minus the curvature of one answer, for ``u ~ N(m, v)``."""
    s = math.sqrt(1.0 + v)
    if kind == EQUAL:
        return equal(m, s, width)
    return better(m, s, width, error)
