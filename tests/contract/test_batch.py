"""What `fit` promises, whoever solves: the weights of a quadratic program, with a certificate that is true."""

import numpy as np
import pytest
from scipy import sparse

import comparator
from cases import LAYOUTS, close, comparisons, stream
from softmargin import SoftMarginClassifier, SoftMarginRanker

C, TOL = 0.3, 1e-6
EVERY_SOLVER = pytest.mark.parametrize("solver", ["auto", "dual", "newton"])
LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
INTERCEPTS = {
    "none": {"fit_intercept": False},
    "free": {},
    "penalised": {"penalize_intercept": True},
}


def proved(model, best, found):
    """The certificate is about these weights and true: dual <= optimum <= primal, and w* is within the distance."""
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.relative_gap <= TOL
    assert certificate.gap >= 0.0
    assert certificate.dual <= best.value * (1 + 1e-7)
    assert certificate.primal >= best.value * (1 - 1e-7)
    assert certificate.primal == pytest.approx(best.value, rel=2e-6)
    assert np.linalg.norm(found - best.w) <= certificate.distance + 1e-4 * np.linalg.norm(best.w)


@EVERY_SOLVER
@LOSSES
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_labels_against_a_quadratic_program(intercept, loss, solver):
    """Two classes with prices, with each kind of intercept."""
    case, ones = stream(1, T=60, d=4), np.ones(60)
    X = case.X + np.array([0.7, 0.0, 0.0, 0.0])
    model = SoftMarginClassifier(C=C, loss=loss, solver=solver, tol=TOL, random_state=0, **INTERCEPTS[intercept])
    model.fit(X, case.label, sample_weight=case.price)
    columns = np.c_[X, ones] if intercept == "penalised" else X
    more = {"sign": case.sign} if intercept == "free" else {}
    program = comparator.signed(
        case.sign[:, None] * columns, ones, C * case.price, 1.0, squared=loss == "squared_hinge", **more
    )
    found = np.r_[model.coef_[0], model.intercept_] if intercept == "penalised" else model.coef_[0]
    proved(model, comparator.solve(program), found)
    bias = model.intercept_ if intercept == "free" else np.zeros(0)
    assert model.certificate_.primal == pytest.approx(comparator.worth(program, found, bias), rel=1e-9)


@EVERY_SOLVER
@LOSSES
def test_comparisons_against_a_quadratic_program(loss, solver):
    """Pairs with prices and margins, of dense and of sparse items."""
    case = comparisons(2, T=60, d=4)
    program = comparator.signed(
        case.better - case.worse, case.required, C * case.price, 1.0, squared=loss == "squared_hinge"
    )
    best = comparator.solve(program)
    for X in (case.X, sparse.csr_matrix(case.X)):
        model = SoftMarginRanker(C=C, loss=loss, solver=solver, tol=TOL, random_state=0)
        model.fit_pairs(X, case.pairs, weight=case.price, margin=case.required)
        proved(model, best, model.coef_)


@LOSSES
@pytest.mark.parametrize("form", ["max", "sum", "ovr"])
@pytest.mark.parametrize("free", [False, True], ids=["no intercept", "free intercepts"])
def test_classes_against_a_quadratic_program(free, form, loss):
    """Three classes with prices, in every form."""
    case, ones = stream(3, T=26, d=3, classes=3), np.ones(26)
    model = SoftMarginClassifier(C=C, loss=loss, multiclass=form, fit_intercept=free, tol=TOL, random_state=0)
    model.fit(case.X, case.label, sample_weight=case.price)
    program = comparator.classes(
        case.X, case.label, 3, ones, C * case.price, 1.0, form, free=free, squared=loss == "squared_hinge"
    )
    proved(model, comparator.solve(program), model.coef_.ravel())


@EVERY_SOLVER
@LOSSES
def test_duals_are_feasible_and_make_the_weights(loss, solver):
    """One multiplier a row, between 0 and C price, balanced for a free intercept; together they make the weights."""
    case = stream(4, T=60, d=4)
    model = SoftMarginClassifier(C=C, loss=loss, solver=solver, tol=TOL, random_state=0)
    dual = model.fit(case.X, case.label, sample_weight=case.price).dual_
    assert dual.shape == (60,)
    assert dual.min() >= 0.0
    if loss == "hinge":
        assert np.all(dual <= C * case.price * (1 + 1e-12))
    assert abs(dual @ case.sign) <= 1e-9 * dual.sum()
    w = (dual * case.sign) @ case.X
    assert np.linalg.norm(w - model.coef_[0]) <= np.sqrt(2 * model.certificate_.gap) + 1e-12
    slack = model.slack(case.X, case.label)
    loss_paid = slack**2 if loss == "squared_hinge" else slack
    conjugate = dual**2 / (4 * C * case.price) if loss == "squared_hinge" else 0.0
    gap = 0.5 * np.sum(model.coef_**2) + C * case.price @ loss_paid - np.sum(dual - conjugate) + 0.5 * w @ w
    assert gap == pytest.approx(model.certificate_.gap, abs=1e-9 * model.certificate_.primal)
    assert np.array_equal(model.support_, np.flatnonzero(dual))
    assert set(np.flatnonzero(slack > 1e-3)) <= set(model.support_)


@LOSSES
@pytest.mark.parametrize("layout", LAYOUTS)
def test_batch_in_every_layout(layout, loss):
    """The same weights, to what the certificates leave open, however the numbers arrive."""
    case = stream(5)
    plain, other = (
        SoftMarginClassifier(C=C, loss=loss, tol=TOL, random_state=0).fit(X, case.label)
        for X in (case.X, LAYOUTS[layout](case.X))
    )
    assert np.linalg.norm(plain.coef_ - other.coef_) <= plain.certificate_.distance + other.certificate_.distance
    assert close(other.certificate_.primal, plain.certificate_.primal, 2 * TOL)


def test_swapping_the_answer_changes_the_sign():
    """Worse for better in every pair turns the weights round; so does 0 for 1 in every label."""
    case, pairs = stream(6), comparisons(6)
    ours = SoftMarginRanker(C=C).fit_pairs(pairs.X, pairs.pairs)
    turned = SoftMarginRanker(C=C).fit_pairs(pairs.X, pairs.pairs[:, ::-1])
    reach = ours.certificate_.distance + turned.certificate_.distance
    assert np.linalg.norm(ours.coef_ + turned.coef_) <= reach
    ours, turned = (SoftMarginClassifier(C=C).fit(case.X, y) for y in (case.label, 1 - case.label))
    reach = ours.certificate_.distance + turned.certificate_.distance
    assert np.linalg.norm(ours.coef_ + turned.coef_) <= reach


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (SoftMarginClassifier, "fit partial_fit decision_function predict score slack"),
        (SoftMarginRanker, "fit fit_pairs partial_fit_pairs predict rank score explain"),
    ],
)
def test_every_name_of_the_contract_is_there(estimator, names):
    """A method that is promised is there, or says in a sentence that it comes later."""
    model = estimator(lam=0.1)
    assert [name for name in names.split() if not hasattr(model, name)] == []
