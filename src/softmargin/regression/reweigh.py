"""Two repairs that give rows weights of their own: outliers count less, and noise depends on the input.

Student's t:   y = w.x + e,  e ~ t(dof, 0, s2), as a normal with its own precision tau a row, tau ~ Gamma(dof/2, dof/2).
               Given the weights tau has mean (dof + 1) / (dof + u), u the squared residual in units of s2.
Log-linear:    log s2(x) = level + slopes.x, by Fisher's scoring of a gamma model for the squared residuals.
Both take for the squared residual its mean under the posterior, residual^2 + variance of the mean at the row.
With all rows at hand the two steps alternate with the posterior until nothing moves: variational Bayes, so the log
evidence becomes a lower bound.  In a stream each row is weighed once, by the posterior from before it.
Source: Tipping & Lawrence 2005 (Student's t); Smyth 1989 (dispersion models).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import digamma, gammaln

from softmargin.regression.design import Origin, Rows, batch_of, moments_of, what_is_left
from softmargin.regression.evidence import posterior_of
from softmargin.regression.posterior import Posterior
from softmargin.regression.prior import SMALLEST, Prior
from softmargin.regression.sums import Sums

DOFS = np.array([2.1, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 25.0, 50.0, 100.0])  # above 2: values have a deviation
FIRST_DOF = 4.0
MOST_PASSES, SMALL_STEP = 200, 1e-4  # a step is small where it moves no weight by this share of its deviation
SHARE_OF_NOISE = 0.1  # and the logarithm of no variance by ten times as much
# The prior of the log variance, which keeps it finite where values are met exactly: at a row of usual size all slopes
# together deviate by 1, and the level by 10 from the logarithm of the variance of all values.
LEVEL_PRECISION = 0.01
SCORING_STEPS, HALVINGS = 50, 30
RANGE = 20.0  # of the logarithm of a variance about that of all values: 2e-9, beyond which lies rounding


class Spec(NamedTuple):
    """What was asked for, as algebra."""

    prior: Prior
    noise: float | None  # known; None: unknown; 1 where each row has its own
    constant: bool
    student: bool = False
    loglinear: bool = False
    forgetting: float = 1.0
    evidence: bool = False

    @property
    def reweighs(self) -> bool:
        """Whether what a row counts depends on what is believed."""
        return self.student or self.loglinear

    def no_sums(self, width: int) -> Sums:
        """Of no rows."""
        ridge = self.prior if self.noise is None else self.prior.scaled(self.noise)
        return Sums(width, constant=self.constant, ridge=ridge)

    def posterior(self, sums: Sums) -> Posterior:
        """What follows from sums."""
        return posterior_of(sums, self.prior, self.noise, evidence=self.evidence)


class LogNoise:
    """``log s2(x) = level + slopes.(x - middle) / scale``, and how well these are known."""

    def __init__(self, rows: Rows) -> None:
        moments = moments_of(batch_of(rows), _nowhere(rows.X.shape[1]), constant=True)
        count = moments[-2, -2]
        self.middle = moments[-2, :-2] / count
        spread = np.sqrt(np.maximum(0.0, np.diag(moments)[:-2] / count - self.middle**2))
        self.scale = np.where(spread > 1e-7 * np.abs(self.middle), spread, 1.0) + (spread == 0.0)
        values = rows.y - np.average(rows.y, weights=rows.weight)
        least = SMALLEST**2 + np.finfo(np.float64).eps ** 2 * float(np.max(rows.y**2))
        self.around = float(np.log(max(np.average(values**2, weights=rows.weight), least)))
        self.theta = np.append(np.zeros(rows.X.shape[1]), self.around)
        self.information = np.zeros((self.theta.size, self.theta.size))
        self.start = self.theta
        vary = max(1.0, float(np.sum(spread > 1e-7 * np.abs(self.middle))))
        self.prior = np.append(np.full(rows.X.shape[1], vary), LEVEL_PRECISION)

    def log_variance(self, X: Any, theta: np.ndarray | None = None) -> np.ndarray:
        """At each row."""
        theta = self.theta if theta is None else theta
        slopes = theta[:-1] / self.scale
        found = np.asarray(X @ slopes, dtype=np.float64) + (theta[-1] - float(self.middle @ slopes))
        return np.clip(found, self.around - RANGE, self.around + RANGE)

    def uncertainty(self, X: Any) -> np.ndarray:
        """The variance of the logarithm at each row."""
        inverse = cho_solve(self._factor(), np.eye(self.theta.size), check_finite=False)
        slopes = inverse[:-1, :-1] / self.scale / self.scale[:, None]
        line = inverse[:-1, -1] / self.scale - slopes @ self.middle
        level = inverse[-1, -1] - 2.0 * float(self.middle @ (inverse[:-1, -1] / self.scale))
        products = np.asarray(X @ slopes)
        square = X.multiply(products).sum(axis=1) if hasattr(X, "multiply") else np.einsum("ij,ij->i", X, products)
        found = np.asarray(square).ravel() + 2.0 * np.asarray(X @ line).ravel()
        return np.maximum(found + level + float(self.middle @ slopes @ self.middle), 0.0)

    def _factor(self) -> Any:
        return cho_factor(self.information + np.diag(self.prior), check_finite=False)

    def meet(self, X: Any, copies: np.ndarray, keep: float = 0.0) -> None:
        """Count the rows in what is known of the slopes; ``keep`` is what is left of the rows before."""
        totals = (0.0, 0.0, 0.0)
        batch = batch_of(Rows(X, np.zeros(len(copies))))._replace(precision=copies, totals=totals)
        origin = Origin(self.middle, np.zeros(self.middle.size), 0.0)
        moments = moments_of(batch, origin, constant=True)[:-1, :-1]
        scale = np.append(self.scale, 1.0)
        self.information = keep * self.information + 0.5 * moments / scale / scale[:, None]

    def score(self, X: Any, copies: np.ndarray, squares: np.ndarray, steps: int = SCORING_STEPS) -> None:
        """Fisher's scoring: so many steps up the likelihood of these squared residuals, or as many as it takes."""
        factor = self._factor()
        alone = steps > 1  # these are all rows there are; otherwise what came before is known by `information` alone

        def value(theta: np.ndarray) -> float:
            log_variance = self.log_variance(X, theta)
            fit = -0.5 * float(copies @ (log_variance + squares * np.exp(-log_variance)))
            return fit - 0.5 * float(self.prior @ (theta - self.start) ** 2) * alone

        for _ in range(steps):
            pull = 0.5 * copies * (squares * np.exp(-self.log_variance(X)) - 1.0)
            total = float(pull.sum())
            gradient = np.append((np.asarray(X.T @ pull).ravel() - self.middle * total) / self.scale, total)
            gradient -= self.prior * (self.theta - self.start) * alone
            step = cho_solve(factor, gradient, check_finite=False)
            reached, size = value(self.theta), 1.0
            for _ in range(HALVINGS):
                if value(self.theta + size * step) >= reached:
                    break
                size *= 0.5
            else:
                break
            self.theta = self.theta + size * step
            if float(gradient @ step) < 1e-10:
                break


