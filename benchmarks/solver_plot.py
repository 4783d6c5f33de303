"""Seconds against gaps, a panel for each problem at two prices of slack, everybody's ladder as a line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cells import Cell, Run

PRICES = (1.0, 1000.0)
ACROSS = 4
STYLES = {  # colours that colour-blind people tell apart, and a mark for each
    "softmargin": ("#0b6e99", "o"),
    "LIBLINEAR": ("#b5541c", "s"),
    "LinearSVC": ("#d9a400", "^"),
    "SGDClassifier": ("#8a8a8a", "x"),
    "Snap ML": ("#7b4fa3", "D"),
    "ReHLine": ("#2f8f4e", "v"),
}
FLOOR = 1e-9  # gaps below are drawn here, and those above 1 at 1


def plot_gaps(cells: Sequence[Cell], path: Path) -> None:
    """Small multiples, all on the same axes: lower left is better."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "softmargin"  # the same picture is the same file
    import matplotlib.pyplot as plt

    shown = [cell for cell in cells if cell.C in PRICES and cell.peers]
    down = max(1, -(-len(shown) // ACROSS))
    size = (3.1 * ACROSS, 2.5 * down + 1.0)
    figure, grid = plt.subplots(down, ACROSS, figsize=size, sharex=True, sharey=True, squeeze=False)
    for axes, cell in zip(grid.flat, shown, strict=False):
        _panel(axes, cell)
    for axes in grid.flat[len(shown) :]:
        axes.axis("off")
    for axes in grid[:, 0]:
        axes.set_ylabel("relative gap")
    for axes in grid.flat[max(0, len(shown) - ACROSS) : len(shown)]:
        axes.set_xlabel("seconds")
        axes.tick_params(labelbottom=True)
    named = [axes for axes in grid.flat for axes in axes.get_lines() if not axes.get_label().startswith("_")]
    legend = {line.get_label(): line for line in named}
    figure.legend(legend.values(), legend.keys(), loc="upper center", ncols=len(STYLES), frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.5 / size[1]))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def _panel(axes: Any, cell: Cell) -> None:
    for name, (colour, mark) in STYLES.items():
        runs = _ladder(cell, name)
        if runs:
            axes.plot(
                [run.seconds for run in runs], [min(max(run.gap, FLOOR), 1.0) for run in runs],
                color=colour, marker=mark, markersize=4, linewidth=2.2 if name == "softmargin" else 1.0, label=name,
                zorder=3 if name == "softmargin" else 2,
            )  # fmt: skip
    axes.axhline(1e-6, color="#6b6b6b", linewidth=0.8, linestyle=":")
    axes.set(xscale="log", yscale="log", ylim=(FLOOR / 2, 2.0))
    axes.set_yticks([1, 1e-3, 1e-6, 1e-9])
    axes.set_title(f"{cell}", fontsize=10)
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.6)


def _ladder(cell: Cell, name: str) -> list[Run]:
    """From the largest gap to the smallest."""
    if name == "softmargin":
        runs = [*cell.curve, cell.ours["auto"]]
    else:
        runs = [run for run in cell.peers if run.solver.startswith(name)]
    return sorted(runs, key=lambda run: -run.gap)
