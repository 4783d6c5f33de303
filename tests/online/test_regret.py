"""Regret: what was paid is exact, what the comparator must pay is a true bound, and the notes' bound holds."""

import numpy as np
import pytest

import comparator
import twins
from cases import close, comparisons, stream
from softmargin import SoftMarginClassifier, SoftMarginRanker

LAM = 0.05
SCHEDULES = {
    "strong": {"schedule": "strong"},
    "sqrt": {"schedule": "sqrt", "step0": 0.6},
    "constant": {"schedule": "constant", "step0": 0.3},
    "adaptive": {"schedule": "adaptive"},
    "callable": {"schedule": lambda t: 1.0 / (1.0 + t**0.7)},
}
LOSSES = ["hinge", "squared_hinge"]


def strong(t):
    """The step of the default schedule."""
    return 1.0 / (LAM * t)


def binary_run(case, T):
    """A priced stream of two classes with the notes' path beside it."""
    path = twins.pegasos(case.X, case.sign, LAM, strong, case.price, np.ones(T))
    model = SoftMarginClassifier(lam=LAM, fit_intercept=False)
    return model.partial_fit(case.X, case.label, classes=[0, 1], sample_weight=case.price), path


def test_the_identity():
    """For steps 1/(lam t), paid - lower is sum |g_t|² / (2 lam t), exactly, at every record."""
    case, T = stream(1, T=400), 400
    model, path = binary_run(case, T)
    paid, g, _ = twins.signed_losses(case.sign[:, None] * case.X, path, LAM, case.price, np.ones(T))
    regret, t = model.regret_, np.arange(1, T + 1)
    at = regret.steps.astype(int) - 1
    assert at[-1] == T - 1
    assert close(regret.paid, np.cumsum(paid)[at])
    bound = np.cumsum((g**2).sum(1) / (2 * LAM * t))[at]
    np.testing.assert_allclose(regret.paid - regret.lower, bound, rtol=1e-9)


@pytest.mark.parametrize("average", [False, "mean", True])
def test_the_identity_for_comparisons(average):
    """The identity holds for comparisons with prices and margins, whatever average of the weights is kept."""
    case, T = comparisons(2, T=300), 300
    path = twins.holladay_ranking(case.better, case.worse, LAM, strong, case.price, case.required)
    paid, g, _ = twins.signed_losses(case.better - case.worse, path, LAM, case.price, case.required)
    model = SoftMarginRanker(lam=LAM, average=average)
    regret = model.partial_fit_pairs(case.X, case.pairs, weight=case.price, margin=case.required).regret_
    at = regret.steps.astype(int) - 1
    assert close(regret.paid, np.cumsum(paid)[at])
    bound = np.cumsum((g**2).sum(1) / (2 * LAM * np.arange(1, T + 1)))[at]
    np.testing.assert_allclose(regret.paid - regret.lower, bound, rtol=1e-9)


@pytest.mark.parametrize("form", ["max", "sum", "ovr"])
def test_the_identity_for_classes(form):
    """The identity holds for several classes in every form."""
    case, T = stream(3, T=300, classes=4), 300
    twin = {"max": twins.kraut_max, "sum": twins.kraut_sum, "ovr": twins.one_against_rest}[form]
    path = twin(case.X, case.label, 4, LAM / 2, strong, case.price, np.ones(T))
    paid, g, margins = twins.class_losses(case.X, case.label, path, LAM, case.price, np.ones(T), form)
    model = SoftMarginClassifier(lam=LAM, fit_intercept=False, multiclass=form)
    regret = model.partial_fit(case.X, case.label, classes=range(4), sample_weight=case.price).regret_
    at = regret.steps.astype(int) - 1
    assert close(regret.paid, np.cumsum(paid)[at])
    bound = np.cumsum((g**2).sum((1, 2)) / (2 * LAM * np.arange(1, T + 1)))[at]
    np.testing.assert_allclose(regret.paid - regret.lower, bound, rtol=1e-9)
    assert np.array_equal(regret.mistakes, np.cumsum(margins <= 0)[at])
    np.testing.assert_allclose(regret.steepest, np.sqrt(np.maximum.accumulate((g**2).sum((1, 2)))[at]), rtol=1e-9)


