"""What the grid of bench_solvers.py says: two tables, one line for each target, and their places on the page.

A ratio is a peer's seconds by ours, at the gap that the peer reached; above 1 we are faster.  A peer whose weights are
further than ``NEAR`` from the best ones is no rival where another peer comes nearer, however quick it was.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from cells import TOL, Cell, Results, Run
from report import PAGE, put, table
from solver_plot import plot_gaps

NEAR = 0.1
FIGURE = Path("figures/solvers.svg")
NO_TIME = np.inf


def near(cell: Cell) -> list[Run]:
    """The peers' runs that came near enough to be compared with."""
    return [run for run in cell.peers if run.gap <= NEAR and not np.isnan(run.ours)]


def ratio(run: Run) -> float:
    """How many times faster we are at the gap that this peer reached."""
    return run.seconds / run.ours


def closest(cell: Cell) -> Run | None:
    """The setting of all peers' that is hardest for us to beat; where none is near, the nearest."""
    tried = [run for run in cell.peers if not np.isnan(run.ours)]
    return min(near(cell), key=ratio, default=min(tried, key=lambda run: run.gap, default=None))


def furthest(cell: Cell, name: str = "") -> Run | None:
    """The smallest gap of all peers', or of those whose name begins so; of equal ones the faster."""
    runs = [run for run in cell.peers if run.solver.startswith(name)]
    return min(runs, key=lambda run: (max(run.gap, cell.resolution), run.seconds), default=None)


def time_to(runs: Iterable[Run], gap: float) -> float:
    """Seconds of the quickest run that reached it."""
    return min((run.seconds for run in runs if run.gap <= gap), default=NO_TIME)


def our_time_to(cell: Cell, gap: float) -> float:
    """The same for us, certified."""
    return time_to([*cell.curve, cell.ours["auto"]], gap)


def beside_better(cell: Cell) -> float:
    """Seconds of auto by those of the better of dual and newton, of those that proved TOL; nan where neither did."""
    better, auto = time_to((cell.ours["dual"], cell.ours["newton"]), TOL), time_to((cell.ours["auto"],), TOL)
    return auto / better if better < NO_TIME else np.nan


# --------------------------------------------------------------------------------------- tables

Table = tuple[Sequence[str], list[list[str]]]


def ours_table(cells: Sequence[Cell]) -> Table:
    """One line a cell: what auto took and proved, beside the two solvers it chooses from."""
    heading = (
        "data",
        "rows x columns",
        "C",
        "to 1e-3",
        "to 1e-6",
        "certified gap",
        "how",
        "dual",
        "newton",
        "auto / better",
    )
    lines = []
    for cell in cells:
        auto, dual, newton = (cell.ours[name] for name in ("auto", "dual", "newton"))
        lines.append([
            cell.name, "{:,} x {:,}".format(*cell.shape), f"{cell.C:g}",
            _seconds(our_time_to(cell, 1e-3)), _proved(auto),
            f"{auto.gap:.0e}" + (" with a warning" if auto.warned else ""), auto.setting.rpartition(", ")[0],
            _proved(dual), _proved(newton),
            f"{beside_better(cell):.1f}",
        ])  # fmt: skip
    return heading, lines


def peers_table(cells: Sequence[Cell]) -> Table:
    """One line a cell: the setting that is hardest to beat, then the smallest gap that any peer reached."""
    heading = (
        "data", "C", "hardest to beat", "gap", "s", "ours, s", "ratio", "smallest gap", "gap", "s", "ours, s", "ratio",
    )  # fmt: skip
    lines = []
    for cell in cells:
        if cell.peers:
            halves = (_half(cell, run) for run in (closest(cell), furthest(cell)))
            lines.append([cell.name, f"{cell.C:g}", *(word for half in halves for word in half)])
    return heading, lines


def _half(cell: Cell, run: Run | None) -> list[str]:
    if run is None:
        return ["none", "", "", "", ""]
    gap = f"{run.gap:.0e}" if run.gap > cell.resolution else f"< {cell.resolution:.0e}"
    beside = [_seconds(run.ours), f"{ratio(run):.2g}"] if not np.isnan(run.ours) else ["", ""]
    return [f"{run.solver} {_plain(run.setting)}".strip(), gap, _seconds(run.seconds), *beside]


def _plain(setting: str) -> str:
    return setting.strip("{}").replace("'", "").replace(": ", "=")


def _proved(run: Run) -> str:
    """Seconds to TOL, and the gap where it was not reached."""
    return _seconds(run.seconds) + ("" if run.gap <= TOL else f" ({run.gap:.0e})")


def _seconds(value: float) -> str:
    return f"{value:#.2g}".rstrip(".") if value < NO_TIME else "never"


# ------------------------------------------------------------------------------------- verdicts


def verdicts(cells: Sequence[Cell]) -> list[str]:
    """One line a target: what was measured, what was wanted, met or missed."""
    parts: tuple[Callable[[Sequence[Cell]], list[str]], ...] = (_certified, _tall, _text, _auto, _overall, _classes)
    return [line for part in parts for line in part(cells)]


def _line(said: str, wanted: str, *, met: bool) -> str:
    return f"- **{'met' if met else 'missed'}**: {said}; wanted {wanted}."


def _certified(cells: Sequence[Cell]) -> list[str]:
    proved = sum(cell.ours["auto"].gap <= TOL and not cell.ours["auto"].warned for cell in cells)
    rates = []
    for name in dict.fromkeys(run.solver for cell in cells for run in cell.peers):
        best = [
            min(run.gap for run in cell.peers if run.solver == name)
            for cell in cells
            if any(run.solver == name for run in cell.peers)
        ]
        rates.append(f"{name} {sum(gap <= TOL for gap in best)} of {len(best)}")
    said = f"{proved} of {len(cells)} cells certified to 1e-6 without a warning"
    beside = f" (measured, at any setting: {', '.join(rates)})" if rates else ""
    return [_line(said + beside, "all", met=proved == len(cells))]


