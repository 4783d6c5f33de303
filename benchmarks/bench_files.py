"""Files of svmlight: read by softmargin, by scikit-learn, in blocks on one thread, and from a block cache.

Each peer reads the same file in turn, so that a busy minute is everybody's.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from report import write
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from softmargin.data import blocks, read_cache, read_svmlight, write_cache, write_svmlight

MEGABYTES = 140
ROUNDS = 3


def digits(values: np.ndarray, count: int) -> np.ndarray:
    """Values as they are read from a file that was written with so many digits."""
    return np.array([float(f"{value:.{count}g}") for value in values.tolist()])


def words(rows: int, kept: int | None) -> tuple[sparse.csr_matrix, np.ndarray, None]:
    """70 of 47,000 columns a row, as of text."""
    rng = np.random.default_rng(0)
    X = sparse.random(rows, 47_000, 70 / 47_000, "csr", random_state=rng, data_rvs=rng.standard_normal)
    if kept:
        X.data = digits(X.data, kept)
    return X, rng.integers(0, 2, rows) * 2.0 - 1, None


def counts(rows: int) -> tuple[sparse.csr_matrix, np.ndarray, None]:
    """123 columns of zeros and ones, as of a9a."""
    rng = np.random.default_rng(0)
    X = sparse.random(rows, 123, 14 / 123, "csr", random_state=rng, data_rvs=np.ones)
    return X, rng.integers(0, 2, rows) * 2.0 - 1, None


def graded(rows: int) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """136 columns of six digits with groups of 100 rows, as of learning to rank."""
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(digits(rng.random(rows * 136), 6).reshape(rows, 136))
    return X, rng.integers(0, 5, rows).astype(float), np.arange(rows) // 100


SHAPES: list[tuple[str, Callable[[], tuple[sparse.csr_matrix, np.ndarray, np.ndarray | None]]]] = [
    ("47,000 columns, all digits", lambda: words(20_000, None)),
    ("47,000 columns, six digits", lambda: words(20_000, 6)),
    ("123 columns, zeros and ones", lambda: counts(200_000)),
    ("136 columns, six digits, groups", lambda: graded(15_000)),
]


def make(path: Path, rows: Callable[[], tuple[sparse.csr_matrix, np.ndarray, np.ndarray | None]]) -> None:
    """A file of 140 MB: the rows again and again, with other groups each time."""
    X, y, qid = rows()
    part = path.with_suffix(".part")
    with path.open("wb") as whole:
        while whole.tell() < MEGABYTES * 1e6:
            if qid is not None or whole.tell() == 0:
                write_svmlight(part, X, y, qid)
            whole.write(part.read_bytes())
            qid = None if qid is None else qid + 1 + qid.max()
    part.unlink()


def use_up(path: Path) -> None:
    """What a stream does, without the learning."""
    for _ in blocks(path):
        pass


def line(what: str, path: Path, cache: Path) -> list[str]:
    """Seconds of each, the best of some rounds in turn."""
    write_cache(cache, path)
    rows = read_svmlight(path)
    tasks: list[Callable[[], object]] = [
        lambda: read_svmlight(path),
        lambda: load_svmlight_file(str(path), zero_based=False, query_id=True),
        lambda: use_up(path),
        lambda: read_cache(cache),
        lambda: use_up(cache),
        lambda: write_svmlight(path.with_suffix(".out"), *rows),
    ]
    seconds = np.full(len(tasks), np.inf)
    for _ in range(ROUNDS):
        for number, task in enumerate(tasks):
            started = time.perf_counter()
            task()
            seconds[number] = min(seconds[number], time.perf_counter() - started)
    size = path.stat().st_size / 1e6
    ours, theirs, *rest = seconds
    return [
        what, f"{size:.0f}", f"{ours:.2f}", f"{size / ours:.0f}", f"{theirs:.2f}", f"{size / theirs:.0f}",
        f"**{theirs / ours:.1f}**", *(f"{size / other:.0f}" for other in rest),
    ]  # fmt: skip


if __name__ == "__main__":
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for what, rows in SHAPES:
            path = Path(folder, "data.svm")
            make(path, rows)
            lines.append(line(what, path, path.with_suffix(".smc")))
    write(
        "files", "python benchmarks/bench_files.py", ("softmargin", "scikit-learn", "numba", "numpy"),
        (
            "what", "MB", "read_svmlight, s", "MB/s", "load_svmlight_file, s", "MB/s", "ratio",
            "blocks, one thread, MB/s", "read_cache, MB/s", "blocks of a cache, MB/s",
            "write_svmlight, MB/s",
        ),
        lines,
    )  # fmt: skip
