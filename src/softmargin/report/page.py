"""The page: one file that needs no other, no script and no network."""

from datetime import UTC, datetime
from typing import Any

import numpy as np

from softmargin.data.atomic import replacing
from softmargin.models.container import Path_
from softmargin.report.conflicts import conflicts
from softmargin.report.margins import margins, slack
from softmargin.report.markup import Html, counted, joined, number, tag
from softmargin.report.rows import rows
from softmargin.report.setup import configuration, versions
from softmargin.report.stream import regret
from softmargin.report.style import STYLE
from softmargin.report.subject import Given, Subject, subject_of
from softmargin.report.verdict import verdict
from softmargin.report.weights import Intervals, ranking, weights

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LEVEL = 0.95


def write_report(
    path: Path_,
    model: Any,
    X: Any,
    y: Any = None,
    *,
    qid: Any = None,
    pairs: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    margin: Any = None,
    names: Any = None,
    title: str | None = None,
    posterior: Any = None,
) -> None:
    """Write one HTML file about a model and the data given; a file that is there is replaced once all is written.

    Parameters
    ----------
    path : str or PathLike
        Where to.
    model : SoftMarginClassifier or SoftMarginRanker
        One that has learned something, by ``fit``, ``fit_pairs`` or as a stream.
    X : rows, those that it was fitted on or others.
    y : labels; for a ranker grades, ``Constraints``, or pairs ``(better, worse)`` as two columns.
    qid : the group of each row, with grades.
    pairs : the same as pairs for ``y``.
    sample_weight : as it was given to ``fit``.
    weight, margin : as they were given to ``fit_pairs``.
    names : one name for each row of X.
    title : of the page.
    posterior : optional, with ``weights(level)`` and ``ranking(level)``, of the same features and rows: what is
        believed, beside what is proved.

    Raises
    ------
    ValueError
        In one sentence, for data that do not go together; nothing is written then.
    """
    subject = subject_of(model, X, Given(y, qid, pairs, sample_weight, weight, margin), names)
    page = page_of(subject, title or title_of(subject), *believed(subject, posterior))
    with replacing(path) as stream:
        stream.write(page.encode())


def believed(subject: Subject, posterior: Any) -> tuple[Intervals | None, Intervals | None]:
    """Intervals of weights and of places, checked to be as many as there are."""
    if posterior is None:
        return None, None
    if subject.kind == "labels":
        message = "posterior goes with a ranker, and model is a classifier"
        raise ValueError(message)
    told, placed = posterior.weights(LEVEL), posterior.ranking(LEVEL)
    found = Intervals(np.asarray(told.mean), np.asarray(told.low), np.asarray(told.high), LEVEL)
    ranks = Intervals(np.asarray(placed.rank), np.asarray(placed.low), np.asarray(placed.high), LEVEL)
    for one, size, what in ((found, subject.X.shape[1], "features"), (ranks, subject.X.shape[0], "items")):
        if one.mean.shape != (size,):
            message = f"posterior has {one.mean.size} {what} and X has {size}: pass one of the same X"
            raise ValueError(message)
    return found, ranks


def title_of(subject: Subject) -> str:
    """What the page is about, where nobody says."""
    if subject.kind == "labels":
        return f"A linear classifier of {number(len(subject.model.classes_))} classes"
    return f"A linear ranking of {counted(subject.X.shape[0], 'item')}"


def page_of(subject: Subject, title: str, of_weights: Intervals | None, of_places: Intervals | None) -> Html:
    """The whole file."""
    sections = [
        ("verdict", "Verdict", verdict(subject)),
        ("data", "The data", rows(subject)),
        ("margins", "Margins", margins(subject)),
        ("slack", f"Slack by {subject.told.what}", slack(subject)),
        ("weights", "Weights", weights(subject, of_weights)),
        ("ranking", "Ranking", None if subject.kind == "labels" else ranking(subject, of_places)),
        ("conflicts", "Conflicts and cycles", conflicts(subject)),
        ("regret", "Regret", regret(subject)),
        ("configuration", "Configuration", configuration(subject)),
        ("versions", "Versions", versions()),
    ]
    there = [(key, head, body) for key, head, body in sections if body is not None]
    written = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", STYLE),
    )
    links = tag("ul", [tag("li", tag("a", name, href=f"#{key}")) for key, name, _ in there])
    top = tag("header", tag("h1", title), tag("p", f"{type(subject.model).__name__}, written {written}", class_="soft"))
    main = tag("main", [tag("section", tag("h2", name), body, id=key) for key, name, body in there])
    return joined(
        Html("<!DOCTYPE html>\n"),
        tag("html", head, tag("body", top, tag("nav", links, aria_label="Sections"), main), lang="en"),
    )
