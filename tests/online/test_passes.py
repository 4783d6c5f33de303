"""`fit(solver="online")`: shuffled passes of the same steps, told apart by their random state alone."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import twins
from cases import close, comparisons, stream
from softmargin import SoftMarginClassifier, SoftMarginRanker, verify


def one_pass(model, *data, **more):
    """Fit with a single pass, which warns that it is not enough."""
    with pytest.warns(ConvergenceWarning, match="gap|objective"):
        return model.set_params(max_passes=1, tol=1e-12).fit(*data, **more)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_random_state_decides(loss):
    """One seed gives one result; another seed gives another order and other weights."""
    case = stream(1)
    fits = [
        one_pass(SoftMarginClassifier(C=0.3, solver="online", loss=loss, random_state=seed), case.X, case.label).coef_
        for seed in (5, 5, 6)
    ]
    assert np.array_equal(fits[0], fits[1])
    assert not np.allclose(fits[0], fits[2], rtol=1e-6)
    state = np.random.RandomState(5)
    again = one_pass(SoftMarginClassifier(C=0.3, solver="online", loss=loss, random_state=state), case.X, case.label)
    assert np.array_equal(fits[0], again.coef_)


def test_one_pass_is_the_note_in_some_order():
    """Five comparisons passed once give the weights of Wu's pseudo-code for one of the 120 orders."""
    from itertools import permutations

    case = comparisons(2, T=5)
    lam = 1 / (0.8 * 5)
    model = SoftMarginRanker(C=0.8, solver="online", average=False, random_state=3)
    with pytest.warns(ConvergenceWarning):
        model.set_params(max_passes=1, tol=1e-12).fit_pairs(case.X, case.pairs)
    ones = np.ones(5)
    orders = [list(order) for order in permutations(range(5))]
    runs = [
        twins.wu_ranking(case.better[order], case.worse[order], lam * 5, lambda t: 1 / (lam * t), ones, ones)[-1]
        for order in orders
    ]
    assert any(close(model.coef_, run) for run in runs)
    assert model.certificate_.passes == 1


def test_both_prices_are_two_names_of_one_number():
    """`lam = 1/(C T)`: both give the same run, and both at once are refused."""
    case = stream(3)
    by_C = one_pass(SoftMarginClassifier(C=0.5, solver="online", random_state=1), case.X, case.label)
    by_lam = one_pass(SoftMarginClassifier(lam=1 / (0.5 * 70), solver="online", random_state=1), case.X, case.label)
    assert close(by_lam.coef_, by_C.coef_, 1e-9)
    with pytest.raises(ValueError, match=r"lam=.* and C="):
        SoftMarginClassifier(C=0.5, lam=0.1).fit(case.X, case.label)


def test_passes_go_on_until_the_gap_closes():
    """The online solver stops at the tolerance, says so, and its certificate is true: dual <= primal within tol."""
    case = stream(4, T=200)
    model = SoftMarginClassifier(C=0.01, solver="online", tol=0.02, random_state=0).fit(case.X, case.label)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.reason == "tol"
    assert certificate.solver == "online"
    assert certificate.relative_gap <= 0.02
    assert 1 <= certificate.passes <= 1000
    loss = model.slack(case.X, case.label).sum()
    assert certificate.primal == pytest.approx(0.5 * np.sum(model.coef_**2) + 0.01 * loss, rel=1e-9)
    assert certificate.dual == pytest.approx(certificate.primal - certificate.gap, rel=1e-9)


def test_not_converged_is_said_aloud():
    """A run that stops early warns with the gap it was left with, and the certificate says the same."""
    case = stream(5)
    with pytest.warns(ConvergenceWarning) as caught:
        model = SoftMarginClassifier(C=10.0, solver="online", max_passes=2, tol=1e-9).fit(case.X, case.label)
    assert not model.certificate_.converged
    assert model.certificate_.reason == "max_passes"
    assert model.certificate_.gap > 0
    assert f"{model.certificate_.relative_gap:.1e}" in str(caught[0].message)


@pytest.mark.parametrize("schedule", ["strong", "sqrt", "adaptive"])
def test_a_stream_goes_on_from_fit(schedule):
    """After `fit`, `partial_fit` takes its first step from the weights of `fit`, as constraint T + 1."""
    case, new = stream(6), stream(7, T=30)
    lam = 0.4
    model = SoftMarginClassifier(
        lam=lam, schedule=schedule, average=False, fit_intercept=False, solver="online", random_state=0, tol=0.2,
    )  # fmt: skip
    w = model.fit(case.X, case.label).coef_[0].copy()
    for t, (x, label) in enumerate(zip(new.X, new.label, strict=True), 71):
        model.partial_fit(x[None], [label])
        if schedule != "adaptive":
            z = x if label else -x
            step = 1 / (lam * t) if schedule == "strong" else 1 / np.sqrt(t)
            w = (1 - step * lam) * w + (step * z if z @ w < 1 else 0.0)
            assert close(model.coef_[0], w)
    assert model.regret_.steps[-1] == 30


def test_fit_forgets_the_stream():
    """`fit` after a stream gives what `fit` alone gives."""
    case = stream(8)
    fresh = SoftMarginClassifier(lam=0.2, solver="online", random_state=0, tol=0.1).fit(case.X, case.label)
    used = SoftMarginClassifier(lam=0.2, solver="online", random_state=0, tol=0.1)
    used.partial_fit(case.X[:9, :2], case.label[:9], classes=[0, 1]).fit(case.X, case.label)
    assert np.array_equal(used.coef_, fresh.coef_)
    assert np.array_equal(used.regret_.paid, fresh.regret_.paid)


@pytest.mark.parametrize("form", ["binary", "max", "sum", "ovr"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("schedule", ["strong", "adaptive"])
def test_no_dual_at_all_is_the_least_that_a_fit_proves(schedule, loss, form):
    """However wild the steps, the dual that is kept proves no less than zeros do, and `verify` says the same."""
    case = stream(3, T=60, d=4, classes=2 if form == "binary" else 3)
    shape = {} if form == "binary" else {"multiclass": form}
    model = SoftMarginClassifier(
        C=100.0, solver="online", loss=loss, schedule=schedule, max_passes=3, random_state=0, **shape
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(100.0 * case.X, case.label)
    assert model.certificate_.dual >= -1e-9 * model.certificate_.primal
    assert model.certificate_.relative_gap <= 1.0 + 1e-9
    assert verify(model, 100.0 * case.X, case.label).gap == pytest.approx(model.certificate_.gap, rel=1e-9)
