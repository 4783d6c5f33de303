"""Small problems of every kind, drawn to be awkward, each with the quadratic program that it is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

import comparator
from softmargin import SoftMarginClassifier, SoftMarginRanker

KINDS = ("labels", "pairs", "max", "sum", "ovr")
LOSSES = ("hinge", "squared_hinge")
INTERCEPTS = {"none": {"fit_intercept": False}, "free": {}, "penalised": {"penalize_intercept": True}}
FLAWS = ("none", "copies", "zero rows", "collinear", "badly scaled", "constant", "one value")


@dataclass(frozen=True)
class Small:
    """What is handed to an estimator, and the same as a program that knows nothing of estimators."""

    name: str
    X: Any
    y: np.ndarray  # labels, or pairs of row numbers
    extra: dict[str, np.ndarray]
    options: dict[str, Any]
    program: comparator.Program

    def fitted(self, **more):
        """A model of this problem."""
        if self.y.ndim == 2:
            return SoftMarginRanker(random_state=0, **self.options, **more).fit_pairs(self.X, self.y, **self.extra)
        return SoftMarginClassifier(random_state=0, **self.options, **more).fit(self.X, self.y, **self.extra)

    def weights(self, model):
        """All weights that count in the objective, in the order of the program, and the free intercepts."""
        if self.y.ndim == 2:
            return model.coef_, np.zeros(0)
        if model.penalize_intercept:
            return np.c_[model.coef_, model.intercept_].ravel(), np.zeros(0)
        return model.coef_.ravel(), model.intercept_ if model.fit_intercept else np.zeros(0)


def small(seed):
    """The problem with this number: its kind, loss, price, shape and flaw are all drawn."""
    rng = np.random.default_rng([20, seed])
    kind, loss, flaw = rng.choice(KINDS), rng.choice(LOSSES), rng.choice(FLAWS)
    intercept = rng.choice(list(INTERCEPTS)) if kind != "pairs" else "none"
    C = 10.0 ** rng.uniform(-3, 4)
    n, d = rng.integers((4, 1), (31, 6)) if rng.random() < 0.6 else rng.integers((4, 8), (11, 21))
    X = flawed(rng, rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7), flaw)
    layout = rng.choice(["float64", "float32", "CSR", "CSR float32"])
    X = X.astype(np.float32) if "float32" in layout else X
    F = X.astype(np.float64)
    F = np.c_[F, np.ones(n)] if intercept == "penalised" else F
    X = sparse.csr_array(X) if "CSR" in layout else X
    options = {"C": C, "loss": loss, **(INTERCEPTS[intercept] if kind != "pairs" else {})}
    name = f"{seed}: {kind}, {loss}, {intercept} intercept, {flaw}, C={C:.3g}, {n} x {d} {layout}"
    squared, free = loss == "squared_hinge", intercept == "free"
    if kind == "pairs":
        T = rng.integers(3, 31)
        y = np.array([rng.choice(n, 2, replace=False) for _ in range(T)])
        weight, margin = weights(rng, T), rng.uniform(0.0, 2.5, T)
        program = comparator.signed(F[y[:, 0]] - F[y[:, 1]], margin, C * weight, 1.0, squared=squared)
        return Small(name, X, y, {"weight": weight, "margin": margin}, options, program)
    number = 2 if kind == "labels" else int(rng.integers(3, 5))
    y = rng.integers(0, number, n)
    if rng.random() < 0.4:  # not noise only: a planted model, so that some can be told apart
        y = np.argmax(F @ rng.normal(size=(F.shape[1], number)), axis=1)
    y[:number] = np.arange(number)
    weight, ones = weights(rng, n), np.ones(n)
    as_margin = rng.random() < 0.3
    required, price = (weight, C * ones) if as_margin else (ones, C * weight)
    options["weighting"] = "margin" if as_margin else "slack"
    if kind == "labels":
        sign = np.where(y == 1, 1.0, -1.0)
        more = {"sign": sign} if free else {}
        program = comparator.signed(sign[:, None] * F, required, price, 1.0, squared=squared, **more)
    else:
        options["multiclass"] = str(kind)
        program = comparator.classes(F, y, number, required, price, 1.0, kind, free=free, squared=squared)
    return Small(name, X, y, {"sample_weight": weight}, options, program)


def weights(rng, count):
    """Importance from all alike to very different, some of it nothing."""
    width = rng.choice([0.0, 1.0, 3.0])
    drawn = 10.0 ** rng.uniform(-width, width / 3, count) * (rng.random(count) < 0.85)
    drawn[rng.integers(count)] = 1.0
    return drawn


def flawed(rng, X, flaw):
    """The rows with something wrong about them."""
    n, d = X.shape
    if flaw == "copies":
        X = X[rng.integers(0, max(2, n // 3), n)]
    elif flaw == "zero rows":
        X = X * (rng.random((n, 1)) < 0.6)
    elif flaw == "collinear":
        X = X[:, rng.integers(0, d, d)] * rng.choice([-2.0, 0.5, 1.0], d)
    elif flaw == "badly scaled":
        X = X * 10.0 ** rng.uniform(-3, 3, d)
    elif flaw == "constant":
        X = np.c_[X[:, 1:], np.full(n, 10.0 ** rng.uniform(-2, 2))]
    elif flaw == "one value":
        X = (X > 0).astype(float)
    return X
