"""A matrix that scikit-learn has accepted -> rows that a kernel takes, or a sentence that names the bad value."""

from typing import Any

import numpy as np
from scipy import sparse

from softmargin.kernels.checks import first_bad_value
from softmargin.kernels.rows import ConstantRows, DenseRows, SparseRows

UNSIGNED = {4: np.uint32, 8: np.uint64}


def rows_of(X: Any, name: str = "X") -> DenseRows | SparseRows:
    """Rows over the same memory where the layout allows it; every value is finite."""
    rows = _sparse_rows(X) if sparse.issparse(X) else DenseRows(np.ascontiguousarray(X))
    row, column = first_bad_value(rows, X.shape[0])
    if row >= 0:
        kind = "NaN" if np.isnan(X[row, column]) else "infinity (inf)"
        message = f"{name} has {kind} at row {row}, column {column}; replace it or drop the row"
        raise ValueError(message)
    return rows


def with_constant(rows: DenseRows | SparseRows, value: float = 1.0) -> ConstantRows:
    """The notes' dummy feature, not stored: an intercept that is penalised like any weight."""
    return ConstantRows(rows, value)


def _sparse_rows(X: Any) -> SparseRows:
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    # A view as unsigned costs nothing and saves a wrap-around test at every stored value.
    return SparseRows(X.data, X.indices.view(UNSIGNED[X.indices.itemsize]), X.indptr.astype(np.uint64))
