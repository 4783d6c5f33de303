"""What is believed before any row: weights near zero, as sure as the prior precision says."""

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

SMALLEST, LARGEST = 1e-50, 1e50  # of a precision or a variance: products of two of them, and of rows, stay numbers


class Prior:
    """``w ~ N(0, precision^-1)``; the precision is kept as it was given: one number, one a weight, or a matrix."""

    def __init__(self, precision: np.ndarray, width: int) -> None:
        self.precision, self.width = precision, width
        self.root = cholesky(precision, check_finite=False) if precision.ndim == 2 else np.sqrt(precision)

    def scaled(self, factor: float) -> "Prior":
        """The same prior, surer by a factor."""
        return Prior(self.precision * factor, self.width)

    def add_to(self, matrix: np.ndarray) -> None:
        """OUT ``matrix``: plus the precision of the weights, which come first in it."""
        if self.precision.ndim == 2:
            matrix[: self.width, : self.width] += self.precision
        else:
            places = np.arange(self.width)
            matrix[places, places] += self.precision

    def times(self, w: np.ndarray) -> np.ndarray:
        """The precision times a vector."""
        return np.asarray(self.precision @ w if self.precision.ndim == 2 else self.precision * w)

    @property
    def log_det(self) -> float:
        """The logarithm of the determinant of the precision."""
        diagonal = np.diag(self.root) if self.root.ndim == 2 else np.broadcast_to(self.root, self.width)
        return float(2.0 * np.log(diagonal).sum())

    def rooted(self, matrix: np.ndarray) -> np.ndarray:
        """``matrix @ R`` for the root R of the precision, ``R'R = precision``."""
        return np.asarray(matrix @ self.root if self.root.ndim == 2 else matrix * self.root)

    def root_times(self, matrix: np.ndarray) -> np.ndarray:
        """``R @ matrix``."""
        if self.root.ndim == 2:
            return np.asarray(self.root @ matrix)
        return np.asarray(matrix * (self.root if self.root.ndim == 0 else self.root[:, None]))

    def whitened(self, matrix: np.ndarray) -> np.ndarray:
        """``R^-T matrix R^-1``, the matrix in coordinates in which the prior is a unit ball."""
        if self.root.ndim == 2:
            half = solve_triangular(self.root, matrix, trans="T", check_finite=False)
            return np.asarray(solve_triangular(self.root, half.T, trans="T", check_finite=False))
        root = np.broadcast_to(self.root, self.width)
        return np.asarray(matrix / root / root[:, None])

    def whitened_vector(self, shift: np.ndarray) -> np.ndarray:
        """``R^-T shift``."""
        if self.root.ndim == 2:
            return np.asarray(solve_triangular(self.root, shift, trans="T", check_finite=False))
        return np.asarray(shift / self.root)


def check_precision(value: Any) -> np.ndarray:
    """A positive number, a vector of them, or a symmetric positive definite matrix; or one sentence."""
    try:
        precision = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"prior_precision={value!r}: pass a positive number, one a feature, or a positive definite matrix"
        raise ValueError(message) from error
    fine = precision.ndim <= 2 and not isinstance(value, bool | str)
    sizes = np.diag(precision) if precision.ndim == 2 else precision
    if fine and precision.ndim == 2:
        fine = precision.shape[0] == precision.shape[1] and np.allclose(precision, precision.T, rtol=1e-12, atol=0.0)
    if not fine or not np.all((sizes >= SMALLEST) & (sizes <= LARGEST)) or not np.isfinite(precision).all():
        told = value if precision.ndim == 0 else precision.tolist() if precision.size < 10 else f"{precision.shape}"
        message = (
            f"prior_precision={told!r}: pass a number from {SMALLEST:g} to {LARGEST:g}, a vector of such numbers with "
            "one a feature, or a symmetric positive definite matrix"
        )
        raise ValueError(message)
    if precision.ndim == 2:
        try:
            cholesky(precision, check_finite=False)
        except LinAlgError as error:
            message = "prior_precision is a matrix that is not positive definite: some direction has no prior at all"
            raise ValueError(message) from error
    return precision


def prior_of(value: Any, width: int) -> Prior:
    """The prior of that many weights, from what the user passes."""
    precision = check_precision(value)
    if precision.ndim and precision.shape[0] != width:
        message = (
            f"prior_precision has {precision.shape[0]} entries a side and X has {width} columns; pass one a column"
        )
        raise ValueError(message)
    return Prior(precision, width)
