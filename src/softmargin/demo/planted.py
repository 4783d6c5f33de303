"""A long stream made to order: comparisons by a planted utility, with noise."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from softmargin.estimators.ranker import SoftMarginRanker
from softmargin.solvers.certificate import Certificate
from softmargin.solvers.regret import Regret

LAM = 0.01
FIRST_FITTED = 100  # constraints; before that the logarithm has not begun to show


@dataclass(frozen=True)
class Growth:
    """``regret = start + slope log T``, fitted by least squares from T = 100 on."""

    start: float
    slope: float
    explained: float  # share of the variance of the regret that the line explains

    def __call__(self, steps: np.ndarray) -> np.ndarray:
        """The fitted regret after so many constraints."""
        return np.asarray(self.start + self.slope * np.log(steps))

    @property
    def doubling(self) -> float:
        """What a stream twice as long adds."""
        return float(self.slope * np.log(2.0))


@dataclass(frozen=True)
class Course:
    """One pass over a stream, and the best fixed weights found afterwards."""

    regret: Regret
    seconds: float
    certificate: Certificate  # of the comparator
    true_regret: tuple[float, float]  # the certificate puts it between these

    @property
    def growth(self) -> Growth:
        """How the certified regret grows."""
        return growth(self.regret)


def comparisons(count: int, seed: int, features: int = 10, items: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Items and pairs (better, worse): the planted utility decides, after logistic noise."""
    rng = np.random.default_rng(seed)
    X, planted = rng.normal(size=(items, features)), rng.normal(size=features)
    left = rng.integers(items, size=count)
    right = (left + rng.integers(1, items, size=count)) % items
    ahead = (X[left] - X[right]) @ planted / np.linalg.norm(planted) + rng.logistic(scale=0.5, size=count)
    return X, np.where(ahead[:, None] > 0.0, np.column_stack([left, right]), np.column_stack([right, left]))


def run(count: int = 100_000, seed: int = 0) -> Course:
    """One pass, then the comparator."""
    X, pairs = comparisons(count, seed)
    ranker = SoftMarginRanker(lam=LAM, schedule="strong").partial_fit_pairs(X, pairs[:1])  # compiles, if need be
    started = perf_counter()
    ranker.partial_fit_pairs(X, pairs[1:])
    seconds, regret = perf_counter() - started, ranker.regret_
    proof = SoftMarginRanker(lam=LAM, random_state=0).fit_pairs(X, pairs).certificate_
    # The batch objective is 1/2 |w|^2 + C sum slack with C = 1/(lam T): divide by C for the sum that the stream pays.
    paid, scale = float(regret.paid[-1]), LAM * count
    return Course(regret, seconds, proof, (paid - scale * proof.primal, paid - scale * proof.dual))


def growth(regret: Regret) -> Growth:
    """Fit the certified regret against log T."""
    late = regret.steps >= FIRST_FITTED
    log_steps, certified = np.log(regret.steps[late]), regret.certified[late]
    slope, start = np.polyfit(log_steps, certified, 1)
    left_over = certified - (start + slope * log_steps)
    return Growth(float(start), float(slope), 1.0 - float(left_over.var() / certified.var()))
