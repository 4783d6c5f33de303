"""What makes no sense is refused in one sentence that names it, and a refused call learns nothing."""

import copy
import signal
import threading

import numpy as np
import pytest
from scipy import sparse

from closed_form import same_belief
from refusal import refused
from softmargin import BayesianLinearRegression
from softmargin.regression import learner

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.1 * RNG.normal(size=40)


def bad(value, place, like=X):
    """The rows with one bad value."""
    rows = np.array(like, dtype=object if isinstance(value, str) else float)
    rows[place] = value
    return rows


BAD = {
    "NaN": ((bad(np.nan, (4, 1)), Y), {}, [r"\bX\b", "NaN", "row 4", "column 1"]),
    "inf": ((bad(np.inf, (39, 2)), Y), {}, [r"\bX\b", "inf", "row 39", "column 2"]),
    "huge": ((bad(1e80, (0, 2)), Y), {}, [r"\bX\b", r"1e\+80", "row 0", "column 2"]),
    "sparse NaN": ((sparse.csr_array(bad(np.nan, (7, 0))), Y), {}, [r"\bX\b", "NaN", "row 7", "column 0"]),
    "float32 NaN": ((bad(np.nan, (4, 1)).astype(np.float32), Y), {}, [r"\bX\b", "NaN", "row 4"]),
    "text": ((bad("left", (2, 1)), Y), {}, [r"\bX\b", "left"]),
    "one dimension": ((X[:, 0], Y), {}, [r"\bX\b|2D array"]),
    "no rows": ((X[:0], Y[:0]), {}, ["0 sample"]),
    "no columns": ((X[:, :0], Y), {}, ["0 feature"]),
    "y missing": ((X, None), {}, [r"\by\b"]),
    "y short": ((X, Y[:-1]), {}, [r"\by\b", "39", "40"]),
    "y matrix": ((X, np.c_[Y, Y]), {}, [r"\by\b"]),
    "y NaN": ((X, bad(np.nan, 5, Y)), {}, [r"y\[5\]", "(?i)nan"]),
    "y inf": ((X, bad(-np.inf, 5, Y)), {}, [r"y\[5\]", "inf"]),
    "y huge": ((X, bad(1e80, 5, Y)), {}, [r"y\[5\]", r"1e\+80"]),
    "y text": ((X, ["much"] * 40), {}, [r"\by\b"]),
    "weights short": ((X, Y), {"sample_weight": np.ones(39)}, ["sample_weight"]),
    "weight negative": ((X, Y), {"sample_weight": bad(-1.0, 6, np.ones(40))}, [r"sample_weight\[6\]", "-1"]),
    "weight NaN": ((X, Y), {"sample_weight": bad(np.nan, 6, np.ones(40))}, [r"sample_weight\[6\]", "(?i)nan"]),
    "variances": ((X, Y), {"noise_variance": np.ones(40)}, ["noise_variance", "rows", "unknown"]),
    "other width": ((X[:, :2], Y), {}, ["2 features"]),
}
ROW = {
    "NaN": (bad(np.nan, (0, 1), X[:1]), [1.0], [r"\bX\b", "NaN", "row 0", "column 1"]),
    "inf": (bad(np.inf, (0, 1), X[:1]), [1.0], [r"\bX\b", "inf"]),
    "huge": (bad(-1e100, (0, 1), X[:1]), [1.0], [r"\bX\b", r"1e\+100"]),
    "y NaN": (X[:1], [float("nan")], [r"y\[0\]", "(?i)nan"]),
    "y inf": (X[:1], np.array([np.inf]), [r"y\[0\]", "inf"]),
    "y huge": (X[:1], [1e200], [r"y\[0\]"]),
    "no y": (X[:1], [], [r"\by\b"]),
    "wide": (np.ones((1, 4)), [1.0], ["4 features"]),
}


