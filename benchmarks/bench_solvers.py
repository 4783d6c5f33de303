"""Batch solvers against LIBLINEAR, scikit-learn, Snap ML and ReHLine: seconds and measured gaps, in one run.

    python benchmarks/bench_solvers.py                    the whole grid: docs/benchmarks.md and the plot (half an hour)
    python benchmarks/bench_solvers.py --only a9a text    some of the data, on the screen only
    python benchmarks/bench_solvers.py --only a9a --alone without the peers

Every fit starts warm, takes the same data and C, and has no intercept.  The gap of a peer's weights is their objective
less the best dual value that softmargin found, as a share of that objective: what the peer cannot say, our certificate
says for it.  Our own gaps are the certified ones.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import data
import numpy as np
from peers import BINARY, CLASSES, Peer, quiet
from report import write
from sklearn.exceptions import ConvergenceWarning
from solver_report import ours_table, peers_table, plot_gaps, verdicts

from softmargin import SoftMarginClassifier

TOL = 1e-6
PRICES = (1e-3, 1e-1, 1.0, 10.0, 1000.0)
EXTRA = {"text": (100.0,)}
ENOUGH = 10.0  # seconds: a peer that took longer is not asked for more
PACKAGES = ("softmargin", "liblinear-official", "scikit-learn", "snapml", "rehline", "numba", "numpy")
PROBLEMS: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "a9a": data.a9a,
    "agaricus": data.agaricus,
    "higgs": data.higgs,
    "text": lambda: data.text_like(100_000, 47_000, 55),
    "tall": lambda: data.tall_noisy(200_000, 54),
    "scaled": lambda: data.badly_scaled(20_000, 40),
    "copies": lambda: data.duplicated(2_000, 30, 10),
    "wide": lambda: data.tall_noisy(300, 2_000),
    "satimage": data.satimage,
    "mnist": data.mnist,
}


@dataclass
class Run:
    """One solver's answer to one cell."""

    solver: str
    setting: str
    seconds: float
    gap: float
    ours: float = np.nan  # seconds that softmargin needs to prove the same gap


@dataclass
class Cell:
    """One problem at one price of slack, and who solved it how well."""

    problem: str
    form: str
    C: float
    ours: dict[str, Run] = field(default_factory=dict)  # by solver
    peers: list[Run] = field(default_factory=list)
    lower: float = -np.inf  # no weights have a lower objective

    @property
    def name(self) -> str:
        """As people say it."""
        return f"{self.problem} {self.form}".strip()


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the best of several runs, fewer where one takes long, and what the last one gave."""
    spent: list[float] = []
    while not spent or (len(spent) < 6 and sum(spent) < 3.0):  # the first may compile
        started = time.perf_counter()
        result = run()
        spent.append(time.perf_counter() - started)
    return min(spent), result


def fit(cell: Cell, X: Any, y: np.ndarray, solver: str, tol: float) -> SoftMarginClassifier:
    """Ours, with nothing else changed than what is compared."""
    model = SoftMarginClassifier(
        C=cell.C, multiclass=cell.form or "max", fit_intercept=False, solver=solver, tol=tol, random_state=0
    )
    return model.fit(X, y)


def objective(cell: Cell, X: Any, y: np.ndarray, w: np.ndarray) -> float:
    """Of anybody's weights: one vector, or one column a class."""
    score = np.asarray(X @ w)
    if w.ndim == 1:
        return 0.5 * float(w @ w) + cell.C * float(np.maximum(0.0, 1.0 - y * score).sum())
    label = np.searchsorted(np.unique(y), y)
    short = 1.0 - score[np.arange(y.size), label][:, None] + score
    short[np.arange(y.size), label] = 0.0
    slack = short.max(axis=1) if cell.form == "max" else np.maximum(0.0, short).sum(axis=1)
    return 0.5 * float(np.sum(w * w)) + cell.C * float(slack.sum())


def solve_cell(cell: Cell, X: Any, y: np.ndarray, peers: tuple[Peer, ...]) -> None:
    """Run everybody."""
    for solver in ("auto", "dual", "newton"):
        with warnings.catch_warnings():
            warnings.simplefilter("error" if solver == "auto" else "ignore", ConvergenceWarning)
            seconds, model = timed(lambda: fit(cell, X, y, solver, TOL))  # noqa: B023
        certificate = model.certificate_
        cell.lower = max(cell.lower, certificate.dual)
        story = f"{certificate.solver}, {certificate.passes:.0f} passes, {certificate.reason}"
        cell.ours[solver] = Run(solver, story, seconds, certificate.relative_gap)
        print(f"  {solver:7} {seconds:8.4f} s  gap {certificate.relative_gap:.1e}  {story}", flush=True)
    for peer in peers:
        for setting in peer.ladder:
            run = peer.prepare(X, y, cell.C, setting)
            if run is None:
                break
            seconds, w = timed(lambda: quiet(run))  # noqa: B023
            primal = objective(cell, X, y, w)
            result = Run(peer.name, str(setting), seconds, max(0.0, primal - cell.lower) / primal)
            if result.gap < 0.5:
                tol = max(result.gap, 1e-12)
                result.ours, _ = timed(lambda: fit(cell, X, y, "auto", tol))  # noqa: B023
            cell.peers.append(result)
            ratio = result.seconds / result.ours
            print(
                f"  {peer.name:15} {result.setting:32} {seconds:8.4f} s  gap {result.gap:.1e}  "
                f"ours {result.ours:.4f} s, ratio {ratio:.2f}",
                flush=True,
            )
            if seconds > ENOUGH:
                break


def grid(only: list[str], *, alone: bool) -> list[Cell]:
    """Every cell that is asked for."""
    cells = []
    for problem in only:
        X, y = PROBLEMS[problem]()
        several = np.unique(y).size > 2
        for C in sorted((*PRICES, *EXTRA.get(problem, ()))):
            for form in ("max", "sum") if several else ("",):
                cell = Cell(problem, form, C)
                print(f"{cell.name}, C = {C:g}", flush=True)
                peers = () if alone or form == "sum" else (CLASSES if several else BINARY)
                solve_cell(cell, X, y, peers)
                cells.append(cell)
    return cells


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--alone", action="store_true")
    asked = parser.parse_args()
    results = grid(asked.only, alone=asked.alone)
    print(*verdicts(results), sep="\n")
    if asked.only == list(PROBLEMS) and not asked.alone:
        command = "python benchmarks/bench_solvers.py"
        write("solvers", command, PACKAGES, *ours_table(results))
        write("solver-peers", command, PACKAGES, *peers_table(results))
        plot_gaps(results)
