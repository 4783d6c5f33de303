"""The mean and covariance of the posterior itself, where there are few weights: weighted points around the fit."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri, ndtri
from scipy.stats import qmc

from softmargin.elicitation.fit import Belief, even
from softmargin.kernels.propagation import Answers, log_likelihood

MOST_WEIGHTS = 8  # with more, 8,192 points say less than the fit does
MOST_POINTS, LEAST_POINTS, MOST_TERMS = 8192, 1024, 1 << 20
HEAVY = 8.0  # degrees of freedom of the points: tails heavier than those of any posterior here
ENOUGH, AGAIN = 0.05, 0.5  # share of the points that the weights leave; below the second, once more from there


class Moments(NamedTuple):
    """Mean and covariance, and the share of points that the weights leave; 0 where none were drawn."""

    mean: np.ndarray
    covariance: np.ndarray
    share: float


def corrected(belief: Belief, answers: Answers) -> Moments:
    """Importance sampling with points that are always the same, from a Student distribution around the fit.

    Expectation propagation loses up to a third of a standard deviation where few answers leave a skew posterior of
    few weights.  Many answers make it nearly Gaussian, and the points are left out.
    """
    count, width = answers.rows.shape
    plain = Moments(belief.mean, belief.covariance, 0.0)
    if not count or width > MOST_WEIGHTS or count * LEAST_POINTS > MOST_TERMS:
        return plain
    points = min(MOST_POINTS, 1 << ((MOST_TERMS // count).bit_length() - 1))
    found = _weighted(plain, belief, answers, points)
    if ENOUGH <= found.share < AGAIN:
        again = _weighted(found, belief, answers, points)
        found = again if again.share > found.share else found
    return found if found.share >= ENOUGH else plain


def _weighted(around: Moments, belief: Belief, answers: Answers, count: int) -> Moments:
    width = around.mean.size
    z, log_density = _points(width, count)
    offsets = z @ even(around.covariance).T
    points = around.mean + offsets
    logs = np.empty(count)
    log_likelihood(answers, points, belief.tie_width, belief.errors, logs)
    logs -= 0.5 * (points**2).sum(axis=1) + log_density
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    shift = weight @ offsets
    offsets -= shift
    covariance = (weight[:, None] * offsets).T @ offsets
    return Moments(around.mean + shift, 0.5 * (covariance + covariance.T), float(1.0 / (weight @ weight) / count))


@lru_cache(maxsize=16)
def _points(width: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a Student distribution that fill space evenly, and the logarithms of their density."""
    even = qmc.Sobol(width + 1, scramble=True, rng=0).random(count)
    even = np.clip(even, 1e-12, 1.0 - 1e-12)
    stretch = np.sqrt(HEAVY / chdtri(HEAVY, even[:, -1]))
    z = ndtri(even[:, :-1]) * stretch[:, None]
    return z, -0.5 * (HEAVY + width) * np.log1p((z**2).sum(axis=1) / HEAVY)
