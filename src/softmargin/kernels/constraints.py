"""Soft constraints as arrays: signed rows, what each requires, and what a unit of slack costs.

These tuples live in the lowest layer because compiled code takes them; ``softmargin.constraints`` builds them.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from softmargin.kernels.rows import Rows


class Constraints(NamedTuple):
    """``sign[t] * (rows[t] . w + bias) >= required[t]``; a unit of slack costs ``price[t]``.

    Batch solvers also take a ``required`` or a ``price`` of length 1, which holds for all (``of``).
    """

    rows: Rows
    sign: np.ndarray  # int8: an eighth of a number
    required: np.ndarray
    price: np.ndarray

    def short(self) -> "Constraints":
        """Single values where all are the same: nothing to store, and nothing to read."""
        return self._replace(required=for_all(self.required), price=for_all(self.price))


def for_all(values: np.ndarray) -> np.ndarray:
    """A single value where all are the same."""
    return values[:1].copy() if values.min() == values.max() else values


@njit(cache=True, nogil=True, error_model="numpy")
def of(values, t):
    """``values[t]``, or what a single value says for all."""
    return values[t] if values.shape[0] > 1 else values[0]


class ClassConstraints(NamedTuple):
    """``rows[t] . (W[:, label[t]] - W[:, k]) >= required[t]`` for every other class k, W one column a class."""

    rows: Rows
    label: np.ndarray
    required: np.ndarray
    price: np.ndarray
