"""Ctrl-C and `max_passes`: a fit that is cut short keeps its best weights, and proves how good they are."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cases import comparisons, stream
from softmargin import SoftMarginClassifier, SoftMarginRanker, verify
from softmargin.solvers import (
    class_dual,
    class_newton,
    descent,
    dual,
    group_stream,
    newton,
    online_fit,
    problem,
    score_newton,
)
from softmargin.solvers.interrupts import held_interrupts, stop_if_interrupted

SOLVERS = ("auto", "dual", "newton", "online")
KINDS = ((2, "max"), (3, "max"), (3, "sum"), (4, "ovr"))
EVERY = pytest.mark.parametrize("solver", SOLVERS)
EVERY_KIND = pytest.mark.parametrize(("classes", "form"), KINDS)
STEPS = (descent, newton, class_newton, online_fit, score_newton, group_stream)  # all modules that ask for interrupts
OVERSHOOT = 5  # passes beyond max_passes, for what was under way and the proof; in "ovr" each class may


def press():
    """What the terminal does at Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


def press_at(monkeypatch, count):
    """Press Ctrl-C at the step with this number, counted over all solvers; returns the list of steps made."""
    made = []

    def step():
        made.append(None)
        if len(made) == count:
            press()
        stop_if_interrupted()

    for module in STEPS:
        monkeypatch.setattr(module, "stop_if_interrupted", step)
    return made


def model_of(solver, classes, form, seed, **options):
    """A classifier that would never be satisfied, and its data."""
    case = stream(seed, T=200, d=7, classes=classes)
    options = {"C": 3.0, "tol": 0.0, "max_passes": 10**6, "random_state": seed, **options}
    return SoftMarginClassifier(solver=solver, multiclass=form, **options), case.X, case.label


def proved(model, X, y):
    """The certificate is that of `verify`: it is true of the weights and duals that were kept."""
    told, found = model.certificate_, verify(model, X, y)
    assert found.reason == "with the duals as stored"
    assert abs(found.gap - told.gap) <= 1e-9 * told.primal
    assert abs(found.primal - told.primal) <= 1e-9 * told.primal
    assert not told.converged
    return told


# ------------------------------------------------------------------------------- Ctrl-C


@EVERY
@EVERY_KIND
@pytest.mark.parametrize("count", [1, 2, 6])
def test_the_best_weights_are_kept(count, classes, form, solver, monkeypatch):
    """Interrupted at any step, a fit ends with weights, a true certificate, the reason, and a warning with the gap."""
    model, X, y = model_of(solver, classes, form, count)
    made = press_at(monkeypatch, count)
    with pytest.warns(ConvergenceWarning, match="NOT converged to .*stopped: interrupted"):
        model.fit(X, y)
    told = proved(model, X, y)
    assert "interrupted" in told.reason
    assert len(made) <= count + classes
    assert model.predict(X).shape == y.shape
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@EVERY
@pytest.mark.parametrize("count", [1, 4, 30])
def test_the_best_weights_of_grades_are_kept(count, solver, monkeypatch):
    """The same where constraints are all pairs of grades, listed or not."""
    rng = np.random.default_rng(count)
    X, y, qid = rng.normal(size=(120, 6)), rng.integers(0, 4, 120), rng.integers(0, 9, 120)
    model = SoftMarginRanker(C=0.3, tol=0.0, max_passes=10**6, solver=solver)
    press_at(monkeypatch, count)
    with pytest.warns(ConvergenceWarning, match="NOT converged to .*stopped: interrupted"):
        model.fit(X, y, qid=qid)
    found = verify(model, X, y, qid=qid)
    assert model.certificate_.reason == "interrupted"
    assert found.relative_gap == pytest.approx(model.certificate_.relative_gap, rel=1e-6)


@EVERY
def test_more_steps_are_not_worse(solver, monkeypatch):
    """The weights kept are the best ones so far: whoever waits longer has no larger gap."""
    gaps = []
    for count in (1, 8, 40):
        model, X, y = model_of(solver, 2, "max", 3)
        with monkeypatch.context() as patch:
            press_at(patch, count)
            with pytest.warns(ConvergenceWarning):
                model.fit(X, y)
        gaps.append(model.certificate_.relative_gap)
    assert gaps[2] <= gaps[1] < 0.9 <= gaps[0]


