"""The mean and covariance of the posterior itself, where there are few weights: weighted points around the fit."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri, gammaln, ndtri
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
    """Points around the moments, and a quarter as many from the prior, which has any other peak within its reach."""
    width, root = around.mean.size, even(around.covariance)
    near, wide = _points(width, count)
    points = np.concatenate((around.mean + near @ root.T, wide))
    z = np.linalg.solve(root, (points - around.mean).T)
    scale = np.linalg.slogdet(root)[1]
    student = _student(width) - 0.5 * (HEAVY + width) * np.log1p((z**2).sum(axis=0) / HEAVY) - scale
    prior = -0.5 * (points**2).sum(axis=1)
    logs = np.empty(len(points))
    log_likelihood(answers, points, belief.tie_width, belief.errors, logs)
    normal = prior - 0.5 * width * np.log(2.0 * np.pi)
    logs += prior - np.logaddexp(student, normal + np.log(len(wide) / count))
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    mean = weight @ points
    points -= mean
    covariance = (weight[:, None] * points).T @ points
    return Moments(mean, 0.5 * (covariance + covariance.T), float(1.0 / (weight @ weight) / count))


@lru_cache(maxsize=16)
def _points(width: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a Student distribution, and a quarter as many of a normal one, that fill space evenly."""
    even_ones = np.clip(qmc.Sobol(width + 1, scramble=True, rng=0).random(count), 1e-12, 1.0 - 1e-12)
    stretch = np.sqrt(HEAVY / chdtri(HEAVY, even_ones[:, -1]))
    others = np.clip(qmc.Sobol(width, scramble=True, rng=1).random(count // 4), 1e-12, 1.0 - 1e-12)
    return ndtri(even_ones[:, :-1]) * stretch[:, None], ndtri(others)


def _student(width: int) -> float:
    """The constant of the density of a Student distribution."""
    half = 0.5 * (HEAVY + width)
    return float(gammaln(half) - gammaln(0.5 * HEAVY) - 0.5 * width * np.log(HEAVY * np.pi))
