"""What holds between fits: twice the same, in another order, with copies, from another process or thread."""

import pickle
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

import comparator
from awkward import small
from cases import comparisons, stream
from softmargin import SoftMarginClassifier, SoftMarginRanker, verify

SOLVERS = pytest.mark.parametrize("solver", ["auto", "dual", "newton"])
LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
FORMS = ("labels", "max", "sum", "ovr", "pairs")
EVERY_FORM = pytest.mark.parametrize("form", FORMS)


def arguments(form, seed=8, **size):
    """An estimator's class, options and the arguments of its fit, for each form of problem."""
    if form == "pairs":
        case = comparisons(seed, **size)
        return SoftMarginRanker, {}, (case.X, case.pairs)
    case = stream(seed, classes=2 if form == "labels" else 3, **size)
    return SoftMarginClassifier, {} if form == "labels" else {"multiclass": form}, (case.X, case.label)


def fitted(form, *, seed=8, size=None, weight=None, **options):
    """A model of a small problem."""
    kind, form_options, (X, y) = arguments(form, seed, **(size or {}))
    return learn(kind(**form_options, **options), X, y, weight)


def learn(model, X, y, weight=None):
    """Fit labels or pairs, whichever there are."""
    if isinstance(model, SoftMarginRanker):
        return model.fit_pairs(X, y, weight=weight)
    return model.fit(X, y, sample_weight=weight)


def near(one, other):
    """Two models of one problem: no farther apart than their certificates say, objectives no more than their gaps."""
    ours, theirs = one.certificate_, other.certificate_
    assert np.linalg.norm(one.coef_ - other.coef_) <= (ours.distance + theirs.distance) * (1 + 1e-9)
    assert ours.dual <= theirs.primal * (1 + 1e-12)
    assert theirs.dual <= ours.primal * (1 + 1e-12)


@SOLVERS
@LOSSES
@EVERY_FORM
def test_the_same_seed_gives_the_same_bits(form, loss, solver):
    """Weights, duals and certificate of two fits are equal to the last bit; only the seconds differ."""
    one, other = (fitted(form, loss=loss, solver=solver, random_state=3) for _ in range(2))
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.dual_, other.dual_)
    for name in ("primal", "dual", "gap", "distance", "passes", "reason"):
        assert getattr(one.certificate_, name) == getattr(other.certificate_, name)


@SOLVERS
@LOSSES
@EVERY_FORM
def test_the_order_of_constraints_does_not_matter(form, loss, solver):
    """Rows shuffled, the weights are as near as the certificates say, and each row's dual proves the same."""
    kind, options, (X, y) = arguments(form)
    order = np.random.default_rng(0).permutation(len(y))
    rows = (X, y[order]) if form == "pairs" else (X[order], y[order])
    plain, turned = (
        learn(kind(C=2.0, loss=loss, solver=solver, tol=1e-7, **options), *data) for data in ((X, y), rows)
    )
    near(plain, turned)


@SOLVERS
@LOSSES
@EVERY_FORM
def test_weight_k_is_k_copies_is_k_times_the_price(form, loss, solver):
    """Whole weights, copies written out, and, where all weights are k, k times C: one problem."""
    kind, options, (X, y) = arguments(form)
    options = {"loss": loss, "solver": solver, "tol": 1e-7, **options}
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    weight[: y.max() + 1 if form != "pairs" else 1] = 2
    copies = (
        (X, np.repeat(y, weight, axis=0)) if form == "pairs" else (np.repeat(X, weight, axis=0), np.repeat(y, weight))
    )
    near(learn(kind(**options), X, y, weight), learn(kind(**options), *copies))
    near(learn(kind(**options), X, y, np.full(len(y), 3.0)), learn(kind(C=3.0, **options), X, y))


@SOLVERS
@LOSSES
@EVERY_FORM
def test_what_is_refitted_forgets_what_it_was(form, loss, solver):
    """A model fitted to something else before ends where a fresh one does: nothing is left of the first fit."""
    kind, options, (X, y) = arguments(form)
    options = {"loss": loss, "solver": solver, "random_state": 1, **options}
    used = learn(kind(**options), *arguments(form, seed=9, T=30)[2])
    assert np.array_equal(learn(used, X, y).coef_, learn(kind(**options), X, y).coef_)
    assert len(used.dual_) == len(y)


@SOLVERS
@LOSSES
def test_duals_are_feasible_and_complementary(loss, solver):
    """No slack, no force; short of the margin, all of it (hinge) or twice the price of the slack (its square).

    |dual - target| is bounded by what the gap leaves: a sum of terms, each at least price times what is missed.
    """
    C = 0.7
    for seed in range(5):
        model = fitted("labels", seed=seed, C=C, loss=loss, solver=solver, tol=1e-9)
        _, _, (X, y) = arguments("labels", seed)
        short = 1.0 - model.margins(X, y)
        dual, gap = model.dual_, model.certificate_.gap
        assert dual.min() >= 0.0
        assert abs(dual @ np.where(y == 1, 1.0, -1.0)) <= 1e-12 * dual.sum()
        if loss == "hinge":
            assert dual.max() <= C
            missed = np.where(short > 0, (C - dual) * short, -dual * short)
        else:
            missed = C * np.maximum(short, 0) ** 2 + dual**2 / (4 * C) - dual * short
        assert missed.min() >= -1e-12
        assert missed.sum() <= gap * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("form", ["max", "sum", "ovr"])
