"""A fit of graded groups is a fit of all pairs that they imply, listed: value, weights, certificate, duals."""

import warnings

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from graded import by_pairs, graded, listed, near, objective, proved, settled
from softmargin import SoftMarginRanker, verify

LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
GROUPS = pytest.mark.parametrize("groups", ["pairs", "equal"])
SOLVERS = pytest.mark.parametrize("solver", ["auto", "newton"])
KINDS = pytest.mark.parametrize("kind", ["whole", "real", "negative"])


@SOLVERS
@LOSSES
@GROUPS
@KINDS
def test_groups_are_all_their_pairs(kind, groups, loss, solver):
    """Weights and objective are those of `fit_pairs` on every pair, as near as the two certificates say."""
    for seed in range(6):
        data, C = graded(seed, kind=kind), 10.0 ** (seed - 3)
        pairs = listed(data.y, data.qid, groups)
        model = settled(*data, C=C, groups=groups, loss=loss, solver=solver)
        proved(model, data.X, pairs, C, loss)
        near(model, by_pairs(data.X, pairs, C=C, loss=loss))


@LOSSES
def test_five_hundred_groups(loss):
    """One group at a time, of every size, with ties and twins: the primal value to 1e-10, and a true bound."""
    rng = np.random.default_rng(5)
    for seed in range(250):
        size, C = int(rng.integers(2, 25)), 10.0 ** rng.uniform(-4, 4)
        data = graded(seed, sizes=(size,), d=3, kind="real" if seed % 3 == 0 else "whole", grades=2 + seed % 5)
        pairs = listed(data.y, data.qid)
        model = SoftMarginRanker(C=C, loss=loss, tol=1e-6).fit(data.X, data.y)
        proved(model, data.X, pairs, C, loss)
        assert model.certificate_.converged
        assert model.certificate_.dual <= by_pairs(data.X, pairs, C=C, loss=loss, tol=1e-7).certificate_.primal * (
            1 + 1e-10
        )


@GROUPS
@LOSSES
def test_slack_may_cost_as_much_as_one_likes(loss, groups):
    """Prices up to a million, in groups that no weights order: certified to 1e-6."""
    for seed in range(8):
        data = graded(seed, kind="real" if seed % 2 else "whole")
        for C in (1e3, 1e4, 1e6):
            model = SoftMarginRanker(C=C, groups=groups, loss=loss, tol=1e-6).fit(*data)
            assert model.certificate_.converged
            pairs = listed(data.y, data.qid, groups)
            proved(model, data.X, pairs, C, loss)
            best = by_pairs(data.X, pairs, C=C, loss=loss).certificate_
            assert model.certificate_.dual <= best.primal * (1 + 1e-9)
            assert model.certificate_.primal - best.primal <= model.certificate_.gap * (1 + 1e-3) + 1e-13 * best.primal


def test_no_dual_value_is_above_the_optimum():
    """Five rows whose slack costs a million: stiff duals are known to a rounding only, and what they prove is true."""
    for seed in (50, 626, 1340, 1861):
        data, C = graded(seed, sizes=(5 + seed % 2,), d=3, grades=2 + seed % 5), 1e6
        pairs = listed(data.y, data.qid)
        proof = SoftMarginRanker(C=C, tol=1e-6).fit(*data).certificate_
        best = by_pairs(data.X, pairs, C=C).certificate_
        assert proof.dual <= best.primal * (1 + 1e-8)
        assert abs(proof.gap - (proof.primal - proof.dual)) <= 1e-8 * proof.primal


@GROUPS
def test_any_other_weights_are_no_better_than_the_dual_value(groups):
    """The dual value is below the objective of zero weights, of random ones, and of steps away from ours."""
    for seed in range(10):
        data, C, rng = graded(seed), 3.0, np.random.default_rng(seed)
        pairs = listed(data.y, data.qid, groups)
        model = settled(*data, C=C, groups=groups)
        lower, w = model.certificate_.dual * (1 - 1e-12), model.coef_
        rivals = [
            0 * w,
            0.5 * w,
            2.0 * w,
            *(w + 10.0 ** -rng.uniform(0, 8) * rng.normal(size=w.size) for _ in range(50)),
        ]
        assert all(objective(rival, data.X, pairs, C) >= lower for rival in rivals)


@GROUPS
@LOSSES
def test_early_stops_are_true_certificates(loss, groups):
    """However loose the tolerance, the primal value is true and the dual value below the optimum."""
    for seed in range(6):
        data, C = graded(seed), 5.0
        pairs = listed(data.y, data.qid, groups)
        best = by_pairs(data.X, pairs, C=C, loss=loss).certificate_
        for tol in (0.9, 0.3, 1e-1, 1e-2):
            model = SoftMarginRanker(C=C, groups=groups, loss=loss, tol=tol).fit(*data)
            proved(model, data.X, pairs, C, loss)
            assert model.certificate_.dual <= best.primal * (1 + 1e-10)
            assert model.certificate_.primal >= best.dual * (1 - 1e-10)


