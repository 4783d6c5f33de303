"""How often each judge errs and how wide "equal" is, from what every answer looked like before it was given."""

import math

from numba import njit

from softmargin.kernels.probit import BETTER, LOG_ROOT_2PI, ROOT2, hazard

STEPS = 30  # of Newton's method, which takes five or so
LONGEST = 0.7  # step of the logarithm of the width


@njit(cache=True, nogil=True, error_model="numpy")
def chance(z):
    """Phi(z)."""
    return 0.5 * math.erfc(-z / ROOT2)


@njit(cache=True, nogil=True, error_model="numpy")
def error_of(first, last, answers, cavities, width, prior, weight, start):
    """The error rate of the judge who gave the answers ``first`` to ``last - 1``.

    It is where ``weight (prior log e + (1 - prior) log(1 - e)) + log evidence`` is largest.  The evidence is a
    product of terms that are linear in the rate, so its logarithm is concave.
    """
    error = start
    for _ in range(STEPS):
        slope = weight * (prior / error - (1.0 - prior) / (1.0 - error))
        curve = weight * (prior / error**2 + (1.0 - prior) / (1.0 - error) ** 2)
        for t in range(first, last):
            if answers.kind[t] != BETTER:
                continue
            m, s = cavities[t, 0], math.sqrt(1.0 + cavities[t, 1])
            right, wrong = chance((m - width) / s), chance((-m - width) / s)
            both = (1.0 - error) * right + error * wrong
            if both > 0.0:
                share = (wrong - right) / both
                slope += answers.times[t] * share
                curve += answers.times[t] * share * share
        step = slope / curve
        new = min(max(error + step, 0.1 * error), 1.0 - 0.1 * (1.0 - error))
        if abs(new - error) <= 1e-12 * error:
            return new
        error = new
    return error


@njit(cache=True, nogil=True, error_model="numpy")
def slope_of_width(answers, cavities, errors, width):
    """The slope of the log evidence in the width of "equal"; beside the answers there is one of two equal items.

    That one was not "equal", so the width stays finite where all answers are.
    """
    slope = -hazard(-width)[0]
    for t in range(answers.times.shape[0]):
        m, s = abs(cavities[t, 0]), math.sqrt(1.0 + cavities[t, 1])
        if answers.kind[t] == BETTER:
            a, b, error = (cavities[t, 0] - width) / s, (-cavities[t, 0] - width) / s, errors[answers.judge[t]]
            if error == 0.0:
                slope -= answers.times[t] * hazard(a)[0] / s
                continue
            both = (1.0 - error) * chance(a) + error * chance(b)
            if both > 0.0:
                density = (1.0 - error) * math.exp(-0.5 * a * a) + error * math.exp(-0.5 * b * b)
                slope -= answers.times[t] * density * math.exp(-LOG_ROOT_2PI) / (both * s)
            continue
        high, low = (width - m) / s, (-width - m) / s
        ratio = math.exp(-2.0 * width * m / (s * s))
        if high > 0.0:
            share = math.exp(-0.5 * high * high - LOG_ROOT_2PI) / (chance(high) - chance(low))
        else:
            share = 1.0 / (1.0 / hazard(high)[0] - ratio / hazard(low)[0])
        slope += answers.times[t] * share * (1.0 + ratio) / s
    return slope


@njit(cache=True, nogil=True, error_model="numpy")
def next_width(answers, cavities, errors, width):
    """One step of Newton's method for the logarithm of the width, no longer than a factor of two."""
    ahead = 1.001 * width
    here = width * slope_of_width(answers, cavities, errors, width)
    there = ahead * slope_of_width(answers, cavities, errors, ahead)
    curve = (here - there) / math.log(1.001)
    step = here / curve if curve > 0.0 else math.copysign(LONGEST, here)
    return width * math.exp(min(max(step, -LONGEST), LONGEST))