@pytest.mark.parametrize("solver", ["auto", "dual"])
def test_duals_of_classes_are_feasible(solver, form):
    """At most the price a row ("max") or each, nothing for the right class, and balanced for free intercepts."""
    C = 0.7
    for seed in range(5):
        model = fitted(form, seed=seed, C=C, solver=solver, tol=1e-6)
        _, _, (X, y) = arguments(form, seed)
        dual = model.dual_
        assert dual.shape == (len(y), 3)
        assert dual.min() >= 0.0
        assert (dual.sum(axis=1) if form == "max" else dual).max() <= C * (1 + 1e-12)
        mine = np.eye(3, dtype=bool)[y]
        if form == "ovr":
            feels = np.where(mine, dual, -dual)
        else:
            assert not dual[mine].any()
            feels = np.where(mine, dual.sum(axis=1)[:, None], -dual)
        assert np.abs(feels.sum(axis=0)).max() <= 1e-9 * dual.sum()
        made = feels.T @ X
        assert np.linalg.norm(made - model.coef_) <= np.sqrt(2 * model.certificate_.gap) * (1 + 1e-9) + 1e-12


@SOLVERS
@LOSSES
@EVERY_FORM
def test_one_pass_is_a_true_certificate(form, loss, solver):
    """`max_passes=1`: weights, a warning unless that was enough, and a gap that verifies."""
    kind, options, (X, y) = arguments(form)
    model = kind(loss=loss, solver=solver, max_passes=1, tol=1e-12, random_state=0, **options)
    with pytest.warns(ConvergenceWarning, match="NOT converged"):
        learn(model, X, y)
    found = verify(model, X, y)
    assert found.gap == pytest.approx(model.certificate_.gap, rel=1e-9)
    assert found.gap >= 0.0
    best = learn(kind(loss=loss, tol=1e-9, **options), X, y).certificate_
    assert model.certificate_.dual <= best.primal
    assert model.certificate_.primal >= best.dual


@SOLVERS
@LOSSES
@EVERY_FORM
def test_no_tolerance_ends_where_float64_ends(form, loss, solver):
    """`tol=0` comes to an end soon and says why; what it proves is far below any tolerance asked for otherwise."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fitted(form, loss=loss, solver=solver, tol=0.0, random_state=0)
    assert time.process_time() - started < 30.0
    certificate = model.certificate_
    assert certificate.gap >= 0.0
    assert certificate.relative_gap <= (1e-9 if solver != "dual" else 1e-4)
    if not certificate.converged:
        assert "precision of float64" in certificate.reason or "max_passes" in certificate.reason


def test_no_tolerance_ends_on_awkward_problems_too():
    """The same for forty awkward ones: an end, and a certificate that is never negative."""
    for seed in range(40):
        case = small(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = case.fitted(tol=0.0)
        certificate, (w, bias) = model.certificate_, case.weights(model)
        assert certificate.gap >= 0.0, case.name
        assert certificate.dual <= comparator.worth(case.program, w, bias) * (1 + 1e-9) + 1e-12, case.name


@EVERY_FORM
def test_verbose_prints_the_certificate(form, capsys):
    """One line, the certificate's own; nothing without it."""
    model = fitted(form, verbose=1)
    assert capsys.readouterr().out == f"{model.certificate_}\n"
    fitted(form)
    assert capsys.readouterr().out == ""


@SOLVERS
@EVERY_FORM
def test_threads_do_not_meet(form, solver):
    """Two fits at once, in two threads, on data large enough for both cores: what each gives alone."""
    size = {"T": 3000, "d": 20}
    options = {"solver": solver, "random_state": 0, "tol": 1e-5, "size": size}
    alone = [fitted(form, seed=seed, **options).coef_ for seed in (1, 2)]
    found = [None, None]

    def work(place):
        found[place] = fitted(form, seed=place + 1, **options).coef_

    threads = [threading.Thread(target=work, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert np.array_equal(alone[0], found[0])
    assert np.array_equal(alone[1], found[1])


@pytest.mark.parametrize("form", ["labels", "max", "pairs"])
def test_a_pickled_model_keeps_its_proof(form):
    """Weights, duals, certificate and answers to `verify` survive; the copy can be fitted again."""
    kind, options, (X, y) = arguments(form)
    model = learn(kind(random_state=0, **options), X, y)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 our own bytes
    assert copy.certificate_ == model.certificate_
    assert np.array_equal(copy.dual_, model.dual_)
    assert np.array_equal(copy.predict(X), model.predict(X))
    assert verify(copy, X, y).gap == verify(model, X, y).gap
    assert np.array_equal(learn(copy, X, y).coef_, model.coef_)


@SOLVERS
@LOSSES
@pytest.mark.parametrize("form", ["labels", "max", "sum", "ovr"])
def test_rows_of_zeros_hold_nobody_up(form, loss, solver):
    """What a row of zeros lacks no weights can mend: it costs its price, and no solver waits for it."""
    kind, options, (X, y) = arguments(form, T=120, d=5)
    X = np.where(np.arange(120)[:, None] % 7 == 3, 0.0, X)
    model = kind(loss=loss, solver=solver, fit_intercept=False, tol=1e-8, random_state=0, **options).fit(X, y)
    whole = np.any(X != 0.0, axis=1)
    without = kind(loss=loss, solver=solver, fit_intercept=False, tol=1e-8, random_state=0, **options)
    without.fit(X[whole], y[whole])
    rivals = {"labels": 1, "max": 1, "sum": 2, "ovr": 3}[form]
    lost = rivals * np.sum(~whole)
    assert model.certificate_.converged
    assert model.certificate_.primal == pytest.approx(without.certificate_.primal + lost, rel=1e-7)


def test_blas_gets_its_threads_back():
    """However many fits ran at once, and in whichever threads, BLAS has as many threads after as before."""
    before = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    threads = [threading.Thread(target=fitted, args=("labels",), kwargs={"seed": seed}) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"] == before
