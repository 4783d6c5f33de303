"""Comparisons -> constraints: "row a is better than row b" is the signed row ``X[a] - X[b]``, never stored."""

from typing import Any

import numpy as np

from softmargin.kernels.rows import DenseRows, PairRows, SparseRows


def pair_rows(rows: DenseRows | SparseRows, pairs: Any, count: int) -> PairRows:
    """Rows for ``pairs[t] = (better, worse)``, row numbers into ``count`` items."""
    pairs = as_pairs(pairs)
    if len(pairs) == 0:
        message = "pairs is empty: there is no comparison to learn from"
        raise ValueError(message)
    pairs = whole_pairs(pairs)
    _refuse((pairs >= count).any(axis=1), pairs, f"names a row outside X, which has {count} rows")
    better, worse = (np.ascontiguousarray(column, dtype=np.uint64) for column in pairs.T)
    return PairRows(rows, better, worse)


def whole_pairs(pairs: np.ndarray) -> np.ndarray:
    """Two different whole numbers a line, not negative."""
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        message = f"pairs has shape {pairs.shape}; it takes one line (better, worse) for each comparison"
        raise ValueError(message)
    if pairs.dtype.kind not in "iu":
        if pairs.dtype.kind == "b":
            message = "pairs holds True and False; it takes the numbers of two items a line"
            raise ValueError(message)
        uneven = ~((np.abs(pairs) < 2.0**53) & (pairs == np.rint(pairs)))
        _refuse(uneven.any(axis=1), pairs, "names no item: its numbers are not whole")
        pairs = pairs.astype(np.int64)
    _refuse((pairs < 0).any(axis=1), pairs, "names no item: numbers begin at 0")
    _refuse(pairs[:, 0] == pairs[:, 1], pairs, "compares an item with itself")
    return pairs


def as_pairs(pairs: Any) -> np.ndarray:
    """An array, whatever is in it."""
    try:
        pairs = np.asarray(pairs)
    except ValueError as error:
        message = "pairs has lines of different lengths; it takes one line (better, worse) for each comparison"
        raise ValueError(message) from error
    if pairs.ndim == 0 or pairs.dtype.kind not in "iufb":
        message = "pairs does not hold numbers; it takes one line (better, worse) for each comparison, row numbers of X"
        raise ValueError(message)
    return pairs


def _refuse(bad: Any, pairs: np.ndarray, why: str) -> None:
    if bad.any():
        t = int(np.argmax(bad))
        message = f"pairs[{t}] = ({pairs[t, 0]}, {pairs[t, 1]}) {why}"
        raise ValueError(message)
