"""A matrix that scikit-learn has accepted -> rows that a kernel takes, or a sentence that names the bad value."""

from typing import Any, cast

import numpy as np
from scipy import sparse

from softmargin.kernels.checks import first_bad_row
from softmargin.kernels.compress import count_stored, store
from softmargin.kernels.rows import ConstantRows, DenseRows, PairRows, Rows, SparseRows

# Visits of sparse rows cost two to four times as much a number, and passes four times (measured); a copy, two passes.
MOSTLY_ZEROS, WORTH_A_COPY = 0.2, 100_000
FAR_FROM_ZERO, SAMPLED = 100.0, 1000  # times the mean deviation, in so many rows
UNSIGNED = {4: np.uint32, 8: np.uint64}


def rows_of(X: Any, name: str = "X") -> DenseRows | SparseRows:
    """Rows over the same memory where the layout allows it; every value is finite."""
    rows = _sparse_rows(X) if sparse.issparse(X) else dense_rows(np.ascontiguousarray(X))
    row = first_bad_row(rows, *X.shape)
    if row >= 0:
        _refuse(X[[row]].toarray()[0] if sparse.issparse(X) else X[row], row, name)
    return rows


def dense_rows(X: np.ndarray) -> DenseRows:
    """A view that cannot be written to: data often come that way, and kernels should be compiled for one kind only."""
    X = X.view()
    X.flags.writeable = False
    return DenseRows(X)


def lean(rows: Rows) -> Rows:
    """The same rows; dense ones that are mostly zeros as sparse ones: less time, and a third more memory at most."""
    match rows:
        case DenseRows(X) if X.size >= WORTH_A_COPY and _mostly_zeros(X[:: 1 + len(X) // 100]):
            stored = np.zeros(X.shape[0] + 1, dtype=np.uint64)
            count_stored(X, stored)
            if stored[-1] > MOSTLY_ZEROS * X.size:
                return rows
            data, indices = np.empty(int(stored[-1]), dtype=X.dtype), np.empty(int(stored[-1]), dtype=np.uint32)
            store(X, stored, data, indices)
            data.flags.writeable = indices.flags.writeable = False
            return SparseRows(data, indices, stored)
        case PairRows(inner, better, worse):
            return PairRows(cast("DenseRows | SparseRows", lean(inner)), better, worse)
        case ConstantRows(inner, value):
            return ConstantRows(lean(inner), value)
    return rows


def centred(X: Any) -> Any:
    """The same matrix less the mean of its columns, where a dense one has columns far from zero.

    For differences of rows only.  Of a time in seconds, 1.7e9, a product keeps 1e-7, and differences of products no
    more than that.
    """
    if sparse.issparse(X) or not X.size:
        return X
    some = X[:: 1 + len(X) // SAMPLED].astype(np.float64)
    spread = np.abs(some - some.mean(axis=0)).mean(axis=0)
    if not np.any(np.abs(some.mean(axis=0)) > FAR_FROM_ZERO * spread):
        return X
    return X - X.mean(axis=0, dtype=np.float64)


def with_constant(rows: Rows, value: float = 1.0) -> ConstantRows:
    """The notes' dummy feature, not stored: an intercept that is penalised like any weight."""
    return ConstantRows(rows, value)


def stored_numbers(rows: Rows) -> int:
    """How many values one pass over the rows reads."""
    match rows:
        case DenseRows(X):
            return int(X.size)
        case SparseRows(data, _, _):
            return int(data.size)
        case PairRows(inner, better, _):
            return stored_numbers(inner) * 2 * better.size // max(1, row_count(inner))
        case ConstantRows(inner, _):
            return stored_numbers(inner) + row_count(inner)


def row_count(rows: Rows) -> int:
    """How many rows there are."""
    match rows:
        case DenseRows(X):
            return int(X.shape[0])
        case SparseRows(_, _, indptr):
            return int(indptr.size - 1)
        case PairRows(_, better, _):
            return int(better.size)
        case ConstantRows(inner, _):
            return row_count(inner)


def _mostly_zeros(X: np.ndarray) -> bool:
    return bool(np.count_nonzero(X) <= MOSTLY_ZEROS * X.size)


def _refuse(values: np.ndarray, row: int, name: str) -> None:
    size = np.abs(values)
    column = int(np.argmin(np.isfinite(values)) if not np.isfinite(size).all() else np.argmax(size))
    value = values[column]
    if np.isnan(value):
        what, help_ = "NaN", "replace it or drop the row"
    elif np.isinf(value):
        what, help_ = "infinity (inf)", "replace it or drop the row"
    else:
        what, help_ = f"{value:g}", "scale the features, for products of such numbers overflow"
    message = f"{name} has {what} at row {row}, column {column}; {help_}"
    raise ValueError(message)


def _sparse_rows(X: Any) -> SparseRows:
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    # A view as unsigned costs nothing and saves a wrap-around test at every stored value.
    data, indices = X.data.view(), X.indices.view(UNSIGNED[X.indices.itemsize])
    data.flags.writeable = indices.flags.writeable = False
    return SparseRows(data, indices, X.indptr.astype(np.uint64))
