"""Parameters that make no sense, streams told too little, and comparisons that compare nothing."""

import copy

import numpy as np
import pytest
from scipy import sparse

from cases import comparisons, stream
from refusal import complaint, one_sentence, refused, same
from softmargin import SoftMarginClassifier, SoftMarginRanker

CASE, PAIRS = stream(1, T=12, d=3), comparisons(3, T=12, d=3, items=8)
X, y, F, pairs = CASE.X, CASE.label, PAIRS.X, PAIRS.pairs


# ------------------------------------------------------------------------------- parameters

BOTH = {
    "C": [0, -1.0, np.nan, "1", None, True, [1.0], 1j],
    "lam": [0, -0.5, np.nan, np.inf, 1e-26, 1e26, "0.1", True, [0.1]],
    "loss": ["log", None, 1, ["hinge"]],
    "weighting": ["price", None, 0],
    "solver": ["sgd", None, "Dual"],
    "tol": [-1e-9, np.nan, "1e-4", None],
    "max_passes": [0, -3, np.nan, "many", None, 0.5],
    "schedule": ["fast", None, 1.0, b"strong"],
    "average": ["median", None, 2, 0.5],
    "random_state": ["seed", 1.5],
    "verbose": ["loud"],
}
CLASSIFIER = {
    "multiclass": ["best", None, 3],
    "fit_intercept": ["no", None, 2],
    "penalize_intercept": ["no", None, -1],
    "class_weight": ["even", {0: -1.0}, {0: np.nan}, {0: np.inf}, {0: "heavy"}, {5: 2.0}, 3],
}
STREAMS_DO_NOT_READ = ("random_state",)  # a stream shuffles nothing


def each(*tables):
    """A parameter for each bad value."""
    return [
        pytest.param(name, value, id=f"{name}={value!r}") for table in tables for name in table for value in table[name]
    ]


@pytest.mark.parametrize(("name", "value"), each(BOTH, CLASSIFIER))
def test_fit_of_a_classifier_refuses(name, value):
    """Each bad value of each argument is one sentence that names the argument; nothing is fitted."""
    model = SoftMarginClassifier(**{"tol": 0.2, name: value})
    refused(lambda: model.fit(X, y), rf"\b{name}\b")
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize(("name", "value"), each(BOTH, CLASSIFIER))
def test_a_stream_of_labels_refuses(name, value):
    """The same values are refused by the first `partial_fit`."""
    if name not in STREAMS_DO_NOT_READ:
        model = SoftMarginClassifier(**{"lam": 0.1, name: value})
        refused(lambda: model.partial_fit(X, y, classes=[0, 1]), rf"\b{name}\b")
        assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize(("name", "value"), each(BOTH))
def test_a_ranker_refuses(name, value):
    """The same values are refused by `fit`, `fit_pairs` and `partial_fit_pairs` of a ranker."""
    refused(lambda: SoftMarginRanker(**{"tol": 0.2, name: value}).fit_pairs(F, pairs), rf"\b{name}\b")
    refused(lambda: SoftMarginRanker(**{"tol": 0.2, name: value}).fit(F, np.arange(8)), rf"\b{name}\b")
    if name not in STREAMS_DO_NOT_READ:
        refused(lambda: SoftMarginRanker(**{"lam": 0.1, name: value}).partial_fit_pairs(F, pairs), rf"\b{name}\b")


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "long", [1.0]])
@pytest.mark.parametrize("schedule", ["sqrt", "constant"])
def test_a_first_step_that_makes_no_sense_is_refused(schedule, value):
    """`step0` is a finite number above 0."""
    model = SoftMarginClassifier(lam=0.1, schedule=schedule, step0=value)
    refused(lambda: model.partial_fit(X, y, classes=[0, 1]), r"\bstep0\b")
    refused(lambda: model.fit(X, y), r"\bstep0\b")


@pytest.mark.parametrize("schedule", ["strong", "adaptive", float])
def test_a_first_step_that_would_be_ignored_is_refused(schedule):
    """`step0` beside a schedule that does not use it is not ignored in silence."""
    refused(lambda: SoftMarginRanker(lam=0.1, schedule=schedule, step0=0.5).partial_fit_pairs(F, pairs), r"\bstep0\b")


