"""Where people contradict each other: cycles, drawn, and a few comparisons that no weights can satisfy together."""

import warnings
from typing import Any

import numpy as np

from softmargin.constraints.cycles import Cycle, shortest_cycles
from softmargin.diagnostics.conflicts import find_conflict
from softmargin.report.draw import figure, ring
from softmargin.report.markup import Html, counted, joined, number, table, tag
from softmargin.report.subject import Subject

MOST_DRAWN, MOST_ITEMS = 6, 12
MOST_EDGES, MOST_NAMES = 200_000, 20_000  # of a search for cycles: a graph with more takes too long for a page
MOST_PAIRS, MOST_NUMBERS = 2000, 200_000  # of a search for a conflict


def conflicts(subject: Subject) -> Html | None:
    """The whole section; None where nobody compared anything by hand."""
    pairs = subject.told.pairs
    if subject.kind != "pairs" or pairs is None:
        return None
    wrong = int(np.sum(subject.told.margins <= 0.0))
    if not wrong:
        return tag("p", "There is none: these weights have the better item ahead in every pair, which is the proof.")
    text = (
        f"{counted(wrong, 'pair')} of {number(len(pairs))} {'stands' if wrong == 1 else 'stand'} against the ranking. "
        "Either people contradict each other, or a feature is missing that would explain it; pairs are counted from 0."
    )
    head = tag("p", text)
    return joined(head, cycles(subject, pairs), conflict(subject, pairs))


def twice(pairs: np.ndarray) -> int:
    """How many pairs of items were answered both ways."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    width = int(pairs.max()) + 1
    ways = np.unique(np.column_stack([low * width + high, pairs[:, 0] < pairs[:, 1]]), axis=0)
    return int(len(ways) - np.unique(ways[:, 0]).size)


def cycles(subject: Subject, pairs: np.ndarray) -> Html:
    """One of each group of items that contradict each other, the shortest drawn."""
    both = twice(pairs)
    parts = [tag("h3", "Cycles: what no score at all can satisfy")]
    if both:
        parts.append(tag("p", f"{counted(both, 'pair')} of items {'was' if both == 1 else 'were'} answered both ways."))
    looked, less = graph_within_bounds(pairs)
    found = sorted(shortest_cycles(*pairs[looked].T), key=lambda cycle: len(cycle.items))
    note = (
        tag("p", f"Looked for among {number(looked.size)} of {number(len(pairs))} pairs.", class_="soft")
        if less
        else None
    )
    if not found:
        parts.append(tag("p", "No cycle: some score satisfies all answers, though no linear one of these features does."
                              if not less else "No cycle among the pairs looked at."))  # fmt: skip
        return joined(parts, note)
    drawn = [one_cycle(subject, cycle, looked) for cycle in found[:MOST_DRAWN]]
    groups = counted(len(found), "group")
    them = "contradict themselves; these are shortest cycles, one of each."
    if len(found) == 1:
        them = "contradicts itself; this is a shortest cycle of it."
    elif len(found) > MOST_DRAWN:
        them = f"contradict themselves; of their shortest cycles, the {MOST_DRAWN} shortest are drawn."
    text = f"{groups} of items {them}"
    return joined(parts, tag("p", text), note, tag("div", drawn, class_="graphs"))


def graph_within_bounds(pairs: np.ndarray) -> tuple[np.ndarray, bool]:
    """The lines that are searched: all, or those among the items compared most often."""
    items, counts = np.unique(pairs, return_counts=True)
    if len(pairs) <= MOST_EDGES and items.size <= MOST_NAMES:
        return np.arange(len(pairs)), False
    kept = items[np.argsort(-counts, kind="stable")[:MOST_NAMES]]
    inside = np.flatnonzero(np.isin(pairs, kept).all(axis=1))[:MOST_EDGES]
    return inside, inside.size < len(pairs)


def one_cycle(subject: Subject, cycle: Cycle, looked: np.ndarray) -> Html:
    """A picture and, in its caption, the same in words."""
    size = len(cycle.items)
    steps = zip(cycle.items, [*cycle.items[1:], cycle.items[0]], looked[cycle.lines].tolist(), strict=True)
    told = [joined(subject.item(a), " over ", subject.item(b), f" (pair {number(line)})") for a, b, line in steps]
    words = tag("ol", [tag("li", step) for step in told[:MOST_ITEMS]])
    more = tag("p", f"{number(size - MOST_ITEMS)} more steps are not shown.") if size > MOST_ITEMS else None
    title = f"A cycle of {size} items"
    if size > MOST_ITEMS:
        return tag("figure", tag("figcaption", f"{title}, too long to draw.", words, more))
    names = [f"row {row}" if subject.items is None else subject.items[row] for row in cycle.items]
    return figure(
        ring(title, "Each item over the next, clockwise; the last over the first.", names), joined(f"{title}:", words)
    )


# ----------------------------------------------------------------------------------- for these features


def conflict(subject: Subject, pairs: np.ndarray) -> Html:
    """An irreducible conflict, looked for among the pairs that fit worst: a conflict of some is one of all."""
    most = max(1, min(MOST_PAIRS, MOST_NUMBERS // max(1, subject.X.shape[1])))
    kept = np.sort(np.argsort(subject.told.margins, kind="stable")[:most])
    head = tag("h3", "A conflict: what no weights of these features can satisfy")
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        found: Any = find_conflict(subject.X, pairs[kept])
    if found is None:
        if doubts:
            text = "Neither weights nor a conflict could be proved: the features are of too different scales."
        elif kept.size < len(pairs):
            text = f"None among the {number(kept.size)} pairs that fit worst."
        else:
            text = "None: some weights satisfy every pair, but they would be longer than C allows."
        return joined(head, tag("p", text))
    lines = [
        (number(kept[row]), subject.constraint(int(kept[row])), number(multiplier))
        for row, multiplier in zip(found.rows.tolist()[:30], found.multipliers.tolist(), strict=False)
    ]
    text = (
        f"{counted(len(found), 'pair')} that {found.verdict()}, and none to spare: without any one of them "
        "the rest can be satisfied. Their signed rows, times these numbers, add up to zero: that is the proof."
    )
    caption = "The pairs of the conflict" + (f", 30 of {number(len(found))}" if len(found) > 30 else "")
    return joined(
        head, tag("p", text), table(("pair", "what was said", "times"), lines, caption=caption, numbers="n-n")
    )