# ------------------------------------------------------------------------------- a true bound


def check(regret, program_after):
    """The certified regret is at least the true one at the end and half-way."""
    for record in (len(regret) // 2, len(regret) - 1):
        T = int(regret.steps[record])
        best = comparator.solve(program_after(T)).value
        assert regret.comparator[record] <= best * (1 + 1e-7)
        assert regret.certified[record] >= regret.paid[record] - best * (1 + 1e-7)
    assert np.all(np.diff(regret.comparator) >= 0)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [11, 12])
def test_certified_is_at_least_the_true_regret_of_comparisons(seed, loss, schedule):
    """Against the solved comparator, for every schedule and loss, with prices and margins."""
    case, squared = comparisons(seed, T=44, d=4), loss == "squared_hinge"
    model = SoftMarginRanker(lam=LAM, loss=loss, **SCHEDULES[schedule])
    regret = model.partial_fit_pairs(case.X, case.pairs, weight=case.price, margin=case.required).regret_
    Z = case.better - case.worse
    check(
        regret,
        lambda T: comparator.signed(Z[:T], case.required[:T], case.price[:T], LAM * T, squared=squared),
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
def test_certified_is_at_least_the_true_regret_of_labels(intercept, loss, schedule):
    """With no intercept, a penalised one, and a free one no larger than the largest that the run itself used."""
    case, squared, ones = stream(13, T=44, d=3), loss == "squared_hinge", np.ones(44)
    model = SoftMarginClassifier(
        lam=LAM, loss=loss, average=False, fit_intercept=intercept != "none",
        penalize_intercept=intercept == "penalised", **SCHEDULES[schedule],
    )  # fmt: skip
    used = [0.0]
    X = case.X + np.array([0.8, 0.0, 0.0])  # an intercept helps
    for t in range(44):
        model.partial_fit(X[t : t + 1], case.label[t : t + 1], classes=[0, 1], sample_weight=case.price[t : t + 1])
        used.append(abs(model.intercept_[0]))
    columns = np.c_[X, ones] if intercept == "penalised" else X
    Z, free = case.sign[:, None] * columns, {"sign": case.sign, "reach": max(used)} if intercept == "free" else {}

    def program(T):
        more = {**free, "sign": case.sign[:T]} if free else {}
        return comparator.signed(Z[:T], ones[:T], case.price[:T], LAM * T, squared=squared, **more)

    check(model.regret_, program)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", ["max", "sum", "ovr"])
def test_certified_is_at_least_the_true_regret_of_classes(form, loss, schedule):
    """Three classes in every form, for every schedule and loss."""
    case, squared, ones = stream(14, T=26, d=3, classes=3), loss == "squared_hinge", np.ones(26)
    model = SoftMarginClassifier(lam=LAM, loss=loss, fit_intercept=False, multiclass=form, **SCHEDULES[schedule])
    model.partial_fit(case.X, case.label, classes=range(3), sample_weight=case.price)

    def program(T):
        return comparator.classes(
            case.X[:T], case.label[:T], 3, ones[:T], case.price[:T], LAM * T, form, squared=squared
        )

    check(model.regret_, program)


@pytest.mark.parametrize("form", ["max", "sum", "ovr"])
@pytest.mark.parametrize("loss", LOSSES)
def test_certified_holds_with_free_intercepts_of_classes(loss, form):
    """One free intercept a class, each no larger than the largest that the run itself used."""
    case, ones = stream(15, T=26, d=3, classes=3), np.ones(26)
    model = SoftMarginClassifier(lam=LAM, loss=loss, average=False, multiclass=form)
    used = [0.0]
    for t in range(26):
        model.partial_fit(case.X[t : t + 1] + 0.5, case.label[t : t + 1], classes=range(3))
        used.append(np.abs(model.intercept_).max())

    def program(T):
        return comparator.classes(
            case.X[:T] + 0.5, case.label[:T], 3, ones[:T], ones[:T], LAM * T, form, free=True,
            squared=loss == "squared_hinge", reach=max(used),
        )  # fmt: skip

    check(model.regret_, program)


def test_certified_holds_for_a_stream_that_goes_on_from_fit():
    """A stream that starts at the weights of `fit` is judged against the comparator of its own constraints."""
    case, new = stream(16, d=3), stream(17, T=40, d=3)
    model = SoftMarginClassifier(lam=LAM, fit_intercept=False, solver="online", tol=0.1, random_state=0)
    regret = model.fit(case.X, case.label).partial_fit(new.X, new.label).regret_
    Z = new.sign[:, None] * new.X
    best = comparator.solve(comparator.signed(Z, np.ones(40), np.ones(40), LAM * 40)).value
    assert regret.comparator[-1] <= best * (1 + 1e-7)
    assert regret.certified[-1] >= regret.paid[-1] - best * (1 + 1e-7)


# ------------------------------------------------------------------------------- predict, then learn


def test_progressive_error_counts_what_was_wrong_when_first_met():
    """Each row is predicted by the weights before its step; wrong or undecided counts, and prices do not."""
    case = stream(21, T=200)
    model, path = binary_run(case, 200)
    _, _, margins = twins.signed_losses(case.sign[:, None] * case.X, path, LAM, case.price, np.ones(200))
    regret = model.regret_
    at = regret.steps.astype(int) - 1
    assert np.array_equal(regret.progressive_error, (np.cumsum(margins <= 0) / np.arange(1, 201))[at])
    assert np.array_equal(regret.violated, np.cumsum(margins < 1)[at])


@pytest.mark.parametrize("classes", [2, 3])
def test_progressive_error_is_what_predict_would_have_said(classes):
    """Asking `predict` before each `partial_fit` counts the same mistakes, intercept and all."""
    case = stream(22, T=120, classes=classes)
    model = SoftMarginClassifier(lam=LAM, average=False)
    model.partial_fit(case.X[:1], case.label[:1], classes=range(classes))
    wrong = 1  # at w = 0 the first row is undecided, which counts
    for t in range(1, 120):
        wrong += model.predict(case.X[t : t + 1])[0] != case.label[t]
        model.partial_fit(case.X[t : t + 1], case.label[t : t + 1])
    assert model.regret_.progressive_error[-1] == wrong / 120


# ------------------------------------------------------------------------------- long streams


@pytest.fixture(scope="module")
def long_run():
    """Twenty thousand rows, learned in one call and in two, with the notes' path."""
    case, T = stream(31, T=20_000), 20_000
    model, path = binary_run(case, T)
    halves = SoftMarginClassifier(lam=LAM, fit_intercept=False)
    for part in (slice(0, 7777), slice(7777, T)):
        halves.partial_fit(case.X[part], case.label[part], classes=[0, 1], sample_weight=case.price[part])
    losses = twins.signed_losses(case.sign[:, None] * case.X, path, LAM, case.price, np.ones(T))
    return model.regret_, halves.regret_, losses


def test_thinning_keeps_exact_values(long_run):
    """A long stream keeps records of some steps, spread over all of it, each exactly what it was."""
    regret, halves, (paid, g, margins) = long_run
    at = regret.steps.astype(int) - 1
    assert 200 <= len(regret) <= 4000
    assert np.all(np.diff(at) > 0)
    assert np.all(np.diff(at) <= 200)
    assert at[-1] == 19_999
    assert close(regret.paid, np.cumsum(paid)[at])
    assert np.array_equal(regret.mistakes, np.cumsum(margins <= 0)[at])
    lower = np.cumsum(paid - (g**2).sum(1) / (2 * LAM * np.arange(1, 20_001)))
    np.testing.assert_allclose(regret.lower, lower[at], rtol=1e-9)
    assert np.array_equal(halves.steps, regret.steps)
    assert close(halves.certified, regret.certified)


def test_regret_grows_with_the_logarithm(long_run):
    """For "strong", each doubling of T adds about the same: regret a constraint goes to zero."""
    regret, _, _ = long_run
    certified = np.interp([2_500, 5_000, 10_000, 20_000], regret.steps, regret.certified)
    added = np.diff(certified)
    assert np.all(added > 0)
    assert added[-1] < 1.5 * added[0]  # like sqrt(T) it would be twice, like T four times as much
    assert certified[-1] / 20_000 < certified[0] / 2_500 / 4


def test_the_bound_of_the_notes(long_run):
    """(G²/2H)(1 + log T) with H = lam and the largest gradient measured; never below the certified regret."""
    regret, _, (_, g, _) = long_run
    at = regret.steps.astype(int) - 1
    G = np.sqrt(np.maximum.accumulate((g**2).sum(1))[at])
    np.testing.assert_allclose(regret.steepest, G, rtol=1e-9)
    np.testing.assert_allclose(regret.bound, G**2 / (2 * LAM) * (1 + np.log(at + 1)), rtol=1e-9)
    assert np.all(regret.bound >= regret.certified * (1 - 1e-12))


@pytest.mark.parametrize("seed", range(41, 47))
@pytest.mark.parametrize("loss", LOSSES)
def test_the_bound_of_the_notes_is_never_below_the_certified_regret(loss, seed):
    """At every step of short streams too, for both losses, with prices."""
    case = stream(seed, T=150)
    model = SoftMarginClassifier(lam=LAM, loss=loss, fit_intercept=False)
    regret = model.partial_fit(case.X, case.label, classes=[0, 1], sample_weight=case.price).regret_
    assert np.all(regret.bound >= regret.certified * (1 - 1e-12))


@pytest.mark.parametrize("schedule", ["sqrt", "constant"])
@pytest.mark.parametrize("seed", [51, 52, 53])
def test_the_sqrt_bound_holds(seed, schedule):
    """D²/(2 step_T) + G²/2 sum step, with D and G as measured, is at least the true regret."""
    case, ones = stream(seed, T=44, d=3), np.ones(44)
    model = SoftMarginClassifier(lam=LAM, fit_intercept=False, **SCHEDULES[schedule])
    regret = model.partial_fit(case.X, case.label, classes=[0, 1]).regret_
    Z = case.sign[:, None] * case.X
    for record in (9, 29, len(regret) - 1):
        T = int(regret.steps[record])
        best = comparator.solve(comparator.signed(Z[:T], ones[:T], ones[:T], LAM * T))
        assert regret.bound[record] >= regret.paid[record] - best.value * (1 + 1e-7)
        alpha = (lambda t: 0.6 / np.sqrt(t)) if schedule == "sqrt" else (lambda _t: 0.3)
        path = twins.pegasos(case.X[:T], case.sign[:T], LAM, alpha, ones[:T], ones[:T])
        _, g, _ = twins.signed_losses(Z[:T], path, LAM, ones[:T], ones[:T])
        D, G = np.linalg.norm(twins.before(path) - best.w, axis=1).max(), np.linalg.norm(g, axis=1).max()
        steps = np.array([alpha(t) for t in range(1, T + 1)])
        assert regret.bound[record] >= (D**2 / (2 * steps[-1]) + G**2 / 2 * steps.sum()) * (1 - 1e-9)


@pytest.mark.nojit
@pytest.mark.parametrize("loss", LOSSES)
def test_regret_reads_well_from_the_first_step(loss):
    """One constraint met is one record, and its certified regret is not negative beyond rounding."""
    model = SoftMarginClassifier(lam=LAM, loss=loss, fit_intercept=False)
    regret = model.partial_fit([[1.0, 2.0]], [1], classes=[0, 1]).regret_
    assert regret.steps.tolist() == [1.0]
    assert regret.paid.tolist() == [1.0]  # the slack at w = 0, and no weights yet
    assert regret.progressive_error.tolist() == [1.0]
    assert regret.certified[0] > 0
    assert "1" in str(regret)
