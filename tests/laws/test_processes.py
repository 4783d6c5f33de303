"""Fits in child processes of one that has used threads itself."""

import subprocess
import sys

# A program of its own: a child that hangs can be stopped, and pytest's own threads are not forked.
PROGRAM = """
import multiprocessing
import numpy as np
from softmargin import SoftMarginClassifier

def coef(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10_000, 30))
    y = (X[:, 0] + rng.normal(size=10_000) > 0).astype(int)
    return [SoftMarginClassifier(solver=solver, random_state=0).fit(X, y).coef_ for solver in ("auto", "newton")]

here = [coef(seed) for seed in range(2)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    there = pool.map(coef, range(2))
assert all(np.array_equal(a, b) for one, other in zip(here, there) for a, b in zip(one, other))
"""


def test_fits_in_forked_processes(tmp_path):
    """Children of a process that has fitted before, with threads, neither hang nor find other weights."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-W", "ignore", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)  # noqa: S603 our own
    assert done.returncode == 0, done.stderr
