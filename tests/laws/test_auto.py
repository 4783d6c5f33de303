"""The default solver never fails to converge: every kind of data, every price, nothing set but the tolerance."""

import numpy as np
import pytest
import sklearn.datasets
from data import badly_scaled, duplicated, tall_noisy, text_like
from scipy import sparse

from softmargin import SoftMarginClassifier, SoftMarginRanker

PRICES = pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 10.0, 1000.0])
LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
FREE = pytest.mark.parametrize("free", [False, True], ids=["no intercept", "free intercept"])
FORMS = pytest.mark.parametrize("form", ["max", "sum", "ovr"])
TOL = 1e-6


def one_hot(rows, columns, seed=0):
    """Sparse ones, a column of each of three groups in a row; the first group tells the label."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, columns, (rows, 3))
    ones = sparse.csr_array(
        (np.ones(3 * rows), (places + columns * np.arange(3)).ravel(), np.arange(0, 3 * rows + 1, 3)),
        shape=(rows, 3 * columns),
    )
    return ones, np.where(places[:, 0] % 2, 1, -1)


def wide(rows, columns, seed=0):
    """Far more columns than rows, labels of noise: any labels can be told apart."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), np.where(np.arange(rows) % 2, 1, -1)


def rare(rows, columns, seed=0):
    """Three of one class, all others of the other, and nothing to tell them by."""
    X, _ = tall_noisy(rows, columns, seed=seed)
    return X, np.where(np.arange(rows) < 3, 1, -1)


def changed(made, change):
    """The same labels with other rows."""
    X, y = made
    return change(X), y


LABELS = {
    "tall noisy": lambda: tall_noisy(4000, 20),
    "text-like": lambda: text_like(800, 2000, 20),
    "badly scaled": lambda: badly_scaled(2000, 20),
    "duplicated": lambda: duplicated(100, 10, 20),
    "wide": lambda: wide(40, 600),
    "one-hot": lambda: one_hot(1500, 12),
    "one feature": lambda: tall_noisy(2000, 1),
    "rare": lambda: rare(3000, 8),
    "empty rows": lambda: changed(tall_noisy(1500, 9), lambda X: sparse.csr_array(X * (X[:, :1] > 0))),
    "two rows": lambda: (np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([0, 1])),
    "all alike": lambda: (np.ones((12, 3)), np.arange(12) % 2),
    "all zeros": lambda: (np.zeros((12, 3)), np.where(np.arange(12) < 3, 1, 0)),
    "constant column": lambda: changed(tall_noisy(1000, 5), lambda X: np.c_[X, np.full(len(X), 7.0)]),
    "small numbers": lambda: changed(tall_noisy(1000, 5), lambda X: 1e-6 * X),
}


def certified(model):
    """Converged; a warning would have been an error."""
    certificate = model.certificate_
    assert certificate.converged
    assert 0.0 <= certificate.relative_gap <= TOL
    assert certificate.reason == "tol"


@LOSSES
@FREE
@PRICES
@pytest.mark.parametrize("case", LABELS)
def test_labels_always_converge(case, C, free, loss):
    """Two classes, with and without an intercept, also with classes of equal weight together."""
    X, y = LABELS[case]()
    for class_weight in (None, "balanced"):
        model = SoftMarginClassifier(C=C, tol=TOL, fit_intercept=free, loss=loss, class_weight=class_weight)
        certified(model.fit(X, y))


def blobs(rows, columns, classes, seed=0):
    """Classes that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    return rng.normal(size=(classes, columns))[y] + rng.normal(size=(rows, columns)), y


CLASSES = {
    "blobs": lambda: blobs(600, 6, 5),
    "many": lambda: blobs(300, 6, 20),
    "badly scaled": lambda: changed(blobs(300, 6, 3), lambda X: X * np.logspace(-3, 3, 6)),
    "wide": lambda: (wide(30, 200)[0], np.arange(30) % 3),
    "one-hot": lambda: (one_hot(500, 6)[0], one_hot(500, 6)[0].indices[::3] % 4),
    "all zeros": lambda: (np.zeros((12, 3)), np.arange(12) % 3),
}


@LOSSES
@FORMS
@FREE
@PRICES
@pytest.mark.parametrize("case", CLASSES)
def test_classes_always_converge(case, C, free, form, loss):
    """Several classes in every form."""
    X, y = CLASSES[case]()
    certified(SoftMarginClassifier(C=C, tol=TOL, fit_intercept=free, multiclass=form, loss=loss).fit(X, y))


@LOSSES
@PRICES
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_comparisons_always_converge(scale, C, loss):
    """Pairs of dense and of sparse items, some answers wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12)) * np.geomspace(1.0, scale, 12)
    pairs = rng.integers(0, 200, (1500, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    utility = (X / np.geomspace(1.0, scale, 12)) @ rng.normal(size=12) + rng.normal(size=200)
    pairs = np.where((utility[pairs[:, 0]] > utility[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])
    for items in (X, sparse.csr_array(X)):
        certified(SoftMarginRanker(C=C, tol=TOL, loss=loss).fit_pairs(items, pairs))


@LOSSES
@pytest.mark.parametrize("name", ["breast_cancer", "iris", "wine"])
def test_real_data_as_they_come_always_converge(name, loss):
    """Columns are what somebody measured, of very different sizes and far from zero; nobody has scaled them."""
    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    for C in (1e-3, 1.0, 1000.0):
        for form in ("max", "sum", "ovr") if y.max() > 1 else ("max",):
            certified(SoftMarginClassifier(C=C, tol=TOL, loss=loss, multiclass=form).fit(X, y))


@LOSSES
def test_grades_of_real_data_always_converge(loss):
    """Every two patients are compared by how their disease went on, by columns of very different sizes."""
    X, y = sklearn.datasets.load_diabetes(return_X_y=True, scaled=False)
    for C in (1e-3, 1.0, 1000.0):
        certified(SoftMarginRanker(C=C, tol=TOL, loss=loss).fit(X[:150], y[:150]))
