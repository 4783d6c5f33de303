"""The posterior by brute force: 32,000 weighted points, the likelihood as the documentation has it."""

import numpy as np
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm, qmc, t

POINTS, DEGREES = 1 << 14, 3.0


def log_posterior(points, case, prior_precision, error, width):
    """Up to a constant, for each line of weights."""
    total = -0.5 * (points**2 @ np.broadcast_to(prior_precision, points.shape[1]))
    for a, b, said, _ in case.lines:
        u = points @ (case.X[a] - case.X[b])
        if said == "equal":
            total += np.log(np.maximum(ndtr(width - np.abs(u)) - ndtr(-width - np.abs(u)), 1e-300))
            continue
        u = u if said == "left" else -u
        wrong = log_ndtr(-u - width)
        total += (
            np.logaddexp(np.log1p(-error) + log_ndtr(u - width), np.log(error) + wrong)
            if error
            else log_ndtr(u - width)
        )
    return total


def moments(case, mean, covariance, prior_precision, error, width):
    """Mean, standard deviations and how many points the weights leave: half from the prior, half around ``mean``."""
    d, sd = mean.size, 1.0 / np.sqrt(prior_precision)
    root = np.linalg.cholesky(2.0 * covariance)
    even = np.clip(qmc.Sobol(2 * d, rng=7).random(POINTS), 1e-12, 1.0 - 1e-12)
    points = np.concatenate((mean + t.ppf(even[:, :d], DEGREES) @ root.T, sd * norm.ppf(even[:, d:])))
    near = t.logpdf(np.linalg.solve(root, (points - mean).T), DEGREES).sum(axis=0) - np.log(np.diag(root)).sum()
    wide = norm.logpdf(points / sd).sum(axis=1) - d * np.log(sd)
    logs = log_posterior(points, case, prior_precision, error, width) - np.logaddexp(near, wide)
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    center = weight @ points
    return center, np.sqrt(weight @ (points - center) ** 2), 1.0 / (weight @ weight)