def test_passes_without_end_are_a_wish_or_a_sentence():
    """`max_passes=inf` is understood or refused, never a crash."""
    model = SoftMarginClassifier(C=0.01, tol=0.5, max_passes=np.inf)
    said = complaint(lambda: model.fit(X, y))
    assert said is None or "max_passes" in said, said
    assert said or model.certificate_.converged


# ------------------------------------------------------------------------------- streams


def test_a_stream_without_lam_is_refused():
    """C alone means nothing where T is not known: the sentence asks for lam."""
    for model in (SoftMarginClassifier(), SoftMarginClassifier(C=0.5)):
        with pytest.raises((ValueError, AttributeError), match=r"\blam\b") as caught:  # scikit-learn may ask hasattr
            model.partial_fit(X, y, classes=[0, 1])
        assert one_sentence(str(caught.value))
        assert not model.__sklearn_is_fitted__()
    refused(lambda: SoftMarginRanker().partial_fit_pairs(F, pairs), r"\blam\b")


def test_a_stream_without_classes_is_refused():
    """The first `partial_fit` must be told every class that may come, two at least, and none of them NaN."""
    model = SoftMarginClassifier(lam=0.1)
    refused(lambda: model.partial_fit(X, y), r"\bclasses\b")
    refused(lambda: model.partial_fit(X[:1], y[:1]), r"\bclasses\b")
    refused(lambda: model.partial_fit(X, y, classes=[]), r"\bclasses\b")
    refused(lambda: model.partial_fit(X, y, classes=[1]), r"\bclasses\b")
    refused(lambda: model.partial_fit(X, y, classes=[1, 1]), r"\bclasses\b")
    refused(lambda: model.partial_fit(X, y, classes=[0, 1, np.nan]), r"\bclasses\b")
    refused(lambda: model.partial_fit(X, y, classes=[1, 2]), r"y\[\d+\]", "0")
    refused(lambda: model.partial_fit(X, y, classes=["0", "1"]), r"y\[0\]|\by\b")
    refused(lambda: model.partial_fit(X, y.astype(str), classes=[0, 1]), r"y\[0\]|\by\b")
    assert not model.__sklearn_is_fitted__()
    model.partial_fit(X, y, classes=[0, 1])
    assert same(model, SoftMarginClassifier(lam=0.1).partial_fit(X, y, classes=[0, 1]))


def test_a_share_of_all_rows_means_nothing_in_a_stream():
    """`class_weight="balanced"` needs all of y, which a stream never has."""
    model = SoftMarginClassifier(lam=0.1, class_weight="balanced")
    refused(lambda: model.partial_fit(X, y, classes=[0, 1]), "class_weight", "balanced")
    assert not model.__sklearn_is_fitted__()


CHANGES = {
    "lam": 0.2, "loss": "squared_hinge", "weighting": "margin", "schedule": "sqrt", "average": False,
}  # fmt: skip
CLASSIFIER_CHANGES = {
    **CHANGES, "multiclass": "sum", "fit_intercept": False, "penalize_intercept": True, "class_weight": {0: 2.0},
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSIFIER_CHANGES)
@pytest.mark.parametrize("rows", [1, 5])
def test_a_parameter_that_changes_in_mid_stream_is_refused(rows, name):
    """One stream is one problem: a change is refused, live too, and undoing it goes on where the stream was."""
    model = SoftMarginClassifier(lam=0.1).partial_fit(X, y, classes=[0, 1])
    twin, before = copy.deepcopy(model), model.get_params()[name]
    model.set_params(**{name: CLASSIFIER_CHANGES[name]})
    refused(lambda: model.partial_fit(X[:rows], y[:rows]), rf"\b{name}\b")
    model.set_params(**{name: before})
    assert same(model, twin)
    for each_one in (model, twin):
        each_one.partial_fit(X[:rows], y[:rows])
    assert same(model, twin)


