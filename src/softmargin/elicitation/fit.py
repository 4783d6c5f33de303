"""A Gaussian over the weights, and how far each judge is to be trusted, from the whole log."""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from softmargin.elicitation.log import Summary
from softmargin.kernels.judges import error_of, next_width
from softmargin.kernels.probit import EQUAL
from softmargin.kernels.propagation import Answers, Sites, assemble, invert, log_evidence, sweep
from softmargin.solvers.parallel import one_blas_thread

MOST_SWEEPS, TOLERANCE = 100, 1e-5
CERTAIN = 5  # sweeps as if nobody ever erred
SETTLED = 1e-3  # standard deviations: from here on a fit that still moves is as good as one that does not
CALM = ((15, 0.0), (35, 0.4), (65, 0.7), (MOST_SWEEPS, 0.85))  # until which sweep how much of a site stays
ANSWERS_OF_PRIOR = 20.0  # what is known of a judge before his first answer, in answers
MANY_WEIGHTS = 100  # LAPACK is the quicker above this
NARROWEST = 1e-3  # width of "equal", where somebody said so


class Belief(NamedTuple):
    """``w ~ N(mean, covariance)`` in units of the prior: before any answer, ``N(0, I)``.

    The last columns are the judges' pulls to the left.
    """

    mean: np.ndarray
    covariance: np.ndarray
    precision: np.ndarray
    errors: np.ndarray  # of each judge
    tie_width: float
    log_chance: np.ndarray  # of each different answer, given all others
    moved: float  # by the last sweep, in standard deviations
    sweeps: int

    @property
    def settled(self) -> bool:
        """Whether the fit has come to rest."""
        return self.moved <= SETTLED


def even(matrix: np.ndarray, power: float = 0.5) -> np.ndarray:
    """A matrix R with ``R R' = matrix^(2 power)``; where rounding has left an eigenvalue negative, it is tiny."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.maximum(values, 1e-16 * values[-1]) ** power)


def fit(summary: Summary, answers: Answers, judge_error: float) -> Belief:
    """Expectation propagation in the order of the summary, from sites that say nothing.

    find      one Gaussian site for each answer, so that its mean and variance along the row are those of
              (all other sites) times (the probability of the answer)
    given     rows ``z_t`` and the likelihood of ``kernels/probit.py``, prior N(0, I)
    OUT       the product of the prior and all sites
    Source    Minka, "A family of algorithms for approximate Bayesian inference", 2001

    Between sweeps the error rate of each named judge and the width of "equal" are set to where the evidence, as the
    sites have it, is largest.  The start is always the same, so the result depends on the answers alone.
    """
    count, width = answers.rows.shape
    sites, cavities = Sites(np.zeros(count), np.zeros(count)), np.zeros((count, 2))
    cavities[:, 1] = (answers.rows**2).sum(axis=1)
    precision, factor, covariance = np.eye(width), np.eye(width), np.eye(width)
    mean, shift = np.zeros(width), np.zeros(width)
    errors = np.full(max(1, len(summary.judges)), judge_error)
    learned = [k for k, judge in enumerate(summary.judges) if judge is not None and judge_error > 0.0]
    parts = np.searchsorted(summary.judge, np.arange(errors.size + 1))
    any_equal = bool((answers.kind == EQUAL).any())
    tie_width, moved, sweeps = (0.5 if any_equal else 0.0), 0.0, 0
    while count and sweeps < MOST_SWEEPS:
        keep = next(share for until, share in CALM if sweeps < until)
        certain = sweeps < CERTAIN  # without errors there is one peak, which is a good place to begin
        moved = sweep(answers, sites, mean, covariance, tie_width, 0.0 * errors if certain else errors, keep, cavities)
        assemble(answers, sites, precision, shift)
        # With sites that only add, the prior leaves no pivot below 1; rounding may.
        _resolve(precision, shift, 1.0 if sites.precision.min() >= 0.0 else 1e-6, factor, covariance, mean)
        before, width_before = errors.copy(), tie_width
        for k in learned if not certain else ():
            own = parts[k], parts[k + 1]
            errors[k] = error_of(*own, answers, cavities, tie_width, judge_error, ANSWERS_OF_PRIOR, errors[k])
        if any_equal:
            tie_width = max(NARROWEST, next_width(answers, cavities, errors, tie_width))
        moved = max(moved, float(np.abs(errors - before).max()), abs(tie_width - width_before))
        sweeps += 1
        if moved <= TOLERANCE and not certain:
            break
    log_chance = np.zeros(count)
    log_evidence(answers, cavities, tie_width, errors, log_chance)
    return Belief(mean, covariance, precision, errors, tie_width, log_chance, moved, sweeps)


def _resolve(
    precision: np.ndarray, shift: np.ndarray, least: float, factor: np.ndarray, covariance: np.ndarray, mean: np.ndarray
) -> None:
    """OUT ``covariance, mean``; ``factor`` is room to work in."""
    if mean.size > MANY_WEIGHTS:
        with one_blas_thread():  # the same bits every time
            lower, failed = dpotrf(precision, lower=1)
            inverse = dpotri(lower, lower=1)[0]
            if not failed:
                half = np.tril(inverse, -1)
                covariance[:] = half + half.T + np.diag(np.diag(inverse))
                mean[:] = covariance @ shift
                return
    invert(precision, shift, least, factor, covariance, mean)
