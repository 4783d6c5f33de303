"""Bayesian linear regression written down once more, slow and obvious."""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln


class Closed(NamedTuple):
    """The posterior as books print it."""

    mean: np.ndarray
    precision: np.ndarray
    noise: float
    dof: float
    log_evidence: float


def columns_of(X, *, intercept):
    """The rows with their constant."""
    return np.c_[X, np.ones(len(X))] if intercept else X


def closed_form(X, y, prior, noise=None, weight=None, *, intercept=True):
    """Normal equations of all rows at once; ``prior`` is a matrix, the intercept is free, ``weight`` counts copies."""
    weight = np.ones(len(y)) if weight is None else weight
    Z, left = columns_of(X, intercept=intercept), weight.sum() - intercept
    ridge = np.zeros((Z.shape[1], Z.shape[1]))
    ridge[: X.shape[1], : X.shape[1]] = prior * (1.0 if noise is None else noise)
    matrix = Z.T @ (weight[:, None] * Z) + ridge
    mean = np.linalg.solve(matrix, Z.T @ (weight * y))
    loss = weight @ (y - Z @ mean) ** 2 + mean @ ridge @ mean
    log_dets = 0.5 * (np.linalg.slogdet(ridge[: X.shape[1], : X.shape[1]])[1] - np.linalg.slogdet(matrix)[1])
    if noise is None:
        rest = gammaln(0.5 * left) - 0.5 * left * np.log(np.pi * loss)
        fitted = np.trace(np.linalg.solve(matrix, Z.T @ (weight[:, None] * Z))) - intercept
        vote = np.exp(fitted - left)  # of the prior, where the fit leaves next to no residuals
        dof = left - fitted + vote * fitted
        noise = (weight @ (y - Z @ mean) ** 2 + vote * (mean @ ridge @ mean)) / dof
        return Closed(mean, matrix / noise, noise, dof, log_dets + rest)
    rest = -0.5 * left * np.log(2.0 * np.pi * noise) - 0.5 * loss / noise
    return Closed(mean, matrix / noise, noise, np.inf, log_dets + rest)


def row_by_row(X, y, prior, noise):
    """Rules (18) and (19) of the notes, one row at a time: P = P + x x'/s2, J = J + y x/s2."""
    P, J = prior.copy(), np.zeros(X.shape[1])
    for x, value in zip(X, y, strict=True):
        J = value * x / noise + J
        P = np.outer(x, x) / noise + P
    return P, J


def same_belief(one, other, rtol=1e-10):
    """Two models believe the same, to rounding."""
    for name in ("mean_", "precision_", "covariance_", "noise_variance_", "log_evidence_"):
        truth = np.asarray(getattr(other, name))
        at_least = rtol * np.abs(truth).max()
        np.testing.assert_allclose(getattr(one, name), truth, rtol=rtol, atol=at_least, err_msg=name)
