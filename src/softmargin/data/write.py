"""X, y, qid -> a file of `label [qid:N] index:value ...` that is read back to the last bit."""

from collections.abc import Iterator
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

from softmargin.data.atomic import replacing
from softmargin.data.careful import LARGEST_INDEX
from softmargin.data.groups import SeenGroups

_AT_ONCE = 200_000  # values that are strings at one time
_WHOLE = 1e16  # whole numbers below are written as such; those beyond are shorter with an exponent


def write_svmlight(path: str | PathLike[str], X: Any, y: Any, qid: Any = None) -> None:
    """Write rows, labels and groups so that ``read_svmlight`` gives back each number to the last bit.

    The shortest decimal number of each float64 is written; whole numbers without a point.
    The file is there whole, or as it was before.

    Parameters
    ----------
    path : str or PathLike
        Replaced, if it is there.
    X : array or sparse matrix
        Of a dense one zeros are left out, of a sparse one what is stored is written.
    y : array
        The labels.
    qid : array of whole numbers, optional
        The group of each row; groups stand together.

    Raises
    ------
    ValueError
        For what could not be read again, in a sentence that names the argument and the row.
    """
    X = _matrix(X)
    rows = X.shape[0]
    y = _column(y, "y", rows).astype(np.float64)
    if not np.isfinite(y).all():
        raise ValueError(f"y has {y[~np.isfinite(y)][0]} at row {int(np.argmin(np.isfinite(y)))}, and is to be finite")
    heads: Iterator[str] = map(str, _texts(y))
    if qid is not None:
        heads = (f"{label} qid:{group}" for label, group in zip(heads, _groups(qid, rows).tolist(), strict=True))
    with replacing(path) as stream:
        for lines in _lines(X, heads):
            stream.write(lines.encode())


def _lines(X: sparse.csr_matrix, heads: Iterator[str]) -> Iterator[str]:
    """Text of some rows after another."""
    row, rows = 0, X.shape[0]
    while row < rows:
        begin = int(X.indptr[row])
        end_row = max(row + 1, int(np.searchsorted(X.indptr, begin + _AT_ONCE, side="right")) - 1)
        ends = X.indptr[row : end_row + 1].astype(np.int64) - begin
        indices = (X.indices[begin : begin + ends[-1]].astype(np.int64) + 1).tolist()
        pairs = [
            f" {index}:{value}" for index, value in zip(indices, _texts(X.data[begin : begin + ends[-1]]), strict=True)
        ]
        yield "".join(f"{next(heads)}{''.join(pairs[start:stop])}\n" for start, stop in pairwise(ends.tolist()))
        row = end_row


def _texts(values: np.ndarray) -> list[Any]:
    """What Python writes as the shortest number for each: itself, or the whole number that it is."""
    texts = values.tolist()
    whole = np.flatnonzero(
        (values == np.rint(values)) & (np.abs(values) < _WHOLE) & ~((values == 0) & np.signbit(values))
    )
    for place, number in zip(whole.tolist(), values[whole].astype(np.int64).tolist(), strict=True):
        texts[place] = number
    return texts


def _matrix(X: Any) -> sparse.csr_matrix:
    if not sparse.issparse(X):
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must have rows and columns, got an array of {X.ndim} dimensions")
    X = sparse.csr_matrix(X, dtype=np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.shape[0] == 0:
        raise ValueError("X has no rows")
    if X.shape[1] > LARGEST_INDEX:
        raise ValueError(f"X has {X.shape[1]} columns, and indices of files end at {LARGEST_INDEX}")
    finite = np.isfinite(X.data)
    if not finite.all():
        place = int(np.argmin(finite))
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        raise ValueError(f"X has {X.data[place]} at row {row}, column {X.indices[place]}, and is to be finite")
    return X


def _column(values: Any, name: str, rows: int) -> np.ndarray:
    values = np.asarray(values)
    if values.shape != (rows,) or values.dtype.kind not in "iufb":
        what = f"shape {values.shape} and type {values.dtype}"
        raise ValueError(f"{name} must be one number a row of X, which has {rows}; got {what}")
    return values


def _groups(qid: Any, rows: int) -> np.ndarray:
    qid = _column(qid, "qid", rows)
    if qid.dtype.kind not in "iu" or qid.min() < 0 or qid.max() >= 2**63:
        raise ValueError("qid must be whole numbers from 0 to 2^63 - 1")
    qid = qid.astype(np.int64)
    bad = SeenGroups().add(qid, np.arange(1, rows + 1))
    if bad >= 0:
        raise ValueError(f"qid has group {qid[bad]} at row {bad} once more, after another group; sort the rows by qid")
    return qid
