"""The demo's two pictures; matplotlib is an extra, so it is imported when a picture is drawn."""

from pathlib import Path
from typing import Any

import numpy as np

from softmargin.demo.football import SeasonMet
from softmargin.demo.planted import Course
from softmargin.solvers.regret import Regret

BLUE, RUST, GREY = "#0b6e99", "#b5541c", "#6b6b6b"


def draw_football(regret: Regret, met: list[SeasonMet], path: Path) -> Path:
    """Regret a game over all seasons, and how often the winner was called wrongly."""
    games = regret.steps[-1]
    figure, (left, right) = _panels(
        f"Learned game by game, the ranking paid at most {regret.certified[-1] / games:.3f} a game more than the best "
        f"fixed one,\nand called {1.0 - regret.progressive_error[-1]:.0%} of {games:,.0f} winners before it saw who won"
    )
    _average(left, regret, "game")

    sizes = np.array([season.games for season in met])
    middles, wrong = np.cumsum(sizes) - sizes / 2, [100.0 * season.wrong for season in met]
    right.plot(regret.steps, 100.0 * regret.progressive_error, color=BLUE, linewidth=2.5, label="all games so far")
    right.bar(middles, wrong, width=0.95 * sizes, color=BLUE, alpha=0.2, label="games of one season")
    right.axhline(50.0, color=GREY, linewidth=1, linestyle=":")
    right.annotate("a coin", (games, 50.0), (0, 3), textcoords="offset points", ha="right", color=GREY)
    right.set_xticks(middles, [str(season.season) for season in met])
    right.tick_params(axis="x", length=0)
    right.grid(visible=False, axis="x")
    right.set(xlabel="season, as wide as its number of games", ylabel="winners called wrongly (%)", ylim=(0, 60))
    right.set_title("Wrong when first met")
    right.legend(loc="lower left")
    return _save(figure, path)


def draw_stream(course: Course, path: Path) -> Path:
    """Regret against log T with the fitted line, and the average regret with the bound of the notes."""
    regret, growth = course.regret, course.growth
    total, certified = regret.steps[-1], regret.certified[-1]
    figure, (left, right) = _panels(
        f"Regret grows like log T: each doubling of the stream adds {growth.doubling:,.0f},\n"
        f"so over {total:,.0f} constraints the average falls to {certified / total:.2g}"
    )
    left.plot(regret.steps, regret.certified, color=BLUE, linewidth=2.5, label="certified regret")
    line = f"fitted: {growth.start:,.0f} + {growth.slope:,.0f} log T"
    left.plot(regret.steps, growth(regret.steps), color="black", linewidth=1, linestyle="--", label=line)
    left.plot(total, course.true_regret[1], "o", color=RUST, label="true regret, comparator solved afterwards")
    left.set(xscale="log", xlabel="constraints met, T (log scale)", ylabel="loss beyond the best fixed weights")
    left.set_ylim(bottom=0.0)
    left.yaxis.set_major_formatter("{x:,.0f}")
    left.set_title("In all")
    left.legend(loc="lower right")
    _average(right, regret, "constraint")
    return _save(figure, path)


def _average(axes: Any, regret: Regret, one: str) -> None:
    """The regret of one constraint, certified and as the notes bound it."""
    axes.plot(regret.steps, regret.certified / regret.steps, color=BLUE, linewidth=2.5, label="certified regret")
    if regret.bound is not None:
        label = "bound of the notes, (G²/2λ)(1 + log T),\nG the steepest slope so far"
        axes.plot(regret.steps, regret.bound / regret.steps, color=RUST, linewidth=2, linestyle="--", label=label)
    axes.set(xscale="log", yscale="log", xlabel=f"{one}s met, T (log scale)", ylabel=f"loss a {one} (log scale)")
    axes.set_title(f"Divided by T: regret a {one}")
    axes.legend(loc="upper right")


def _panels(title: str) -> tuple[Any, Any]:
    """Two panels side by side, without the figure manager: no screen is needed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 5.2), layout="constrained")
    figure.suptitle(title, fontsize=13, fontweight="bold")
    panels = figure.subplots(1, 2)
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    return figure, panels


def _save(figure: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    for axes in figure.axes:
        axes.get_legend().set_frame_on(False)
    figure.savefig(path, dpi=150)
    return path
