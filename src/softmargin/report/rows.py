"""What the data are: how many, of what, and which features are constant or of another scale than the rest."""

from typing import Any

import numpy as np
from scipy import sparse

from softmargin.report.markup import Html, counted, joined, listed, named, number, table, tag, with_range
from softmargin.report.subject import Subject

MOST = 12  # lines of a table
FAR = 100.0  # times the spread of a feature in the middle


def rows(subject: Subject) -> Html:
    """The whole section."""
    X = subject.X
    facts = [("rows", number(X.shape[0])), ("features", number(X.shape[1]))]
    if sparse.issparse(X):
        share = X.nnz / max(1, X.shape[0] * X.shape[1])
        facts.append(("numbers stored", f"{number(X.nnz)} ({share:.2%})"))
    if subject.told.what == "pair":
        facts.append(("pairs", number(subject.told.total)))
    if not subject.told.whole:
        facts.append(("of them looked at", number(subject.told.margins.size)))
    drawn = tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts], class_="facts")
    return joined(drawn, what_was_said(subject), scales(subject))


def what_was_said(subject: Subject) -> Html | None:
    """Labels by class, groups, or how many items are compared."""
    told, model = subject.told, subject.model
    if subject.kind == "labels":
        labels, counts = np.unique(subject.y, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:MOST]
        lines = [(named(labels[k]), number(counts[k]), f"{counts[k] / counts.sum():.1%}") for k in order]
        left = left_out(len(labels), "classes")
        return joined(table(("class", "rows", "share"), lines, caption="Labels, the most frequent first",
                            numbers="-nn"), left)  # fmt: skip
    if subject.kind == "pairs" and told.pairs is not None:
        compared = np.unique(told.pairs).size
        return tag("p", f"{counted(compared, 'item')} of {number(subject.X.shape[0])} are compared with another.")
    groups = getattr(model, "groups_", None)
    said = "" if groups is None else f"When it was fitted: {groups}. "
    return tag("p", f"{said}Grades imply the pairs: within a group, a higher grade is better than every lower one.")


def scales(subject: Subject) -> Html:
    """Features that are constant, and those whose spread is far from that of the others."""
    low, high, mean, spread = moments(subject.X)
    constant = np.flatnonzero(low == high)
    varying = np.flatnonzero(low < high)
    parts = [Html()]
    if constant.size:
        some = listed(named(subject.features[k]) for k in constant[:MOST])
        rest = f" and {number(constant.size - MOST)} more" if constant.size > MOST else ""
        says = "says" if constant.size == 1 else "say"
        parts.append(tag("p", f"{counted(constant.size, 'feature')} constant, and {says} nothing: ", some, rest, "."))
    middle = float(np.median(spread[varying])) if varying.size else 0.0
    ratio = np.ones(spread.size)
    ratio[varying] = spread[varying] / middle if middle > 0 else 1.0
    far = varying[(ratio[varying] > FAR) | (ratio[varying] < 1.0 / FAR)]
    if not far.size:
        return joined(parts, tag("p", f"All features that vary have a spread within {FAR:g} times the one in the middle"
                                      f" ({number(middle)}).", class_="soft"))  # fmt: skip
    worst = far[np.argsort(-np.abs(np.log(ratio[far])), kind="stable")][:MOST]
    lines = [
        (named(subject.features[k]), with_range(mean[k], low[k], high[k]), number(spread[k])) for k in worst.tolist()
    ]
    text = (
        f"{counted(far.size, 'feature')} with a spread more than {FAR:g} times above or below the one in the middle "
        f"({number(middle)}): the penalty on |w| weighs such features very differently. Standardise them."
    )
    parts.append(tag("p", text))
    parts.append(table(("feature", "mean, and from where to where", "spread"), lines, numbers="tnn",
                       caption="Badly scaled features, the farthest first"))  # fmt: skip
    return joined(parts, left_out(far.size, "features"))


def moments(X: Any) -> tuple[np.ndarray, ...]:
    """Least, most, mean and standard deviation of every column."""
    if sparse.issparse(X):
        low, high = (np.asarray(part.toarray(), dtype=np.float64).ravel() for part in (X.min(axis=0), X.max(axis=0)))
        mean = np.asarray(X.mean(axis=0)).ravel()
        mean2 = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return low, high, mean, np.sqrt(np.maximum(0.0, mean2 - mean**2))
    return X.min(axis=0), X.max(axis=0), X.mean(axis=0), X.std(axis=0)


def left_out(count: int, many: str) -> Html | None:
    """One line where a table does not hold all."""
    if count <= MOST:
        return None
    return tag("p", f"{number(MOST)} of {number(count)} {many} are shown.", class_="soft")
