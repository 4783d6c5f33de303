"""A stream of groups: one step a group, of its pairs as they stand when it comes."""

import copy

import numpy as np
import pytest
from scipy import sparse

from graded import graded, listed
from refusal import refused
from softmargin import SoftMarginRanker

GROUPS = pytest.mark.parametrize("groups", ["pairs", "equal"])
OPTIONS = {"schedule": "strong", "average": False}
SIZES = (7, 3, 5, 2, 9, 6, 4, 8)


def pegasos(stream, lam, groups):
    """Each group t: w <- (1 - 1/t) w + 1/(lam t) times the price of each violated pair times its difference."""
    w, path = np.zeros(stream[0][0].shape[1]), []
    for t, (X, y, weight) in enumerate(stream, 1):
        pairs = listed(y, np.zeros(y.size), groups, [weight])
        difference = X[pairs.pairs[:, 0]] - X[pairs.pairs[:, 1]]
        violated = difference @ w < 1.0
        push = (difference[violated] * pairs.price[violated, None]).sum(axis=0)
        w = (1.0 - 1.0 / t) * w + push / (lam * t)
        path.append(w)
    return path


def stream_of(seed, weights=None):
    """Groups one after another, level ones too far from level to be so."""
    X, y, qid = graded(seed, sizes=SIZES, kind="real")
    y = y + 1e-6 * np.arange(y.size)
    weights = np.ones(len(SIZES)) if weights is None else weights
    return [(X[qid == group], y[qid == group], weights[group]) for group in range(len(SIZES))]


@GROUPS
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_a_step_a_group(layout, groups):
    """Group by group the weights are those of the transcription, after every call."""
    for seed in range(3):
        stream, lam = stream_of(seed), 0.3
        model = SoftMarginRanker(lam=lam, groups=groups, **OPTIONS)
        for (X, y, _), expected in zip(stream, pegasos(stream, lam, groups), strict=True):
            model.partial_fit(layout(X), y, np.zeros(y.size))
            np.testing.assert_allclose(model.coef_, expected, rtol=1e-10, atol=1e-12)


@GROUPS
def test_several_groups_in_a_call_are_as_many_steps(groups):
    """Groups in one call, in the order in which they first appear, are the same stream as one call each."""
    stream, lam = stream_of(4), 0.5
    X, y = (np.concatenate([part[place] for part in stream]) for place in (0, 1))
    qid = np.repeat(["c", "h", "a", "e", "b", "g", "d", "f"], [part[1].size for part in stream])
    model = SoftMarginRanker(lam=lam, groups=groups, **OPTIONS).partial_fit(X, y, qid)
    np.testing.assert_allclose(model.coef_, pegasos(stream, lam, groups)[-1], rtol=1e-10, atol=1e-12)


@GROUPS
def test_a_weight_is_the_price_of_a_group(groups):
    """The push of a group is multiplied by its weight, and its shrinking is not."""
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(SIZES))
    stream, lam = stream_of(5, weights), 0.5
    model = SoftMarginRanker(lam=lam, groups=groups, **OPTIONS)
    for (X, y, weight), expected in zip(stream, pegasos(stream, lam, groups), strict=True):
        model.partial_fit(X, y, np.zeros(y.size), sample_weight=[weight])
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-10, atol=1e-12)


def test_groups_that_compare_nothing_are_no_step():
    """Single rows and level groups, in a call of their own or among others, leave the stream as it was."""
    stream = stream_of(9)
    X, y = (np.concatenate([part[place] for part in stream]) for place in (0, 1))
    qid = np.repeat(np.arange(len(stream)), [part[1].size for part in stream])
    one, other = (SoftMarginRanker(lam=0.4, **OPTIONS).partial_fit(X[qid < 3], y[qid < 3], qid[qid < 3]) for _ in "ab")
    other.partial_fit(X[:4], np.ones(4), [0, 0, 1, 2])
    assert np.array_equal(one.coef_, other.coef_)
    one.partial_fit(X[qid >= 3], y[qid >= 3], qid[qid >= 3])
    other.partial_fit(np.r_[X[:1], X[qid >= 3], X[:2]], np.r_[9.0, y[qid >= 3], 1, 1], np.r_[-1, qid[qid >= 3], 99, 99])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-12)


def test_one_group_needs_no_name():
    """Without `qid` all rows of a call are one group."""
    (X, y, _), *_ = stream_of(6)
    one, other = (SoftMarginRanker(lam=0.1, **OPTIONS) for _ in range(2))
    assert np.array_equal(one.partial_fit(X, y).coef_, other.partial_fit(X, y, np.full(y.size, 3)).coef_)


@GROUPS
def test_many_passes_come_near_the_best_weights(groups):
    """A thousand rounds of the stream: an objective within some percent of that of `fit`."""
    stream = stream_of(7)
    X, y = (np.concatenate([part[place] for part in stream]) for place in (0, 1))
    qid = np.repeat(np.arange(len(stream)), [part[1].size for part in stream])
    lam = 0.5 * (1.0 if groups == "equal" else 10.0)
    model = SoftMarginRanker(lam=lam, groups=groups, schedule="strong", average=True)
    for _ in range(1000):
        model.partial_fit(X, y, qid)
    pairs = listed(y, qid, groups)
    difference = X[pairs.pairs[:, 0]] - X[pairs.pairs[:, 1]]

    def paid(w):
        return 0.5 * lam * w @ w + (pairs.price * np.maximum(0.0, 1.0 - difference @ w)).sum() / len(SIZES)

    best = SoftMarginRanker(C=1.0 / (lam * len(SIZES)), groups=groups, tol=1e-6).fit(X, y, qid)
    assert paid(model.coef_) <= 1.02 * paid(best.coef_)


def test_there_is_no_stream_without_lam():
    """Without `lam` the method is absent."""
    assert not hasattr(SoftMarginRanker(C=1.0), "partial_fit")
    assert hasattr(SoftMarginRanker(lam=0.1), "partial_fit")


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda X, y, qid: (np.where(np.arange(X.size).reshape(X.shape) == 5, np.nan, X), y, qid), [r"\bX\b", "row 1"]),
        (lambda X, y, qid: (X, np.where(np.arange(y.size) == 2, np.nan, y), qid), [r"y\[2\]", "(?i)nan"]),
        (lambda X, y, qid: (X, y[:-1], qid), [r"\by\b"]),
        (lambda X, y, qid: (X, y, qid[:-1]), ["qid"]),
        (lambda X, y, qid: (X[:, :2], y, qid), [r"\bX\b", "2 features"]),
    ],
    ids=["NaN in X", "NaN grade", "short y", "short qid", "narrow X"],
)
def test_a_refused_call_learns_nothing(spoil, named):
    """The sentence names argument and row; what comes after is as if nobody had called."""
    (X, y, _), (Z, v, _), *_ = stream_of(8)
    model = SoftMarginRanker(lam=0.2, **OPTIONS).partial_fit(X, y)
    twin = copy.deepcopy(model)
    refused(lambda: model.partial_fit(*spoil(X, y, np.zeros(y.size))), *named)
    assert np.array_equal(model.coef_, twin.coef_)
    assert np.array_equal(model.partial_fit(Z, v).coef_, twin.partial_fit(Z, v).coef_)
