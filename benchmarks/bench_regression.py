"""Bayesian regression beside scikit-learn and River: speed, digits, and what the repairs repair."""

import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from report import best_of, write
from river.linear_model import BayesianLinearRegression as RiverRegression
from scipy.linalg.blas import dsyrk
from sklearn.linear_model import BayesianRidge
from threadpoolctl import threadpool_limits

from softmargin import BayesianLinearRegression

COMMAND = "python benchmarks/bench_regression.py"
TRUTH = np.array([1.0, -2.0, 0.5, 0.0])
REPAIRS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "drift": {"forgetting": 0.95},
    "outliers": {"likelihood": "student_t"},
    "input": {"noise": "loglinear"},
}
WRONG = {
    "nothing": "nothing is wrong",
    "drift": "weights drift",
    "outliers": "10 % outliers, 20 times the noise",
    "input": "noise from 0.1 to 4 along a column",
}
Line = list[str]


# ------------------------------------------------------------------------------- speed


def on_one_core(*tasks: Callable[[], float]) -> list[float]:
    """What they measure where nobody waits for another thread: the figure that a busy machine disturbs least."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        with threadpool_limits(1):
            return [task() for task in tasks]
    finally:
        os.sched_setaffinity(0, before)


def batches(rows: int = 200_000, columns: int = 200) -> list[Line]:
    """A whole fit beside BayesianRidge, and beside nothing but the products that it needs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    y = X @ rng.normal(size=columns) + rng.normal(size=rows)
    fit = best_of(5, lambda: BayesianLinearRegression().fit(X, y).mean_)
    chosen = best_of(3, lambda: BayesianLinearRegression(evidence=True).fit(X, y).mean_)
    products = best_of(5, lambda: dsyrk(1.0, X.T))
    ridge = best_of(1, lambda: BayesianRidge().fit(X, y))
    flops = rows * columns * (columns + 1) / 1e9
    alone_fit, alone_products = on_one_core(
        lambda: best_of(8, lambda: BayesianLinearRegression().fit(X, y).mean_),
        lambda: best_of(8, lambda: dsyrk(1.0, X.T)),
    )
    what = f"fit, {rows:,} x {columns}"
    return [
        [what, f"{fit:.3f} s", "BayesianRidge", f"{ridge:.2f} s", f"{ridge / fit:.1f}"],
        [f"{what}, evidence=True", f"{chosen:.3f} s", "BayesianRidge", f"{ridge:.2f} s", f"{ridge / chosen:.1f}"],
        [f"{what}, flop rate", f"{flops / fit:.0f} GF/s", "dsyrk alone", f"{flops / products:.0f} GF/s",
         f"{products / fit:.2f}"],
        [f"{what}, flop rate on one core", f"{flops / alone_fit:.0f} GF/s", "dsyrk alone",
         f"{flops / alone_products:.0f} GF/s", f"{alone_products / alone_fit:.2f}"],
    ]  # fmt: skip


def seconds(learn: Callable[[Any, Any], object], calls: list[Any]) -> float:
    """Of one call a row."""
    started = time.perf_counter()
    for row, value in calls:
        learn(row, value)
    return time.perf_counter() - started


def rows_one_by_one(columns: int, rows: int = 4000) -> list[Line]:
    """Learning one row a call, and predicting each with its deviation before learning it."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, columns))
    y = X @ rng.normal(size=columns) + rng.normal(size=rows)
    calls = [(X[t : t + 1], y[t : t + 1]) for t in range(rows)]
    named = [({str(j): float(value) for j, value in enumerate(x)}, float(value)) for x, value in zip(X, y, strict=True)]

    def ours() -> float:
        model = BayesianLinearRegression(noise=1.0).partial_fit(*calls[0])
        started = time.perf_counter()
        seconds(model.partial_fit, calls[1:])
        model.predict(X[:1])  # nothing is left unsummed
        return time.perf_counter() - started

    def ours_asked() -> float:
        model = BayesianLinearRegression(noise=1.0).partial_fit(*calls[0])
        return seconds(lambda x, value: (model.predict(x, return_std=True), model.partial_fit(x, value)), calls[1:400])

    def theirs() -> float:
        return seconds(RiverRegression().learn_one, named[1:])

    def theirs_asked() -> float:
        model = RiverRegression()
        model.learn_one(*named[0])
        return seconds(lambda x, value: (model.predict_one(x, with_dist=True), model.learn_one(x, value)), named[1:400])

    lines = []
    for what, mine, peer, count in (
        ("learned", ours, theirs, rows - 1),
        ("predicted with its deviation, then learned", ours_asked, theirs_asked, 399),
    ):
        one, other = (min(run() for _ in range(3)) / count * 1e6 for run in (mine, peer))
        lines.append([
            f"one row a call {what}, d = {columns}", f"{one:.1f} µs", "River", f"{other:.1f} µs", f"{other / one:.1f}"
        ])  # fmt: skip
    return lines


# ------------------------------------------------------------------------------- what is wrong, and repaired


def simulated(kind: str, seed: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and values with one thing wrong with them, or nothing."""
    rng = np.random.default_rng(seed)
    X, noise, weights = rng.normal(size=(rows, 4)), 0.5 * rng.normal(size=rows), np.tile(TRUTH, (rows, 1))
    if kind == "drift":
        weights = TRUTH + np.cumsum(0.05 * rng.normal(size=(rows, 4)), axis=0)
    if kind == "outliers":
        noise[rng.random(rows) < 0.1] *= 20.0
    if kind == "input":
        noise *= np.exp(X[:, 0])
    return X, np.einsum("ij,ij->i", X, weights) + 1.0 + noise