@pytest.mark.parametrize("name", CHANGES)
def test_a_parameter_that_changes_in_mid_stream_of_comparisons_is_refused(name):
    """The same for comparisons."""
    model = SoftMarginRanker(lam=0.1).partial_fit_pairs(F, pairs)
    twin, before = copy.deepcopy(model), model.get_params()[name]
    model.set_params(**{name: CHANGES[name]})
    refused(lambda: model.partial_fit_pairs(F, pairs), rf"\b{name}\b")
    model.set_params(**{name: before})
    assert same(model, twin)


# ------------------------------------------------------------------------------- comparisons


def with_pair(better, worse, at=5, dtype=None):
    """The pairs with one of them replaced."""
    told = pairs.astype(dtype or pairs.dtype)
    told[at] = better, worse
    return told


def with_value(value, place, like):
    """The numbers with one of them replaced."""
    told = np.array(like, dtype=float)
    told[place] = value
    return told


BAD_PAIRS = {
    "beyond the last": ((F, with_pair(8, 0)), {}, [r"pairs\[5\]", "8"]),
    "negative": ((F, with_pair(2, -1)), {}, [r"pairs\[5\]", "-1"]),
    "huge": ((F, with_pair(2**63, 0, dtype=np.uint64)), {}, [r"pairs\[5\]"]),
    "with itself": ((F, with_pair(3, 3)), {}, [r"pairs\[5\]", "itself"]),
    "fractions": ((F, with_pair(1.5, 0, dtype=float)), {}, [r"\bpairs\b", "whole"]),
    "NaN": ((F, with_pair(np.nan, 0, dtype=float)), {}, [r"\bpairs\b"]),
    "too large to be whole": ((F, with_pair(1e300, 0, dtype=float)), {}, [r"\bpairs\b"]),
    "text": ((F, [["a", "b"]] * 12), {}, [r"\bpairs\b"]),
    "truth values": ((F, [[True, False]] * 12), {}, [r"\bpairs\b"]),
    "three in a line": ((F, np.zeros((12, 3), int)), {}, [r"\bpairs\b", "shape"]),
    "flat": ((F, [0, 1]), {}, [r"\bpairs\b", "shape"]),
    "a number": ((F, 3), {}, [r"\bpairs\b"]),
    "None": ((F, None), {}, [r"\bpairs\b"]),
    "ragged": ((F, [[0, 1], [2]]), {}, [r"\bpairs\b"]),
    "none at all": ((F, np.zeros((0, 2), int)), {}, [r"\bpairs\b", "empty"]),
    "an empty list": ((F, []), {}, [r"\bpairs\b"]),
    "X NaN": ((with_value(np.nan, (6, 2), F), pairs), {}, [r"\bX\b", "NaN", "row 6", "column 2"]),
    "X sparse inf": (
        (sparse.csr_matrix(with_value(np.inf, (7, 0), F)), pairs),
        {},
        [r"\bX\b", "inf", "row 7", "column 0"],
    ),
    "X empty": ((F[:0], pairs), {}, [r"\bX\b|0 sample"]),
    "X flat": ((F[0], pairs), {}, [r"\bX\b|2D array"]),
    "weights too many": ((F, pairs), {"weight": np.ones(13)}, [r"\bweight\b"]),
    "weight negative": ((F, pairs), {"weight": with_value(-1, 9, np.ones(12))}, [r"\bweight\[9\]", "-1"]),
    "weight NaN": ((F, pairs), {"weight": with_value(np.nan, 9, np.ones(12))}, [r"\bweight\[9\]"]),
    "weight text": ((F, pairs), {"weight": ["much"] * 12}, [r"\bweight\b"]),
    "margins too few": ((F, pairs), {"margin": np.ones(3)}, [r"\bmargin\b"]),
    "margin negative": ((F, pairs), {"margin": with_value(-1, 9, np.ones(12))}, [r"\bmargin\[9\]", "-1"]),
    "margin inf": ((F, pairs), {"margin": with_value(np.inf, 9, np.ones(12))}, [r"\bmargin\[9\]", "inf"]),
}


