"""`verify` works the certificate out again, by a road of its own, and believes nothing that does not prove itself."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from cases import LAYOUTS, comparisons, stream
from refusal import refused
from softmargin import Certificate, SoftMarginClassifier, SoftMarginRanker, verify

LOSSES = ("hinge", "squared_hinge")
FORMS = ((2, "max"), (3, "max"), (3, "sum"), (4, "ovr"))
INTERCEPTS = ({"fit_intercept": False}, {}, {"penalize_intercept": True})
WEIGHTINGS = ("slack", "margin", "replicate")
PRICES = ({"C": 0.3}, {"C": 20.0}, {"lam": 0.02})


def same(found, told):
    """The numbers of two certificates, to rounding."""
    for name in ("primal", "dual", "gap"):
        assert abs(getattr(found, name) - getattr(told, name)) <= 1e-9 * told.primal, name
    assert found.relative_gap == pytest.approx(told.relative_gap, rel=1e-6, abs=1e-12)
    assert found.distance == pytest.approx(told.distance, rel=1e-4, abs=1e-6)
    assert found.converged == told.converged


def classifier(seed, loss, form, intercept, weighting, price, **options):
    """A fitted classifier, and the arguments of its `fit`."""
    case = stream(seed, T=40, d=4, classes=form[0])
    weight = np.random.default_rng(seed).integers(1, 4, 40)
    model = SoftMarginClassifier(
        loss=loss, multiclass=form[1], weighting=weighting, class_weight={0: 2.0, 1: 0.5}, random_state=seed,
        **{"tol": 1e-4, **intercept, **price, **options},
    )  # fmt: skip
    return model.fit(case.X + 0.5, case.label, sample_weight=weight), case.X + 0.5, case.label, weight


def optimum(seed, *kind):
    """The objective of the best weights, from below and from above, and those weights."""
    best, *_ = classifier(seed, *kind, tol=1e-10, solver="newton")
    return best.certificate_, everything(best)


def everything(model):
    """All weights that count in the distance."""
    penalised = model.penalize_intercept
    return np.c_[model.coef_, model.intercept_].ravel() if penalised else model.coef_.ravel()


KINDS = st.tuples(*map(st.sampled_from, (LOSSES, FORMS, INTERCEPTS, WEIGHTINGS, PRICES)))


@given(seed=st.integers(0, 99), kind=KINDS, solver=st.sampled_from(["auto", "dual", "newton", "online"]))
def test_labels_are_verified(seed, kind, solver):
    """The gap is never negative, it is that of `certificate_`, and the best weights are within the distance."""
    options = {"solver": solver, "max_passes": 15} if solver == "online" else {"solver": solver}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model, X, y, weight = classifier(seed, *kind, **options)
    found = verify(model, X, y, sample_weight=weight)
    same(found, model.certificate_)
    assert found.gap >= 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best, w = optimum(seed, *kind)
    assert found.dual <= best.primal * (1 + 1e-9)
    assert found.primal >= best.dual * (1 - 1e-9)
    assert np.linalg.norm(everything(model) - w) <= (found.distance + best.distance) * (1 + 1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_pairs_are_verified(weighting, loss):
    """Pairs with margins and weights: two columns of whole numbers are pairs."""
    case = comparisons(5)
    weight = np.random.default_rng(5).integers(0, 4, 70)
    model = SoftMarginRanker(lam=0.01, loss=loss, weighting=weighting, tol=1e-3, random_state=0)
    model.fit_pairs(case.X, case.pairs, weight=weight, margin=case.required)
    for pairs in (case.pairs, case.pairs.tolist()):
        found = verify(model, case.X, pairs, weight=weight, margin=case.required)
        same(found, model.certificate_)
    assert found.solver == "verify"
    assert found.passes == 2.0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("grouped", [True, False])
def test_grades_are_verified(grouped, loss):
    """Grades, with groups or without, imply the same pairs with the same weights as in `fit`."""
    rng = np.random.default_rng(6)
    X, y, qid = rng.normal(size=(30, 4)), rng.integers(0, 3, 30), rng.integers(5, 9, 30) if grouped else None
    weight = rng.uniform(0.5, 2.0, 30)
    model = SoftMarginRanker(C=0.1, loss=loss, tol=1e-3).fit(X, y, qid=qid, sample_weight=weight)
    same(verify(model, X, y, qid=qid, sample_weight=weight), model.certificate_)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("intercept", INTERCEPTS[1:])
def test_every_layout_is_verified(intercept, layout):
    """However the numbers arrive, the certificate is that of the fit."""
    case = stream(7)
    X = LAYOUTS[layout](case.X)
    model = SoftMarginClassifier(C=0.3, **intercept).fit(X, case.label)
    same(verify(model, X, case.label), model.certificate_)
    pairs = comparisons(7)
    X = LAYOUTS[layout](pairs.X)
    ranker = SoftMarginRanker(C=0.3).fit_pairs(X, pairs.pairs)
    same(verify(ranker, X, pairs.pairs), ranker.certificate_)


def test_float32_is_verified():
    """Single precision data are added up in double precision, as in the fit."""
    case = stream(8)
    X = case.X.astype(np.float32)
    model = SoftMarginClassifier(C=0.3, tol=1e-6).fit(X, case.label)
    same(verify(model, X, case.label), model.certificate_)


def tampered(rng, array):
    """An array with something wrong in it."""
    wrong = array.copy()
    places = rng.random(wrong.shape) < 0.3
    values = rng.choice([np.nan, np.inf, -np.inf, -1.0, 1e300, 1e3, 0.1, 0.0], size=wrong.shape)
    return rng.choice([
        np.where(places, values, wrong), wrong * rng.uniform(0, 2, wrong.shape), wrong * 1e200, -wrong, wrong + 1e-3,
    ])  # fmt: skip


@given(seed=st.integers(0, 9), kind=KINDS, luck=st.integers(0, 2**32 - 1))
def test_nothing_false_can_be_proved(seed, kind, luck):
    """Whatever duals and weights somebody put into the model: dual <= optimum <= primal, and the distance holds."""
    rng = np.random.default_rng(luck)
    model, X, y, weight = classifier(seed, *kind)
    best, w = optimum(seed, *kind)
    model.dual_ = tampered(rng, model.dual_)
    coef, bias = model._weights
    free = model.fit_intercept and not model.penalize_intercept
    model._weights = coef + rng.choice([0.0, 0.1, 10.0]) * rng.normal(size=coef.shape), bias + free * rng.normal()
    found = verify(model, X, y, sample_weight=weight)
    assert found.dual <= best.primal * (1 + 1e-9)
    assert found.primal >= best.dual * (1 - 1e-9)
    assert found.gap >= 0.0
    assert found.gap == pytest.approx(found.primal - found.dual, rel=1e-9, abs=1e-9 * found.primal)
    assert np.linalg.norm(everything(model) - w) <= (found.distance + best.distance) * (1 + 1e-6)


def test_duals_that_prove_nothing_are_said_to():
    """A dual above its price is moved into its set, and the reason tells."""
    case = stream(9)
    model = SoftMarginClassifier(C=0.3).fit(case.X, case.label)
    assert "as stored" in verify(model, case.X, case.label).reason
    for wrong in (np.nan, -1.0, 5.0):
        model.dual_[3] = wrong
        assert "not feasible" in verify(model, case.X, case.label).reason


@given(seed=st.integers(0, 99), kind=KINDS)
def test_weights_without_duals_are_verified(seed, kind):
    """Duals derived from converged weights prove a gap of less than a hundredth, and never more than is true."""
    model, X, y, weight = classifier(seed, *kind)
    told = model.certificate_
    del model.dual_
    found = verify(model, X, y, sample_weight=weight)
    assert found.primal == pytest.approx(told.primal, rel=1e-9)
    assert found.dual <= told.primal * (1 + 1e-9)
    assert 0.0 <= found.relative_gap <= 0.01
    assert "derived" in found.reason
    assert found.passes > 2.0


def test_a_stream_is_verified():
    """Weights of a stream have no duals: the objective of all that was met is proved with derived ones."""
    case = stream(10, T=2000, noise=0.3)
    model = SoftMarginClassifier(lam=0.01).partial_fit(case.X, case.label, classes=[0, 1])
    found = verify(model, case.X, case.label)
    best = SoftMarginClassifier(lam=0.01, tol=1e-8, solver="newton").fit(case.X, case.label).certificate_
    assert found.dual <= best.primal <= found.primal
    assert found.gap == pytest.approx(found.primal - best.primal, abs=0.002 * best.primal)
    pairs = comparisons(10, T=1000)
    ranker = SoftMarginRanker(lam=0.01).partial_fit_pairs(pairs.X, pairs.pairs)
    best = SoftMarginRanker(lam=0.01, tol=1e-8, solver="newton").fit_pairs(pairs.X, pairs.pairs).certificate_
    found = verify(ranker, pairs.X, pairs.pairs)
    assert found.dual <= best.primal <= found.primal
    assert found.gap == pytest.approx(found.primal - best.primal, abs=0.002 * best.primal)


def test_a_certificate_is_one_line():
    """Printed, it says how good the weights are and what it was worked out from."""
    case = stream(11)
    model = SoftMarginClassifier(C=0.3).fit(case.X, case.label)
    found = verify(model, case.X, case.label)
    assert isinstance(found, Certificate)
    assert str(found).startswith("optimal to ")
    assert str(found).endswith("with the duals as stored")
    assert "\n" not in str(found)
    model.set_params(tol=1e-12)
    assert str(verify(model, case.X, case.label)).startswith("NOT converged")


def test_other_data_are_refused():
    """One sentence names what does not fit the model."""
    case, pairs = stream(12, classes=3), comparisons(12)
    model = SoftMarginClassifier(C=0.3).fit(case.X, case.label)
    ranker = SoftMarginRanker(C=0.3).fit_pairs(pairs.X, pairs.pairs)
    refused(lambda: verify(model, case.X[:50], case.label[:50]), "X and y make 50 rows", r"dual_ .* \(70, 3\)")
    refused(lambda: verify(ranker, pairs.X, pairs.pairs[:9]), "X and y make 9 pairs", r"dual_ .* \(70,\)")
    refused(lambda: verify(model, case.X, case.label[:50]), "y has 50 values", "70 rows")
    refused(lambda: verify(model, case.X[:, :3], case.label), "X has 3 features", "6 features")
    refused(lambda: verify(model, case.X, case.label + 1), "y", "not among the classes")
    refused(lambda: verify(model, np.where(case.X > 2, np.nan, case.X), case.label), "X has NaN")
    refused(lambda: verify(model, case.X, case.label, sample_weight=[1.0]), "sample_weight has shape")
    refused(lambda: verify(model, case.X, case.label, margin=2.0), "margin goes with a ranker")
    refused(lambda: verify(ranker, pairs.X, pairs.pairs, qid=[1]), "qid goes with grades")
    refused(lambda: verify(ranker, pairs.X, np.arange(25), weight=[1]), "weight goes with pairs")
    refused(lambda: verify(ranker, pairs.X, pairs.pairs + 20), "pairs", "outside X")
    refused(lambda: verify(ranker, pairs.X, np.zeros((4, 3), dtype=int)), "pairs has shape")
    refused(lambda: verify("a model", case.X, case.label), "model is a str")
    refused(lambda: verify(SoftMarginRanker(), pairs.X, pairs.pairs), "learned nothing")
    model._weights = model._weights[0] * np.nan, model._weights[1]
    refused(lambda: verify(model, case.X, case.label), "coef_", "not finite")
    plain = SoftMarginClassifier(C=0.3, fit_intercept=False).fit(case.X, case.label)
    plain._weights[1][...] = 1.0
    refused(lambda: verify(plain, case.X, case.label), "intercept_", "fit_intercept=False")


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("form", FORMS)
def test_the_primal_is_paid_by_the_slack(form, weighting):
    """The objective of the certificate is half the squared weights, and C times what slack costs: hinge."""
    model, X, y, weight = classifier(13, "hinge", form, {}, weighting, {"C": 0.3})
    factor = np.array([2.0, 0.5, 1.0, 1.0])[y]
    price = factor if weighting == "margin" else factor * weight
    paid = 0.3 * price @ model.slack(X, y, sample_weight=weight)
    assert 0.5 * np.sum(model.coef_**2) + paid == pytest.approx(model.certificate_.primal, rel=1e-9)
    case = comparisons(13)
    ranker = SoftMarginRanker(C=0.3).fit_pairs(case.X, case.pairs, margin=case.required)
    paid = 0.3 * ranker.slack(case.X, case.pairs, margin=case.required).sum()
    assert 0.5 * ranker.coef_ @ ranker.coef_ + paid == pytest.approx(ranker.certificate_.primal, rel=1e-9)
    refused(lambda: ranker.slack(case.X, case.pairs, margin=[1.0, 2.0]), "margin has shape")
