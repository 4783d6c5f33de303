"""Bad input is refused in one sentence that names the argument and the row, and a refused call learns nothing."""

import copy
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from cases import stream
from refusal import complaint, one_sentence, refused, same, state
from softmargin import SoftMarginClassifier

CASE, MANY = stream(1, T=12, d=3), stream(2, T=12, d=3, classes=3)


def bad(value, place, like=CASE.X):
    """The rows with one bad value."""
    X = like.copy()
    X[place] = value
    return X


def wrong_labels(*labels, dtype=None):
    """The labels of the stream, with the last ones replaced."""
    y = CASE.label.astype(dtype or type(labels[0]))
    y[-len(labels) :] = labels
    return y


# What partial_fit of a classifier of classes 0 and 1 refuses, in whatever state it is: arguments, and what is named.
X, y = CASE.X, CASE.label
BAD_ROWS = {
    "NaN": ((bad(np.nan, (4, 1)), y), {}, [r"\bX\b", "NaN", "row 4", "column 1"]),
    "inf": ((bad(np.inf, (0, 2)), y), {}, [r"\bX\b", "inf", "row 0", "column 2"]),
    "-inf": ((bad(-np.inf, (11, 0)), y), {}, [r"\bX\b", "inf", "row 11", "column 0"]),
    "float32 NaN": ((bad(np.nan, (4, 1)).astype(np.float32), y), {}, [r"\bX\b", "NaN", "row 4", "column 1"]),
    "sparse NaN": ((sparse.csr_matrix(bad(np.nan, (4, 1))), y), {}, [r"\bX\b", "NaN", "row 4", "column 1"]),
    "sparse inf": ((sparse.csc_matrix(bad(np.inf, (7, 2))), y), {}, [r"\bX\b", "inf", "row 7", "column 2"]),
    "one dimension": ((X[:, 0], y), {}, [r"\bX\b|2D array"]),
    "three dimensions": ((X[None], y), {}, [r"\bX\b|3"]),
    "no rows": ((X[:0], y[:0]), {}, [r"\bX\b|0 sample"]),
    "no columns": ((X[:, :0], y), {}, [r"\bX\b|0 feature"]),
    "text in X": ((bad("left", (2, 1), X.astype(object)), y), {}, [r"\bX\b", "left"]),
    "y is missing": ((X, None), {}, [r"\by\b"]),
    "y too short": ((X, y[:-1]), {}, [r"\by\b"]),
    "y too long": ((X, np.r_[y, 1]), {}, [r"\by\b"]),
    "y a matrix": ((X, np.c_[y, y]), {}, [r"\by\b"]),
    "y a number": ((X, 1), {}, [r"\by\b"]),
    "y NaN": ((X, wrong_labels(np.nan, 1.0)), {}, [r"y\[10\]", "(?i)nan"]),
    "y inf": ((X, wrong_labels(np.inf)), {}, [r"y\[11\]", "inf"]),
    "y unknown": ((X, wrong_labels(7, 1, 8)), {}, [r"y\[9\]", "7"]),
    "y a digit in quotes": ((X, wrong_labels("1", dtype=str)), {}, [r"y\[0\] is '\d'"]),
    "y with a gap": ((X, np.where(y, None, "no")), {}, [r"\by\b", "(NoneType, str|unknown)"]),
    "y text": ((X, wrong_labels("x", "1", dtype="U1")), {}, [r"\by\b"]),
    "y fractions": ((X, wrong_labels(0.5)), {}, [r"\by\b"]),
    "weights too short": ((X, y), {"sample_weight": np.ones(11)}, ["sample_weight"]),
    "weights a matrix": ((X, y), {"sample_weight": np.ones((12, 1))}, ["sample_weight"]),
    "weight negative": ((X, y), {"sample_weight": bad(-0.5, 6, np.ones(12))}, [r"sample_weight\[6\]", "-0.5"]),
    "weight NaN": ((X, y), {"sample_weight": bad(np.nan, 6, np.ones(12))}, [r"sample_weight\[6\]", "(?i)nan"]),
    "weight inf": ((X, y), {"sample_weight": bad(np.inf, 6, np.ones(12))}, [r"sample_weight\[6\]", "inf"]),
    "weight huge": ((X, y), {"sample_weight": bad(1e26, 6, np.ones(12))}, [r"sample_weight\[6\]", "1e\\+26"]),
    "weight text": ((X, y), {"sample_weight": ["much"] * 12}, ["sample_weight"]),
    "other classes": ((X, y), {"classes": [0, 1, 2]}, ["classes"]),
}
# Others are refused at the first call too.
NEEDS_A_STREAM = {"y unknown", "y a digit in quotes", "y text", "y fractions", "other classes"}


