"""Whether predictive distributions keep their word, and which repair suits where they do not.

Values become z, normal with deviation 1 if the model is right: z = Phi^-1(F(y)).  Three tests, each for one weakness.

drift:      the score of the weights, z times the row, also by the time of the row, is no more than noise.
input:      the logarithm of z^2 does not follow the columns (a score test with ranks, which outliers cannot move).
outliers:   after that, z has no heavier tails than the normal.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lstsq
from scipy.special import ndtr, ndtri, stdtr, xlogy
from scipy.stats import binomtest, chi2, kurtosistest, rankdata

from softmargin.regression.learner import Predictive

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
SURE = 1e-3  # a finding is one where so small a share of right models would show as much
FEWEST = 20  # rows for kurtosis to be told from chance
FURTHEST = 8.0  # deviations: beyond, the normal has no numbers left
REPAIRS = {"drift": "forgetting=0.99", "input": 'noise="loglinear"', "outliers": 'likelihood="student_t"'}
WORDS = {
    "drift": "the weights change as the rows go on",
    "input": "the noise depends on the input",
    "outliers": "there are outliers",
}


class Calibration(NamedTuple):
    """How often values fell into the intervals that should hold them, and why they did not."""

    rows: int
    coverage: dict[float, float]  # level -> share of the values inside the central interval of that level
    spread: float  # the root mean square of z: above 1, the values lie further out than the model says
    log_density: float  # mean log density of the values
    overconfident: bool  # fewer values inside the 95 % interval than chance explains, or further out
    p_values: dict[str, float]  # of "drift", "input", "outliers", where the rows allow the test
    repair: str | None  # the option to change; None where no test finds a reason

    def __str__(self) -> str:
        """One sentence."""
        share = f"{self.coverage[0.95]:.1%} of {self.rows} values are inside their 95 % intervals"
        verdict = "over-confident" if self.overconfident else "calibrated"
        if self.repair is None:
            return f"{verdict}: {share}"
        cause = next(name for name, repair in REPAIRS.items() if repair == self.repair)
        return f"{verdict}: {share}; {WORDS[cause]} (p = {self.p_values[cause]:.1e}), try {self.repair}"


def calibration(X: np.ndarray, y: np.ndarray, told: Predictive) -> Calibration:
    """Judge predictive distributions by the values that came, in the order in which they came."""
    scale = np.maximum(told.scale, np.finfo(np.float64).tiny)
    away = (y - told.mean) / scale
    known = np.isfinite(told.dof)
    dof = np.where(known, told.dof, 1.0)
    below = np.where(known, stdtr(dof, -np.abs(away)), ndtr(-np.abs(away)))
    z = np.clip(np.sign(away) * -ndtri(np.maximum(below, 1e-300)), -FURTHEST, FURTHEST)
    coverage = {level: float(np.mean(1.0 - 2.0 * below <= level)) for level in LEVELS}
    p_values = _tests(X, away, z)
    inside = round(coverage[0.95] * len(y))
    short = binomtest(inside, len(y), 0.95, alternative="less").pvalue < SURE
    spread = float(np.sqrt(np.mean(z**2)))
    wide = chi2.sf(float(z @ z), len(y)) < SURE
    worst = min(p_values, key=lambda name: p_values[name], default=None)
    repair = REPAIRS[worst] if worst is not None and p_values[worst] < SURE else None
    density = float(np.mean(_log_density(away, told.dof) - np.log(scale)))
    return Calibration(len(y), coverage, spread, density, bool(short or wide), p_values, repair)


def _tests(X: np.ndarray, away: np.ndarray, z: np.ndarray) -> dict[str, float]:
    count = len(z)
    columns = _scaled(X)
    width = columns.shape[1]
    found = {}
    if count > 4 * (width + 1):
        time = np.linspace(-np.sqrt(3.0), np.sqrt(3.0), count)
        bounded = np.clip(z, -3.0, 3.0)  # a few outliers are no drift
        ones = np.ones((count, 1))
        steady = np.hstack([ones, columns])
        found["drift"] = _share_explained(bounded, np.hstack([steady, steady * time[:, None]]), about_zero=True)
        size = rankdata(np.abs(away))
        normal = ndtri((size - 0.5) / count)
        found["input"] = _share_explained(normal, steady, about_zero=False) if width else 1.0
    if count >= FEWEST:
        even = z
        if found.get("input", 1.0) < SURE:
            log_size = np.log(np.maximum(z**2, 1e-6))
            fitted = np.hstack([np.ones((count, 1)), columns])
            even = z / np.exp(0.5 * fitted @ lstsq(fitted, log_size)[0])
        statistic, p_value = kurtosistest(even) if np.ptp(even) > 0.0 else (0.0, 1.0)
        found["outliers"] = float(p_value) / 2.0 if statistic > 0.0 else 1.0
    return found


def _share_explained(values: np.ndarray, columns: np.ndarray, *, about_zero: bool) -> float:
    """How often chance would let the columns explain as much of the values; R^2 times rows is chi-squared."""
    base = values if about_zero else values - values.mean()
    total = float(base @ base)
    if total == 0.0:
        return 1.0
    solution, _, rank, _ = lstsq(columns, base, cond=1e-10)
    explained = 1.0 - float(np.sum((base - columns @ solution) ** 2)) / total
    freedom = max(1, int(rank) - (not about_zero))
    # As an F test, which keeps its level where columns are not few beside rows.
    left = len(values) - int(rank)
    if left <= 0 or explained >= 1.0:
        return 1.0
    from scipy.special import fdtrc

    return float(fdtrc(freedom, left, explained / freedom / ((1.0 - explained) / left)))


def _scaled(X: np.ndarray) -> np.ndarray:
    """Columns about their means in their own deviations, without the constant ones."""
    middle, spread = X.mean(axis=0), X.std(axis=0)
    real = spread > 1e-9 * np.abs(middle)
    return np.asarray((X[:, real] - middle[real]) / spread[real])


def _log_density(away: np.ndarray, dof: np.ndarray) -> Any:
    from scipy.special import gammaln

    known = np.isfinite(dof)
    some = np.where(known, dof, 1.0)
    student = (
        gammaln(0.5 * (some + 1.0)) - gammaln(0.5 * some) - 0.5 * np.log(np.pi * some)
        - xlogy(0.5 * (some + 1.0), 1.0 + away**2 / some)
    )  # fmt: skip
    return np.where(known, student, -0.5 * away**2 - 0.5 * np.log(2.0 * np.pi))
