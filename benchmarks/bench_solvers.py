"""Batch solvers against LIBLINEAR, scikit-learn, Snap ML and ReHLine: seconds and measured gaps, in one run.

    python benchmarks/bench_solvers.py                        the whole grid: docs/benchmarks.md and its plot
    python benchmarks/bench_solvers.py --only a9a --C 1 10    some cells, on the screen
    python benchmarks/bench_solvers.py --only a9a --alone     without the peers
    python benchmarks/bench_solvers.py --quick                one small cell: does everything run?
    python benchmarks/bench_solvers.py --from build/solvers.json   tables and plot again, from an earlier run

Every fit starts warm, takes the same data and C, and has no intercept.  The gap of a peer's weights is their objective
less the best dual value that softmargin found, as a share of that objective: what the peer cannot say, our certificate
says for it.  Our own gaps are the certified ones, which is to our disadvantage: we have to prove what peers need not.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import data
import numpy as np
from cells import TOL, Cell, Results, Run
from report import measured
from solver_report import publish, verdicts

from softmargin import SoftMarginClassifier

SOLVERS = ("auto", "dual", "newton")
PRICES = (1e-3, 1e-1, 1.0, 10.0, 1000.0)
EXTRA = {"text": (100.0,)}
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # of our curve, beside TOL
ROUNDS, BUDGET = 5, 1.5  # timed runs of each, and seconds after which there are fewer
LONG = 4.0  # seconds: a first run that took longer counts, a shorter one is thrown away
ENOUGH = 8.0  # seconds: a peer that took longer is not asked for more
USELESS = 0.95  # a gap above says nothing
PACKAGES = ("softmargin", "liblinear-official", "scikit-learn", "snapml", "rehline", "numba", "numpy")
STORE = Path(__file__).resolve().parents[1] / "build" / "solvers.json"
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


Timed = tuple[float, Any]


def race(tasks: Sequence[Callable[[], Any]], first: Sequence[Timed]) -> list[float]:
    """Seconds of each task's best run; they take turns, get equally many, and their ``first`` runs do not count."""
    if sum(seconds for seconds, _ in first) > LONG:
        return [seconds for seconds, _ in first]  # or else they do
    best, spent = [np.inf] * len(tasks), 0.0
    for _ in range(ROUNDS):
        for place, task in enumerate(tasks):
            seconds, _ = once(task)
            best[place] = min(best[place], seconds)
            spent += seconds
        if spent > BUDGET:
            break
    return best


def once(task: Callable[[], Any]) -> Timed:
    """Seconds, and what it gave."""
    started = time.perf_counter()
    result = task()
    return time.perf_counter() - started, result


def objective(cell: Cell, X: Any, y: np.ndarray, w: np.ndarray) -> float:
    """Of anybody's weights: one vector, or one column a class."""
    score = np.asarray(X @ w)
    if w.ndim == 1:
        return 0.5 * float(w @ w) + cell.C * float(np.maximum(0.0, 1.0 - y * score).sum())
    rows, label = np.arange(y.size), np.searchsorted(np.unique(y), y)
    short = 1.0 - score[rows, label][:, None] + score
    short[rows, label] = 0.0
    return 0.5 * float(np.sum(w * w)) + cell.C * float(short.max(axis=1).sum())


