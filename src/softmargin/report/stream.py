"""Regret: what a stream paid beyond the best fixed weights, with proof, and the bound of the notes."""

import numpy as np

from softmargin.report.draw import Curve, figure, lines
from softmargin.report.markup import Html, joined, number, table, tag
from softmargin.report.subject import Subject

MOST_POINTS, MOST_LINES = 150, 20


def regret(subject: Subject) -> Html | None:
    """The whole section; None where nothing was learned online."""
    found = getattr(subject.model, "regret_", None)
    if found is None or not len(found):
        return None
    total, certified, bound = found.steps[-1], found.certified, found.bound
    held = [
        ("constraints met", number(int(total))),
        ("paid", number(found.paid[-1])),
        ("any fixed weights pay at least", number(found.comparator[-1])),
        ("regret at most", number(certified[-1])),
        ("that is, for each constraint", number(certified[-1] / total)),
        ("wrong when first met", f"{found.progressive_error[-1]:.1%}"),
    ]
    if bound is not None:
        held.append(("bound of the notes", number(bound[-1])))
    facts = tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in held], class_="facts")
    kept = thinned(found.steps)
    steps = found.steps[kept]
    curves = [Curve("certified regret", steps, certified[kept] / steps)]
    if bound is not None:
        curves.append(Curve("bound of the notes, with the steepest slope met", steps, bound[kept] / steps, "bound"))
    title = "Regret for each constraint met"
    said = f"It ends at {number(certified[-1] / total)} after {number(int(total))} constraints."
    drawn = lines(title, said, curves, ("constraints met", "regret for each"))
    some = thinned(found.steps, MOST_LINES)
    heads = ("met", "regret at most", "for each", "wrong so far")
    text = table(
        heads,
        [
            (number(int(found.steps[k])), number(certified[k]), number(certified[k] / found.steps[k]),
             f"{found.progressive_error[k]:.1%}")
            for k in some
        ],
        caption=title,
        numbers="nnnn",
    )  # fmt: skip
    note = None
    if bound is None:
        note = tag("p", "The notes bound no stream like this one; what is certified holds all the same.", class_="soft")
    return joined(facts, figure(drawn, f"{title}, both axes logarithmic. {said}", text), note)


def thinned(steps: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Places of at most so many records, evenly spread over the logarithm, the last among them."""
    wanted = np.geomspace(max(1.0, steps[0]), steps[-1], most)
    return np.unique(np.minimum(np.searchsorted(steps, wanted * (1 - 1e-12)), steps.size - 1))
