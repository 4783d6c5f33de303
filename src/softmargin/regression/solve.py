"""The weights that sums and a prior imply, by Cholesky."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, eigh, qr
from scipy.linalg.blas import dsyr
from scipy.linalg.lapack import dpotrf

from softmargin.regression.prior import Prior
from softmargin.solvers.parallel import one_blas_thread

if TYPE_CHECKING:
    from softmargin.regression.sums import Sums

FEW = 64  # columns, below which BLAS takes one thread anyway
ONE_THREAD = 3000  # columns, up to which a factor takes one thread less than half a second


class Centred(NamedTuple):
    """Sums about the mean of the rows, with which an intercept has nothing to do."""

    products: np.ndarray  # of columns with columns
    shift: np.ndarray  # of columns with residuals
    square: float  # of residuals
    middle: np.ndarray  # the mean of the rows, or zeros where there is no intercept
    level: float  # what the weights of the origin predict there, and the mean residual
    weight: float  # the sum of the precisions


class Solved(NamedTuple):
    """minimise  1/2 sum_i p_i (y_i - level - w.(x_i - middle))^2 + 1/2 w'ridge w  over w and the level."""

    weights: np.ndarray
    factor: np.ndarray  # upper triangular, factor'factor = products + ridge
    middle: np.ndarray
    level: float
    weight: float
    squares: float  # the sum of p_i residual_i^2, at the minimum
    penalty: float  # w'ridge w there

    @property
    def log_det(self) -> float:
        """Of products + ridge."""
        return float(2.0 * np.log(np.abs(np.diag(self.factor))).sum())


def threads_for(width: int) -> AbstractContextManager[Any]:
    """One thread for matrices of this width, or as many as there are: small ones wait longer than they work."""
    return one_blas_thread() if FEW <= width <= ONE_THREAD else nullcontext()


def centred(sums: "Sums") -> Centred:
    """The sums without what the intercept takes."""
    d, moments, origin = sums.width, sums.moments, sums.origin
    products, shift, square = moments[:d, :d].copy(), moments[:d, -1].copy(), float(moments[-1, -1])
    weight = float(moments[d, d]) if sums.constant else 0.0
    if not weight > 0.0:
        return Centred(products, shift, square, origin.middle, origin.level, weight)
    ahead, residual = moments[d, :d] / weight, float(moments[d, -1]) / weight
    with threads_for(d):
        dsyr(-weight, ahead, lower=0, a=products.T, overwrite_a=1)
    shift -= (weight * residual) * ahead
    square -= weight * residual**2
    level = origin.level + float(origin.weights @ ahead) + residual
    return Centred(products, shift, square, origin.middle + ahead, level, weight)


def solved(sums: "Sums", ridge: Prior, about: Centred | None = None) -> Solved:
    """The minimum."""
    about = centred(sums) if about is None else about
    start = sums.origin.weights
    with threads_for(sums.width):
        factor = factor_of(about.products, ridge)
        step = cho_solve((factor, False), about.shift - ridge.times(start), check_finite=False)
    weights = start + step
    lower = np.tril(about.products, -1)
    along = lower @ step + lower.T @ step + np.diag(about.products) * step
    squares = max(0.0, about.square + float(step @ (along - 2.0 * about.shift)))
    penalty = float(weights @ ridge.times(weights))
    return Solved(weights, factor, about.middle, about.level, about.weight, squares, penalty)


def factor_of(products: np.ndarray, ridge: Prior) -> np.ndarray:
    """The upper factor of ``products + ridge``, of which the lower half is read."""
    matrix = products.copy()
    ridge.add_to(matrix)
    factor, trouble = dpotrf(matrix.T, lower=0, clean=1, overwrite_a=1)
    if not trouble:
        return np.asarray(factor)
    # Rounding has left less than the prior in some direction.  Sums of squares are never below zero, so zero it is.
    values, vectors = eigh(ridge.whitened(np.tril(products) + np.tril(products, -1).T), check_finite=False)
    half = np.sqrt(np.maximum(values, 0.0) + 1.0)[:, None] * vectors.T
    return np.asarray(qr(ridge.rooted(half), mode="r", check_finite=False)[0])
