"""The few things a solver does with one row are NumPy's, for every kind of row, compiled or not."""

import numpy as np
import pytest
from scipy import sparse

from row_kernels import class_operations, row_operations
from softmargin.kernels.class_rows import add_outer, scores
from softmargin.kernels.rows import (
    ConstantRows,
    DenseRows,
    PairRows,
    SparseRows,
    add_scaled,
    as_vector,
    dot,
    squared_norm,
)

ROWS, WIDTH, CLASSES = 9, 11, 3
INDEX = {"u32": np.uint32, "u64": np.uint64}
VALUE = {"f32": np.float32, "f64": np.float64}


def values(value):
    """A matrix with an empty row, a full one, and more zeros than numbers in the rest."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(ROWS, WIDTH)) * (rng.random((ROWS, WIDTH)) < 0.4)
    X[2], X[5] = 0.0, rng.normal(size=WIDTH)
    return X.astype(value)


def made(kind, value, index):
    """Rows of one kind, and the matrix they stand for in double precision."""
    X = values(value)
    inner = DenseRows(X)
    if index:
        csr = sparse.csr_matrix(X)
        inner = SparseRows(csr.data, csr.indices.astype(index), csr.indptr.astype(np.uint64))
    X = X.astype(np.float64)
    if kind == "pairs":
        better, worse = np.array([[0, 1], [5, 2], [2, 5], [8, 0], [3, 4], [7, 7]], dtype=np.uint64).T
        return PairRows(inner, better.copy(), worse.copy()), X[better] - X[worse]
    if kind == "constant":
        return ConstantRows(inner, -1.5), np.c_[X, np.full(ROWS, -1.5)]
    return inner, X


KINDS = [
    pytest.param(kind, value, index, id=f"{kind} {layout} {number}")
    for kind in ("plain", "pairs", "constant")
    for number, value in VALUE.items()
    for layout, index in {"dense": None, **INDEX}.items()
]
EVERY_KIND = pytest.mark.parametrize(("kind", "value", "index"), KINDS)
WITH_CLASSES = pytest.mark.parametrize(
    ("kind", "value", "index"), [param for param in KINDS if param.values[0] != "pairs"]
)


def near(found, expected, value):
    """Equal to rounding: that of the rows' own precision where rows are subtracted, else of double precision."""
    np.testing.assert_allclose(
        found, expected, rtol=1e-5 if value is np.float32 else 1e-12, atol=1e-6 if value is np.float32 else 1e-13
    )


@pytest.mark.nojit
@EVERY_KIND
def test_products_and_sums_of_a_row(kind, value, index):
    """`dot`, `squared_norm` and `add_scaled`, in a compiled function and called from Python, are NumPy's."""
    rows, X = made(kind, value, index)
    rng = np.random.default_rng(2)
    w, start = rng.normal(size=X.shape[1]), rng.normal(size=X.shape[1])
    for t in range(len(X)):
        number, into, plain = np.uint64(t), start.copy(), start.copy()
        product, length = row_operations(rows, number, w, -0.7, into)
        add_scaled(rows, number, -0.7, plain)
        exact = value if kind == "pairs" else np.float64
        near([product, length], [X[t] @ w, X[t] @ X[t]], exact)
        near(into, start - 0.7 * X[t], exact)
        assert length >= 0.0
        near([dot(rows, number, w), squared_norm(rows, number, len(w))], [X[t] @ w, X[t] @ X[t]], exact)
        near(plain, start - 0.7 * X[t], exact)
        near(as_vector(rows, number, len(w)), X[t], exact)


@pytest.mark.nojit
@WITH_CLASSES
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_products_and_sums_of_a_row_with_all_classes(classes, kind, value, index):
    """`scores` and `add_outer` meet all classes at once as NumPy does."""
    rows, X = made(kind, value, index)
    rng = np.random.default_rng(3)
    W, start = rng.normal(size=(X.shape[1], classes)), rng.normal(size=(X.shape[1], classes))
    coefficients = rng.normal(size=classes) * [0.0, *np.ones(classes - 1)]
    for t in range(len(X)):
        number, out, into = np.uint64(t), np.full(classes, np.nan), start.copy()
        class_operations(rows, number, W, out, coefficients, into)
        near(out, X[t] @ W, np.float64)
        near(into, start + np.outer(X[t], coefficients), np.float64)
        plain, slow = np.full(classes, np.nan), start.copy()
        scores(rows, number, W, plain)
        add_outer(rows, number, coefficients, slow)
        near(plain, out, np.float64)
        near(slow, into, np.float64)


@pytest.mark.nojit
@EVERY_KIND
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_value_shows_in_the_product(bad, kind, value, index):
    """NaN and infinity are never lost to the freedom of summing in any order, even against a weight of zero."""
    rows, X = made(kind, value, index)
    inner = rows if kind == "plain" else rows.rows
    (inner.X[5] if index is None else inner.data)[-1] = bad
    row = (
        {"plain": 5, "constant": 5, "pairs": 1}[kind]
        if index is None
        else {"plain": 8, "constant": 8, "pairs": 3}[kind]
    )
    for w in (np.zeros(X.shape[1]), np.ones(X.shape[1])):
        with np.errstate(invalid="ignore"):  # NumPy warns of inf * 0, compiled code does not
            product, length = row_operations(rows, np.uint64(row), w, 1.0, np.zeros(X.shape[1]))
        assert not np.isfinite(product)
        assert not np.isfinite(length) or kind == "pairs"


@pytest.mark.nojit
@pytest.mark.parametrize("value", VALUE.values(), ids=VALUE)
def test_the_length_of_a_difference_of_near_equals(value):
    """For two sparse rows that are nearly one, the squared length is not negative, and right to rounding."""
    a = np.linspace(1, 2, WIDTH).astype(value)
    X = np.stack([a, a * value(1 + 1e-6)])
    csr = sparse.csr_matrix(X)
    inner = SparseRows(csr.data, csr.indices.astype(np.uint32), csr.indptr.astype(np.uint64))
    rows = PairRows(inner, np.array([0, 0], dtype=np.uint64), np.array([1, 0], dtype=np.uint64))
    w = np.ones(WIDTH)
    _, apart = row_operations(rows, np.uint64(0), w, 0.0, w.copy())
    _, itself = row_operations(rows, np.uint64(1), w, 0.0, w.copy())
    exact = np.sum((X[0].astype(float) - X[1]) ** 2)
    assert apart >= 0.0
    assert apart == pytest.approx(exact, abs=1e-14 * np.sum(X.astype(float) ** 2))
    assert itself == pytest.approx(0.0, abs=1e-14)