@pytest.mark.parametrize("options", [{}, {"likelihood": "student_t"}, {"forgetting": 0.9}], ids=str)
@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_refused_and_nothing_is_learned(name, options):
    """By `fit` and by `partial_fit`, on a fresh model and in mid-stream."""
    arguments, more, named = BAD[name]
    fresh = BayesianLinearRegression(**options)
    if name != "other width":
        refused(lambda: fresh.fit(*arguments, **more), *named)
        refused(lambda: fresh.partial_fit(*arguments, **more), *named)
        assert not fresh.__sklearn_is_fitted__()
        assert not hasattr(fresh, "n_features_in_")
    model = BayesianLinearRegression(**options).fit(X, Y).partial_fit(X[:1], Y[:1])
    twin = copy.deepcopy(model)
    refused(lambda: model.partial_fit(*arguments, **more), *named)
    if name != "other width":
        refused(lambda: model.fit(*arguments, **more), *named)
    same_belief(model, twin, rtol=0)
    same_belief(model.partial_fit(X, Y), twin.partial_fit(X, Y), rtol=0)


@pytest.mark.parametrize("name", ROW)
def test_a_bad_row_of_a_live_stream(name):
    """Rows that come one by one are looked at as closely as batches."""
    row, value, named = ROW[name]
    model = BayesianLinearRegression().fit(X, Y).partial_fit(X[:1], Y[:1])
    twin = copy.deepcopy(model)
    refused(lambda: model.partial_fit(row, value), *named)
    same_belief(model.partial_fit(X[1:2], Y[1:2]), twin.partial_fit(X[1:2], Y[1:2]), rtol=0)


@pytest.mark.parametrize(
    "options",
    [
        {"prior_precision": 0.0}, {"prior_precision": -1.0}, {"prior_precision": np.nan}, {"prior_precision": "much"},
        {"prior_precision": True}, {"prior_precision": [1.0, 2.0]}, {"prior_precision": [1.0, 2.0, -1.0]},
        {"prior_precision": np.ones((3, 3))}, {"prior_precision": np.triu(np.ones((3, 3)))}, {"prior_precision": None},
        {"noise": 0.0}, {"noise": -1.0}, {"noise": np.inf}, {"noise": "loud"}, {"noise": None}, {"noise": True},
        {"likelihood": "cauchy"}, {"likelihood": None}, {"forgetting": 0.0}, {"forgetting": 1.5}, {"forgetting": "no"},
        {"evidence": "yes"}, {"evidence": 2}, {"fit_intercept": None},
    ],
    ids=str,
)  # fmt: skip
def test_options_that_make_no_sense(options):
    """The option is named before anything is learned."""
    model = BayesianLinearRegression(**options)
    refused(lambda: model.fit(X, Y), next(iter(options)))
    assert not model.__sklearn_is_fitted__()


def test_options_do_not_change_in_mid_stream():
    """What was learned under one prior is not gone on with under another; `fit` starts anew."""
    model = BayesianLinearRegression().fit(X, Y).set_params(prior_precision=2.0)
    twin = copy.deepcopy(model)
    for call in (model.partial_fit, model.unlearn):
        refused(lambda call=call: call(X[:1], Y[:1]), "prior_precision")
    same_belief(model, twin, rtol=0)
    same_belief(model.fit(X, Y), BayesianLinearRegression(2.0).fit(X, Y), rtol=0)


STRANGERS = {
    "never learned": (3.0 * X, Y),
    "another value": (X[:5], Y[:5] + 50.0),
    "more rows": (np.r_[X, X], np.r_[Y, Y]),
    "as many others": (X + 1.0, Y),
}


