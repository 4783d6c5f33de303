"""The weights depend on the numbers and their order, not on how the numbers arrive: layout, precision, calls."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import twins
from cases import LAYOUTS, close, comparisons, csr_with, messy_csr, stream
from softmargin import SoftMarginClassifier, SoftMarginRanker

LAM = 0.17
BINARY = {"lam": LAM, "average": "mean", "fit_intercept": False}
OPTIONS = [
    pytest.param(2, {"average": False, "fit_intercept": False}, id="binary"),
    pytest.param(2, {"schedule": "sqrt", "step0": 0.7}, id="free intercept, sqrt"),
    pytest.param(2, {"penalize_intercept": True, "average": "mean"}, id="dummy feature"),
    pytest.param(2, {"loss": "squared_hinge"}, id="squared hinge"),
    pytest.param(2, {"schedule": "adaptive"}, id="adaptive"),
    pytest.param(3, {"multiclass": "max", "fit_intercept": False}, id="max"),
    pytest.param(3, {"multiclass": "sum", "schedule": "constant", "step0": 0.1}, id="sum, constant"),
    pytest.param(3, {"multiclass": "ovr", "loss": "squared_hinge"}, id="ovr, squared hinge"),
    pytest.param(3, {"multiclass": "max", "penalize_intercept": True, "schedule": "adaptive"}, id="max, adaptive"),
]


def learned(model):
    """Everything a stream has to say, in one vector."""
    regret = model.regret_
    bias = getattr(model, "intercept_", np.zeros(0))
    return np.concatenate([model.coef_.ravel(), bias, regret.paid, regret.comparator, regret.mistakes])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("classes", "options"), OPTIONS)
def test_labels_in_every_layout(classes, options, layout):
    """Dense in any order, CSR with any index, sorted or not: the same weights, intercepts and regret."""
    case = stream(1, classes=classes)
    told = {"classes": range(classes), "sample_weight": case.price}
    plain = SoftMarginClassifier(lam=LAM, **options).partial_fit(case.X, case.label, **told)
    other = SoftMarginClassifier(lam=LAM, **options).partial_fit(LAYOUTS[layout](case.X), case.label, **told)
    assert close(learned(other), learned(plain), 1e-12)
    assert close(other.decision_function(LAYOUTS[layout](case.X)), plain.decision_function(case.X), 1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_comparisons_in_every_layout(loss, layout):
    """Pairs of dense and of sparse rows: the same weights and regret."""
    case = comparisons(2)
    plain, other = (
        SoftMarginRanker(lam=LAM, loss=loss).partial_fit_pairs(X, case.pairs, weight=case.price, margin=case.required)
        for X in (case.X, LAYOUTS[layout](case.X))
    )
    assert close(learned(other), learned(plain), 1e-12)
    assert close(other.predict(LAYOUTS[layout](case.X)), plain.predict(case.X), 1e-12)


@pytest.mark.parametrize(
    "given_as", [lambda X: X, np.asfortranarray, sparse.csr_matrix, lambda X: csr_with(X, np.int64)]
)
@pytest.mark.parametrize(("classes", "options"), OPTIONS)
def test_single_precision_labels(classes, options, given_as):
    """A float32 row is the float64 row of the same numbers: products are summed in double precision."""
    case = stream(3, classes=classes)
    narrow = case.X.astype(np.float32)
    told = {"classes": range(classes)}
    wide = SoftMarginClassifier(lam=LAM, **options).partial_fit(narrow.astype(np.float64), case.label, **told)
    ours = SoftMarginClassifier(lam=LAM, **options).partial_fit(given_as(narrow), case.label, **told)
    assert close(learned(ours), learned(wide))


@pytest.mark.parametrize("given_as", [lambda X: X, np.asfortranarray, sparse.csr_matrix])
def test_single_precision_comparisons(given_as):
    """Comparisons of float32 items agree with the notes to single precision."""
    case = comparisons(4)
    narrow = case._replace(X=case.X.astype(np.float32))
    alpha = lambda t: 1 / (LAM * t)  # noqa: E731
    path = twins.holladay_ranking(case.better, case.worse, LAM, alpha, np.ones(70), np.ones(70))
    ours = SoftMarginRanker(lam=LAM, average=False).partial_fit_pairs(given_as(narrow.X), case.pairs)
    assert close(ours.coef_, path[-1], 1e-5)


def test_the_data_are_not_touched():
    """Learning from a CSR matrix that is not in canonical form leaves it as it was, and dense rows too."""
    case = stream(5)
    given, dense = messy_csr(case.X), case.X.copy()
    before = [part.copy() for part in (given.data, given.indices, given.indptr)]
    SoftMarginClassifier(lam=LAM).partial_fit(given, case.label, classes=[0, 1])
    SoftMarginClassifier(lam=LAM).partial_fit(dense, case.label, classes=[0, 1])
    for part, was in zip((given.data, given.indices, given.indptr), before, strict=True):
        assert np.array_equal(part, was)
    assert np.array_equal(dense, case.X)


def test_whole_numbers_are_numbers():
    """Integer and Boolean matrices are learned from like their float64 copies."""
    X = np.random.default_rng(6).integers(-3, 4, (60, 5))
    y = (X @ [1, 2, -1, 0, 1] > 0).astype(int)
    for same in (X, X.astype(np.int8), X.astype(np.float64), sparse.csr_matrix(X)):
        model = SoftMarginClassifier(**BINARY).partial_fit(same, y, classes=[0, 1])
        assert close(model.coef_, SoftMarginClassifier(**BINARY).partial_fit(X * 1.0, y, classes=[0, 1]).coef_)
    flags = SoftMarginClassifier(**BINARY).partial_fit(X > 0, y, classes=[0, 1])
    assert close(flags.coef_, SoftMarginClassifier(**BINARY).partial_fit((X > 0) * 1.0, y, classes=[0, 1]).coef_)


# ------------------------------------------------------------------------------- calls


def parts_of(cuts, T):
    """The slices between sorted cut points; neighbours that coincide leave no empty slice."""
    edges = sorted({0, T, *cuts})
    return [slice(a, b) for a, b in pairwise(edges)]


@given(cuts=st.lists(st.integers(1, 69), max_size=8), number=st.integers(0, len(OPTIONS) - 1))
def test_calls_do_not_matter_for_labels(cuts, number):
    """However a stream is cut into calls, one row or many, it leads to the same weights and the same regret."""
    classes, options = OPTIONS[number].values
    case = stream(7, classes=classes)
    whole = SoftMarginClassifier(lam=LAM, **options).partial_fit(case.X, case.label, classes=range(classes))
    pieces = SoftMarginClassifier(lam=LAM, **options)
    for part in parts_of(cuts, 70):
        pieces.partial_fit(case.X[part], case.label[part], classes=range(classes))
    assert close(learned(pieces), learned(whole), 1e-12)


@pytest.mark.parametrize(("classes", "options"), OPTIONS)
@pytest.mark.parametrize("kind", ["dense", "float32", "CSR", "lists"])
def test_one_row_at_a_time(kind, classes, options):
    """Live, one row a call and no word about classes after the first: the same as all rows at once."""
    case = stream(8, classes=classes)
    X = case.X.astype(np.float32) if kind == "float32" else sparse.csr_matrix(case.X) if kind == "CSR" else case.X
    whole = SoftMarginClassifier(lam=LAM, **options).partial_fit(X, case.label, classes=range(classes))
    live = SoftMarginClassifier(lam=LAM, **options)
    live.partial_fit(X[:1], case.label[:1], classes=range(classes))
    for t in range(1, 70):
        row = X[t : t + 1].tolist() if kind == "lists" else X[t : t + 1]
        live.partial_fit(row, case.label[t : t + 1].tolist() if kind == "lists" else case.label[t : t + 1])
    assert close(learned(live), learned(whole), 1e-12)
    assert live.regret_.steps[-1] == 70


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [2.0, 5.0], [10**12, 10**12 + 1]])
def test_one_row_at_a_time_with_any_labels(labels):
    """Live rows know their labels whatever they are: text, truth values, floats, large integers."""
    case, names = stream(9), np.array(labels)
    whole = SoftMarginClassifier(**BINARY).partial_fit(case.X, names[case.label], classes=names)
    live = SoftMarginClassifier(**BINARY).partial_fit(case.X[:1], names[case.label[:1]], classes=names[::-1])
    for t in range(1, 70):
        live.partial_fit(case.X[t : t + 1], [names[case.label[t]]])
    assert close(learned(live), learned(whole), 1e-12)
    assert live.predict(case.X[:3]).dtype == names.dtype


def test_live_and_long_calls_mix():
    """Live rows, weighted rows, sparse chunks and rows in single precision take turns in one stream."""
    case, rng = stream(10, T=200), np.random.default_rng(10)
    path = twins.pegasos(case.X, case.sign, LAM, lambda t: 1 / (LAM * t), np.ones(200), np.ones(200))
    model, t = SoftMarginClassifier(lam=LAM, average="mean", fit_intercept=False), 0
    while t < 200:
        size = int(rng.choice([1, 1, 1, 7]))
        X, y = case.X[t : t + size], case.label[t : t + size]
        X = sparse.csr_matrix(X) if rng.random() < 0.2 else X
        more = {} if t and rng.random() < 0.7 else {"classes": [0, 1], "sample_weight": np.ones(len(y))}
        model.partial_fit(X, y, **more)
        t += len(y)
    assert close(model.coef_[0], twins.averaged(path, "mean"))


@given(cuts=st.lists(st.integers(1, 69), max_size=8), schedule=st.sampled_from(["strong", "sqrt", "adaptive"]))
def test_calls_do_not_matter_for_comparisons(cuts, schedule):
    """However comparisons are cut into calls, they lead to the same weights and the same regret."""
    case = comparisons(11)
    whole, pieces = (SoftMarginRanker(lam=LAM, schedule=schedule) for _ in range(2))
    whole.partial_fit_pairs(case.X, case.pairs, weight=case.price)
    for part in parts_of(cuts, 70):
        pieces.partial_fit_pairs(case.X, case.pairs[part], weight=case.price[part])
    assert close(learned(pieces), learned(whole), 1e-12)


def test_looking_changes_nothing():
    """Reading weights, regret, margins and predictions in the middle of a stream leaves it as it was."""
    case = stream(12)
    looked, left = (SoftMarginClassifier(lam=LAM) for _ in range(2))
    for t in range(70):
        for model in (looked, left):
            model.partial_fit(case.X[t : t + 1], case.label[t : t + 1], classes=[0, 1])
        looked.coef_[...] = 0.0
        looked.intercept_[...] = 0.0
        looked.regret_.paid[...] = 0.0
        looked.predict(case.X)
        looked.slack(case.X, case.label)
    assert np.array_equal(learned(looked), learned(left))
