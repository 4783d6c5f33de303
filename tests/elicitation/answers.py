"""Logs for tests: items, weights, and what judges say of them."""

from typing import NamedTuple

import numpy as np

from softmargin import PreferencePosterior


class Case(NamedTuple):
    """Items, true weights, and lines ``(left, right, verdict, judge)``."""

    X: np.ndarray
    w: np.ndarray
    lines: list


def case(seed, n=12, d=3, T=40, *, scale=1.0, width=0.3, error=0.05, judges=(None,)):
    """Answers by the model of the posterior."""
    rng = np.random.default_rng(seed)
    X, w = scale * rng.normal(size=(n, d)), rng.normal(size=d)
    a = rng.integers(0, n, T)
    b = (a + rng.integers(1, n, T)) % n
    seen, wrong = (X[a] - X[b]) @ w + rng.normal(size=T), rng.random(T) < error
    said = np.where(np.abs(seen) < width, "equal", np.where((seen > 0) != wrong, "left", "right"))
    names = [judges[k] for k in rng.integers(0, len(judges), T)]
    return Case(X, w, list(zip(a.tolist(), b.tolist(), said.tolist(), names, strict=True)))


def posterior(case, order=None, **options):
    """The posterior after the lines in this order."""
    model = PreferencePosterior(case.X, **options)
    for t in range(len(case.lines)) if order is None else order:
        model.answer(*case.lines[t])
    return model


def told(model):
    """All that a posterior says, as arrays."""
    ranking, weights, judges = model.ranking(), model.weights(), model.judges_
    return [
        model.mean_, model.precision_, ranking.order, ranking.low, ranking.high, ranking.utility, weights.sd,
        np.array(model.suggest(n=4)), np.array(model.suggest("best", n=4)), np.array([list(one)[1:] for one in judges]),
        np.array([model.expected_tau(), model.expected_regret(), model.tie_width_, model.probability(0, 1)]),
    ]  # fmt: skip


def same(one, other):
    """Whether two posteriors say the same, to the last bit."""
    return all(np.array_equal(a, b) for a, b in zip(told(one), told(other), strict=True))