def judged(kind: str, options: dict[str, Any], sets: int) -> tuple[float, ...]:
    """Means over data sets, of rows after 300 learned ones: coverage, width, log density, error."""
    found = []
    for seed in range(sets):
        X, y = simulated(kind, seed, 320)
        model = BayesianLinearRegression(**options).fit(X[:300], y[:300])
        told = model.predict_dist(X[300:])
        low, high = told.interval(0.95)
        clean = X[300:] @ TRUTH + 1.0 if kind != "drift" else y[300:]
        found.append((
            np.mean((low <= y[300:]) & (y[300:] <= high)), np.mean(high - low), np.mean(told.logpdf(y[300:])),
            np.sqrt(np.mean((model.predict(X[300:]) - clean) ** 2)),
        ))  # fmt: skip
    return tuple(float(value) for value in np.mean(found, axis=0))


def repairs(sets: int = 500) -> list[Line]:
    """The plain model and the repaired one on each kind of data, and what calibration says of the plain one."""
    lines = []
    for kind, options in REPAIRS.items():
        X, y = simulated(kind, 0, 2000)
        told = BayesianLinearRegression().fit(X[:1000], y[:1000]).calibration(X[1000:], y[1000:])
        for name, asked in (("plain", {}), ("repaired", options)) if options else (("plain", {}),):
            share, width, density, error = judged(kind, asked, sets)
            option = ", ".join(f"{key}={value!r}" for key, value in asked.items())
            lines.append([
                WRONG[kind], f"`{option}`" if option else name, f"{share:.3f}", f"{width:.2f}", f"{density:.2f}",
                f"{error:.3f}", "" if asked else f"`{told.repair}`" if told.repair else "nothing to repair",
            ])  # fmt: skip
    return lines


# ------------------------------------------------------------------------------- digits


def exact(X: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    """The weights in 50 digits."""
    with mpmath.workdps(50):
        Z = mpmath.matrix(X.tolist())
        matrix = Z.T * Z
        for j in range(X.shape[1]):
            matrix[j, j] += mpmath.mpf(ridge)
        return np.array([float(w) for w in mpmath.lu_solve(matrix, Z.T * mpmath.matrix(y.tolist()))])


def digits() -> list[Line]:
    """Right digits of the weights where columns are nearly dependent: at once, row by row, and by normal equations."""
    rng, lines = np.random.default_rng(2), []
    for spread in (1.0, 1e-2, 1e-4, 1e-6, 1e-7):
        base = rng.normal(size=(300, 1))
        X = np.hstack([base, base + spread * rng.normal(size=(300, 1)), rng.normal(size=(300, 3))])
        y = X @ [1.0, 2.0, -1.0, 0.5, 0.0] + 0.1 * rng.normal(size=300)
        noise, ridge = 0.01, 1e-8
        truth = exact(X, y, noise * ridge)
        ask = {"prior_precision": ridge, "noise": noise, "fit_intercept": False}
        live = BayesianLinearRegression(**ask)
        for t in range(300):
            live.partial_fit(X[t : t + 1], y[t : t + 1])
        plain = np.linalg.solve(X.T @ X + noise * ridge * np.eye(5), X.T @ y)
        right = [
            f"{-np.log10(max(np.abs(w - truth).max() / np.abs(truth).max(), 1e-16)):.1f}"
            for w in (BayesianLinearRegression(**ask).fit(X, y).mean_, live.mean_, plain)
        ]
        lines.append([f"{np.linalg.cond(X):.0e}", *right])
    return lines


def speed() -> None:
    """The first table."""
    packages = ("softmargin", "scikit-learn", "river", "numba", "numpy", "scipy")
    write(
        "regression-speed", COMMAND, packages, ("what", "softmargin", "peer", "peer's", "ratio"),
        [*batches(), *(line for columns in (10, 50, 200) for line in rows_one_by_one(columns))],
    )  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("error")
    speed()
    write(
        "regression-repairs", COMMAND, ("softmargin",),
        ("data", "model", "95 % intervals hold", "their width", "log density", "error", "calibration says"),
        repairs(),
    )  # fmt: skip
    write(
        "regression-digits", COMMAND, ("softmargin", "mpmath", "numpy"),
        ("condition of X", "fit", "row by row", "np.linalg.solve of the normal equations"),
        digits(),
    )  # fmt: skip