def _tall(cells: Sequence[Cell]) -> list[str]:
    lines = []
    for cell in _pick(cells, "tall", (1.0,)):
        ours, best = our_time_to(cell, TOL), furthest(cell, "LIBLINEAR")
        if best is None:
            continue
        times = best.seconds / ours
        lines.append(_line(
            f"{cell}: certified 1e-6 in {_seconds(ours)} s, {times:.0f} times faster than LIBLINEAR's best, "
            f"{best.gap:.0e} in {_seconds(best.seconds)} s", "30 times", met=times >= 30,
        ))  # fmt: skip
        quickest = time_to(cell.peers, 1e-3)
        who = next((run.solver for run in cell.peers if run.seconds == quickest), "no peer")
        how = f"{quickest / ours:.0f} times faster than {who} reaches" if quickest < NO_TIME else "and no peer reaches"
        lines.append(_line(f"{cell}: certified 1e-6 {how} 1e-3", "10 times", met=quickest / ours >= 10))
    return lines


def _text(cells: Sequence[Cell]) -> list[str]:
    lines = []
    for cell in _pick(cells, "text", (0.1, 1.0, 10.0)):
        runs = [run for run in near(cell) if run.solver.startswith("LIBLINEAR") and run.gap <= 1e-3]
        if runs:  # we are timed in turns with it, and prove the gap that it reached
            run = min(runs, key=lambda run: run.seconds)
            said = f"{cell}: {run.gap:.0e} in {_seconds(run.ours)} s, LIBLINEAR in {_seconds(run.seconds)} s"
            lines.append(_line(said, "at most half of it", met=run.ours <= 0.5 * run.seconds))
    limits = {1.0: 0.5, 10.0: 2.0, 100.0: 4.0}
    for cell in _pick(cells, "text", tuple(limits)):
        ours, best, limit = our_time_to(cell, TOL), furthest(cell, "LIBLINEAR"), limits[cell.C]
        beside = f", LIBLINEAR's best {best.gap:.0e} in {_seconds(best.seconds)} s" if best else ""
        lines.append(_line(f"{cell}: certified 1e-6 in {_seconds(ours)} s{beside}", f"{limit:g} s", met=ours <= limit))
    return lines


def _auto(cells: Sequence[Cell]) -> list[str]:
    ratios = {str(cell): beside_better(cell) for cell in cells if not np.isnan(beside_better(cell))}
    if not ratios:
        return []
    over = sum(value > 1.5 for value in ratios.values())
    worst = max(ratios, key=lambda name: ratios[name])
    said = f"auto by the better of dual and newton: at most {ratios[worst]:.1f} ({worst})"
    return [_line(f"{said}, above 1.5 in {over} of {len(ratios)}", "1.5 at most", met=over == 0)]


def _overall(cells: Sequence[Cell]) -> list[str]:
    """The hardest setting of all peers' in each cell; beside it, the peer that comes furthest."""
    hardest = {str(cell): ratio(run) for cell in cells if (run := closest(cell))}
    if not hardest:
        return []
    deepest = [ratio(run) for cell in cells if (run := furthest(cell)) and not np.isnan(run.ours)]
    mean, slowest = _mean(hardest.values()), min(hardest, key=lambda name: hardest[name])
    under = sum(value < 0.8 for value in hardest.values())
    return [
        _line(
            f"geometric mean of the ratios to the peer's setting that is hardest to beat: {mean:.1f} over "
            f"{len(hardest)} cells ({_mean(deepest):.1f} to the setting with the smallest gap)", "5", met=mean >= 5,
        ),
        _line(
            f"slowest cell: {hardest[slowest]:.2f} ({slowest}), below 0.8 in {under} of {len(hardest)}", "0.8 at least",
            met=under == 0,
        ),
    ]  # fmt: skip


def _classes(cells: Sequence[Cell]) -> list[str]:
    lines = []
    for problem in dict.fromkeys(cell.problem for cell in cells if cell.form):
        most = {str(cell): ratio(run) for cell in cells if cell.problem == problem and (run := closest(cell))}
        if most:
            least = min(most, key=lambda name: most[name])
            said = f"{problem} max by LIBLINEAR -s 4: {most[least]:.1f} at least ({least})"
            lines.append(
                _line(f"{said}, {_mean(most.values()):.1f} in the mean", "3 times faster", met=most[least] >= 3)
            )
        sums = [cell.ours["auto"].gap <= TOL for cell in cells if cell.problem == problem and cell.form == "sum"]
        if sums:
            lines.append(_line(f"{problem} sum: {sum(sums)} of {len(sums)} certified to 1e-6", "all", met=all(sums)))
    return lines


def _pick(cells: Sequence[Cell], problem: str, prices: Sequence[float]) -> list[Cell]:
    return [cell for cell in cells if cell.problem == problem and cell.C in prices]


def _mean(ratios: Iterable[float]) -> float:
    values = list(ratios)
    return float(np.exp(np.mean(np.log(values)))) if all(values) else 0.0  # a peer's gap that we did not prove


def publish(results: Results, page: Path = PAGE) -> None:
    """Tables, verdicts and plot, each in its place."""
    put("solver-verdicts", [results.heading, f"{len(results.cells)} cells.", "", *verdicts(results.cells)], page)
    put("solvers", [results.heading, "", *table(*ours_table(results.cells))], page)
    put("solver-peers", [results.heading, "", *table(*peers_table(results.cells))], page)
    plot_gaps(results.cells, page.parent / FIGURE)
