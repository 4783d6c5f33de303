"""Graded groups without slack: the largest margin, or the conflict that forbids it."""

import numpy as np
import pytest

from graded import graded, listed
from softmargin import InfeasibleError, SoftMarginRanker, verify

HARD = {"C": np.inf, "tol": 1e-9}
GROUPS = pytest.mark.parametrize("groups", ["pairs", "equal"])


def separable(seed, *, grades=5, sizes=(8, 1, 6, 4, 9)):
    """Groups whose grades rise with a planted utility, so that some weights order all of them."""
    X, _, qid = graded(seed, sizes=sizes, d=5)
    X = X + 1e-3 * np.random.default_rng(seed).normal(size=X.shape)  # no twins
    utility = X @ np.random.default_rng(seed + 100).normal(size=5)
    return X, np.floor(np.argsort(np.argsort(utility)) * grades / utility.size), qid


@GROUPS
def test_the_largest_margin_is_that_of_all_pairs(groups):
    """Grades that some weights order: the weights of `fit_pairs` with C=inf, and no pair lacks its margin."""
    for seed in range(8):
        X, y, qid = separable(seed)
        pairs = listed(y, qid).pairs
        model = SoftMarginRanker(groups=groups, **HARD).fit(X, y, qid)
        other = SoftMarginRanker(**HARD).fit_pairs(X, pairs)
        assert model.certificate_.converged
        assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-7)
        np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-3 * np.linalg.norm(other.coef_))
        assert model.margins(X, pairs).min() >= 1.0 - 1e-9
        np.testing.assert_allclose(X.T @ model.dual_, model.coef_, atol=1e-4 * np.linalg.norm(model.coef_))


def test_weights_do_not_matter_without_slack():
    """A price on what must not be is no price: group weights above 0 change nothing."""
    X, y, qid = separable(3)
    weight = np.array([0.1, 1.0, 5.0, 2.0, 30.0])
    one, other = SoftMarginRanker(**HARD).fit(X, y, qid), SoftMarginRanker(**HARD).fit(X, y, qid, weight)
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-7)


def test_verify_of_a_hard_margin():
    """The certificate once more."""
    X, y, qid = separable(4)
    model = SoftMarginRanker(**HARD).fit(X, y, qid)
    found = verify(model, X, y, qid=qid)
    assert found.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert 0.0 <= found.relative_gap <= 1e-6


@GROUPS
def test_a_conflict_is_named_and_nothing_is_learned(groups):
    """Grades that no weights order: InfeasibleError with the conflict, and the model is as it was."""
    X, y, qid = separable(5)
    rows = np.flatnonzero(qid == 0)
    X[rows[y[rows] == y[rows].max()][0]] = X[rows[y[rows] == y[rows].min()][0]]
    model = SoftMarginRanker(groups=groups, **HARD).fit(*separable(6))
    before = model.coef_.copy()
    with pytest.raises(InfeasibleError) as caught:
        model.fit(X, y, qid)
    assert caught.value.conflict is not None
    assert np.array_equal(model.coef_, before)


def test_a_cycle_across_groups_is_a_conflict_too():
    """Two groups that want opposite weights, each of them fine alone."""
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    for qid in ([0, 0, 1, 1], [0, 0, 0, 0]):
        with pytest.raises(InfeasibleError):
            SoftMarginRanker(**HARD).fit(X, [0, 1, 1, 0], qid)
    assert SoftMarginRanker(**HARD).fit(X[:2], [0, 1]).coef_ == pytest.approx([1.0])
