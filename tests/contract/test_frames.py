"""Data frames with named columns, copies of models and of streams under way, and life in a pipeline."""

import copy
import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import close, comparisons, stream
from refusal import same
from softmargin import SoftMarginClassifier, SoftMarginRanker

CASE, MANY, PAIRS = stream(1, T=60, d=4), stream(2, T=60, d=4, classes=3), comparisons(3, T=60, d=4)
NAMES = ["wins", "points", "height", "luck"]
FRAMES = {"pandas": partial(pd.DataFrame, columns=NAMES), "polars": partial(pl.DataFrame, schema=NAMES)}
EVERY_FRAME = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
FRUIT = np.array(["apple", "grape", "orange"])
LOOSE = {"C": 0.05, "tol": 0.2, "random_state": 0}


# ------------------------------------------------------------------------------- frames


@EVERY_FRAME
def test_a_frame_is_its_numbers_with_names(frame):
    """A frame gives the weights of its array, and the names of its columns are kept."""
    for make in (lambda: SoftMarginClassifier(lam=0.1), lambda: SoftMarginClassifier(lam=0.1, schedule="sqrt")):
        named = make().partial_fit(frame(CASE.X), CASE.label, classes=[0, 1])
        plain = make().partial_fit(CASE.X, CASE.label, classes=[0, 1])
        assert same(named, plain)
        assert list(named.feature_names_in_) == NAMES
        assert not hasattr(plain, "feature_names_in_")
        assert close(named.decision_function(frame(CASE.X)), plain.decision_function(CASE.X), 1e-12)
    named = SoftMarginClassifier(**LOOSE).fit(frame(CASE.X), CASE.label)
    assert np.array_equal(named.coef_, SoftMarginClassifier(**LOOSE).fit(CASE.X, CASE.label).coef_)
    assert list(named.feature_names_in_) == NAMES


@EVERY_FRAME
def test_a_frame_of_items_is_its_numbers_with_names(frame):
    """Comparisons of the rows of a frame: the same utilities, ranks and names."""
    named = SoftMarginRanker(lam=0.1).partial_fit_pairs(frame(PAIRS.X), PAIRS.pairs)
    plain = SoftMarginRanker(lam=0.1).partial_fit_pairs(PAIRS.X, PAIRS.pairs)
    assert same(named, plain)
    assert list(named.feature_names_in_) == NAMES
    assert np.array_equal(named.rank(frame(PAIRS.X)), plain.rank(PAIRS.X))
    graded = SoftMarginRanker(**LOOSE).fit(frame(CASE.X), CASE.label)
    assert list(graded.feature_names_in_) == NAMES


@EVERY_FRAME
def test_one_row_of_a_frame_at_a_time(frame):
    """A live stream of one-row frames is the stream of their numbers, with names checked at every row."""
    named, plain = SoftMarginClassifier(lam=0.1), SoftMarginClassifier(lam=0.1)
    for t in range(30):
        told = {"classes": [0, 1]} if t == 0 else {}
        named.partial_fit(frame(CASE.X[t : t + 1]), CASE.label[t : t + 1], **told)
        plain.partial_fit(CASE.X[t : t + 1], CASE.label[t : t + 1], **told)
    assert same(named, plain)


@EVERY_FRAME
def test_columns_in_another_order_are_refused(frame):
    """scikit-learn's rule: other names, another order, more or fewer columns are an error, and nothing is learned."""
    model = SoftMarginClassifier(lam=0.1).partial_fit(frame(CASE.X), CASE.label, classes=[0, 1])
    ranker = SoftMarginRanker(lam=0.1).partial_fit_pairs(frame(PAIRS.X), PAIRS.pairs)
    twin, other = copy.deepcopy(model), copy.deepcopy(ranker)
    columns = [NAMES[::-1], ["wins", "points", "height"], ["wins", "points", "height", "skill"]]
    for names in columns:
        kind = type(frame(CASE.X))
        wrong, items = (kind(dict(zip(names, X.T, strict=False))) for X in (CASE.X, PAIRS.X))
        for call in (
            lambda wrong=wrong: model.partial_fit(wrong, CASE.label),
            lambda wrong=wrong: model.partial_fit(wrong[:1], CASE.label[:1]),
            lambda wrong=wrong: model.predict(wrong),
            lambda items=items: ranker.partial_fit_pairs(items, PAIRS.pairs),
            lambda items=items: ranker.predict(items),
        ):
            with pytest.raises(ValueError, match="feature names"):
                call()
    assert same(model, twin)
    assert same(ranker, other)