class Weighing(NamedTuple):
    """What the rows of one pass count, and the model of the noise that says so."""

    dof: float
    noise: LogNoise | None
    passes: int = 0
    step: float = np.inf  # the last one, in deviations
    converged: bool = True


class _Pass:
    """Weights of the rows at hand, from one posterior to the next."""

    def __init__(self, rows: Rows, spec: Spec, dof: float, noise: LogNoise | None) -> None:
        count = len(rows.y)
        self.rows, self.spec, self.dof, self.noise = rows, spec, dof, noise
        self.base = np.ones(count) if rows.variance is None else rows.variance
        weight = np.ones(count) if rows.weight is None else rows.weight
        self.copies, self.keep = what_is_left(weight, spec.forgetting)
        self.tau, self.bonus = np.ones(count), np.zeros(count)
        self.log_variance = np.zeros(count) if noise is None else noise.log_variance(rows.X)

    def batch(self) -> Any:
        """The rows with their present weights."""
        variance = self.base * np.exp(self.log_variance) / self.tau
        log_precision = -np.log(self.base) - self.log_variance + self.bonus
        return batch_of(self.rows._replace(variance=variance), self.spec.forgetting, log_precision)

    def weigh(self, posterior: Posterior, *, all_rows: bool) -> float:
        """New weights; in a stream each row is judged by the spread of its prediction.

        Returns how much the logarithm of the variance changes at most.
        """
        before = self.log_variance
        X, scale = self.rows.X, posterior.noise
        residual = (self.rows.y - posterior.predict(X)) ** 2
        spread = scale * posterior.distances(X)
        own = scale * self.base * np.exp(self.log_variance)
        if self.spec.student:
            square = (residual + spread) / own if all_rows else residual / (own + spread)
            if all_rows:
                self.dof = best_dof(square, self.copies)
            self.tau = (self.dof + 1.0) / (self.dof + square)
            self.bonus = _log_tau_less_divergence(square, self.dof)
        if self.noise is not None:
            squares = self.tau * (residual + spread) / self.base
            self.noise.score(X, self.copies, squares, SCORING_STEPS if all_rows else 1)
            self.log_variance = self.noise.log_variance(X)
        return float(np.abs(self.log_variance - before).max())


