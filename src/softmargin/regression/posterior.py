"""What is believed after the rows: a Gaussian over the weights or, where the noise is unknown, Student's t."""

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dtrtri
from scipy.special import chdtrc, gammaln

from softmargin.regression.prior import Prior
from softmargin.regression.solve import Centred, Solved, solved, threads_for
from softmargin.regression.sums import Sums, Totals
from softmargin.solvers.interrupts import stop_if_interrupted

NUMBERS_AT_ONCE = 4_000_000  # of rows written out while distances are worked out: 32 MB


class Posterior:
    """The posterior that sums and a prior imply.

    Noise ``s2`` known:    w ~ N(mean, covariance), the prior in its own units.
    Noise unknown (None):  w | s2 ~ N(0, s2 prior^-1) and p(s2) = 1/s2, so that the mean does not depend on s2, and
                           w ~ t(dof, mean, covariance) with the covariance at ``noise``.
    The level (the mean at ``middle``) has no prior: it costs one degree of freedom, and is independent of the weights.

    Conjugacy would let the prior vote on the noise, as if w'prior w were as good as residuals: weights that are large
    for the prior would make the noise seem large.  So the noise comes from the residuals, with the degrees of freedom
    that the fit has left them, and the prior votes only where next to none are left.
    Source: MacKay 1992, "Bayesian Interpolation" (the effective number of fitted weights).
    """

    def __init__(self, sums: Sums, prior: Prior, noise: float | None, about: Centred | None = None) -> None:
        self.totals: Totals = sums.totals
        self.constant, self.known, self.prior = sums.constant, noise, prior
        self.ridge = prior if noise is None else prior.scaled(noise)
        self.best: Solved = solved(sums, self.ridge, about)

    # ------------------------------------------------------------------------------- the noise

    @cached_property
    def _learned_noise(self) -> tuple[float, float]:
        """Its variance and the degrees of freedom, where it is unknown."""
        left = self.totals.copies - self.constant
        if not left > 0.0:
            return np.inf, 0.0
        with threads_for(len(self.coef)):
            inverse, _ = dtrtri(self.best.factor)
        free = float(np.sum(self.ridge.root_times(inverse) ** 2))  # weights that the prior, not the rows, decides
        fitted = max(0.0, len(self.coef) - free)
        unfitted = max(0.0, left - fitted)
        vote = np.exp(-unfitted)
        dof = unfitted + vote * fitted
        return ((self.best.squares + vote * self.best.penalty) / dof, dof) if dof > 0.0 else (np.inf, 0.0)

    @property
    def noise(self) -> float:
        """The variance of the noise: known, or the scale of its Student's t."""
        return self._learned_noise[0] if self.known is None else self.known

    @property
    def dof(self) -> float:
        """Degrees of freedom of the posterior: infinite where the noise is known."""
        return self._learned_noise[1] if self.known is None else np.inf

    # ------------------------------------------------------------------------------- the weights

    @property
    def coef(self) -> np.ndarray:
        """One weight a column."""
        return self.best.weights

    @property
    def intercept(self) -> float:
        """What is predicted for the row of zeros."""
        return self.best.level - float(self.best.weights @ self.best.middle) if self.constant else 0.0

    @cached_property
    def mean(self) -> np.ndarray:
        """The weights, and last the intercept if there is one."""
        return np.append(self.coef, self.intercept) if self.constant else self.coef.copy()

    @cached_property
    def precision(self) -> np.ndarray:
        """Of the weights and the intercept together, the inverse of ``covariance``."""
        factor, d = self.best.factor, len(self.coef)
        precision = np.zeros((d + self.constant, d + self.constant))
        precision[:d, :d] = factor.T @ factor
        if self.constant:
            middle, weight = self.best.middle, self.best.weight
            precision[:d, :d] += weight * np.outer(middle, middle)
            precision[:d, d] = precision[d, :d] = weight * middle
            precision[d, d] = weight
        return self._over_noise(precision)

    def _over_noise(self, precision: np.ndarray) -> np.ndarray:
        if self.noise == 0.0:
            return np.where(precision == 0.0, 0.0, np.copysign(np.inf, precision))
        return precision / self.noise

    @cached_property
    def covariance(self) -> np.ndarray:
        """Of the weights and the intercept together, by Cholesky."""
        d = len(self.coef)
        if not np.isfinite(self.noise):
            return np.diag(np.full(d + self.constant, np.inf))
        covariance = np.zeros((d + self.constant, d + self.constant))
        with threads_for(d):
            inner = cho_solve((self.best.factor, False), np.eye(d), check_finite=False)
        covariance[:d, :d] = 0.5 * (inner + inner.T)
        if self.constant:
            along = covariance[:d, :d] @ self.best.middle
            covariance[:d, d] = covariance[d, :d] = -along
            covariance[d, d] = self._level_variance + float(self.best.middle @ along)
        return np.asarray(self.noise * covariance)

    @property
    def about_middle(self) -> tuple[np.ndarray, np.ndarray]:
        """The middle of the rows, and the covariance of weights (and level there, if there is one) about it."""
        inner, middle = self.covariance, self.best.middle
        if self.constant:
            inner = inner.copy()
            inner[-1, :-1] = inner[:-1, -1] = 0.0
            inner[-1, -1] = self.noise * self._level_variance
        return middle, inner

    @property
    def _level_variance(self) -> float:
        """In units of the noise."""
        return 1.0 / self.best.weight if self.best.weight > 0.0 else np.inf

    def sample(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of the weights and the intercept, one a line."""
        if not self.dof > 0.0 or not np.isfinite(self._level_variance if self.constant else 0.0):
            message = "the rows learned so far say nothing of the noise or of the intercept yet: learn at least 2 rows"
            raise ValueError(message)
        d = len(self.coef)
        draws = rng.standard_normal((count, d + self.constant))
        spread = np.full(count, np.sqrt(self.noise))
        if np.isfinite(self.dof):
            spread *= np.sqrt(self.dof / rng.chisquare(self.dof, count))
        steps = solve_triangular(self.best.factor, draws[:, :d].T, check_finite=False).T * spread[:, None]
        draws[:, :d] = self.coef + steps
        if self.constant:
            level = spread * draws[:, d] * np.sqrt(self._level_variance)
            draws[:, d] = self.intercept + level - steps @ self.best.middle
        return draws

    # ------------------------------------------------------------------------------- new rows

    def predict(self, X: Any) -> np.ndarray:
        """The mean of the value of each row."""
        return np.asarray(X @ self.coef + self.intercept, dtype=np.float64)

    def distances(self, X: Any) -> np.ndarray:
        """The variance of the mean at each row, in units of the noise."""
        d = len(self.coef)
        length = max(1, NUMBERS_AT_ONCE // max(1, d))
        found = np.empty(X.shape[0])
        for first in range(0, X.shape[0], length):
            stop_if_interrupted()
            block = X[first : first + length]
            block = np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)
            away = block - self.best.middle if self.constant else block
            with threads_for(d):
                half = solve_triangular(self.best.factor, away.T, trans="T", check_finite=False)
            found[first : first + length] = np.einsum("ij,ij->j", half, half)
        return found + self._level_variance if self.constant else found

    # ------------------------------------------------------------------------------- evidence

    @property
    def prior_doubt(self) -> float:
        """How often the prior would make weights as large as these: near 0 where it was too sure of small ones."""
        if not 0.0 < self.noise < np.inf:
            return 1.0
        return float(chdtrc(len(self.coef), float(self.coef @ self.ridge.times(self.coef)) / self.noise))

    @property
    def log_evidence(self) -> float:
        """Log density of all values given their rows; nan where the noise is not known at all yet."""
        left = self.totals.copies - self.constant
        value = 0.5 * (self.ridge.log_det - self.best.log_det + self.totals.log_precision)
        if self.constant:
            value -= 0.5 * np.log(self.best.weight) if self.best.weight > 0.0 else 0.0
        return float(value + values_alone(self.best.squares + self.best.penalty, left, self.known))


def values_alone(twice_loss: Any, left: float, noise: float | None) -> Any:
    """The part of the log evidence that the values enter, by their loss; ``left`` is how many they are."""
    if noise is not None:
        return -0.5 * left * np.log(2.0 * np.pi * noise) - 0.5 * twice_loss / noise
    if not left > 0.0:
        return np.nan
    half = np.maximum(0.5 * twice_loss, np.finfo(np.float64).tiny)
    return gammaln(0.5 * left) - 0.5 * left * np.log(2.0 * np.pi * half)