@EVERY_FRAME
def test_names_once_given_are_missed(frame):
    """An array for a model that knows names is taken with scikit-learn's warning; so is one live row."""
    model = SoftMarginClassifier(lam=0.1).partial_fit(frame(CASE.X), CASE.label, classes=[0, 1])
    for rows in (slice(0, 5), slice(0, 1)):
        with pytest.warns(UserWarning, match="feature names"):
            model.partial_fit(CASE.X[rows], CASE.label[rows])
    assert list(model.feature_names_in_) == NAMES


@pytest.mark.parametrize(
    "labels",
    [
        lambda label: pd.Series(FRUIT[label]),
        lambda label: pd.Series(FRUIT[label], dtype="category"),
        lambda label: pd.Series(FRUIT[label], dtype=object, index=range(100, 160)),
        lambda label: pl.Series(FRUIT[label].tolist()),
        lambda label: FRUIT[label].tolist(),
        lambda label: FRUIT[label].astype(object),
    ],
    ids=["text", "categories", "objects with an index", "polars", "list", "object array"],
)
def test_labels_may_be_words(labels):
    """Classes keep their names, sorted, whatever column or list the labels come in, in batches and live."""
    plain = SoftMarginClassifier(lam=0.1).partial_fit(MANY.X, MANY.label, classes=range(3))
    model = SoftMarginClassifier(lam=0.1).partial_fit(MANY.X, labels(MANY.label), classes=FRUIT[::-1])
    assert model.classes_.tolist() == FRUIT.tolist()
    assert close(model.coef_, plain.coef_, 1e-14)
    assert np.array_equal(model.predict(MANY.X), FRUIT[plain.predict(MANY.X)])
    assert model.score(MANY.X, labels(MANY.label)) == plain.score(MANY.X, MANY.label)
    live = SoftMarginClassifier(lam=0.1).partial_fit(MANY.X[:1], labels(MANY.label)[:1], classes=FRUIT)
    for t in range(1, 60):
        live.partial_fit(MANY.X[t : t + 1], labels(MANY.label)[t : t + 1])
    assert close(live.coef_, plain.coef_, 1e-12)


def test_two_words_are_two_classes():
    """For two classes the score is that of the second name in the alphabet."""
    model = SoftMarginClassifier(**LOOSE).fit(CASE.X, np.array(["yes", "no"])[CASE.label])
    assert model.classes_.tolist() == ["no", "yes"]
    assert np.array_equal(model.predict(CASE.X) == "yes", model.decision_function(CASE.X) > 0)


# ------------------------------------------------------------------------------- copies


def by_pickle(model):
    """A copy through the bytes of pickle."""
    return pickle.loads(pickle.dumps(model))  # noqa: S301 our own bytes


def slowly(t):
    """A schedule of one's own that pickle can name."""
    return 0.5 / t**0.5


STREAMS = {
    "labels": lambda: SoftMarginClassifier(lam=0.1),
    "sqrt": lambda: SoftMarginClassifier(lam=0.1, schedule="sqrt", average="mean", penalize_intercept=True),
    "adaptive": lambda: SoftMarginClassifier(lam=0.1, schedule="adaptive", loss="squared_hinge"),
    "own schedule": lambda: SoftMarginClassifier(lam=0.1, schedule=slowly, class_weight={0: 2.0}),
}