def settle(rows: Rows, spec: Spec) -> tuple[Sums, Weighing]:
    """Sums and weights that imply each other, of all rows that there are."""
    noise = LogNoise(rows) if spec.loglinear else None
    now = _Pass(rows, spec, FIRST_DOF, noise)
    if noise is not None:
        noise.meet(rows.X, now.copies)
    before: Posterior | None = None
    step, louder = np.inf, 0.0
    for passes in range(1, MOST_PASSES + 1):
        sums = spec.no_sums(rows.X.shape[1])
        sums.add(now.batch())
        posterior = spec.posterior(sums)
        usable = np.isfinite(posterior.noise) and posterior.noise > 0.0
        if before is not None and usable:
            step = max(_step(before, posterior), SHARE_OF_NOISE * louder)
        if not usable or step <= SMALL_STEP:
            return sums, Weighing(now.dof, noise, passes, 0.0 if not usable else step)
        if passes < MOST_PASSES:
            louder = now.weigh(posterior, all_rows=True)
        before = posterior
    return sums, Weighing(now.dof, noise, MOST_PASSES, step, converged=False)


def absorb(rows: Rows, spec: Spec, sums: Sums, weighing: Weighing) -> None:
    """OUT ``sums``, and the noise of ``weighing``: rows of a stream, weighed by what is believed before they come."""
    posterior = spec.posterior(sums)
    now = _Pass(rows, spec, weighing.dof, weighing.noise)
    if np.isfinite(posterior.noise) and posterior.noise > 0.0:
        if now.noise is not None:
            now.noise.meet(rows.X, now.copies, now.keep)
        now.weigh(posterior, all_rows=False)
    sums.add(now.batch())


def _step(before: Posterior, after: Posterior) -> float:
    """How far the posterior has moved, in its own deviations, and its noise relatively."""
    move = after.best.factor @ (after.coef - before.coef)
    level = after.best.level - before.best.level - float(before.coef @ (after.best.middle - before.best.middle))
    far = np.sqrt((float(move @ move) + after.best.weight * level**2) / after.noise)
    return float(max(far, abs(np.log(after.noise / before.noise))))


def best_dof(square: np.ndarray, copies: np.ndarray) -> float:
    """The degrees of freedom that suit these squared residuals best, with the prior ``dof exp(-dof / 10)``."""
    half = 0.5 * DOFS
    fit = copies.sum() * (gammaln(half + 0.5) - gammaln(half) - 0.5 * np.log(DOFS))
    fit -= (half + 0.5) * np.array([copies @ np.log1p(square / dof) for dof in DOFS])
    return float(DOFS[int(np.argmax(fit + np.log(DOFS) - 0.1 * DOFS))])


def _log_tau_less_divergence(square: np.ndarray, dof: float) -> np.ndarray:
    """E log tau - 2 KL(q(tau) | its prior), what a row adds to twice the bound."""
    shape, before = 0.5 * (dof + 1.0), 0.5 * dof
    rate = 0.5 * (dof + square)
    mean_log = digamma(shape) - np.log(rate)
    divergence = (
        (shape - before) * digamma(shape) - gammaln(shape) + gammaln(before)
        + before * (np.log(rate) - np.log(before)) + shape * (before / rate - 1.0)
    )  # fmt: skip
    return np.asarray(mean_log - 2.0 * divergence)


def _nowhere(width: int) -> Origin:
    return Origin(np.zeros(width), np.zeros(width), 0.0)
