"""``fit`` and ``predict``: a file in, a model out; a model and a file in, predictions out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from softmargin.cli.rows import Rows, read_rows, rows_for
from softmargin.cli.speak import Speaker
from softmargin.data.atomic import replacing
from softmargin.estimators.bayes import BayesianLinearRegression
from softmargin.estimators.classifier import SoftMarginClassifier
from softmargin.estimators.ranker import SoftMarginRanker
from softmargin.models import load, save

ESTIMATORS: dict[str, Any] = {
    "classifier": SoftMarginClassifier,
    "ranker": SoftMarginRanker,
    "regression": BayesianLinearRegression,
}
USUAL = {
    name: value for model in (SoftMarginClassifier(), SoftMarginRanker()) for name, value in model.get_params().items()
}
KINDS = ("auto", "classifier", "ranker", "regression")
MOST_CLASSES = 100  # whole numbers that are labels and not measurements


@contextmanager
def working(speaker: Speaker, what: str) -> Iterator[None]:
    """A sign of life with the time that has passed, where somebody is looking."""
    if speaker.as_json or not speaker.console.is_terminal:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    parts = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*parts, console=speaker.console, transient=True) as progress:
        progress.add_task(what, total=None)
        yield


def kind_of(rows: Rows, asked: str) -> str:
    """What the labels are: groups are ranked, names and a few whole numbers are classes."""
    if asked not in KINDS:
        message = f"--kind {asked}: pass one of {', '.join(KINDS)}"
        raise ValueError(message)
    if asked != "auto":
        return asked
    if rows.qid is not None:
        return "ranker"
    y = rows.y
    if y is not None and y.dtype.kind == "f":
        several = np.unique(y)
        if several.size > MOST_CLASSES or np.any(several != np.rint(several)):
            message = (
                "the labels are numbers with fractions, or very many: --kind regression takes them as values, "
                "--kind classifier as classes, --kind ranker as grades"
            )
            raise ValueError(message)
    return "classifier"


def fit(speaker: Speaker, data: Path, out: Path, asked: dict[str, Any], kind: str, **reading: Any) -> None:
    """Read, fit, prove, and keep."""
    with working(speaker, f"reading {data}"):
        rows = read_rows(data, **reading)
    if rows.y is None:
        message = f"{data} has no labels: name their column with --label"
        raise ValueError(message)
    kind = kind_of(rows, kind)
    model = model_of(kind, asked)
    speaker.say(f"{data}: {len(rows.y):,} rows, {model_columns(rows)} columns, fitted by {type(model).__name__}")
    with working(speaker, "fitting"):
        model.fit(rows.X, rows.y, **({"qid": rows.qid} if kind == "ranker" else {}))
    save(model, out, columns=rows.columns)
    if kind == "regression":
        deviation = np.sqrt(np.diag(model.covariance_))
        speaker.say(f"weights {' '.join(f'{w:.4g} ± {d:.2g}' for w, d in zip(model.mean_, deviation, strict=True))}")
        speaker.tell(mean=model.mean_, deviation=deviation, log_evidence=model.log_evidence_)
    else:
        speaker.say(model.certificate_)
        speaker.tell(certificate=vars(model.certificate_))
    if kind == "ranker":
        speaker.say(model.groups_)
        speaker.tell(groups=model.groups_._asdict())
    speaker.say(f"kept in {out}")
    speaker.tell(
        model=str(out), kind=kind, rows=len(rows.y), columns=model.n_features_in_, parameters=model.get_params()
    )


def model_of(kind: str, asked: dict[str, Any]) -> Any:
    """An estimator with the parameters that it has; one that it has not is refused, not left out."""
    estimator = ESTIMATORS[kind]
    known = estimator().get_params()
    for name, value in asked.items():
        if name not in known and value != USUAL[name]:
            message = f"--{name.replace('_', '-')} {value}: a {kind} has no such option"
            raise ValueError(message)
    return estimator(**{name: value for name, value in asked.items() if name in known})


def model_columns(rows: Rows) -> int:
    """How many columns X has."""
    return int(rows.X.num_columns if hasattr(rows.X, "num_columns") else rows.X.shape[1])


def predict(speaker: Speaker, model_file: Path, data: Path, out: Path | None, *, scores: bool) -> None:
    """A prediction a line: labels of a classifier, utilities of a ranker; in the order of the rows."""
    model = load(model_file)
    rows = rows_for(model, data)
    decide = model.decision_function if scores and hasattr(model, "decision_function") else model.predict
    found = np.asarray(decide(rows.X))
    lines = [" ".join(map(str, line)) for line in found.reshape(len(found), -1).tolist()]
    if out is not None:
        with replacing(out) as file:
            file.write("".join(f"{line}\n" for line in lines).encode())
        speaker.say(f"{len(lines):,} predictions in {out}")
        speaker.tell(predictions=str(out), rows=len(lines))
    else:
        for line in lines:
            speaker.say(line)
        speaker.tell(predictions=found, rows=len(lines))
    if rows.y is not None and rows.ids is None and hasattr(model, "score"):
        right = {"qid": rows.qid} if isinstance(model, SoftMarginRanker) else {}
        try:
            score = float(model.score(rows.X, rows.y, **right))
        except ValueError:  # labels that the model does not know are no answers to compare with
            return
        speaker.tell(score=score)
        if out is not None:
            what = "pair accuracy" if right else "score"
            speaker.say(f"{what} against the labels in {data}: {score:.4f}")