@pytest.mark.parametrize("copied", [by_pickle, copy.deepcopy])
@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("case", [CASE, MANY], ids=["two classes", "three classes"])
def test_a_copy_of_a_stream_goes_on_alike(case, make, copied):
    """A copied stream has the same weights and regret, and goes on to the same ones; the original stays behind."""
    classes = np.unique(case.label)
    model = (
        make().partial_fit(case.X[:30], case.label[:30], classes=classes).partial_fit(case.X[30:31], case.label[30:31])
    )
    left, twin = copied(model), copied(model)
    assert same(twin, model)
    for t in range(31, 50):
        for each in (model, twin):
            each.partial_fit(case.X[t : t + 1], case.label[t : t + 1])
    for each in (model, twin):
        each.partial_fit(case.X[50:], case.label[50:], sample_weight=case.price[50:])
    assert same(twin, model)
    assert left.regret_.steps[-1] == 31
    assert same(left.partial_fit(case.X[31:], case.label[31:]), copied(left))


@pytest.mark.parametrize("copied", [by_pickle, copy.deepcopy])
def test_a_copy_of_a_stream_of_comparisons_goes_on_alike(copied):
    """The same for comparisons."""
    model = SoftMarginRanker(lam=0.1, average="mean").partial_fit_pairs(PAIRS.X, PAIRS.pairs[:30])
    twin = copied(model)
    for each in (model, twin):
        each.partial_fit_pairs(PAIRS.X, PAIRS.pairs[30:])
    assert same(twin, model)


@pytest.mark.parametrize("copied", [by_pickle, copy.deepcopy])
@pytest.mark.parametrize("solver", ["auto", "online"])
def test_a_copy_of_a_fitted_model_is_the_model(solver, copied):
    """Weights, predictions, duals and certificate survive pickle and deepcopy, and a stream may go on from them."""
    model = SoftMarginClassifier(lam=0.3, tol=0.2, solver=solver, random_state=0).fit(CASE.X, CASE.label)
    twin = copied(model)
    assert np.array_equal(twin.coef_, model.coef_)
    assert np.array_equal(twin.intercept_, model.intercept_)
    assert np.array_equal(twin.dual_, model.dual_)
    assert np.array_equal(twin.predict(CASE.X), model.predict(CASE.X))
    assert twin.certificate_ == model.certificate_
    for each in (model, twin):
        each.partial_fit(CASE.X[:9], CASE.label[:9])
    assert same(twin, model)


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_a_clone_knows_nothing_but_its_parameters(make):
    """`clone` keeps every parameter and no weights, and the clone of a model in mid-stream starts a new stream."""
    model = make().partial_fit(CASE.X, CASE.label, classes=[0, 1])
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not fresh.__sklearn_is_fitted__()
    assert same(fresh.partial_fit(CASE.X, CASE.label, classes=[0, 1]), model)


# ------------------------------------------------------------------------------- company


def test_a_pipeline_and_a_grid():
    """Scaled, searched over C and the form of several classes, scored: the best estimator predicts words."""
    pipeline = make_pipeline(StandardScaler(), SoftMarginClassifier(tol=0.2, random_state=0))
    grid = {"softmarginclassifier__C": [0.01, 0.1], "softmarginclassifier__multiclass": ["max", "sum", "ovr"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(FRAMES["pandas"](MANY.X), FRUIT[MANY.label])
    assert set(search.predict(FRAMES["pandas"](MANY.X))) <= set(FRUIT)
    assert search.best_score_ > 0.4
    assert search.best_estimator_[-1].certificate_.converged


def test_a_grid_of_rankers():
    """A ranker is searched by pair accuracy, its own score."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.normal(size=60), [-1.0, 0.0, 1.0])
    search = GridSearchCV(SoftMarginRanker(tol=0.2, random_state=0), {"C": [0.001, 0.01]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
