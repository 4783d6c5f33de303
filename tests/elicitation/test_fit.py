"""The Gaussian over the weights is that of the posterior: beside integrals, and beside a long chain."""

import warnings

import numpy as np
import pytest
from scipy.special import log_ndtr

from elicitation.answers import Case, case, posterior
from elicitation.integral import log_posterior, moments
from softmargin import PreferencePosterior
from softmargin.kernels.probit import BETTER, EQUAL, of_answer

MEAN, SD = 0.05, 0.05  # of a standard deviation
ERRORS = (0.0, 0.05, 0.05, 0.2)


def small(seed):
    """A problem of few weights, of any scale and length, with its options."""
    rng = np.random.default_rng(seed)
    d, scale = int(rng.integers(1, 4)), float(np.exp(rng.uniform(-1.2, 1.4)))
    T, width = int(np.exp(rng.uniform(0.0, 4.4))), (0.0, 0.5)[int(rng.integers(2))]
    error, precision = ERRORS[int(rng.integers(4))], float(np.exp(rng.uniform(-1.0, 1.0)))
    answers = case(seed, n=int(rng.integers(2, 14)), d=d, T=T, scale=scale / np.sqrt(d), width=width, error=error)
    return answers, {"prior_precision": precision, "judge_error": error}


def apart(model, answers, options):
    """How far mean and standard deviations are from the integrals, in standard deviations."""
    covariance = np.linalg.inv(model.precision_)
    precision, error = options["prior_precision"], options["judge_error"]
    mean, sd, points = moments(answers, model.mean_, covariance, precision, error, model.tie_width_)
    assert points > 1000
    return np.abs((model.mean_ - mean) / sd).max(), np.abs(np.sqrt(np.diag(covariance)) / sd - 1.0).max()


@pytest.mark.parametrize("ten", range(10))
def test_moments_beside_integrals(ten):
    """100 small problems: means within 0.05 standard deviations of the integral, standard deviations within 5 %."""
    for seed in range(10 * ten, 10 * ten + 10):
        answers, options = small(seed)
        off = apart(posterior(answers, **options), answers, options)
        assert off[0] <= MEAN, seed
        assert off[1] <= SD, seed


def test_moments_beside_a_long_chain():
    """Six weights, beside 32,000 draws of an elliptical slice sampler."""
    answers = case(11, n=20, d=6, T=25, scale=0.7, error=0.1)
    model = posterior(answers, judge_error=0.1)
    rng, w, kept = np.random.default_rng(0), np.zeros(6), []

    def log_likelihood(points):
        return log_posterior(points, answers, 0.0, 0.1, model.tie_width_)

    chains = 400
    w = rng.normal(size=(chains, 6))
    level = log_likelihood(w)
    for step in range(120):
        nu, floor = rng.normal(size=(chains, 6)), level + np.log(rng.random(chains))
        angle = rng.uniform(0.0, 2.0 * np.pi, chains)
        low, high, open_ = angle - 2.0 * np.pi, angle.copy(), np.ones(chains, dtype=bool)
        new = w.copy()
        while open_.any():
            trial = w * np.cos(angle)[:, None] + nu * np.sin(angle)[:, None]
            value = log_likelihood(trial)
            taken = open_ & (value > floor)
            new[taken], level[taken] = trial[taken], value[taken]
            open_ &= ~taken
            high, low = np.where(open_ & (angle >= 0), angle, high), np.where(open_ & (angle < 0), angle, low)
            angle = np.where(open_, rng.uniform(low, high), angle)
        w = new
        if step >= 40:
            kept.append(w)
    points = np.concatenate(kept)
    sd = points.std(axis=0)
    assert np.abs(model.mean_ - points.mean(axis=0)).max() <= MEAN * sd.min()
    assert np.abs(np.sqrt(np.diag(np.linalg.inv(model.precision_))) / sd - 1.0).max() <= SD


def test_many_weights_beside_weighted_points():
    """Twenty weights, where the fit is not corrected: as near to the posterior, on average over the weights."""
    answers = case(12, n=60, d=20, T=120, scale=0.25, error=0.05)
    model = posterior(answers)
    rng = np.random.default_rng(1)
    root = np.linalg.cholesky(1.1 * np.linalg.inv(model.precision_))
    z = rng.normal(size=(60_000, 20))
    points = model.mean_ + z @ root.T
    logs = log_posterior(points, answers, 1.0, 0.05, model.tie_width_) + 0.5 * (z**2).sum(axis=1)
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    mean = weight @ points
    sd = np.sqrt(weight @ (points - mean) ** 2)
    assert np.abs((model.mean_ - mean) / sd).mean() <= MEAN
    assert np.abs(np.sqrt(np.diag(np.linalg.inv(model.precision_))) / sd - 1.0).mean() <= SD


def test_no_answer_is_the_prior():
    """Before any answer, and after answers that say nothing, the posterior is the prior to the last bit."""
    X = case(13).X
    model = PreferencePosterior(X, prior_precision=[1.0, 4.0, 0.25])
    assert np.array_equal(model.mean_, np.zeros(3))
    assert np.allclose(model.precision_, np.diag([1.0, 4.0, 0.25]), rtol=1e-12, atol=1e-15)
    coin = PreferencePosterior(X, judge_error=0.5, ties=False)
    for t in range(30):
        coin.answer(t % 12, (t + 1) % 12, "left" if t % 3 else "right")
    assert np.allclose(coin.mean_, 0.0, atol=0.03)
    assert np.allclose(coin.precision_, np.eye(3), atol=0.06)


