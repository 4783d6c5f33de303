"""What the model is, whether it is the best one, and whether these data are those that it was proved on."""

from typing import Any

import numpy as np

from softmargin.report.draw import decades, figure
from softmargin.report.markup import Html, counted, joined, number, tag
from softmargin.report.subject import Subject

FLOOR = 1e-16  # a smaller gap is drawn here
APART = 1e-6  # relative, beside the tolerance: two objectives that differ by more are not of the same data


def verdict(subject: Subject) -> Html:
    """The whole section."""
    model = subject.model
    certificate = getattr(model, "certificate_", None)
    if certificate is None:
        return joined(summary(subject), of_stream(model))
    gap = max(certificate.relative_gap, FLOOR)
    marks = [("what is left open", gap)]
    if model.tol > 0:
        marks.append(("what was asked for (tol)", max(float(model.tol), FLOOR)))
    told = f"The relative gap is {number(certificate.relative_gap)}, the tolerance {number(float(model.tol))}."
    drawn = None
    if np.isfinite(gap):
        title = "How far the objective can be from the best, as a share of it"
        drawn = figure(decades(title, told, marks), f"{title}. Left is better. {told}")
    return joined(
        summary(subject), in_words(model, certificate), other_data(subject, certificate), drawn, numbers(certificate)
    )


def summary(subject: Subject) -> Html:
    """One sentence."""
    model, told = subject.model, subject.told
    features = counted(len(subject.features), "feature")
    if subject.kind == "labels":
        what = f"A linear classifier of {counted(len(model.classes_), 'class').replace('classs', 'classes')}"
        return tag("p", f"{what} from {features}, judged here on {counted(told.total, 'row')}.")
    return tag("p", f"A linear ranking from {features}, judged here on {counted(told.total, 'pair')}"
                    f" of {counted(subject.X.shape[0], 'item')}.")  # fmt: skip


def in_words(model: Any, certificate: Any) -> Html:
    """Whether the weights are the best ones."""
    share = number(certificate.relative_gap)
    hard = " Every constraint has the margin that it requires: this is a hard margin." * bool(np.isinf(model.C))
    if certificate.converged:
        head = "Optimal, with proof."
        rest = (
            f"The objective of these weights is {number(certificate.primal, 8)}, and no weights at all have one "
            f"below {number(certificate.dual, 8)}: at most a share of {share} is left to gain, and "
            f"{number(float(model.tol))} was asked for.{hard}"
        )
    else:
        head = "NOT converged: better weights may exist."
        rest = (
            f"The objective of these weights is {number(certificate.primal)}; all that is proved is that none is below "
            f"{number(certificate.dual)}, which leaves a share of {share} where {number(float(model.tol))} was asked "
            f"for. The solver stopped for this reason: {certificate.reason}. Raise max_passes or tol."
        )
    return tag("p", tag("strong", head), rest, class_="verdict" if certificate.converged else "verdict bad")


def of_stream(model: Any) -> Html:
    """A stream is never done: its regret says how good it is."""
    rest = (
        "It has no certificate, because the weights are never finished. "
        "What it paid beyond the best fixed weights is proved below, under regret."
        if hasattr(model, "regret_")
        else "It has no certificate."
    )
    return tag("p", tag("strong", "A stream under way."), rest, class_="verdict")


def numbers(certificate: Any) -> Html:
    """What the certificate holds."""
    held = (
        ("objective (primal)", number(certificate.primal, 8)),
        ("lower bound (dual)", number(certificate.dual, 8)),
        ("gap", number(certificate.gap)),
        ("|w \u2212 w*| is at most", number(certificate.distance)),
        ("passes over the data", number(certificate.passes)),
        ("seconds", number(certificate.seconds)),
        ("solver", certificate.solver),
        ("it stopped for", certificate.reason),
    )
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in held], class_="facts")


# ----------------------------------------------------------------------------------- the same data?


def other_data(subject: Subject, certificate: Any) -> Html | None:
    """A warning where the objective of these data is not the one that was certified."""
    here = objective(subject)
    if here is None or not np.isfinite(certificate.primal):
        return None
    if np.isfinite(here) and abs(here - certificate.primal) <= APART * max(abs(here), abs(certificate.primal)):
        return tag("p", "Worked out again from these data, the objective is the same.", class_="soft")
    return tag(
        "p",
        tag("strong", "These are not the constraints of the certificate."),
        f"On the data given here the objective is {number(here)}, and the certificate speaks of "
        f"{number(certificate.primal)}: the model learned from other rows, or with other weights or margins. "
        "What follows describes the data given here.",
        class_="verdict bad",
    )


def objective(subject: Subject) -> float | None:
    """1/2 |w|^2 + C * sum price loss; None where prices are not known here, or slack alone does not tell the loss."""
    model, told = subject.model, subject.told
    squared = model.loss == "squared_hinge"
    shared = subject.kind != "labels" or model.multiclass == "max" or len(model.classes_) == 2
    if not told.whole or told.price is None or (squared and not shared):
        return None
    norm2 = float(np.sum(model.coef_**2))
    if getattr(model, "penalize_intercept", False) and model.fit_intercept:
        norm2 += float(np.sum(model.intercept_**2))
    if np.isinf(model.C):
        return 0.5 * norm2 if told.cost.max() <= APART else np.inf
    C = float(model.C) if model.lam is None else 1.0 / (float(model.lam) * float(told.price.sum()))
    return 0.5 * norm2 + C * float(np.sum(told.cost * told.slack if squared else told.cost))
