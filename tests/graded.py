"""Graded groups for the tests, and every pair that they imply, listed one by one: slow and obvious."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from softmargin import SoftMarginRanker


class Groups(NamedTuple):
    """Rows, a grade each, and the group of each."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray


class Listed(NamedTuple):
    """All pairs (better, worse), and what the slack of each costs."""

    pairs: np.ndarray
    price: np.ndarray


def graded(seed, *, sizes=(7, 1, 5, 4, 9, 6), d=4, grades=4, kind="whole"):
    """Groups of a noisy planted utility, shuffled; the second is a single row, the fourth is level.

    Some rows are twins of others, so that scores tie whatever the weights.  ``kind`` of grades: "whole", "real"
    (no two alike but by chance), "negative".
    """
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(qid.size, d)) * (rng.random((qid.size, d)) < 0.8)
    twins = rng.random(qid.size) < 0.2
    X[twins] = X[rng.integers(0, qid.size, twins.sum())]
    y = X @ rng.normal(size=d) + 0.7 * rng.normal(size=qid.size)
    if kind != "real":
        y = np.floor(grades * (np.argsort(np.argsort(y)) / qid.size)) - (2 if kind == "negative" else 0)
    for group in range(len(sizes)):
        mine = np.flatnonzero(qid == group)
        if group == 3:
            y[mine] = y[mine[0]]
        elif mine.size > 1 and np.ptp(y[mine]) == 0:
            y[mine[0]] += 1
    order = rng.permutation(qid.size)
    return Groups(X[order], y[order], qid[order])


def listed(y, qid, groups="pairs", weight=None):
    """Every pair that is implied, by a double loop; ``weight`` is one number a group, sorted, or none."""
    pairs, price = [], []
    for place, group in enumerate(np.unique(qid)):
        rows = [row for row in range(len(y)) if qid[row] == group]
        mine = [(i, j) for i in rows for j in rows if y[i] > y[j]]
        each = 1.0 if weight is None else float(weight[place])
        pairs += mine
        price += [each / len(mine) if groups == "equal" else each for _ in mine]
    return Listed(np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(price))


def objective(w, X, all_pairs, C=1.0, loss="hinge"):
    """1/2 |w|^2 + C times what the slack of every pair costs."""
    X = np.asarray(X, dtype=np.float64)
    slack = np.maximum(0.0, 1.0 - (X[all_pairs.pairs[:, 0]] - X[all_pairs.pairs[:, 1]]) @ w)
    return 0.5 * w @ w + C * np.sum(all_pairs.price * (slack**2 if loss == "squared_hinge" else slack))


def by_pairs(X, all_pairs, *, tol=1e-9, **options):
    """The same problem, solved by the pairs listed."""
    return SoftMarginRanker(tol=tol, **options).fit_pairs(X, all_pairs.pairs, weight=all_pairs.price)


def settled(X, y, qid=None, sample_weight=None, **options):
    """A fit that goes on to 1e-9 or to where float64 ends, which is 1e-6 or less."""
    model = SoftMarginRanker(**{"C": 2.0, "tol": 1e-9, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, qid, sample_weight)
    assert model.certificate_.relative_gap <= 1e-6, str(model.certificate_)
    return model


def near(one, other):
    """Two models of one problem: no farther apart than their certificates say, objectives no more than their gaps."""
    ours, theirs = one.certificate_, other.certificate_
    assert np.linalg.norm(one.coef_ - other.coef_) <= (ours.distance + theirs.distance) * (1 + 1e-9) + 1e-12
    assert ours.dual <= theirs.primal * (1 + 1e-10)
    assert theirs.dual <= ours.primal * (1 + 1e-10)


def proved(model, X, all_pairs, C=1.0, loss="hinge"):
    """The primal value is that of all pairs, and the gap the difference to the dual value, to 1e-10.

    Slack is a difference of scores, so it is known to a rounding of those, times what it costs.
    """
    proof = model.certificate_
    true = objective(model.coef_, X, all_pairs, C, loss)
    known = 1e-10 * true + 1e-15 * C * all_pairs.price.sum() * (1.0 + np.abs(X @ model.coef_).max())
    assert abs(proof.primal - true) <= known
    assert proof.gap >= 0.0
    assert abs(proof.gap - (proof.primal - proof.dual)) <= known
    assert proof.converged == (proof.relative_gap <= model.tol)