@pytest.mark.parametrize("rows", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.parametrize("options", [{}, {"noise": 0.1}, {"fit_intercept": False}], ids=str)
def test_rows_that_were_never_learned_cannot_be_unlearned(options, rows):
    """Where sums of squares would fall below zero, the reason is said and the model stays as it is."""
    model = BayesianLinearRegression(**options).fit(X, Y)
    twin = copy.deepcopy(model)
    refused(lambda: model.unlearn(*rows), "X")
    same_belief(model, twin, rtol=0)


def test_digits_that_would_be_lost_are_not_pretended():
    """One row that outweighs all others by 1e20 cannot be taken out of a sum of 16 digits, and it is said so."""
    rows = np.r_[X, [[1e10, 0.0, 0.0]]]
    model = BayesianLinearRegression().fit(rows, np.r_[Y, 1e10])
    refused(lambda: model.unlearn(rows[-1:], [1e10]), "X", "digits")
    same_belief(model, BayesianLinearRegression().fit(rows, np.r_[Y, 1e10]), rtol=0)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"forgetting": 0.9}, "forgetting"),
        ({"likelihood": "student_t"}, "likelihood"),
        ({"noise": "loglinear"}, "noise"),
    ],
)
def test_what_depends_on_order_neither_merges_nor_is_unlearned(options, named):
    """Where the count of a row depends on other rows, the sentence says so."""
    model, other = (BayesianLinearRegression(**options).fit(X[part], Y[part]) for part in (slice(20), slice(20, 40)))
    twin = copy.deepcopy(model)
    refused(lambda: model + other, named)
    refused(lambda: model.unlearn(X[:3], Y[:3]), named)
    same_belief(model, twin, rtol=0)
    same_belief(BayesianLinearRegression(**options) + model, model, rtol=0)


def test_models_that_do_not_fit_together():
    """Other options or other widths do not merge, and a number is no model."""
    model = BayesianLinearRegression().fit(X, Y)
    refused(lambda: model + BayesianLinearRegression(2.0).fit(X, Y), "prior_precision")
    refused(lambda: model + BayesianLinearRegression(fit_intercept=False).fit(X, Y), "fit_intercept")
    refused(lambda: model + BayesianLinearRegression().fit(X[:, :2], Y), "columns")
    with pytest.raises(TypeError):
        model + 1
    with pytest.raises(TypeError):
        1 + model


def test_more_columns_than_a_posterior_has_room_for():
    """The size is checked before anything of that size is made."""
    for rows in (np.zeros((2, 5001), dtype=np.float32), sparse.csr_array((3, 10_000_000))):
        refused(lambda rows=rows: BayesianLinearRegression().fit(rows, np.zeros(rows.shape[0])), "columns", "5000")


def test_questions_without_an_answer():
    """One row says nothing of an unknown noise: deviations are infinite, and what needs the noise says why not."""
    model = BayesianLinearRegression().fit(X[:1], Y[:1])
    mean, deviation = model.predict(X[:2], return_std=True)
    assert mean == pytest.approx(Y[0])
    assert np.isinf(deviation).all()
    refused(lambda: model.predict_dist(X), "rows")
    refused(lambda: model.sample(2), "rows")
    refused(lambda: model.calibration(X, Y), "rows")
    assert not hasattr(model, "log_evidence_")
    refused(lambda: BayesianLinearRegression().fit(X, Y).sample(-1), "n=-1")
    refused(lambda: BayesianLinearRegression(noise="rows").fit(X, Y, noise_variance=np.zeros(40)), "noise_variance")
    refused(lambda: BayesianLinearRegression().fit(X, Y, sample_weight=np.zeros(40)), "sample_weight")


@pytest.mark.parametrize("options", [{"likelihood": "student_t"}, {}], ids=str)
def test_ctrl_c_learns_nothing(options, monkeypatch):
    """A key pressed while rows are summed leaves the model as it was, and the interrupt is raised."""
    model = BayesianLinearRegression(**options).fit(X, Y)
    twin = copy.deepcopy(model)
    rows, values = np.tile(X, (4000, 1)), np.tile(Y, 4000)
    looked = threading.Event()
    before = learner.batch_of

    def press(*arguments):
        if not looked.is_set():
            looked.set()
            signal.raise_signal(signal.SIGINT)
        return before(*arguments)

    monkeypatch.setattr(learner, "batch_of", press)
    monkeypatch.setattr("softmargin.regression.reweigh.batch_of", press)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(rows, values)
    assert looked.is_set()
    same_belief(model, twin, rtol=0)