@pytest.mark.parametrize("name", BAD_PAIRS)
def test_bad_comparisons_are_refused(name):
    """By the first call, by a stream under way, and by `fit_pairs`; what was learned before stays."""
    arguments, more, named = BAD_PAIRS[name]
    fresh = SoftMarginRanker(lam=0.1)
    refused(lambda: fresh.partial_fit_pairs(*arguments, **more), *named)
    refused(lambda: SoftMarginRanker().fit_pairs(*arguments, **more), *named)
    assert not fresh.__sklearn_is_fitted__()
    model = SoftMarginRanker(lam=0.1).partial_fit_pairs(F, pairs)
    twin = copy.deepcopy(model)
    refused(lambda: model.partial_fit_pairs(*arguments, **more), *named)
    assert same(model, twin)
    for each_one in (model, twin, fresh.partial_fit_pairs(F, pairs)):
        each_one.partial_fit_pairs(F, pairs[:4])
    assert same(model, twin)
    assert same(model, fresh)


def test_a_stream_of_comparisons_keeps_its_width():
    """Items with more or fewer features than before are refused, and nothing is learned."""
    model = SoftMarginRanker(lam=0.1).partial_fit_pairs(F, pairs)
    twin = copy.deepcopy(model)
    refused(lambda: model.partial_fit_pairs(F[:, :2], pairs), r"\bX\b", "2 features", "3 features")
    refused(lambda: model.partial_fit_pairs(np.c_[F, F], pairs), r"\bX\b", "6 features", "3 features")
    assert same(model, twin)


GRADES = np.array([0, 1, 2, 0, 1, 2, 0, 1])
BAD_GROUPS = {
    "grades missing": ((F, None), {}, [r"\by\b"]),
    "grades too few": ((F, GRADES[:7]), {}, [r"\by\b"]),
    "grade NaN": ((F, with_value(np.nan, 4, GRADES)), {}, [r"y\[4\]", "(?i)nan"]),
    "grade inf": ((F, with_value(np.inf, 4, GRADES)), {}, [r"y\[4\]", "inf"]),
    "grades text": ((F, ["good"] * 8), {}, [r"\by\b"]),
    "grades all equal": ((F, np.ones(8)), {}, [r"\by\b"]),
    "groups of one": ((F, GRADES), {"qid": np.arange(8)}, [r"\by\b|\bqid\b"]),
    "groups too few": ((F, GRADES), {"qid": np.zeros(7)}, [r"\bqid\b"]),
    "groups a matrix": ((F, GRADES), {"qid": np.zeros((8, 2))}, [r"\bqid\b"]),
    "group NaN": ((F, GRADES), {"qid": with_value(np.nan, 3, np.zeros(8))}, [r"qid\[3\]"]),
    "weights too few": ((F, GRADES), {"sample_weight": np.ones(7)}, ["sample_weight"]),
    "weight negative": ((F, GRADES), {"sample_weight": with_value(-2, 3, np.ones(8))}, [r"sample_weight\[3\]", "-2"]),
}


@pytest.mark.parametrize("name", BAD_GROUPS)
def test_bad_grades_are_refused(name):
    """Grades, groups and weights of rows that do not fit are one sentence; the model of the `fit` before stays."""
    arguments, more, named = BAD_GROUPS[name]
    model = SoftMarginRanker(C=0.1, tol=0.2).fit(F, GRADES)
    before = model.coef_.copy()
    refused(lambda: model.fit(*arguments, **more), *named)
    assert np.array_equal(model.coef_, before)


def test_fit_refuses_one_class():
    """One class is nothing to tell apart: the sentence names y and the class."""
    refused(lambda: SoftMarginClassifier().fit(X, np.full(12, 4)), r"\by\b", "4")
    refused(lambda: SoftMarginClassifier().fit(X, ["apple"] * 12), r"\by\b", "apple")


def test_what_comes_later_says_so():
    """A hard margin is solved, or refused in a sentence; it is not taken for a soft one."""
    model = SoftMarginClassifier(C=np.inf)
    said = complaint(lambda: model.fit([[1.0], [-1.0]], [1, 0]))
    assert "C=inf" in said if said else model.coef_[0, 0] == pytest.approx(1.0, abs=1e-3)