@pytest.mark.parametrize("solver", ["dual", "newton"])
def test_one_class_against_the_rest_stops_them_all(solver, monkeypatch):
    """Interrupted in the first of ten classes, the nine others take one step in all each, not hours."""
    case = stream(4, T=400, d=8, classes=10)
    made = press_at(monkeypatch, 5)
    model = SoftMarginClassifier(C=3.0, tol=0.0, max_passes=10**6, multiclass="ovr", solver=solver)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(case.X, case.label)
    assert len(made) == 5 + 9
    proved(model, case.X, case.label)
    assert np.any(model.coef_[0] != 0.0)


PLACES = [  # where a Ctrl-C may land outside the steps, in setting up, in between, in the proof
    ("dual", 2, dual, "lengths2"), ("dual", 2, dual, "margins_of"), ("dual", 2, dual, "solution_at"),
    ("dual", 2, dual, "over_ranges"), ("dual", 3, class_dual, "lengths2"), ("dual", 3, class_dual, "class_solution_at"),
    ("newton", 2, newton, "trace_of"), ("newton", 2, newton, "settle"), ("newton", 2, newton, "solution_at"),
    ("newton", 2, newton, "over_ranges"), ("newton", 2, problem, "over_ranges"),
    ("newton", 3, class_newton, "trace_of"), ("newton", 3, class_newton, "over_ranges"),
    ("newton", 3, class_newton, "class_solution_at"),
    ("online", 2, online_fit, "OnlineRun"), ("online", 2, problem, "over_ranges"),
]  # fmt: skip


@pytest.mark.parametrize(("solver", "classes", "module", "name"), PLACES)
def test_it_may_land_anywhere(solver, classes, module, name, monkeypatch):
    """In setting up, in a sum over ranges or in a proof: weights and certificate are kept all the same."""
    model, X, y = model_of(solver, classes, "max", 5, max_passes=40)
    work, calls = getattr(module, name), []

    def struck(*given, **named):
        if not calls:
            press()
        calls.append(None)
        return work(*given, **named)

    monkeypatch.setattr(module, name, struck)
    try:
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
    except KeyboardInterrupt:  # it came in the last proof, when there was nothing left to stop: the fit is whole
        assert model.certificate_.reason != "interrupted"
    assert calls
    told = proved(model, X, y)
    assert told.reason in {"interrupted", "max_passes", "precision of float64"}


def test_before_anything_is_solved_nothing_is_changed(monkeypatch):
    """Ctrl-C while the data are read leaves the model as it was, and is passed on."""
    case = stream(6)
    model = SoftMarginClassifier(C=0.3).fit(case.X, case.label)
    before, certificate = model.coef_.copy(), model.certificate_
    read = model._constraints

    def struck(*given):
        press()
        return read(*given)

    monkeypatch.setattr(model, "_constraints", struck)
    with pytest.raises(KeyboardInterrupt):
        model.fit(-case.X, case.label)
    assert np.array_equal(model.coef_, before)
    assert model.certificate_ is certificate


def test_a_stream_learns_its_rows_first():
    """Ctrl-C within `partial_fit` is passed on when all rows of the call are learned."""
    case = stream(10)
    pressed = []

    def step(t):
        if t == 9 and not pressed:
            press()
            pressed.append(t)
        return 0.1

    plain = SoftMarginClassifier(lam=0.1, schedule="constant", step0=0.1)
    plain.partial_fit(case.X, case.label, classes=[0, 1])
    struck = SoftMarginClassifier(lam=0.1, schedule=step)
    with pytest.raises(KeyboardInterrupt):
        struck.partial_fit(case.X, case.label, classes=[0, 1])
    assert pressed == [9]
    assert np.array_equal(struck.coef_, plain.coef_)


def test_comparisons_are_kept_too(monkeypatch):
    """A ranker that is interrupted keeps weights, answers and their certificate."""
    case = comparisons(7)
    press_at(monkeypatch, 4)
    model = SoftMarginRanker(C=3.0, tol=0.0, max_passes=10**6)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit_pairs(case.X, case.pairs)
    found = verify(model, case.X, case.pairs)
    assert found.gap == pytest.approx(model.certificate_.gap, rel=1e-9)
    assert model.explain(case.X, 0, 1).answers is not None


