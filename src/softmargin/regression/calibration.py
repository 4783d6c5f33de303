"""Whether predictive distributions keep their word, and which repair suits where they do not.

Values become z, normal with deviation 1 if the model is right: z = Phi^-1(F(y)).  Four tests, each for one weakness.

drift:      z follows the columns differently at different times.
weights:    z follows the columns at all times: these rows have other weights than those believed.
input:      the size of z follows the columns (ranks of it, which outliers cannot move).
outliers:   z, divided by what the columns say of its size, has heavier tails than the normal.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lstsq
from scipy.special import fdtrc, gammaln, ndtr, ndtri, stdtr, xlogy
from scipy.stats import binomtest, chi2, kurtosistest, rankdata

from softmargin.regression.learner import Predictive

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
SURE = 1e-3  # a finding is one where so small a share of right models would show as much
FEWEST = 20  # rows for kurtosis to be told from chance
FURTHEST = 8.0  # deviations: beyond, the normal has no numbers left
WORDS = {
    "drift": "the weights change as the rows go on",
    "weights": "these rows follow other weights than those believed",
    "input": "the noise depends on the input",
    "outliers": "there are outliers",
}


class Used(NamedTuple):
    """Repairs in use, and how often the prior would make weights as large as those believed."""

    forgetting: float
    student: bool
    loglinear: bool
    intercept: bool
    prior_doubt: float
    middle: np.ndarray  # of the rows learned, and the covariance of weights and level there
    covariance: np.ndarray

    def repair(self, cause: str) -> str | None:
        """The option that helps; None where it is in use already."""
        if cause == "weights" and self.prior_doubt < SURE:
            return "evidence=True"
        if cause == "weights" and not self.intercept:
            return "fit_intercept=True"
        if cause in ("drift", "weights"):
            shorter = 0.99 if self.forgetting == 1.0 else max(0.5 * self.forgetting, 3.0 * self.forgetting - 2.0)
            return f"forgetting={shorter:.3g}"
        if cause == "input":
            return None if self.loglinear else 'noise="loglinear"'
        return None if self.student else 'likelihood="student_t"'


class Calibration(NamedTuple):
    """How often values fell into the intervals that should hold them, and why they did not."""

    rows: int
    coverage: dict[float, float]  # level -> share of the values inside the central interval of that level
    spread: float  # the root mean square of z: above 1, the values lie further out than the model says
    log_density: float  # mean log density of the values
    overconfident: bool  # fewer values inside the 95 % interval than chance explains, or further out
    p_values: dict[str, float]  # of "drift", "weights", "input", "outliers", where the rows allow the test
    cause: str | None  # the test that finds most, if any finds more than chance would
    repair: str | None  # the option to change

    def __str__(self) -> str:
        """One sentence."""
        share = f"{self.coverage[0.95]:.1%} of {self.rows} values are inside their 95 % intervals"
        verdict = "over-confident" if self.overconfident else "calibrated on the whole"
        if self.cause is None:
            return f"{verdict}: {share}"
        found = f"{verdict}: {share}; {WORDS[self.cause]} (p = {self.p_values[self.cause]:.1e})"
        return found if self.repair is None else f"{found}, try {self.repair}"


def calibration(X: np.ndarray, y: np.ndarray, told: Predictive, used: Used) -> Calibration:
    """Judge predictive distributions by the values that came, in the order in which they came."""
    scale = np.maximum(told.scale, np.finfo(np.float64).tiny)
    away = (y - told.mean) / scale
    known = np.isfinite(told.dof)
    dof = np.where(known, told.dof, 1.0)
    below = np.where(known, stdtr(dof, -np.abs(away)), ndtr(-np.abs(away)))
    z = np.clip(np.sign(away) * -ndtri(np.maximum(below, 1e-300)), -FURTHEST, FURTHEST)
    coverage = {level: float(np.mean(1.0 - 2.0 * below <= level)) for level in LEVELS}
    p_values = _tests(X, away, z, told.scale, used)
    inside = round(coverage[0.95] * len(y))
    short = binomtest(inside, len(y), 0.95, alternative="less").pvalue < SURE
    spread = float(np.sqrt(np.mean(z**2)))
    wide = chi2.sf(float(z @ z), len(y)) < SURE
    sure = {name: p for name, p in p_values.items() if p < SURE}
    cause = min(sure, key=lambda name: sure[name]) if sure else None
    repair = None if cause is None else used.repair(cause)
    density = float(np.mean(_log_density(away, told.dof) - np.log(scale)))
    return Calibration(len(y), coverage, spread, density, bool(short or wide), p_values, cause, repair)


def _tests(X: np.ndarray, away: np.ndarray, z: np.ndarray, scale: np.ndarray, used: Used) -> dict[str, float]:
    count = len(z)
    columns = _scaled(X)
    width = columns.shape[1]
    found = {}
    if count > 4 * (width + 1):
        time = np.linspace(-np.sqrt(3.0), np.sqrt(3.0), count)
        bounded = np.clip(z, -3.0, 3.0)  # a few outliers are no drift
        steady = np.hstack([np.ones((count, 1)), columns])
        found["weights"] = _other_weights(X, bounded, scale, used)
        found["drift"] = _nested(bounded, steady, steady * time[:, None])
        size = rankdata(np.abs(away))
        normal = ndtri((size - 0.5) / count)
        found["input"] = _nested(normal, np.ones((count, 1)), columns)
    if count >= FEWEST:
        even = z
        if found.get("input", 1.0) < SURE:
            log_size = np.log(np.maximum(z**2, 1e-6))
            fitted = np.hstack([np.ones((count, 1)), columns])
            even = z / np.exp(0.5 * fitted @ lstsq(fitted, log_size)[0])
        statistic, p_value = kurtosistest(even) if np.ptp(even) > 0.0 else (0.0, 1.0)
        found["outliers"] = float(p_value) / 2.0 if statistic > 0.0 else 1.0
    return found


def _nested(values: np.ndarray, given: np.ndarray, more: np.ndarray) -> float:
    """How often chance would let ``more`` columns explain as much of what the ``given`` leave: an F test."""
    both = np.hstack([given, more])
    ranks, left = [], []
    for columns in (given, both):
        solution, _, rank, _ = lstsq(columns, values, cond=1e-10)
        ranks.append(int(rank))
        left.append(float(np.sum((values - columns @ solution) ** 2)))
    freedom, rest = ranks[1] - ranks[0], len(values) - ranks[1]
    if freedom <= 0 or rest <= 0 or not left[1] > 1e-20 * left[0]:
        return 1.0
    return float(fdtrc(freedom, rest, max(0.0, left[0] - left[1]) / freedom / (left[1] / rest)))


def _other_weights(X: np.ndarray, bounded: np.ndarray, scale: np.ndarray, used: Used) -> float:
    """How often chance, and what is not known of the weights, would let z follow the columns so well: an F test.

    The score g = Z'z of rows Z = x / scale has the covariance B + B C B, B = Z'Z, C that of the posterior.
    """
    columns = np.hstack([X - used.middle if used.intercept else X, np.ones((len(X), 1))])
    columns = columns / np.maximum(scale, np.finfo(np.float64).tiny)[:, None]
    size = np.sqrt(np.mean(columns**2, axis=0))
    real = (size > 0.0) & np.isfinite(size)
    columns = columns[:, real] / size[real]
    products, score = columns.T @ columns, columns.T @ bounded
    known = used.covariance if used.intercept else np.pad(used.covariance, (0, 1))  # no intercept is a certain one
    spread = known[np.ix_(real, real)] * size[real] * size[real][:, None]
    solution, _, rank, _ = lstsq(products + products @ spread @ products, score, cond=1e-12)
    own, _, _, _ = lstsq(columns, bounded, cond=1e-10)
    rest, left = len(X) - int(rank), float(np.sum((bounded - columns @ own) ** 2))
    if not rank or rest <= 0 or not left > 1e-20 * float(bounded @ bounded):
        return 1.0
    return float(fdtrc(int(rank), rest, max(0.0, float(score @ solution)) / int(rank) / (left / rest)))


def _scaled(X: np.ndarray) -> np.ndarray:
    """Columns about their means in their own deviations, without the constant ones."""
    middle, spread = X.mean(axis=0), X.std(axis=0)
    real = spread > 1e-9 * np.abs(middle)
    return np.asarray((X[:, real] - middle[real]) / spread[real])


def _log_density(away: np.ndarray, dof: np.ndarray) -> Any:
    known = np.isfinite(dof)
    some = np.where(known, dof, 1.0)
    student = (
        gammaln(0.5 * (some + 1.0)) - gammaln(0.5 * some) - 0.5 * np.log(np.pi * some)
        - xlogy(0.5 * (some + 1.0), 1.0 + away**2 / some)
    )  # fmt: skip
    return np.where(known, student, -0.5 * away**2 - 0.5 * np.log(2.0 * np.pi))
