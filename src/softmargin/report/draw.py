"""Charts as SVG, made by hand: each says in its title and description what it shows to those who do not see it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from softmargin.report.markup import Html, joined, number, shortened, tag

WIDE, HIGH = 360, 200  # of a chart, in the pixels of a phone; a wide screen enlarges it
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 16, 36  # around the plot


class Curve(NamedTuple):
    """A line of a chart."""

    name: str
    x: np.ndarray
    y: np.ndarray
    kind: str = ""  # of CSS


class Scale(NamedTuple):
    """Numbers from ``low`` to ``high`` as pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    finest: float = 0.0  # the smallest step between two ticks

    def __call__(self, value: Any) -> np.ndarray:
        """Pixels."""
        low, high = (np.log10(self.low), np.log10(self.high)) if self.log else (self.low, self.high)
        value = np.log10(value) if self.log else np.asarray(value, dtype=np.float64)
        return np.asarray(self.start + (value - low) / ((high - low) or 1.0) * (self.end - self.start))

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers inside."""
        if not self.log:
            return round_numbers(self.low, self.high, most, self.finest)
        first, last = int(np.ceil(np.log10(self.low) - 1e-9)), int(np.floor(np.log10(self.high) + 1e-9))
        if last < first + 1:
            return round_numbers(self.low, self.high, most)
        return [10.0**power for power in range(first, last + 1, 1 + (last - first) // most)]


def round_numbers(low: float, high: float, most: int, finest: float = 0.0) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, at most ``most`` and one of them."""
    span = high - low
    if not 0.0 < span < np.inf:
        return [low]
    step = 10.0 ** np.floor(np.log10(span / most))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most)
    step = max(float(step), finest)
    return [step * k for k in range(int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9)) + 1)]


def picture(title: str, told: str, *inside: Any, high: float = HIGH, wide: float = WIDE) -> Html:
    """An SVG with its title and what it shows in words."""
    return tag("svg", tag("title", title), tag("desc", told), *inside, viewBox=f"0 0 {wide:g} {high:g}", role="img",
               aria_label=title)  # fmt: skip


def figure(drawn: Html, caption: Any, text: Html | None = None) -> Html:
    """A picture with its caption and, for those who want the numbers, the numbers."""
    more = None if text is None else tag("details", tag("summary", "the numbers"), text)
    return tag("figure", drawn, tag("figcaption", caption), more)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Html:
    """From one point to another."""
    return tag("line", x1=_px(x1), y1=_px(y1), x2=_px(x2), y2=_px(y2), class_=kind)


def words(x: float, y: float, said: str, anchor: str = "middle", kind: str | None = None) -> Html:
    """A few words of text."""
    return tag("text", said, x=_px(x), y=_px(y), text_anchor=anchor, class_=kind)


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def axes(across: Scale, up: Scale, x_name: str, y_name: str) -> Html:
    """Ticks with their numbers, and what both directions are."""
    parts = []
    for value in up.ticks(4):
        y = float(up(value))
        parts += [line(across.start, y, across.end, y, "grid"), words(across.start - 5, y + 4, number(value), "end")]
    for value in across.ticks():
        x = float(across(value))
        parts += [line(x, up.start, x, up.start + 4, "axis"), words(x, up.start + 15, number(value))]
    parts.append(line(across.start, up.start, across.end, up.start, "axis"))
    parts.append(words((across.start + across.end) / 2, up.start + 30, x_name, kind="soft"))
    parts.append(words(4, TOP - 6, y_name, "start", "soft"))
    return joined(parts)


def stacked(
    title: str, told: str, edges: np.ndarray, heights: Sequence[tuple[str, np.ndarray]], names: tuple[str, str],
    marks: Sequence[float] = (),
) -> Html:  # fmt: skip
    """A histogram whose bars are stacks: each of ``heights`` is a class of CSS and one height for each bar."""
    across = Scale(float(edges[0]), float(edges[-1]), LEFT, WIDE - RIGHT)
    total = np.sum([bars for _, bars in heights], axis=0)
    up = Scale(0.0, float(total.max()) or 1.0, HIGH - BOTTOM, TOP, finest=float(total.dtype.kind in "iu"))
    drawn, floor = [], np.zeros(len(edges) - 1)
    left, right = across(edges[:-1]), across(edges[1:])
    gap = 0.5 if len(left) < 100 else 0.0
    for kind, bars in heights:
        bottom, top = up(floor), up(floor + bars)
        drawn += [
            tag("rect", x=_px(left[k] + gap), y=_px(top[k]), width=_px(right[k] - left[k] - 2 * gap),
                height=f"{bottom[k] - top[k]:.2f}", class_=kind)
            for k in np.flatnonzero(bars > 0)
        ]  # fmt: skip
        floor = floor + bars
    for mark in marks:
        if edges[0] <= mark <= edges[-1]:
            drawn.append(line(float(across(mark)), TOP, float(across(mark)), HIGH - BOTTOM, "mark"))
    return picture(title, told, axes(across, up, *names), drawn)