def test_the_second_press_strikes_at_once():
    """Held back once, not twice; and a press that nobody asked for is raised at the end."""
    with held_interrupts():
        press()
        with pytest.raises(KeyboardInterrupt):
            stop_if_interrupted()
        with pytest.raises(KeyboardInterrupt):
            press()
    reached = []

    @held_interrupts()
    def struck():
        press()
        reached.append(True)

    with pytest.raises(KeyboardInterrupt):
        struck()
    assert reached == [True]
    stop_if_interrupted()


def test_somebody_elses_handler_stays():
    """Who handles the signal differently, or fits in another thread, is left alone."""
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    try:
        with held_interrupts():
            press()
            stop_if_interrupted()
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [True]
    case, models = stream(8), []
    fit = threading.Thread(target=lambda: models.append(SoftMarginClassifier(C=0.3).fit(case.X, case.label)))
    fit.start()
    fit.join()
    assert models[0].certificate_.converged


PROGRAM = """
import os, signal, sys, threading, time, warnings
import numpy as np
from softmargin import SoftMarginClassifier, verify
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(30_000, 40))
y = np.argmax(X[:, :6] + 2.0 * rng.normal(size=(30_000, 6)), axis=1)
for solver, form, classes in [("auto", "max", 2), ("dual", "max", 2), ("newton", "max", 2), ("online", "max", 2),
                              ("dual", "ovr", 6), ("newton", "sum", 3), ("online", "max", 3)]:
    label = np.minimum(y, classes - 1)
    model = SoftMarginClassifier(C=100.0, tol=0.0, max_passes=10**9, solver=solver, multiclass=form, random_state=0)
    SoftMarginClassifier(C=1e-6, solver=solver, multiclass=form, max_passes=2).fit(X[:99], label[:99])
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    started = time.perf_counter()
    timer.start()
    model.fit(X, label)
    seconds = time.perf_counter() - started
    timer.cancel()
    found, told = verify(model, X, label), model.certificate_
    good = "interrupted" in told.reason and abs(found.gap - told.gap) <= 1e-9 * told.primal and not told.converged
    print(solver, form, classes, good and seconds < 30, told, sep="; ")
"""


def test_a_real_key_in_a_real_fit():
    """A signal from a timer, at no chosen place, in fits that would take long: each ends with a true certificate."""
    started = time.perf_counter()
    done = subprocess.run(  # noqa: S603 our own program
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 7
    assert [line for line in lines if "; True; " not in line] == []
    assert time.perf_counter() - started < 200


# ------------------------------------------------------------------------------- max_passes


@EVERY
@EVERY_KIND
@pytest.mark.parametrize("most", [1, 2, 5, 17])
def test_passes_used_up(most, classes, form, solver):
    """Out of passes, the certificate is true, the warning states the gap, and few passes more were made."""
    model, X, y = model_of(solver, classes, form, most, max_passes=most, loss="hinge", tol=1e-13)
    with pytest.warns(ConvergenceWarning, match=r"NOT converged to \d\.\de[-+]\d+ .*stopped: max_passes"):
        model.fit(X, y)
    told = proved(model, X, y)
    each = classes if form == "ovr" and solver != "online" else 1
    assert told.passes <= each * (most + (0 if solver == "online" else OVERSHOOT))
    assert told.dual <= told.primal


@pytest.mark.parametrize("free", [False, True])
def test_conjugate_gradients_count_their_passes(free, monkeypatch):
    """Where the Newton matrix is too large to be written out, the steps of its solution are passes too, and few."""
    monkeypatch.setattr(newton, "GRAM_WIDTH", 0)
    monkeypatch.setattr(class_newton, "DIRECT_UNKNOWNS", 0)
    for classes in (2, 3):
        model, X, y = model_of("newton", classes, "max", 9, max_passes=12, fit_intercept=free, loss="squared_hinge")
        model.set_params(C=1e4, tol=1e-13)
        with pytest.warns(ConvergenceWarning, match="max_passes"):
            model.fit(X, y)
        assert proved(model, X, y).passes <= 12 + OVERSHOOT
