"""What `fit` needs beside X, in vectors of length n (a number a row) and of length d (a number a column)."""

import tracemalloc
import warnings
from typing import Any

import numpy as np
from data import tall_noisy, text_like
from report import write
from scipy import sparse

from softmargin import SoftMarginClassifier

C = 0.01


def peak(X: Any, y: np.ndarray, **options: Any) -> tuple[float, Any]:
    """Bytes at the highest point of a fit, beyond those in use before it; tracemalloc sees what NumPy allocates."""
    model = SoftMarginClassifier(C=C, random_state=0, **options)
    model.fit(X[:300], y[:300])  # kernels are loaded, and are not counted
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    model.fit(X, y)
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return highest - before, model.certificate_


def small_indices(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """The same matrix with column numbers of 32 bits, as most data come."""
    return sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


def lines() -> list[list[str]]:
    """A line for each shape, solver and loss, with what the aim allows."""
    tall, (wide, labels) = tall_noisy(400_000, 50), text_like(20_000, 200_000, 60)
    table = []
    for what, X, y in (("dense 400,000 x 50", *tall), ("sparse 20,000 x 200,000", small_indices(wide), labels)):
        n, d = X.shape
        allowed = 8 * (6 * n + 4 * d) + (8 * d * d if d < n else 0)
        for loss in ("hinge", "squared_hinge"):
            for solver in ("dual", "newton"):
                used, certificate = peak(X, y, solver=solver, loss=loss)
                table.append([
                    what, f"{solver}, {loss}", f"{used / 1e6:.1f}", f"{used / (8 * max(n, d)):.1f} of {max(n, d):,}",
                    f"{allowed / 1e6:.1f}", f"{used / allowed:.1f}", f"{certificate.relative_gap:.0e}",
                ])  # fmt: skip
    return table


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write(
        "memory", "python benchmarks/bench_memory.py", ("softmargin", "numba", "numpy"),
        ("what", "solver", "MB beside X", "as vectors of length", "aim, MB", "times the aim", "gap"),
        lines(),
    )  # fmt: skip
