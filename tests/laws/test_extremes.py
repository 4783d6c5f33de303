"""Prices and columns that leave 1/2 |w|² next to nothing of the objective: the default solver converges."""

import numpy as np
import pytest
import sklearn.datasets

from softmargin import SoftMarginClassifier

LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
FORMS = pytest.mark.parametrize("form", ["max", "sum", "ovr"])
PRICES = (1e-3, 1.0, 1e3, 1e6)


def noisy(rows=2000, columns=10, classes=2):
    """Normal rows with labels that depend on them a little."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    return X, np.argmax(X @ rng.normal(size=(columns, classes)) + 3.0 * rng.normal(size=(rows, classes)), axis=1)


COLUMNS = {
    "as they are": lambda X: X,
    "sizes from 1e-4 to 1e4": lambda X: X * np.logspace(-4, 4, X.shape[1]),
    "all of size 1e4": lambda X: 1e4 * X,
    "all of size 1e-6": lambda X: 1e-6 * X,
    "one far from zero": lambda X: np.c_[X, 1e4 + X[:, :1] * X[:, 1:2]],
}


def certified(X, y, **options):
    """Converged to 1e-6; a warning would have been an error."""
    certificate = SoftMarginClassifier(tol=1e-6, **options).fit(X, y).certificate_
    assert certificate.converged
    assert 0.0 <= certificate.relative_gap <= 1e-6


@LOSSES
@pytest.mark.parametrize("columns", COLUMNS)
def test_labels_at_any_price(columns, loss):
    """Two classes, C from 1e-3 to 1e6."""
    X, y = noisy()
    for C in PRICES:
        certified(COLUMNS[columns](X), y, C=C, loss=loss)


@LOSSES
@FORMS
@pytest.mark.parametrize("columns", [name for name in COLUMNS if name != "one far from zero"])
def test_classes_at_any_price(columns, form, loss):
    """Three classes in every form, C from 1e-3 to 1e6."""
    X, y = noisy(classes=3)
    for C in PRICES:
        certified(COLUMNS[columns](X), y, C=C, loss=loss, multiclass=form)


@LOSSES
@FORMS
def test_rare_classes(form, loss):
    """Two classes of one row each beside two thousand rows, all classes of equal weight together."""
    X, _ = noisy()
    y = np.where(np.arange(len(X)) < 2, np.arange(len(X)), 2)
    for C in PRICES[:3]:
        certified(X, y, C=C, loss=loss, multiclass=form, class_weight="balanced")


@LOSSES
@FORMS
def test_rows_of_zeros_at_any_price(form, loss):
    """Nothing but the intercepts can learn."""
    for C in PRICES:
        certified(np.zeros((20, 3)), np.arange(20) % 3, C=C, loss=loss, multiclass=form)


@LOSSES
@pytest.mark.parametrize("name", ["breast_cancer", "iris"])
def test_real_data_as_they_come_at_a_high_price(name, loss):
    """Measured columns, nobody has scaled them, and C = 1e6."""
    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    certified(X, y, C=1e6, loss=loss)


@LOSSES
@pytest.mark.parametrize("form", ["max", "sum"])
def test_intercepts_far_away_are_reached(form, loss):
    """Columns 1e4 away from zero at a low price: intercepts have far to go, and little to gain on the way."""
    X, y = noisy(classes=3)
    for C in (1e-3, 1.0, 1e3):
        certified(X + 1e4, y, C=C, loss=loss, multiclass=form)
