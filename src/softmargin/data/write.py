"""X, y, qid -> a file of `label [qid:N] index:value ...` that is read back to the last bit."""

from collections.abc import Iterator
from os import PathLike
from typing import Any, cast

import numpy as np
from scipy import sparse

from softmargin.data.atomic import replacing
from softmargin.data.careful import LARGEST_INDEX
from softmargin.data.groups import SeenGroups
from softmargin.data.threads import cores, in_order
from softmargin.kernels.lines import LONGEST_HEAD, LONGEST_PAIR, write_lines

_AT_ONCE = 100_000  # values that are text at one time, on each core


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
    groups = np.empty(0, dtype=np.int64) if qid is None else _groups(qid, rows)
    arrays = X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64, copy=False)

    def lines(part: tuple[int, int]) -> np.ndarray:
        first, last = part
        values = int(arrays[2][last] - arrays[2][first])
        text = np.empty(values * LONGEST_PAIR + (last - first) * LONGEST_HEAD, dtype=np.uint8)
        with np.errstate(over="ignore"):  # the lower halves of products, which NumPy tells of where there is no JIT
            return text[: int(write_lines(first, last, arrays, y, groups, text))]

    with replacing(path) as stream:
        for text in in_order(lines, _parts(arrays[2]), cores()):
            stream.write(memoryview(cast("Any", text)))


def _parts(indptr: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of rows that have about so many values each."""
    first, rows = 0, indptr.size - 1
    while first < rows:
        last = int(np.searchsorted(indptr, indptr[first] + _AT_ONCE, side="right")) - 1
        last = min(max(first + 1, last), first + _AT_ONCE, rows)
        yield first, last
        first = last


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