def lines(title: str, told: str, curves: Sequence[Curve], names: tuple[str, str]) -> Html:
    """Curves over logarithmic axes, each with its name at the top; what is not above zero has no place there."""
    kept = [(curve, (curve.x > 0) & (curve.y > 0) & np.isfinite(curve.y)) for curve in curves]
    shown = [curve._replace(x=curve.x[fine], y=curve.y[fine]) for curve, fine in kept if fine.any()]
    if not shown:
        return tag("p", "Nothing above zero to draw.", class_="soft")
    x, y = (np.concatenate([getattr(curve, axis) for curve in shown]) for axis in ("x", "y"))
    top = TOP + 15 * len(shown)
    high = HIGH + 15 * len(shown)
    across = Scale(x.min(), max(x.max(), 1.01 * x.min()), LEFT, WIDE - RIGHT, log=True)
    up = Scale(y.min() / 1.1, y.max() * 1.1, high - BOTTOM, top, log=True)
    drawn = []
    for place, curve in enumerate(shown):
        path = " ".join(f"{_px(a)},{_px(b)}" for a, b in zip(across(curve.x), up(curve.y), strict=True))
        kind = f"curve {curve.kind}".strip()
        level = TOP + 6 + 15 * place
        drawn += [tag("polyline", points=path, class_=kind), line(LEFT, level, LEFT + 24, level, kind)]
        drawn.append(words(LEFT + 30, level + 4, curve.name, "start"))
    return picture(title, told, axes(across, up, *names), drawn, high=high)


def bar(value: float, low: float, high: float, reach: float) -> Html:
    """A bar from zero to ``value`` with its interval, for a cell of a table; ``reach`` is the end of both sides."""
    ends = np.clip(np.array([0.0, value, low, high]) / reach if reach > 0 else np.zeros(4), -1.0, 1.0)
    zero, at, left, right = 50.0 + 49.0 * ends
    told = f"{number(value)}, from {number(low)} to {number(high)}"
    box = tag("rect", x=_px(min(zero, at)), y=3, width=_px(abs(at - zero)), height=8,
              class_="outside" if value >= 0 else "wrong")  # fmt: skip
    marks = [line(50, 0, 50, 14, "zero"), line(left, 7, right, 7, "range") if high > low else None]
    return tag("svg", tag("title", told), box, marks, viewBox="0 0 100 14", preserveAspectRatio="none", role="img",
               aria_label=told)  # fmt: skip


def decades(title: str, told: str, values: Sequence[tuple[str, float]]) -> Html:
    """Named numbers above zero on one logarithmic line, from the smallest decade to the largest."""
    powers = [np.log10(value) for _, value in values]
    low, high = min(-4.0, np.floor(min(powers))), max(0.0, np.ceil(max(powers)))
    across = Scale(10.0**low, 10.0**high, 20, WIDE - 20, log=True)
    parts = [line(across.start, 58, across.end, 58, "axis")]
    for tick in across.ticks(6):
        x = float(across(tick))
        parts += [line(x, 58, x, 63, "axis"), words(x, 76, number(tick), kind="soft")]
    for place, (name, value) in enumerate(values):
        x = float(across(value))
        anchor = "start" if x < WIDE * 0.35 else "end" if x > WIDE * 0.65 else "middle"
        parts += [line(x, 18 + 20 * place, x, 58, "mark"), tag("circle", cx=_px(x), cy=58, r=4, class_="outside")]
        parts.append(words(x, 14 + 20 * place, name, anchor))
    return picture(title, told, parts, high=82)


def ring(title: str, told: str, names: Sequence[str]) -> Html:
    """A cycle: each item over the next, the last over the first, clockwise from the top."""
    wide, high = 340.0, 220.0
    turns = np.pi * (2.0 * np.arange(len(names)) / len(names) - 0.5)
    points = np.column_stack([wide / 2 + 60 * np.cos(turns), high / 2 + 72 * np.sin(turns)])
    parts: list[Html] = []
    for place in range(len(names)):
        start, end = points[place], points[(place + 1) % len(names)]
        way = (end - start) / np.linalg.norm(end - start)
        side = np.array([-way[1], way[0]])
        bend = 10.0 * (1 if len(names) == 2 else 0)
        start, tip = start + 10 * way, end - 11 * way
        middle = (start + tip) / 2 + 2 * bend * side
        arrive = (tip - middle) / np.linalg.norm(tip - middle)
        across = np.array([-arrive[1], arrive[0]])
        corners = [tip, tip - 8 * arrive + 4 * across, tip - 8 * arrive - 4 * across]
        parts.append(tag("path", d=f"M{_at(start)} Q{_at(middle)} {_at(tip - 5 * arrive)}", class_="arrow"))
        parts.append(tag("polygon", points=" ".join(map(_at, corners)), class_="head"))
    for (x, y), turn, name in zip(points, turns, names, strict=True):
        outward = np.array([np.cos(turn), np.sin(turn)])
        anchor = "middle" if abs(outward[0]) < 0.3 else "start" if outward[0] > 0 else "end"
        parts.append(tag("circle", cx=_px(x), cy=_px(y), r=7, class_="node"))
        parts.append(words(x + 12 * outward[0], y + 16 * outward[1] + 4, shortened(name, 15), anchor))
    return picture(title, told, parts, high=high, wide=wide)


def _at(point: np.ndarray) -> str:
    return f"{_px(point[0])},{_px(point[1])}"