class Bench:
    """One cell, and the data that everybody gets."""

    def __init__(self, cell: Cell, X: Any, y: np.ndarray) -> None:
        self.cell, self.X, self.y = cell, X, y

    def fit(self, solver: str, tol: float) -> SoftMarginClassifier:
        """Ours, with nothing else changed than what is compared."""
        model = SoftMarginClassifier(
            C=self.cell.C, multiclass=self.cell.form or "max", fit_intercept=False, solver=solver, tol=tol,
            random_state=0,
        )  # fmt: skip
        return model.fit(self.X, self.y)

    def say(self, run: Run) -> None:
        """One line on the screen."""
        beside = f"  ours {run.ours:.4f} s, ratio {run.seconds / run.ours:.2f}" if not np.isnan(run.ours) else ""
        warned = "  WARNED" if run.warned else ""
        print(f"  {run.solver:15} {run.seconds:8.4f} s  gap {run.gap:.1e}  {run.setting}{warned}{beside}", flush=True)

    def mine(self) -> None:
        """Auto beside dual and newton at TOL, and auto at other tolerances; the better bound serves the peers."""
        seen = {}
        for solver in SOLVERS:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                seconds, model = once(lambda: self.fit(solver, TOL))  # noqa: B023
            self.bound(model)
            proof = model.certificate_
            story = f"{proof.solver}, {proof.passes:.0f} passes, {proof.reason}"
            seen[solver] = Run(solver, story, seconds, proof.relative_gap, warned=len(said) > 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if seen["auto"].seconds < LONG / 2:
                self.bound(self.fit("auto", TOL / 100.0))
            best = min((run.seconds for run in seen.values() if run.gap <= TOL), default=np.inf)
            rivals = [name for name, run in seen.items() if run.seconds < 3.0 * best and run.gap <= TOL]
            timed = race(
                [lambda name=name: self.fit(name, TOL) for name in rivals],
                [(seen[name].seconds, None) for name in rivals],
            )
            for name, seconds in zip(rivals, timed, strict=True):
                seen[name].seconds = seconds
            self.cell.ours = seen
            for tol in TOLERANCES:
                first = once(lambda: self.fit("auto", tol))  # noqa: B023
                gap = first[1].certificate_.relative_gap
                seconds = race([lambda: self.fit("auto", tol)], [first])[0]  # noqa: B023
                self.cell.curve.append(Run("auto", f"tol={tol:g}", seconds, gap))
        for run in (*self.cell.ours.values(), *self.cell.curve):
            self.say(run)

    def bound(self, model: SoftMarginClassifier) -> None:
        """Keep the best dual value of all."""
        proof = model.certificate_
        if proof.dual > self.cell.lower:
            self.cell.lower, self.cell.resolution = proof.dual, proof.relative_gap

    def theirs(self, peer: Any, prepared: Any) -> None:
        """One peer's ladder, each rung in turns with us at the gap it reached."""
        for setting in peer.ladder:
            tasks = [lambda: peer.solve(prepared, self.cell.C, setting)]  # noqa: B023
            first = [once(tasks[0])]
            answer = first[0][1]
            primal = objective(self.cell, self.X, self.y, answer.w)
            run = Run(peer.name, str(setting), np.nan, max(0.0, primal - self.cell.lower) / primal)
            tol = max(run.gap, self.cell.resolution)
            if run.gap < USELESS:
                tasks.append(lambda: self.fit("auto", tol))  # noqa: B023
                first.append(once(tasks[1]))
            run.seconds, *ours = race(tasks, first)
            if ours:
                proved = first[1][1].certificate_.relative_gap <= tol
                run.ours = ours[0] if proved else np.inf
            self.cell.peers.append(run)
            self.say(run)
            if answer.at_limit or (run.seconds > ENOUGH and not peer.stops_itself):
                break


def compile_for(X: Any, y: np.ndarray, *, several: bool) -> None:
    """Everything that is compiled for this kind of data, on a few rows of it."""
    few = np.random.default_rng(0).permutation(y.size)[:2000]
    for form in ("max", "sum") if several else ("",):
        for solver in SOLVERS:
            Bench(Cell("", form, 1.0, X.shape), X[few], y[few]).fit(solver, TOL)


def grid(
    only: Sequence[str], prices: Sequence[float], *, alone: bool, keep: Callable[[list[Cell]], None]
) -> list[Cell]:
    """Every cell that is asked for; ``keep`` gets them all again after each of the data."""
    from peers import BINARY, CLASSES, quiet

    cells = []
    for problem in only:
        X, y = PROBLEMS[problem]()
        several = np.unique(y).size > 2
        quiet(lambda: compile_for(X, y, several=several))  # noqa: B023
        peers = () if alone else CLASSES if several else BINARY
        prepared = [peer.prepare(X, y) for peer in peers]
        for C in prices or sorted((*PRICES, *EXTRA.get(problem, ()))):
            for form in ("max", "sum") if several else ("",):
                bench = Bench(Cell(problem, form, C, X.shape), X, y)
                print(bench.cell, flush=True)
                bench.mine()
                for peer, own in zip(peers, prepared, strict=True):
                    if form != "sum":  # which no peer solves
                        quiet(lambda: bench.theirs(peer, own))  # noqa: B023
                cells.append(bench.cell)
        keep(cells)
    return cells


def main() -> None:
    """Measure or load, then show or publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PROBLEMS, help="these data only")
    parser.add_argument("--C", nargs="+", type=float, default=[], help="these prices only")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--quick", action="store_true", help="one small cell")
    parser.add_argument("--into", type=Path, help="put the cells into this file, in the place of older ones")
    parser.add_argument("--from", dest="source", type=Path, help="measure nothing, publish this file")
    asked = parser.parse_args()
    if asked.source:
        publish(Results.load(asked.source))
        return
    only, prices = (["copies"], [1.0]) if asked.quick else (asked.only or list(PROBLEMS), asked.C)
    whole = not (asked.quick or asked.only or asked.C or asked.alone)
    command = "make bench-solvers" + ("" if whole else " ARGS='--only ... --C ... --into ...'")  # part by part
    heading = measured(command, PACKAGES)

    def keep(cells: list[Cell]) -> None:
        if whole:  # half an hour of cells is not lost with the last of them
            Results(heading, cells).save(STORE)

    results = Results(heading, grid(only, prices, alone=asked.alone, keep=keep))
    print(*verdicts(results.cells), sep="\n")
    if asked.into and asked.into.exists():
        fresh, results = results, Results.load(asked.into)
        results.update(fresh.cells)
        results.heading = fresh.heading
    if whole or asked.into:
        results.save(asked.into or STORE)
    if whole:
        publish(results)


if __name__ == "__main__":
    main()
