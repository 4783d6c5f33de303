"""Scales, shapes and ties at the edge: nothing overflows, nothing is silently lost."""

import numpy as np
import pytest
from scipy import sparse

from closed_form import closed_form
from softmargin import BayesianLinearRegression

RNG = np.random.default_rng(4)
X = RNG.normal([0.0, 1.0, 5.0, -2.0], size=(120, 4))
Y = X @ [1.0, -2.0, 0.5, 0.0] + 0.7 + 0.3 * RNG.normal(size=120)
MODELS = [
    {}, {"noise": 1.0}, {"noise": "rows"}, {"noise": "loglinear"}, {"likelihood": "student_t"}, {"evidence": True},
    {"evidence": True, "noise": 0.5}, {"forgetting": 0.9}, {"fit_intercept": False},
    {"noise": "loglinear", "likelihood": "student_t", "evidence": True},
]  # fmt: skip
EVERY_MODEL = pytest.mark.parametrize("options", MODELS, ids=str)


@pytest.mark.parametrize("of_y", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("of_x", [1e-8, 1.0, 1e8])
def test_units_do_not_matter(of_x, of_y):
    """In other units of X (and of the prior) and of y the same model comes out, at once and row by row."""
    plain = BayesianLinearRegression(0.3).fit(X, Y)
    scaled = BayesianLinearRegression(0.3 * of_x**2).fit(of_x * X, of_y * Y)
    live = BayesianLinearRegression(0.3 * of_x**2)
    for t in range(120):
        live.partial_fit(of_x * X[t : t + 1], of_y * Y[t : t + 1])
    for model in (scaled, live):
        np.testing.assert_allclose(model.coef_ * of_x / of_y, plain.coef_, rtol=1e-9, atol=1e-11)
        mine, theirs = model.predict(of_x * X, return_std=True), plain.predict(X, return_std=True)
        np.testing.assert_allclose(np.divide(mine, of_y), theirs, rtol=1e-9, atol=1e-12)
    assert scaled.log_evidence_ == pytest.approx(plain.log_evidence_ - 119 * np.log(of_y), rel=1e-9)


def test_columns_of_all_sizes_together():
    """Columns of 1e-8, 1 and 1e8 in one matrix, each with a prior of its own size."""
    size = np.array([1e-8, 1.0, 1e8, 1e4])
    plain = BayesianLinearRegression(0.3).fit(X, Y)
    model = BayesianLinearRegression(0.3 * size**2).fit(X * size, Y)
    np.testing.assert_allclose(model.coef_ * size, plain.coef_, rtol=1e-9, atol=1e-11)
    assert model.noise_variance_ == pytest.approx(plain.noise_variance_, rel=1e-10)


def test_far_from_zero():
    """A mean of 1e8 deviations costs the digits of the mean itself, not their square."""
    far = BayesianLinearRegression(0.3).fit(X + 1e8, Y + 1e6)
    plain = BayesianLinearRegression(0.3).fit((X + 1e8) - 1e8, (Y + 1e6) - 1e6)
    np.testing.assert_allclose(far.coef_, plain.coef_, atol=1e-9)
    assert far.noise_variance_ == pytest.approx(plain.noise_variance_, rel=1e-9)


def test_values_without_noise():
    """The noise that is found is that of rounding and of the prior, never negative, however the rows come."""
    exact = X @ [1.0, -2.0, 0.5, 0.0] + 0.7
    truth = closed_form(X, exact, 1e-9 * np.eye(4))
    whole, live = BayesianLinearRegression(1e-9), BayesianLinearRegression(1e-9)
    whole.fit(X, exact)
    for t in range(120):
        live.partial_fit(X[t : t + 1], exact[t : t + 1])
    for model in (whole, live):
        assert model.noise_variance_ == pytest.approx(truth.noise, rel=1e-6)
        np.testing.assert_allclose(model.coef_, [1.0, -2.0, 0.5, 0.0], atol=1e-9)


@EVERY_MODEL
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_few_rows(rows, options):
    """Fewer rows than columns: finite means, deviations that are positive, infinite where nothing is known."""
    model = BayesianLinearRegression(**options).fit(X[:rows], Y[:rows])
    mean, deviation = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert (deviation > 0.0).all()
    assert np.isfinite(model.mean_).all()
    assert not np.isnan(model.covariance_).any()


@EVERY_MODEL
@pytest.mark.parametrize("values", [np.zeros(120), np.full(120, 3.0)], ids=["zeros", "constant"])
def test_values_that_do_not_vary(values, options):
    """Nothing to learn: the constant is predicted, without a warning."""
    model = BayesianLinearRegression(**options).fit(X, values)
    mean, deviation = model.predict(X, return_std=True)
    if options.get("fit_intercept", True):
        np.testing.assert_allclose(mean, values, atol=1e-9)
    assert (deviation >= 0.0).all()
    assert not np.isnan(model.precision_).any()


@EVERY_MODEL
def test_columns_that_say_nothing(options):
    """Constant columns, columns of zeros and doubled columns: the weights of the others, dense and sparse."""
    known = BayesianLinearRegression(**{**options, "fit_intercept": True}).fit(X, Y)
    rows = np.c_[X, np.full(120, 1e6), np.zeros(120)]
    for told in (rows, sparse.csr_array(rows)):
        model = BayesianLinearRegression(**{**options, "fit_intercept": True}).fit(told, Y)
        np.testing.assert_allclose(model.coef_[:4], known.coef_, rtol=1e-5, atol=1e-6)
        assert np.abs(model.coef_[4:]).max() < 1e-12
    twice = BayesianLinearRegression(**options).fit(np.c_[X, X], Y)
    np.testing.assert_allclose(twice.coef_[:4], twice.coef_[4:], atol=1e-9)


def test_where_rounding_leaves_less_than_the_prior():
    """Equal columns of 1e9 under a prior of 1: the sum of squares is no longer definite, the posterior still is."""
    rows = np.repeat(RNG.normal(size=(50, 1)), 3, axis=1) * 1e9
    model = BayesianLinearRegression(noise=1.0).fit(rows, rows[:, 0] + RNG.normal(size=50))
    assert (np.linalg.eigvalsh(model.covariance_[:3, :3]) > -1e-12).all()
    assert model.predict(rows[:1])[0] == pytest.approx(rows[0, 0], rel=1e-6)


def test_many_columns_take_the_other_road():
    """More than a thousand columns are multiplied by all cores at once: the same sums."""
    rows = np.random.default_rng(5).normal(size=(700, 1005))
    values = rows[:, 0] + np.random.default_rng(6).normal(size=700)
    ask = {"prior_precision": 5.0, "noise": 1.0, "fit_intercept": False}
    model = BayesianLinearRegression(**ask).fit(rows[:400], values[:400]).partial_fit(rows[400:], values[400:])
    precision = 5.0 * np.eye(1005) + rows.T @ rows
    np.testing.assert_allclose(model.precision_, precision, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(precision @ model.mean_, rows.T @ values, atol=1e-8)
