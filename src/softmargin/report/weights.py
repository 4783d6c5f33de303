"""The weights and the ranking, each with what is proved and, where there is a posterior, what is believed."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from softmargin.report.draw import bar
from softmargin.report.markup import Column, Html, columns, joined, listed, named, number, shortened, tag, with_range
from softmargin.report.subject import Subject

MOST_WEIGHTS, MOST_ITEMS = 30, 50
ROUNDING = 100.0 * float(np.finfo(np.float64).eps)  # of a squared length that is a difference


class Intervals(NamedTuple):
    """What is believed of each of several numbers: the middle and an interval that holds ``level`` of the cases."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float


def distance_of(model: Any) -> float | None:
    """How far the weights can be from the best ones, in all; None where nothing is proved."""
    certificate = getattr(model, "certificate_", None)
    found = np.inf if certificate is None else float(certificate.distance)
    return found if np.isfinite(found) else None


def weights(subject: Subject, believed: Intervals | None = None) -> Html:
    """The whole section."""
    model = subject.model
    lines = np.atleast_2d(model.coef_)
    flat, distance = lines.ravel(), distance_of(model)
    order = largest_of(np.abs(flat), MOST_WEIGHTS)
    features, shown = order % lines.shape[1], flat[order]
    largest, away = float(np.abs(shown).max(initial=0.0)), distance or 0.0
    reach = min(largest + away, 2.0 * largest)
    caption = (
        f"{number(len(order))} of {number(flat.size)} weights, the largest first; "
        f"{number(int(np.count_nonzero(flat)))} are not zero"
    )
    found = columns(
        caption,
        Column("feature", "t", [feature_of(subject, *divmod(place, lines.shape[1])) for place in order.tolist()]),
        Column("", "b", [bar(value, value - away, value + away, reach) for value in shown.tolist()]),
        Column(
            "weight" if distance is None else "weight, and range of the best",
            "n",
            [number(value) if distance is None else with_range(value, value - away, value + away) for value in shown],
        ),
        None if believed is None else belief_of_weights(believed, features),
    )
    return joined(meaning(subject, distance), found, intercepts(subject), in_its_unit(believed))


def largest_of(size: np.ndarray, most: int) -> np.ndarray:
    """Places of the largest, the largest first; there may be millions of which a few are wanted."""
    some = np.argpartition(-size, most)[:most] if size.size > most else np.arange(size.size)
    return np.asarray(some[np.lexsort((some, -size[some]))])


def feature_of(subject: Subject, k: int, feature: int) -> Html:
    """Its name and, with several classes, the class whose score it is part of."""
    name = named(subject.features[feature])
    if subject.kind != "labels" or len(subject.model.classes_) == 2:
        return name
    return joined(name, tag("br"), tag("small", "for ", named(subject.model.classes_[k])))


def belief_of_weights(believed: Intervals, features: np.ndarray) -> Column:
    """The middle and the interval of each."""
    parts = zip(*(part[features].tolist() for part in believed[:3]), strict=True)
    return Column(f"believed, {believed.level:.0%}", "n", [with_range(*part) for part in parts])


def meaning(subject: Subject, distance: float | None) -> Html:
    """How to read them."""
    what = "the utility" if subject.kind != "labels" else "the score of its class"
    if subject.kind == "labels" and len(subject.model.classes_) == 2:
        what = f"the score of class {shortened(subject.model.classes_[1])}"
    scaled = any(column.spread != 1.0 for column in getattr(getattr(subject.model, "columns_", None), "columns", ()))
    text = f"A weight is what one {'standard deviation' if scaled else 'unit'} more of its feature adds to {what}."
    if distance is not None:
        text += (
            f" The certificate proves that all weights together are within {number(distance)} of the best ones, "
            "and so is each of them: a bar whose range does not reach zero has the sign that the best weight has."
            " This is what the solver left open, not how sure the data are."
        )
    return tag("p", text)


def intercepts(subject: Subject) -> Html | None:
    """One number for each score, where there are any."""
    found = getattr(subject.model, "intercept_", None)
    if found is None or not np.any(found):
        return None
    classes = subject.model.classes_ if found.size > 1 else ["all rows"]
    some = list(zip(classes, found.tolist(), strict=True))[:10]
    told = listed((joined(named(label), " ", number(value)) for label, value in some), "; ")
    rest = f" and {number(found.size - 10)} more" if found.size > 10 else ""
    return tag("p", "Intercept: ", told, rest, ".")


def in_its_unit(believed: Intervals | None) -> Html | None:
    """Two ways to measure."""
    if believed is None:
        return None
    text = (
        "What is believed comes from a posterior, which measures utilities by the noise of the judge: "
        "compare signs and ratios, not sizes."
    )
    return tag("p", text, class_="soft")


# ----------------------------------------------------------------------------------- ranking


def ranking(subject: Subject, believed: Intervals | None = None) -> Html:
    """The whole section: utilities, and the places that the best weights can give each item."""
    utility, distance = subject.score, distance_of(subject.model)
    radius = (distance or 0.0) * lengths(subject.X)
    low, high = utility - radius, utility + radius
    shown = np.argsort(-utility, kind="stable")[:MOST_ITEMS]
    reach = float(np.abs(utility).max(initial=0.0))
    text = "Utility is w·x, higher is better; only differences have a meaning."
    if distance is not None:
        text += (
            " The range below a place holds for the best weights there are: "
            "items whose utilities are too close for the certificate share their places."
        )
    ranks = [number(place) for place in range(1, len(shown) + 1)]
    if distance is not None:
        proved = between(*places(low, high), shown)
        ranks = [joined(rank, tag("br"), tag("small", ends)) for rank, ends in zip(ranks, proved, strict=True)]
    found = columns(
        f"{number(len(shown))} of {number(utility.size)} items, the best first",
        Column("place" if distance is None else "place, proved", "n", ranks),
        Column("item", "t", [subject.item(row) for row in shown.tolist()]),
        Column("", "b", [bar(utility[row], low[row], high[row], reach) for row in shown]),
        Column("utility", "n", [number(utility[row]) for row in shown]),
        None
        if believed is None
        else Column(f"believed place, {believed.level:.0%}", "n", between(believed.low, believed.high, shown)),
    )
    return joined(tag("p", text), found)


def between(low: np.ndarray, high: np.ndarray, shown: np.ndarray) -> list[str]:
    """Ranges of whole numbers."""
    ends = zip(low[shown].astype(int).tolist(), high[shown].astype(int).tolist(), strict=True)
    return [number(first) if first == last else f"{number(first)} to {number(last)}" for first, last in ends]


def lengths(X: Any) -> np.ndarray:
    """At least how far each row is from the mean of all: utilities may be shifted together."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    square2 = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    length2 = square2 - 2.0 * np.asarray(X @ mean).ravel() + mean @ mean
    return np.asarray(np.sqrt(np.maximum(0.0, length2) + ROUNDING * (square2 + mean @ mean)))


def places(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best and the worst place of each item, 1 for the first, given an interval for each utility.

    Surely ahead of an item is whoever is lowest above its highest; the others may be, or be level with it.
    """
    ahead = low.size - np.searchsorted(np.sort(low), high, side="right")
    may_be = low.size - np.searchsorted(np.sort(high), low, side="right")
    itself = high > low
    return 1 + ahead, np.maximum(1 + ahead, 1 + may_be - itself)
