"""The same numbers in any layout, copies of models in mid-stream, and names of columns."""

import copy
import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

from closed_form import same_belief
from softmargin import BayesianLinearRegression

RNG = np.random.default_rng(2)
X = RNG.normal([0.0, 50.0, 0.0, 2.0, -1.0], size=(300, 5))
Y = X @ [1.0, -0.2, 3.0, 0.5, 0.0] + 4.0 + 0.3 * RNG.normal(size=300)


def read_only(rows):
    """Rows that cannot be written to."""
    rows = rows.copy()
    rows.setflags(write=False)
    return rows


def long_indices(rows):
    """CSR with indices of 64 bits."""
    ends = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int64)
    return sparse.csr_matrix((rows.ravel(), np.tile(np.arange(rows.shape[1]), len(rows)), ends), rows.shape)


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "read-only": read_only,
    "strided": lambda rows: np.repeat(rows, 2, axis=0)[::2],
    "lists": lambda rows: rows.tolist(),
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_matrix,
    "COO": sparse.coo_array,
    "long indices": long_indices,
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_same_numbers_in_any_layout(layout):
    """The same posterior and the same predictions; what comes later may come in another layout."""
    whole = BayesianLinearRegression().fit(X, Y)
    model = BayesianLinearRegression().fit(layout(X), Y)
    same_belief(model, whole)
    for mine, theirs in zip(model.predict(layout(X), return_std=True), whole.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)
    mixed = BayesianLinearRegression().fit(X[:7], Y[:7]).partial_fit(layout(X[7:100]), Y[7:100])
    same_belief(mixed.partial_fit(X[100:101], Y[100:101]).partial_fit(layout(X[101:]), Y[101:]), whole)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("density", [0.01, 0.3])
def test_sparse_rows_are_their_dense_ones(density, intercept):
    """Few stored numbers, or many; a column that is stored everywhere; weights; taken back in the other layout."""
    rows = sparse.random_array((500, 60), density=density, rng=np.random.default_rng(7), format="csr")
    rows = sparse.hstack([rows, sparse.csr_array(1e4 + np.arange(500.0)[:, None] % 7)], format="csr")
    weight = np.random.default_rng(8).integers(0, 3, 500)
    values = rows @ np.linspace(-1, 1, 61) + np.random.default_rng(9).normal(size=500)
    make = partial(BayesianLinearRegression, 0.7, fit_intercept=intercept)
    thin, full = (make().fit(kind, values, sample_weight=weight) for kind in (rows, rows.toarray()))
    same_belief(thin, full, rtol=1e-8)
    thin.unlearn(rows.toarray()[:100], values[:100], sample_weight=weight[:100])
    same_belief(thin, make().fit(rows[100:], values[100:], sample_weight=weight[100:]), rtol=1e-7)


@pytest.mark.parametrize("options", [{"likelihood": "student_t"}, {"noise": "loglinear"}])
def test_sparse_rows_are_weighed_as_dense_ones(options):
    """Repairs read sparse rows too, in a batch and in a stream."""
    rows = sparse.random_array((400, 8), density=0.2, rng=np.random.default_rng(7), format="csr")
    values = rows @ np.linspace(-1, 1, 8) + np.random.default_rng(9).standard_t(3, size=400)
    thin, full = (BayesianLinearRegression(**options).fit(kind[:50], values[:50]) for kind in (rows, rows.toarray()))
    for model, kind in ((thin, rows), (full, rows.toarray())):
        model.partial_fit(kind[50:300], values[50:300]).partial_fit(kind[300:], values[300:])
    same_belief(thin, full, rtol=1e-8)
    np.testing.assert_allclose(thin.predict(rows, return_std=True)[1], full.predict(rows.toarray(), return_std=True)[1])


def test_single_precision_rows_are_summed_in_double():
    """float32 rows give the model of the same numbers in float64."""
    single = X.astype(np.float32)
    same_belief(BayesianLinearRegression().fit(single, Y), BayesianLinearRegression().fit(single.astype(float), Y))


def by_pickle(model):
    """A copy through the bytes of pickle."""
    return pickle.loads(pickle.dumps(model))  # noqa: S301 our own bytes


@pytest.mark.parametrize("copied", [copy.deepcopy, by_pickle])
@pytest.mark.parametrize(
    "options", [{}, {"evidence": True}, {"noise": "rows"}, {"likelihood": "student_t"}, {"noise": "loglinear"}], ids=str
)
def test_a_copy_goes_on_alike_and_alone(options, copied):
    """A copy in mid-stream, while rows wait to be summed, learns what the original learns; a clone knows nothing."""
    model = BayesianLinearRegression(**options).fit(X[:150], Y[:150])
    for t in range(150, 160):
        model.partial_fit(X[t : t + 1], Y[t : t + 1])
    twin = copied(model)
    before = twin.mean_
    model.partial_fit(X[160:], Y[160:])
    assert np.array_equal(twin.mean_, before)
    same_belief(twin.partial_fit(X[160:], Y[160:]), model)
    assert not clone(model).__sklearn_is_fitted__()


@pytest.mark.parametrize("options", [{}, {"likelihood": "student_t"}], ids=str)
def test_rows_are_their_owner_s(options):
    """Rows written on after a call change nothing, also where they wait to be summed or weighed."""
    rows, values, row = X[:40].copy(), Y[:40].copy(), X[40:41].copy()
    model = BayesianLinearRegression(**options).fit(rows, values).partial_fit(row, Y[40:41])
    for written in (rows, values, row):
        written[:] = 9.0
    same_belief(model, BayesianLinearRegression(**options).fit(X[:41], Y[:41]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_names(frame):
    """Names are learned, checked, and kept by a merge."""
    told = frame(dict(zip("abcde", X.T, strict=True)))
    model = BayesianLinearRegression().fit(told[:100], Y[:100]).partial_fit(told[100:101], Y[100:101])
    assert list(model.feature_names_in_) == list("abcde")
    both = model + BayesianLinearRegression().fit(told[101:], Y[101:])
    same_belief(both, BayesianLinearRegression().fit(X, Y))
    assert list(both.feature_names_in_) == list("abcde")
    other = BayesianLinearRegression().fit(frame(dict(zip("edcba", X.T, strict=True))), Y)
    with pytest.raises(ValueError, match="feature names"):
        model + other
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame(dict(zip("abcdx", X.T, strict=True))), Y)
