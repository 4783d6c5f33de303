"""The state is a sum: any order, any pieces, merged, taken back, weighed, forgotten."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from closed_form import closed_form, same_belief
from softmargin import BayesianLinearRegression

RNG = np.random.default_rng(1)
X = RNG.normal(size=(300, 5)) * [1.0, 10.0, 0.1, 1.0, 1.0] + [0.0, 50.0, 0.0, 2.0, -1.0]
Y = X @ [1.0, -0.2, 3.0, 0.5, 0.0] + 4.0 + 0.3 * RNG.normal(size=300)
OPTIONS = {
    "unknown": {},
    "known": {"noise": 0.1},
    "evidence": {"evidence": True},
    "no intercept": {"fit_intercept": False, "prior_precision": np.arange(1.0, 6.0)},
    "rows": {"noise": "rows"},
}
EVERY_MODEL = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


@EVERY_MODEL
@given(cuts=st.lists(st.integers(1, 299), max_size=6), seed=st.integers(0, 9))
def test_any_order_in_any_pieces(options, cuts, seed):
    """`fit` is `partial_fit` of the same rows, shuffled and cut up at will."""
    order = np.random.default_rng(seed).permutation(300)
    model = BayesianLinearRegression(**options)
    edges = sorted({0, 300, *cuts})
    for start, stop in pairwise(edges):
        model.partial_fit(X[order[start:stop]], Y[order[start:stop]])
    same_belief(model, BayesianLinearRegression(**options).fit(X, Y))


@EVERY_MODEL
def test_one_row_at_a_time(options):
    """Single rows, asked about in between, with the value in an array or a list: the model of all rows."""
    model = BayesianLinearRegression(**options)
    for t in range(300):
        model.partial_fit(X[t : t + 1], [float(Y[t])] if t % 3 else Y[t : t + 1])
        if t % 50 == 7:
            model.predict(X[:2], return_std=True)
    same_belief(model, BayesianLinearRegression(**options).fit(X, Y))


@EVERY_MODEL
def test_models_of_different_rows_add_up(options):
    """``a + b`` and ``sum(models)`` are the model of all rows, with one prior; the parts stay as they were."""
    parts = [BayesianLinearRegression(**options).fit(X[s], Y[s]) for s in np.split(np.arange(300), [1, 40, 200])]
    before = parts[0].mean_
    whole = BayesianLinearRegression(**options).fit(X, Y)
    same_belief(sum(parts), whole)
    same_belief((parts[3] + parts[1]) + (parts[2] + parts[0]), whole)
    assert np.array_equal(parts[0].mean_, before)
    same_belief(BayesianLinearRegression(**options) + whole, whole)
    both = parts[3] + parts[1]
    same_belief(both.partial_fit(X[40:200], Y[40:200]).partial_fit(X[:1], Y[:1]), whole)


@EVERY_MODEL
def test_what_was_unlearned_was_never_there(options):
    """Rows taken back, in a batch or one by one, leave the model of the others; taken back all, the prior."""
    model = BayesianLinearRegression(**options).fit(X, Y)
    rest = BayesianLinearRegression(**options).fit(X[120:], Y[120:])
    same_belief(copy.deepcopy(model).unlearn(X[:120], Y[:120]), rest, rtol=1e-8)
    single = copy.deepcopy(model)
    for t in range(120):
        single.unlearn(X[t : t + 1], Y[t : t + 1])
    same_belief(single, rest, rtol=1e-8)
    model.unlearn(X[100:], Y[100:]).unlearn(X[:100], Y[:100])
    assert not model.mean_.any()
    same_belief(model.partial_fit(X, Y), BayesianLinearRegression(**options).fit(X, Y))


@pytest.mark.parametrize("options", [{}, {"noise": 0.1}, {"likelihood": "student_t"}, {"noise": "loglinear"}])
def test_weight_k_is_k_copies(options):
    """Whole weights repeat a row, and weight 0 leaves it out."""
    weight = np.random.default_rng(3).integers(0, 4, 300)
    weighed = BayesianLinearRegression(**options).fit(X, Y, sample_weight=weight)
    repeated = BayesianLinearRegression(**options).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    same_belief(weighed, repeated, rtol=1e-9)


@pytest.mark.nojit
def test_fractions_of_a_row():
    """Weights that are no whole numbers are weights of the squares."""
    weight = np.random.default_rng(4).uniform(0.1, 2.0, 300)
    model = BayesianLinearRegression(0.5).fit(X, Y, sample_weight=weight)
    truth = closed_form(X, Y, 0.5 * np.eye(5), None, weight)
    np.testing.assert_allclose(model.mean_, truth.mean, rtol=1e-9)
    assert model.noise_variance_ == pytest.approx(truth.noise, rel=1e-10)


@pytest.mark.nojit
def test_variances_of_rows():
    """noise="rows" takes them as ``noise_variance`` or as 1/sample_weight, and learns each row as its variance says."""
    variance = np.random.default_rng(5).uniform(0.01, 4.0, 300)
    root, rows = 1.0 / np.sqrt(variance), np.c_[X, np.ones(300)]
    truth = BayesianLinearRegression(0.5, noise=1.0, fit_intercept=False).fit(rows * root[:, None], Y * root)
    model = BayesianLinearRegression(0.5, noise="rows", fit_intercept=False).fit(rows, Y, noise_variance=variance)
    np.testing.assert_allclose(model.mean_, truth.mean_, rtol=1e-9)
    np.testing.assert_allclose(model.covariance_, truth.covariance_, rtol=1e-8, atol=1e-12)
    assert model.log_evidence_ == pytest.approx(truth.log_evidence_ - 0.5 * np.log(variance).sum(), rel=1e-10)
    by_weight = BayesianLinearRegression(0.5, noise="rows", fit_intercept=False)
    same_belief(by_weight.fit(rows, Y, sample_weight=1.0 / variance), model)
    _, wide = model.predict(rows[:2], return_std=True, noise_variance=[1.0, 9.0])
    assert wide == pytest.approx([1.0, 3.0], rel=0.01)
    _, typical = model.predict(rows[:2], return_std=True)
    assert typical == pytest.approx(np.sqrt(variance.mean()), rel=0.01)


@pytest.mark.parametrize("forgetting", [0.5, 0.97, 0.9999])
def test_forgetting_is_a_weight_by_age(forgetting):
    """The newest row counts once, the one before ``forgetting`` times, and so on, in any pieces; the prior is kept."""
    age = forgetting ** np.arange(299, -1, -1)
    truth = closed_form(X, Y, 0.5 * np.eye(5), 0.1, age)
    whole = BayesianLinearRegression(0.5, noise=0.1, forgetting=forgetting).fit(X, Y)
    np.testing.assert_allclose(whole.mean_, truth.mean, rtol=1e-8)
    np.testing.assert_allclose(whole.precision_, truth.precision, rtol=1e-10)
    pieces, live = clone(whole), clone(whole)
    for start, stop in ((0, 1), (1, 150), (150, 300)):
        pieces.partial_fit(X[start:stop], Y[start:stop])
    for t in range(300):
        live.partial_fit(X[t : t + 1], Y[t : t + 1])
    same_belief(pieces, whole, rtol=1e-9)
    same_belief(live, whole, rtol=1e-9)
    weight = np.random.default_rng(6).integers(0, 3, 300)
    weighed = clone(whole).fit(X, Y, sample_weight=weight)
    same_belief(weighed, clone(whole).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight)), rtol=1e-9)


def test_variances_grow_again_where_nothing_is_learned():
    """Where rows say nothing of a weight, forgetting gives its variance back to the prior; without, it never grows."""
    silent = X[:100].copy()
    silent[:, 0] = 0.0
    grown = []
    for forgetting in (0.9, 1.0):
        model = BayesianLinearRegression(noise=0.1, forgetting=forgetting, fit_intercept=False).fit(X, Y)
        before = model.covariance_[0, 0]
        model.partial_fit(silent, Y[:100])
        grown.append(model.covariance_[0, 0] / before)
    assert grown[0] > 10.0
    assert grown[1] <= 1.0 + 1e-12