@pytest.mark.parametrize("name", BAD_ROWS)
@pytest.mark.parametrize("schedule", ["strong", "sqrt"])
def test_a_stream_refuses_bad_rows_and_learns_nothing(schedule, name):
    """The sentence names argument, row and column; weights, regret and what comes after are as if nobody had called."""
    arguments, more, named = BAD_ROWS[name]
    model = SoftMarginClassifier(lam=0.1, schedule=schedule).partial_fit(X, y, classes=[0, 1])
    twin = copy.deepcopy(model)
    refused(lambda: model.partial_fit(*arguments, **more), *named)
    assert same(model, twin)
    for each in (model, twin):
        each.partial_fit(X[:5], y[:5], sample_weight=np.ones(5)).partial_fit(X[5:6], y[5:6])
    assert same(model, twin)


@pytest.mark.parametrize("name", [name for name in BAD_ROWS if name != "other classes"])
def test_a_first_call_that_is_refused_leaves_an_estimator_that_works(name):
    """After a refused first call the estimator is unfitted, and learns what a fresh one learns, of any width."""
    arguments, more, named = BAD_ROWS[name]
    model = SoftMarginClassifier(lam=0.1)
    refused(lambda: model.partial_fit(*arguments, **{"classes": [0, 1], **more}), *named)
    assert not model.__sklearn_is_fitted__()
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "classes_")
    wider = np.c_[X, X[:, :2]]
    model.partial_fit(wider, y, classes=[0, 1])
    assert same(model, SoftMarginClassifier(lam=0.1).partial_fit(wider, y, classes=[0, 1]))


@pytest.mark.parametrize("name", [name for name in BAD_ROWS if name not in NEEDS_A_STREAM])
def test_fit_refuses_bad_rows_and_stays_as_it_was(name):
    """A `fit` that is refused leaves the model of the `fit` before."""
    arguments, more, named = BAD_ROWS[name]
    model = SoftMarginClassifier(C=0.1, tol=0.2).fit(X, y)
    before, said = [part.copy() for part in (model.coef_, model.intercept_)], model.predict(X)
    refused(lambda: model.fit(*arguments, **more), *named)
    assert model.n_features_in_ == 3
    assert np.array_equal(model.predict(X), said)
    for part, was in zip((model.coef_, model.intercept_), before, strict=True):
        assert np.array_equal(part, was)


# One live row, of the kind that takes the short way once a stream is under way.
ROW = X[:1]
BAD_LIVE = {
    "NaN": ((bad(np.nan, (0, 1), ROW), [1]), [r"\bX\b", "NaN", "row 0", "column 1"]),
    "inf": ((bad(np.inf, (0, 2), ROW), [1]), [r"\bX\b", "inf", "row 0", "column 2"]),
    "-inf": ((bad(-np.inf, (0, 0), ROW), [1]), [r"\bX\b", "inf", "row 0", "column 0"]),
    "unknown label": ((ROW, [7]), [r"y\[0\]", "7"]),
    "NaN label": ((ROW, [np.nan]), [r"y\[0\]", "(?i)nan"]),
    "inf label": ((ROW, np.array([-np.inf])), [r"y\[0\]", "inf"]),
    "no label": ((ROW, []), [r"\by\b"]),
    "two labels": ((ROW, [0, 1]), [r"\by\b"]),
    "a label alone": ((ROW, 1), [r"\by\b"]),
    "a label in a list in a list": ((ROW, np.array([[1, 0]])), [r"\by\b"]),
    "label None": ((ROW, [None]), [r"\by\b"]),
    "y None": ((ROW, None), [r"\by\b"]),
    "y by name": ((ROW, {0: 1}), [r"\by\b"]),
    "too narrow": ((ROW[:, :2].copy(), [1]), [r"\bX\b", "2 features", "3 features"]),
    "too wide": ((np.ones((1, 4)), [1]), [r"\bX\b", "4 features", "3 features"]),
    "no dimension": ((ROW[0], [1]), [r"\bX\b|2D array"]),
}


