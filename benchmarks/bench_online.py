"""Online learning against scikit-learn's SGDClassifier and River: rows a second, one core each, one run."""

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from data import tall_noisy, text_like
from report import best_of, write
from river import linear_model, optim
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

from softmargin import SoftMarginClassifier

warnings.simplefilter("ignore", ConvergenceWarning)  # a few passes are not meant to converge
LAM, PASSES = 1e-4, 5
Line = tuple[str, float, str, float]


def ours(*, average: bool) -> SoftMarginClassifier:
    """Hinge, steps 1/(lam t), no intercept."""
    return SoftMarginClassifier(
        lam=LAM, solver="online", max_passes=PASSES, tol=0, fit_intercept=False, average=average, random_state=0
    )


def theirs(*, average: bool) -> SGDClassifier:
    """The same lam, no intercept, scikit-learn's own steps."""
    return SGDClassifier(alpha=LAM, max_iter=PASSES, tol=None, fit_intercept=False, average=average, random_state=0)


def passes(name: str, X: Any, y: np.ndarray) -> list[Line]:
    """Rows a second of a whole fit (checks, shuffles and, for us, the certificate) and of one streamed pass."""
    lines = []
    for average in (False, True):
        mine = PASSES * X.shape[0] / best_of(5, lambda: ours(average=average).fit(X, y))  # noqa: B023
        peer = PASSES * X.shape[0] / best_of(5, lambda: theirs(average=average).fit(X, y))  # noqa: B023
        lines.append((f"{name}, fit, {PASSES} passes, average={average}", mine, "SGDClassifier", peer))
    classes = np.unique(y)
    mine = X.shape[0] / best_of(5, lambda: ours(average=False).partial_fit(X, y, classes=classes))
    peer = X.shape[0] / best_of(5, lambda: theirs(average=False).partial_fit(X, y, classes=classes))
    return [*lines, (f"{name}, partial_fit of all rows", mine, "SGDClassifier", peer)]


def one_row_at_a_time() -> list[Line]:
    """Rows a second where each row is a call of its own, dense, 50 features."""
    X, y = tall_noisy(20_000, 50)
    calls = [(X[i : i + 1], y[i : i + 1]) for i in range(len(y))]
    records = [
        ({str(j): float(value) for j, value in enumerate(row)}, label > 0) for row, label in zip(X, y, strict=True)
    ]

    def run(learn: Callable[[Any, Any], object], rows: list[Any]) -> float:
        started = time.perf_counter()
        for row, label in rows:
            learn(row, label)
        return len(rows) / (time.perf_counter() - started)

    model = ours(average=True).partial_fit(*calls[0], classes=[-1, 1])
    mine = max(run(model.partial_fit, calls) for _ in range(5))
    sgd = theirs(average=False).partial_fit(*calls[0], classes=[-1, 1])
    river = linear_model.LogisticRegression(optim.SGD(0.01), loss=optim.losses.Hinge(), l2=LAM)
    return [
        ("one row a call, dense, d = 50", mine, "SGDClassifier.partial_fit", run(sgd.partial_fit, calls[:2000])),
        ("one row a call, dense, d = 50", mine, "River learn_one", run(river.learn_one, records[:5000])),
    ]


def starting_up() -> list[list[str]]:
    """Seconds to import, and to a first fit with an empty and with a warm cache of compiled kernels."""
    program = (
        "import time; t = time.perf_counter(); import softmargin; a = time.perf_counter() - t\n"
        "import numpy as np, warnings; warnings.simplefilter('ignore')\n"
        "from softmargin import SoftMarginClassifier; b = time.perf_counter() - t\n"
        "X = np.random.default_rng(0).normal(size=(1000, 20)); y = X[:, 0] > 0\n"
        "t = time.perf_counter(); SoftMarginClassifier({}).fit(X, y); print(a, b, time.perf_counter() - t)"
    )
    lines = []
    for options in ("", "lam=0.01, solver='online', max_passes=10"):
        with tempfile.TemporaryDirectory() as cache:
            runs = []
            for _ in range(4):
                environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
                done = subprocess.run(  # noqa: S603 our own program
                    [sys.executable, "-c", program.format(options)], env=environment, capture_output=True, check=True
                )
                runs.append([float(word) for word in done.stdout.split()])
        cold, warm = runs[0], np.min(runs[1:], axis=0)
        label = f"SoftMarginClassifier({options})"
        lines.append([label, f"{warm[0]:.3f}", f"{warm[1]:.2f}", f"{cold[2]:.2f}", f"{warm[2]:.3f}"])
    return lines


if __name__ == "__main__":
    startup = starting_up()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    results = passes("sparse 100,000 x 47,000", *text_like(100_000, 47_000, 55))
    results += passes("dense 200,000 x 54", *tall_noisy(200_000, 54))
    results += one_row_at_a_time()
    write(
        "online", "python benchmarks/bench_online.py", ("softmargin", "scikit-learn", "river", "numba", "numpy"),
        ("what", "softmargin rows/s", "peer", "peer rows/s", "ratio"),
        [[what, f"{mine:,.0f}", peer, f"{rate:,.0f}", f"{mine / rate:.1f}"] for what, mine, peer, rate in results],
    )  # fmt: skip
    write(
        "startup", "python benchmarks/bench_online.py", ("softmargin", "scikit-learn", "numba"),
        ("what", "import softmargin", "import the estimator", "first fit, nothing compiled", "first fit, cache warm"),
        startup,
    )  # fmt: skip
