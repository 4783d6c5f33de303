"""Where constraints lie: the margins with the three kinds of points, and the slack by constraint."""

import numpy as np

from softmargin.report.draw import figure, stacked
from softmargin.report.markup import Html, joined, named, number, table, tag
from softmargin.report.subject import Subject, Told
from softmargin.solvers.points import count_points

ON = 1e-3  # of the required margin
BARS = 40
MOST = 20
TOO_LITTLE = 1e-9  # less slack than this is rounding
ZONES = (
    ("outside", "outside the margin", "above 1: no slack, no say in the weights"),
    ("on", "on the margin", "at 1, give or take 0.001: no slack, holds the weights up"),
    ("inside", "inside the margin", "between 0 and 1: right, but by too little"),
    ("wrong", "on the wrong side", "at 0 or below"),
)


def margins(subject: Subject) -> Html:
    """The whole section."""
    told = subject.told
    zone, counts = zones(told.margins)
    facts = [
        tag("div", tag("dt", tag("span", class_=f"key {kind}"), name),
            tag("dd", number(counts[kind]), f" ({counts[kind] / told.margins.size:.1%})"))
        for kind, name, _ in ZONES
    ]  # fmt: skip
    edges = edges_of(told.margins)
    inside = np.clip(told.margins, edges[0], edges[-1])
    heights = [(kind, np.histogram(inside[zone == place], edges)[0]) for place, (kind, _, _) in enumerate(ZONES)]
    heights.reverse()
    said = "; ".join(f"{number(counts[kind])} {name}" for kind, name, _ in ZONES)
    title = f"How many {told.what}s have which margin"
    drawn = stacked(title, f"{said}.", edges, heights, ("margin", f"{told.what}s"), marks=(0.0, 1.0))
    beyond = int(np.sum((told.margins < edges[0]) | (told.margins > edges[-1])))
    end = f" {number(beyond)} beyond the ends are counted in the last bars." if beyond else ""
    legend = tag("ul", [tag("li", tag("span", class_=f"key {kind}"), f"{name}, {what}")
                        for kind, name, what in ZONES], class_="soft keys")  # fmt: skip
    lines = [(f"{number(a)} to {number(b)}", *(number(bars[k]) for _, bars in reversed(heights)))
             for k, (a, b) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))]  # fmt: skip
    shown = table(("margin", *(kind for kind, _, _ in ZONES)), lines, caption=title, numbers="-nnnn")
    return joined(
        tag("dl", facts, class_="facts"), sample(told),
        figure(drawn, f"{title}. The dashed lines are at 0 and at 1.{end}", shown), legend,
    )  # fmt: skip


def zones(found: np.ndarray) -> tuple[np.ndarray, dict[str, int]]:
    """The place of each margin among ``ZONES``, and how many are where; "inside" is without the wrong side."""
    points = count_points(found, ON)
    zone = np.where(np.abs(found - 1.0) <= ON, 1, np.where(found > 1.0, 0, np.where(found > 0.0, 2, 3)))
    counts = (points.outside, points.on, points.inside - points.mistakes, points.mistakes)
    return zone, dict(zip((kind for kind, _, _ in ZONES), counts, strict=True))


def edges_of(found: np.ndarray) -> np.ndarray:
    """Of bars that have 0 and 1 among their edges where there is room, and hold all but the farthest margins."""
    low, high = np.quantile(found, [0.005, 0.995])
    low, high = min(float(low), -0.2), max(float(high), 1.2)
    step = (high - low) / BARS
    size = 10.0 ** np.floor(np.log10(step))
    size *= next(factor for factor in (1, 2, 5, 10) if size * factor >= step)
    first, last = int(np.floor(low / size)), int(np.ceil(high / size))
    return np.asarray(size * np.arange(first, last + 1))


def sample(told: Told) -> Html | None:
    """What is known of pairs that were drawn."""
    if told.whole:
        return None
    off = 1.5 / np.sqrt(told.margins.size)  # three standard errors of a half
    text = (
        f"{number(told.margins.size)} pairs drawn at random from {number(told.total)}: "
        f"a share is rarely off by more than {off:.1%}."
    )
    return tag("p", text, class_="soft")


# ----------------------------------------------------------------------------------- slack


def slack(subject: Subject) -> Html:
    """The whole section."""
    told = subject.told
    total, lacking = float(told.cost.sum()), int(np.sum(told.cost > TOO_LITTLE))
    if not lacking:
        return tag("p", f"No {told.what} lacks any of its margin: there is no slack.")
    worst = np.argsort(-told.cost, kind="stable")[: min(MOST, lacking)]
    held = float(told.cost[worst].sum()) / total
    part = f"The {number(worst.size)} below hold {held:.1%} of it. " if worst.size < lacking else ""
    priced = ", each times its price" if told.uneven else ""
    text = (
        f"{number(lacking)} of {number(told.slack.size)} {told.what}s pay for slack, {number(total)} in all{priced}. "
        f"{part}What stands first is what the rest disagrees with most: look for mistakes, or for a feature that is "
        "missing."
    )
    head = tag("p", text)
    heads = ["what was said", *(["predicted"] if subject.kind == "labels" else []), "margin", "slack"]
    lines = [line(subject, int(place)) for place in worst]
    shown = table(heads, lines, caption="The largest slacks", numbers="t" * (len(heads) - 2) + "nn")
    return joined(head, shown, along(told))


def line(subject: Subject, place: int) -> tuple[object, ...]:
    """One constraint."""
    numbers = number(subject.told.margins[place]), number(subject.told.slack[place])
    if subject.kind != "labels":
        return (subject.constraint(place), *numbers)
    return (subject.constraint(place), named(subject.score[place]), *numbers)


def along(told: Told) -> Html | None:
    """The mean slack of constraints that stand together in the data."""
    count = min(60, told.slack.size // 5)
    if count < 4 or not told.whole:
        return None
    edges = np.linspace(0, told.slack.size, count + 1).astype(np.int64)
    means = np.add.reduceat(told.slack, edges[:-1]) / np.diff(edges)
    title = (
        f"Slack along the data: the mean over {number(int(np.ceil(told.slack.size / count)))} {told.what}s at a time"
    )
    said = f"From {number(float(means.min()))} to {number(float(means.max()))}."
    drawn = stacked(title, said, edges, [("inside", means)], (f"number of the {told.what}", "mean slack"))
    return figure(
        drawn, f"{title}. {said} A stretch that stands out is one that was said by another judge, or on another day."
    )
