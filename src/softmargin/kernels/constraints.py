"""Soft constraints as arrays: signed rows, what each requires, and what a unit of slack costs.

These tuples live in the lowest layer because compiled code takes them; ``softmargin.constraints`` builds them.
"""

from typing import NamedTuple

import numpy as np

from softmargin.kernels.rows import Rows


class Constraints(NamedTuple):
    """``sign[t] * (rows[t] . w + bias) >= required[t]``; a unit of slack costs ``price[t]``."""

    rows: Rows
    sign: np.ndarray
    required: np.ndarray
    price: np.ndarray


class ClassConstraints(NamedTuple):
    """``rows[t] . (W[:, label[t]] - W[:, k]) >= required[t]`` for every other class k, W one column a class."""

    rows: Rows
    label: np.ndarray
    required: np.ndarray
    price: np.ndarray
