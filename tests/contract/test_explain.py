"""`explain` takes a difference of utilities apart, by features and by answers, and every part is accounted for."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from cases import comparisons
from refusal import refused
from softmargin import SoftMarginRanker

CASE = comparisons(21)
NAMES = [f"feature {number}" for number in range(6)]


def fitted(X=CASE.X, **options):
    """A ranker that has learned the comparisons."""
    model = SoftMarginRanker(**{"C": 0.4, "tol": 1e-5, "random_state": 0, **options})
    return model.fit_pairs(X, CASE.pairs, weight=CASE.price, margin=CASE.required)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_matrix, lambda X: pd.DataFrame(X, columns=NAMES)])
def test_all_parts_add_up(kind, loss):
    """Features add up to the difference of the utilities, answers to that of the weights that the duals stand for."""
    X = kind(CASE.X)
    model = fitted(X, loss=loss)
    told, utility = model.explain(X, 3, 11), model.predict(X)
    assert told.difference == pytest.approx(utility[3] - utility[11], rel=1e-5, abs=1e-6)
    assert told.contributions.sum() == pytest.approx(told.difference, rel=1e-12, abs=1e-12)
    Z = CASE.X[CASE.pairs[:, 0]] - CASE.X[CASE.pairs[:, 1]]
    change, w_dual = CASE.X[3] - CASE.X[11], model.dual_ @ Z
    assert told.influence.sum() == pytest.approx(w_dual @ change, rel=1e-5, abs=1e-6)
    apart = np.linalg.norm(change) * np.sqrt(2 * model.certificate_.gap)
    assert abs(told.influence.sum() - told.difference) <= apart + 1e-6
    assert told.influence == pytest.approx(model.dual_[told.answers] * (Z[told.answers] @ change), rel=1e-4, abs=1e-6)
    assert np.array_equal(told.pairs, CASE.pairs[told.answers])
    assert set(told.answers) <= set(model.support_)


def test_the_table_has_names_and_the_largest_parts_first():
    """Printed, features and answers stand in the order of their size, with the names that the frame gave."""
    X = pd.DataFrame(CASE.X, columns=NAMES)
    told = fitted(X).explain(X, 11, 3)
    lines = str(told).splitlines()
    largest = NAMES[int(np.argmax(np.abs(told.contributions)))]
    assert lines[0] == f"row 11 is over row 3 by {told.difference:.4g}"
    assert lines[3].startswith(largest)
    assert np.all(np.diff(np.abs(told.contributions[told.order])) <= 0)
    assert np.all(np.diff(np.abs(told.influence)) <= 0)
    better, worse = told.pairs[0]
    assert any(line.startswith(f"{better} over {worse} ") for line in lines)
    assert lines[-1].split()[1:3] == ["more", "answers"]
    behind = fitted(X).explain(X, 3, 11)
    assert str(behind).startswith(f"row 3 is NOT over row 11, but behind it by {told.difference:.4g}")


def test_grades_are_explained_by_the_rows_that_hold_them():
    """After `fit`, an answer is a row with its grade: it pulls as the pairs do that it wins and loses, together."""
    y = np.argsort(np.argsort(CASE.X @ np.arange(1.0, 7.0))) // 5
    model = SoftMarginRanker(C=0.1, tol=1e-5).fit(CASE.X, y)
    told = model.explain(CASE.X, 3, 11)
    assert told.pairs is None
    change = CASE.X[3] - CASE.X[11]
    assert np.array_equal(np.sort(told.answers), np.flatnonzero(model.dual_ * (CASE.X @ change)))
    assert np.allclose(told.influence, model.dual_[told.answers] * (CASE.X[told.answers] @ change))
    assert told.influence.sum() == pytest.approx(told.difference, rel=0.05)
    assert f"grade of {told.answers[0]}" in str(told)


def test_other_rows_are_explained_by_features_only():
    """Where X is not what the model learned from, the answers cannot be told, and the explanation says so."""
    model = fitted()
    for X in (CASE.X[::-1], CASE.X[:12], CASE.X + np.arange(25)[:, None], np.vstack([CASE.X[1:], CASE.X])):
        told = model.explain(X, 3, 11)
        assert told.answers is None
        assert told.influence is None
        assert told.contributions.sum() == pytest.approx(model.coef_ @ (X[3] - X[11]))
        assert "X holds other rows" in str(told)
    longer = model.explain(np.vstack([CASE.X, 1.0 + CASE.X]), 3, 40)
    assert longer.influence.sum() == pytest.approx(longer.difference, abs=0.01)


def test_a_stream_is_explained_by_features_only():
    """A stream keeps no duals, before and after it went on from a fit."""
    streamed = SoftMarginRanker(lam=0.1).partial_fit_pairs(CASE.X, CASE.pairs)
    went_on = SoftMarginRanker(lam=0.1).fit_pairs(CASE.X, CASE.pairs).partial_fit_pairs(CASE.X, CASE.pairs[:5])
    for model in (streamed, went_on):
        told = model.explain(CASE.X, 3, 11)
        assert told.answers is None
        assert told.difference == pytest.approx(model.coef_ @ (CASE.X[3] - CASE.X[11]))
        assert "a stream keeps no duals" in str(told)


def test_weights_of_zero_are_explained():
    """Where nothing was learned nothing adds anything."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fitted(max_passes=1, solver="newton", tol=0)
    model._weights, model.dual_, model.support_pairs_ = (np.zeros(6), np.zeros(1)), np.zeros(70), CASE.pairs[:0]
    told = model.explain(CASE.X, 3, 11)
    assert told.difference == 0.0
    assert told.order.size == 0
    assert told.answers.size == 0
    assert str(told).startswith("row 3 is level with row 11\n")


def test_bad_rows_are_refused():
    """One sentence names the argument."""
    model = fitted()
    for wrong in (25, -1, 1.5, "3", None, True):
        refused(lambda a=wrong: model.explain(CASE.X, a, 1), "^a=", "from 0 to 24")
        refused(lambda b=wrong: model.explain(CASE.X, 1, b), "^b=", "from 0 to 24")
    refused(lambda: model.explain(CASE.X, 2, 2), "a=2 and b=2 are the same row")
    refused(lambda: model.explain(CASE.X[:, :4], 0, 1), "X has 4 features")
    with pytest.raises(NotFittedError):
        SoftMarginRanker().explain(CASE.X, 0, 1)