def test_one_answer_in_closed_form():
    """One answer about one weight: the mean and variance of a truncated Gaussian."""
    model = PreferencePosterior(np.array([[0.0], [2.0]]), judge_error=0.0, ties=False)
    model.answer(1, 0, "left")
    r = np.exp(-0.0) / np.sqrt(2.0 * np.pi) / 0.5
    assert model.mean_[0] == pytest.approx(2.0 * r / np.sqrt(5.0), rel=2e-2)
    assert 1.0 / model.precision_[0, 0] == pytest.approx(1.0 - 4.0 * r * r / 5.0, rel=2e-2)


def test_the_scale_of_the_prior_is_the_scale_of_x():
    """X times c with a prior precision times c^2 is the same problem: utilities stay, weights are divided by c."""
    answers = case(14)
    for c in (1e-6, 2.0**10, 1e6):
        scaled = posterior(Case(c * answers.X, answers.w, answers.lines), prior_precision=c * c)
        plain = posterior(answers)
        assert np.allclose(c * scaled.mean_, plain.mean_, rtol=1e-6, atol=1e-9)
        assert np.allclose(scaled.ranking().utility, plain.ranking().utility, rtol=1e-6, atol=1e-9)


def log_chance(kind, m, s, width, error):
    """The logarithm of the probability of an answer, by SciPy's tails."""
    if kind == EQUAL:
        high, low = log_ndtr((width - abs(m)) / s), log_ndtr((-width - abs(m)) / s)
        return high + np.log1p(-np.exp(low - high))
    right, wrong = log_ndtr((m - width) / s), log_ndtr((-m - width) / s)
    return np.logaddexp(np.log1p(-error) + right, np.log(error) + wrong) if error else right


@pytest.mark.nojit
@pytest.mark.parametrize("kind", [BETTER, EQUAL])
@pytest.mark.parametrize("error", [0.0, 0.05, 0.5])
def test_probabilities_of_answers_far_out(kind, error):
    """Log probability beside SciPy's, slope and curvature beside its differences, up to 1,000 deviations out."""
    for m in (-1000.0, -80.0, -35.0, -12.0, -1.5, 0.1, 0.4, 9.0, 40.0):
        for v, width in ((0.5, 0.3), (4.0, 1.0), (100.0, 0.1)):
            s, h = np.sqrt(1.0 + v), 1e-4 * max(1.0, abs(m))
            found = of_answer(kind, m, v, width, error)
            before, here, after = (log_chance(kind, m + step, s, width, error) for step in (-h, 0.0, h))
            assert found[0] == pytest.approx(here, rel=1e-9, abs=1e-12)
            assert found[1] == pytest.approx((after - before) / (2.0 * h), rel=1e-5, abs=1e-6)
            ahead, behind = of_answer(kind, m + h, v, width, error)[1], of_answer(kind, m - h, v, width, error)[1]
            assert found[2] == pytest.approx((behind - ahead) / (2.0 * h), rel=1e-3, abs=1e-6)


def test_ten_thousand_contradictions():
    """One pair answered 10,000 times both ways: a difference near zero, known as well as so many answers allow."""
    model = PreferencePosterior(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    model.answer_pairs([(0, 1), (1, 0)] * 5000)
    assert abs(model.mean_[0]) < 1e-4
    assert 0.005 < np.linalg.inv(model.precision_)[0, 0] ** 0.5 < 0.02
    assert model.probability(0, 1) == pytest.approx(0.5, abs=0.01)


def test_a_fit_that_does_not_come_to_rest_says_so(monkeypatch):
    """Where the sweeps end too early there is a warning with how far the fit still moves, and a posterior."""
    monkeypatch.setattr("softmargin.elicitation.fit.MOST_SWEEPS", 1)
    model = posterior(case(15))
    with pytest.warns(UserWarning, match="still moves by"):
        assert np.isfinite(model.mean_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(model.precision_).all()


def test_the_width_of_equal_is_learned():
    """No "equal", no width; with many answers the width is the one by which they were made."""
    assert posterior(case(16, width=0.0)).tie_width_ == 0.0
    for width in (0.2, 1.0):
        model = posterior(case(17, n=60, d=3, T=1500, width=width, error=0.0), judge_error=0.0)
        assert model.tie_width_ == pytest.approx(width, abs=0.15)
        share = np.mean([one.verdict == "equal" for one in model.answers_])
        chances = np.mean([model.answer_probability(one.left, one.right).equal for one in model.answers_])
        assert chances == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("width", [0.0, 0.4])
def test_chances_of_answers_add_up(width):
    """Three probabilities, one in all, and turned round they change places."""
    model = posterior(case(18, width=width))
    for a, b in ((0, 1), (5, 9), (3, 11)):
        one, other = model.answer_probability(a, b), model.answer_probability(b, a)
        assert sum(one) == pytest.approx(1.0, abs=1e-12)
        assert one.left == pytest.approx(other.right, abs=1e-12)
        assert model.probability(a, b) + model.probability(b, a) == pytest.approx(1.0, abs=1e-12)
