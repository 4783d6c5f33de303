"""`verify` of grades: another road to the same numbers, true also where it is steep."""

import numpy as np
import pytest

from graded import listed, objective
from softmargin import SoftMarginRanker, verify


def heavy_tailed(seed, rows, power, grades=3):
    """One group with scores over many orders of magnitude."""
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy(size=(rows, 2)) ** power
    return X, np.digitize(X[:, 0] + rng.standard_cauchy(rows), np.quantile(X[:, 0], np.arange(1, grades) / grades))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("power", [1, 3])
@pytest.mark.parametrize("rows", [50, 700, 4000])
def test_large_groups_with_outliers(rows, power, loss):
    """The primal value is that of all pairs, whatever the scale of the scores; the dual is no larger."""
    X, y = heavy_tailed(rows, rows, power)
    model = SoftMarginRanker(C=1.0 / rows, loss=loss, tol=1e-4, max_passes=100)
    model._weights = (np.random.default_rng(0).normal(size=2), np.zeros(1))
    model.n_features_in_ = 2
    found = verify(model, X, y)
    better, worse = np.nonzero(y[:, None] > y)
    slack = np.maximum(0.0, 1.0 - (X @ model.coef_)[better] + (X @ model.coef_)[worse])
    true = 0.5 * model.coef_ @ model.coef_ + np.sum(slack**2 if loss == "squared_hinge" else slack) / rows
    assert found.primal == pytest.approx(true, rel=1e-9)
    assert found.dual <= found.primal
    assert found.gap == pytest.approx(found.primal - found.dual, rel=1e-6)


def test_thousands_of_small_groups_and_some_large():
    """Groups of all sizes at once, with weights, by both prices of a group."""
    rng = np.random.default_rng(1)
    qid = np.concatenate([np.repeat(np.arange(300), rng.integers(1, 9, 300).cumsum() % 8 + 1), np.full(150, 1000)])
    X, y = rng.normal(size=(qid.size, 3)), rng.integers(0, 4, qid.size)
    for share in ("pairs", "equal"):
        weight = rng.uniform(0.1, 2.0, np.unique(qid).size)
        model = SoftMarginRanker(C=0.1, groups=share, tol=1e-5).fit(X, y, qid, weight)
        found = verify(model, X, y, qid=qid, sample_weight=weight)
        pairs = listed(y, qid, "pairs")
        price = weight[np.searchsorted(np.unique(qid), qid[pairs.pairs[:, 0]])]
        if share == "equal":
            price = price / np.bincount(qid[pairs.pairs[:, 0]])[qid[pairs.pairs[:, 0]]]
        assert found.primal == pytest.approx(objective(model.coef_, X, pairs._replace(price=price), 0.1), rel=1e-10)
        assert found.primal == pytest.approx(model.certificate_.primal, rel=1e-10)
        assert found.dual == pytest.approx(model.certificate_.dual, rel=1e-8)


def test_weights_beyond_numbers_are_refused():
    """Products that overflow prove nothing, and `verify` says so."""
    X, y = heavy_tailed(0, 60, 1)
    model = SoftMarginRanker(loss="squared_hinge").fit(X, y)
    model._weights = (1e200 * model.coef_, np.zeros(1))
    with pytest.raises(ValueError, match="coef_ of the model is so large"), np.errstate(all="ignore"):
        verify(model, X, y)


def test_what_is_written_into_a_model_proves_no_more():
    """Any `stiffness_` and any `dual_`: the dual value stays below the optimum."""
    rng = np.random.default_rng(2)
    X, y, qid = rng.normal(size=(300, 4)), rng.integers(0, 3, 300), rng.integers(0, 3, 300)
    best = SoftMarginRanker(C=0.01, tol=1e-7, solver="newton").fit(X, y, qid)
    for stiffness in (1e-9, 0.3, 1e12, np.nan, -1.0):
        model = SoftMarginRanker(C=0.01, tol=1e-2, solver="newton").fit(X, y, qid)
        model.stiffness_, model.dual_ = stiffness, rng.normal(size=300)
        found = verify(model, X, y, qid=qid)
        assert found.dual <= best.certificate_.primal * (1 + 1e-9)
        assert "do not follow" in found.reason or "derived" in found.reason
