"""The posterior is the one of the books and of the notes, to the digits that its condition leaves."""

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln
from sklearn.linear_model import BayesianRidge

from closed_form import closed_form, columns_of, row_by_row
from softmargin import BayesianLinearRegression

RNG = np.random.default_rng(0)
X = RNG.normal([0.0, 3.0, -1.0, 0.5], size=(80, 4))
Y = X @ [1.0, -2.0, 0.5, 0.0] + 0.7 + 0.3 * RNG.normal(size=80)
HALF = RNG.normal(size=(4, 4))
PRIORS = {"number": 0.3, "one a column": np.array([0.1, 1.0, 2.0, 5.0]), "matrix": HALF @ HALF.T + np.eye(4)}


def as_matrix(prior, width=4):
    """A prior precision written out."""
    return np.asarray(prior) if np.ndim(prior) == 2 else np.diag(np.broadcast_to(prior, width).astype(float))


@pytest.mark.nojit
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("noise", [0.09, "unknown"])
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_the_posterior_is_the_closed_form(prior, noise, intercept):
    """Mean, precision, covariance, noise and evidence are those of the normal equations to 1e-10."""
    known = None if noise == "unknown" else noise
    truth = closed_form(X, Y, as_matrix(prior), known, intercept=intercept)
    model = BayesianLinearRegression(prior, noise=noise, fit_intercept=intercept).fit(X, Y)
    np.testing.assert_allclose(model.mean_, truth.mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.precision_, truth.precision, rtol=1e-10)
    np.testing.assert_allclose(model.covariance_, np.linalg.inv(truth.precision), rtol=1e-9, atol=1e-14)
    assert model.noise_variance_ == pytest.approx(truth.noise, rel=1e-10)
    assert model.dof_ == pytest.approx(truth.dof, rel=1e-10)
    assert model.log_evidence_ == pytest.approx(truth.log_evidence, rel=1e-10)
    assert np.array_equal(model.coef_, model.mean_[:4])
    assert model.intercept_ == (model.mean_[4] if intercept else 0.0)


@pytest.mark.nojit
def test_the_notes_rules_row_by_row():
    """Precision and shift of rules (18) and (19) are ``precision_`` and ``precision_ @ mean_``."""
    P, J = row_by_row(X, Y, as_matrix(0.3), 0.09)
    model = BayesianLinearRegression(0.3, noise=0.09, fit_intercept=False)
    for t in range(len(Y)):
        model.partial_fit(X[t : t + 1], Y[t : t + 1])
    np.testing.assert_allclose(model.precision_, P, rtol=1e-11)
    np.testing.assert_allclose(model.precision_ @ model.mean_, J, rtol=1e-10)


@pytest.mark.nojit
def test_the_evidence_is_the_recursion_of_positive_terms():
    """The sum of squares in the evidence is b + e^2 / (2 (1 + x'P^-1 x)), row by row, which never subtracts."""
    P, m, half = as_matrix(0.3), np.zeros(4), 0.0
    for x, value in zip(X, Y, strict=True):
        error = value - x @ m
        half += 0.5 * error**2 / (1.0 + x @ np.linalg.solve(P, x))
        P, J = P + np.outer(x, x), P @ m + value * x
        m = np.linalg.solve(P, J)
    model = BayesianLinearRegression(0.3, fit_intercept=False).fit(X, Y)
    log_dets = 4 * np.log(0.3) - np.linalg.slogdet(P)[1]
    truth = 0.5 * log_dets + gammaln(40.0) - 40.0 * np.log(2.0 * np.pi * half)
    assert model.log_evidence_ == pytest.approx(truth, rel=1e-11)


@pytest.mark.nojit
def test_predictions_are_the_books_distributions():
    """Normal with s2 + x'Cx where the noise is known; Student's t with as many degrees of freedom as rows are left."""
    Z = columns_of(X[:5], intercept=True)
    for noise in (0.09, "unknown"):
        model = BayesianLinearRegression(0.3, noise=noise).fit(X, Y)
        scale = np.sqrt(model.noise_variance_ + np.einsum("ij,jk,ik->i", Z, model.covariance_, Z))
        mean, deviation = model.predict(X[:5], return_std=True)
        np.testing.assert_allclose(mean, Z @ model.mean_, rtol=1e-12)
        truth = stats.norm(mean, scale) if noise == 0.09 else stats.t(model.dof_, mean, scale)
        np.testing.assert_allclose(model.predict_dist(X[:5]).interval(0.9), truth.interval(0.9), rtol=1e-9)
        np.testing.assert_allclose(deviation, truth.std(), rtol=1e-9)


def test_the_evidence_is_what_predicting_first_and_learning_after_adds_up_to():
    """Log evidence is the sum of one-step log predictive densities, from the first row that can be predicted."""
    model = BayesianLinearRegression(0.3, noise=0.09).fit(X[:2], Y[:2])
    total = model.log_evidence_
    for t in range(2, len(Y)):
        total += model.predict_dist(X[t : t + 1]).logpdf(Y[t : t + 1]).item()
        model.partial_fit(X[t : t + 1], Y[t : t + 1])
    assert model.log_evidence_ == pytest.approx(total, rel=1e-10)