def best_pair_duals(balance, pairs, C):
    """The largest sum of pair duals, each from 0 to its price, with these balances of rows: a linear program."""
    t = np.arange(len(pairs.price))
    incidence = csr_matrix(
        (np.r_[np.ones(t.size), -np.ones(t.size)], (np.r_[pairs.pairs[:, 0], pairs.pairs[:, 1]], np.r_[t, t])),
        shape=(balance.size, t.size),
    )
    bounds = np.c_[np.zeros(t.size), C * pairs.price]
    return linprog(-np.ones(t.size), A_eq=incidence, b_eq=balance, bounds=bounds, method="highs")


@GROUPS
@SOLVERS
def test_dual_is_the_balance_of_feasible_pair_duals(solver, groups):
    """One number a row, adding up to 0 in each group, from pair duals within their prices that prove the dual value."""
    for seed in range(8):
        data, C = graded(seed), 2.0
        pairs = listed(data.y, data.qid, groups)
        model = SoftMarginRanker(C=C, groups=groups, solver=solver, tol=1e-6).fit(*data)
        dual, proof = model.dual_, model.certificate_
        assert dual.shape == data.y.shape
        for group in np.unique(data.qid):
            assert abs(dual[data.qid == group].sum()) <= 1e-9 * (np.abs(dual).sum() + 1e-300)
        w_dual = data.X.T @ dual
        assert 0.5 * np.sum((w_dual - model.coef_) ** 2) <= proof.gap * (1 + 1e-6) + 1e-12 * proof.primal
        found = best_pair_duals(dual, pairs, C)
        assert found.status == 0, found.message
        assert -found.fun - 0.5 * w_dual @ w_dual >= proof.dual - 1e-6 * proof.primal


@LOSSES
@GROUPS
def test_verify_finds_the_same(groups, loss):
    """`verify` gives the certificate again, from grades and groups."""
    for seed in range(4):
        data = graded(seed, kind="real")
        model = SoftMarginRanker(C=0.7, groups=groups, loss=loss, tol=1e-5).fit(*data)
        found, told = verify(model, data.X, data.y, qid=data.qid), model.certificate_
        assert found.primal == pytest.approx(told.primal, rel=1e-10)
        assert found.dual == pytest.approx(told.dual, rel=1e-8)
        assert found.gap >= 0.0
        assert found.relative_gap <= told.relative_gap * (1 + 1e-4) + 1e-10


def test_verify_believes_no_other_weights_or_duals():
    """Whatever weights and duals a model holds, the optimum is between what `verify` says."""
    data, C, rng = graded(3), 1.5, np.random.default_rng(0)
    pairs = listed(data.y, data.qid)
    best = by_pairs(data.X, pairs, C=C).certificate_
    for scale in (0.0, 1e-3, 1.0, 1e3):
        model = SoftMarginRanker(C=C, tol=1e-6).fit(*data)
        model._weights = (model.coef_ + scale * rng.normal(size=4), np.zeros(1))
        model.dual_ = model.dual_ + scale * rng.normal(size=data.y.size)
        found = verify(model, data.X, data.y, qid=data.qid)
        assert found.dual <= best.primal * (1 + 1e-9)
        assert found.primal == pytest.approx(objective(model.coef_, data.X, pairs, C), rel=1e-9)


@LOSSES
@pytest.mark.parametrize("columns", ["spread", "large", "small"])
def test_extreme_columns(columns, loss):
    """Columns of sizes from 1e-6 to 1e6, or all so large or so small: the value of all pairs, and certified.

    Slack of long rows that costs much, or its square, is as stiff as float64 allows: there a fit may prove less.
    """
    scale = {"spread": np.logspace(-6, 6, 4), "large": np.full(4, 1e6), "small": np.full(4, 1e-6)}[columns]
    for seed in range(5):
        data = graded(seed)
        X = data.X * scale
        for C in (1e-3, 1.0, 1e3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = SoftMarginRanker(C=C, loss=loss, tol=1e-5).fit(X, data.y, data.qid)
            proved(model, X, listed(data.y, data.qid), C, loss)
            stiff = columns == "large" and (loss == "squared_hinge" or C > 1.0)
            assert model.certificate_.converged or stiff


def test_an_extreme_score_far_from_all_others():
    """One row a million times as long as the others, at either end of the grades, in a group or in none."""
    for seed in range(4):
        for row in range(0, 32, 5):
            data = graded(seed)
            data.X[row] *= 1e6
            model = SoftMarginRanker(tol=1e-6).fit(*data)
            proved(model, data.X, listed(data.y, data.qid))
            assert model.certificate_.converged


def test_a_group_too_large_to_list():
    """20,000 rows of one group, 1.6e8 pairs: certified, with `verify` of the same opinion."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = np.floor(np.clip(X @ rng.normal(size=5) + rng.normal(size=20_000), -2.5, 2.5))
    model = SoftMarginRanker(C=100.0, groups="equal", tol=1e-4).fit(X, y)
    assert model.certificate_.converged
    assert verify(model, X, y).gap == pytest.approx(model.certificate_.gap, rel=1e-3, abs=1e-10)
    assert model.score(X, y) > 0.8