@pytest.mark.parametrize("name", BAD_LIVE)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"penalize_intercept": True, "schedule": "sqrt"}], ids=["strong", "sqrt"])
def test_a_live_row_that_is_bad_is_refused_and_learns_nothing(options, classes, name):
    """The one-row way refuses what the long way refuses, in the same words, and leaves no trace."""
    arguments, named = BAD_LIVE[name]
    case = CASE if classes == 2 else MANY
    model = SoftMarginClassifier(lam=0.1, **options).partial_fit(case.X, case.label, classes=range(classes))
    model.partial_fit(case.X[3:4], case.label[3:4])
    twin = copy.deepcopy(model)
    refused(lambda: model.partial_fit(*arguments), *named)
    assert same(model, twin)
    for each in (model, twin):
        each.partial_fit(case.X[5:6], case.label[5:6])
    assert same(model, twin)


def test_a_text_is_not_a_list_of_labels():
    """A label given without its list is refused live too, though a text of one letter has a first letter."""
    names = np.array(["a", "b"])
    model = SoftMarginClassifier(lam=0.1).partial_fit(X, names[y], classes=names)
    twin = copy.deepcopy(model)
    refused(lambda: model.partial_fit(ROW, "a"), r"\by\b")
    assert same(model, twin)


@pytest.mark.parametrize("schedule", ["strong", "sqrt", "adaptive"])
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_too_long_for_floating_point_are_refused_or_learned_never_half(classes, schedule):
    """Finite rows whose products overflow: all of a call is learned, and everything is finite, or nothing is."""
    case = CASE if classes == 2 else MANY
    for scale in (1e100, 1e160, 1e200, 1e300):
        model = SoftMarginClassifier(lam=0.1, schedule=schedule).partial_fit(case.X, case.label, classes=range(classes))
        twin, long = copy.deepcopy(model), case.X.copy()
        long[4:] *= scale
        said = complaint(lambda: model.partial_fit(long, case.label))  # noqa: B023 called at once
        if said:
            assert one_sentence(said)
            assert same(model, twin)
        else:
            assert model.regret_.steps[-1] == 24
            assert all(np.isfinite(part).all() for part in state(model))


def test_a_constant_step_that_explodes_is_refused_as_a_whole():
    """Where steps are too long for the rows, the call that overflows says so and is not learned, even in part."""
    case = stream(4, T=3000)
    model = SoftMarginClassifier(lam=10.0, schedule="constant", step0=10.0)
    model.partial_fit(case.X[:5], case.label[:5], classes=[0, 1])
    twin = copy.deepcopy(model)
    with pytest.raises((ValueError, OverflowError), match=r"schedule|step") as caught:
        model.partial_fit(case.X, case.label)
    assert one_sentence(str(caught.value))
    assert same(model, twin)


@pytest.mark.parametrize("step", [-0.1, np.nan, np.inf, "long", None])
def test_a_schedule_of_ones_own_that_errs_is_refused(step):
    """A step that is negative, NaN, infinite or no number stops the call that asked for it, before it learns."""
    model = SoftMarginClassifier(lam=0.1, schedule=lambda t: step if t == 15 else 0.1)
    model.partial_fit(X, y, classes=[0, 1])
    twin = copy.deepcopy(model)
    refused(lambda: model.partial_fit(X, y), "schedule", "15")
    assert same(model, twin)
    for t in range(2):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    twin = copy.deepcopy(model)
    refused(lambda: model.partial_fit(X[:1], y[:1]), "schedule", "15")
    assert same(model, twin)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("schedule", ["strong", "adaptive"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_largest_numbers_that_are_taken_are_learned_as_a_whole(classes, schedule, loss):
    """At the limits of rows, weights, margins and lam, alone or together, every number that comes out is finite."""
    case = CASE if classes == 2 else MANY
    for lam, weight, weighting, scale in product((1e-25, 1e25), (1e-25, 1e25), ("slack", "margin"), (1e-70, 1e70)):
        model = SoftMarginClassifier(lam=lam, schedule=schedule, loss=loss, weighting=weighting)
        with np.errstate(all="raise", under="ignore"):
            model.partial_fit(case.X * scale, case.label, classes=range(classes), sample_weight=np.full(12, weight))
            assert model.regret_.steps[-1] == 12
            assert all(np.isfinite(part).all() for part in (*state(model), model.predict(case.X)))