def test_the_evidence_is_a_density():
    """With known noise and no intercept it is the density of a multivariate normal."""
    model = BayesianLinearRegression(0.3, noise=0.09, fit_intercept=False).fit(X, Y)
    marginal = stats.multivariate_normal(np.zeros(80), X @ X.T / 0.3 + 0.09 * np.eye(80))
    assert model.log_evidence_ == pytest.approx(marginal.logpdf(Y), rel=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_bayesian_ridge_at_its_own_numbers(intercept):
    """With the noise and the prior that scikit-learn's BayesianRidge finds: its weights, covariance and deviations."""
    ridge = BayesianRidge(fit_intercept=intercept, tol=1e-10).fit(X, Y)
    model = BayesianLinearRegression(ridge.lambda_, noise=1.0 / ridge.alpha_, fit_intercept=intercept).fit(X, Y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-9)
    assert model.intercept_ == pytest.approx(ridge.intercept_, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(model.covariance_[:4, :4], ridge.sigma_, rtol=1e-8, atol=1e-12)


def test_evidence_finds_the_optimum_of_bayesian_ridge():
    """Without an intercept ``evidence=True`` chooses the prior and the noise that BayesianRidge's iterations end at."""
    ridge = BayesianRidge(fit_intercept=False, tol=1e-12, max_iter=10_000, alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0)
    ridge.fit(X, Y)
    model = BayesianLinearRegression(7.0, evidence=True, fit_intercept=False).fit(X, Y)
    assert model.prior_precision_ == pytest.approx(ridge.lambda_ / ridge.alpha_, rel=1e-6)
    assert model.noise_variance_ == pytest.approx(1.0 / ridge.alpha_, rel=1e-6)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-7)


@pytest.mark.parametrize("noise", [0.09, "unknown", "rows"])
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_no_other_scale_of_the_prior_has_more_evidence(prior, noise):
    """Surer or less sure than ``evidence=True`` chose, the evidence falls; the prior asked for is only a shape."""
    best = BayesianLinearRegression(prior, noise=noise, evidence=True).fit(X, Y)
    for factor in (0.97, 1.0, 1.03):
        other = BayesianLinearRegression(best.prior_precision_ * factor, noise=noise).fit(X, Y)
        assert other.log_evidence_ <= best.log_evidence_ + 1e-9
    scaled = BayesianLinearRegression(np.asarray(prior) * 100.0, noise=noise, evidence=True).fit(X, Y)
    np.testing.assert_allclose(scaled.mean_, best.mean_, rtol=1e-7)


def test_draws_have_the_posterior_s_moments():
    """Means and covariances of draws are those stated, Student's t widened where the noise is unknown."""
    for noise in (0.09, "unknown"):
        model = BayesianLinearRegression(0.3, noise=noise).fit(X[:20], Y[:20])
        draws = model.sample(40_000, random_state=0)
        assert draws.shape == (40_000, 5)
        assert np.array_equal(draws, model.sample(40_000, random_state=0))
        deviation = np.sqrt(np.diag(model.covariance_))
        assert np.abs((draws.mean(axis=0) - model.mean_) / deviation).max() < 0.03
        wider = 1.0 if noise == 0.09 else model.dof_ / (model.dof_ - 2.0)
        share = np.cov(draws.T) / np.outer(deviation, deviation) - wider * model.covariance_ / np.outer(
            deviation, deviation
        )
        assert np.abs(share).max() < 0.05


# ------------------------------------------------------------------------------- digits


def fifty_digits(X, y, prior, noise):
    """The mean with known noise and an intercept, by Gauss in 50 digits."""
    with mpmath.workdps(50):
        Z = mpmath.matrix(columns_of(X, intercept=True).tolist())
        matrix = Z.T * Z
        for j in range(X.shape[1]):
            matrix[j, j] += mpmath.mpf(prior) * mpmath.mpf(noise)
        return np.array([float(value) for value in mpmath.lu_solve(matrix, Z.T * mpmath.matrix(y.tolist()))])


@pytest.mark.parametrize(
    ("spread", "offset", "digits"), [(1e0, 0.0, 14), (1e-3, 1e3, 11), (1e-5, 0.0, 9), (1e-6, 0.0, 8)]
)
def test_digits_left_on_nearly_dependent_columns(spread, offset, digits):
    """Against 50 digits: twice the exponent of the dependence is lost in theory, about once is in practice."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=(200, 1))
    rows = offset + np.hstack([base, base + spread * rng.normal(size=(200, 1)), rng.normal(size=(200, 2))])
    values = rows @ [1.0, 2.0, -1.0, 0.5] + 0.1 * rng.normal(size=200)
    truth = fifty_digits(rows, values, 1e-6, 0.01)
    model = BayesianLinearRegression(1e-6, noise=0.01).fit(rows, values)
    error = np.abs(model.mean_[:4] - truth[:4]).max() / np.abs(truth[:4]).max()
    assert error < 10.0**-digits
