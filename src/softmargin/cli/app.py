"""``softmargin``: what to type, and what it does; the work is in the modules beside."""

from pathlib import Path
from typing import Annotated, Any

import typer

import softmargin
from softmargin.cli.speak import Speaker, refusing

app = typer.Typer(
    name="softmargin", no_args_is_help=True, add_completion=False, rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Learn linear models you can trust from soft constraints; every answer comes with its certificate.",
)  # fmt: skip

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object for machines instead of lines for people.")]
Data = Annotated[Path, typer.Argument(help="Rows: text of svmlight (plain, gzip, xz, zstd), a block cache, CSV, "
                                           "Parquet or Arrow.")]  # fmt: skip
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to.")]
Price = Annotated[float, typer.Option("--C", help="Price of slack; inf is the hard margin.")]
Loss = Annotated[str, typer.Option(help="hinge or squared_hinge.")]
Tolerance = Annotated[float, typer.Option(help="Stop at this relative duality gap.")]


@app.callback(invoke_without_command=True)
def about(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:  # noqa: FBT002 a flag
    """Nothing but the version."""
    if version:
        typer.echo(softmargin.__version__)
        raise typer.Exit


@app.command(epilog="Example: softmargin fit train.svm -o model.sm --C 10")
@refusing
def fit(  # noqa: PLR0917 options of a command
    data: Data,
    output: Output,
    kind: Annotated[
        str, typer.Option(help="auto, classifier, ranker or regression; rows with qid are ranked.")
    ] = "auto",
    C: Price = 1.0,
    loss: Loss = "hinge",
    multiclass: Annotated[str, typer.Option(help="Several classes: max, sum or ovr.")] = "max",
    groups: Annotated[str, typer.Option(help="Groups: pairs or equal.")] = "pairs",
    solver: Annotated[str, typer.Option(help="auto, dual, newton or online.")] = "auto",
    tol: Tolerance = 1e-4,
    max_passes: Annotated[float, typer.Option(help="Stop after so many passes over the data.")] = 1000.0,
    label: Annotated[str | None, typer.Option(help="Tables: the column of labels, 'label' without it.")] = None,
    standardise: Annotated[bool, typer.Option("--standardise", help="Tables: mean 0 and deviation 1.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Fit a model, prove how good it is, and keep it."""
    from softmargin.cli import fitting

    speaker = Speaker(as_json=as_json)
    asked: dict[str, Any] = {"C": C, "loss": loss, "multiclass": multiclass, "groups": groups, "solver": solver}
    asked |= {"tol": tol, "max_passes": max_passes}
    fitting.fit(speaker, data, output, asked, kind, label=label, standardise=standardise)
    speaker.finish()


@app.command(epilog="Example: softmargin predict model.sm test.svm -o predictions.txt")
@refusing
def predict(
    model: Annotated[Path, typer.Argument(help="What fit or learn kept.")],
    data: Data,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file instead of the screen.")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Scores instead of labels.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Predict labels, or utilities of a ranker, one line a row."""
    from softmargin.cli import fitting

    speaker = Speaker(as_json=as_json)
    fitting.predict(speaker, model, data, output, scores=scores)
    speaker.finish()


@app.command(epilog="Example: softmargin check comparisons.csv --items items.csv")
@refusing
def check(
    comparisons: Annotated[Path, typer.Argument(help="A table with columns better and worse.")],
    items: Annotated[Path | None, typer.Option(help="A table of items with their features.")] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Say what is wrong with comparisons: contradictions, cycles, conflicts, parts, useless features."""
    from softmargin.cli import checking

    speaker = Speaker(as_json=as_json)
    checking.check(speaker, comparisons, items)
    speaker.finish()


@app.command(epilog="Example: softmargin rank items.csv comparisons.csv -o model.sm")
@refusing
def rank(
    items: Annotated[Path, typer.Argument(help="A table of items: id, and features.")],
    comparisons: Annotated[Path, typer.Argument(help="A table with columns better and worse, which name ids.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to keep the model.")] = None,
    C: Price = 1.0,
    level: Annotated[float, typer.Option(help="Of intervals.")] = 0.95,
    top: Annotated[int, typer.Option(help="How many items and weights to print; 0 for all.")] = 20,
    standardise: Annotated[bool, typer.Option(help="Give features mean 0 and deviation 1.")] = True,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Check comparisons, then rank the items, with intervals of ranks and weights."""
    from softmargin.cli import ranking

    speaker = Speaker(as_json=as_json)
    ranking.rank(speaker, items, comparisons, output, C=C, level=level, top=top, standardise=standardise)
    speaker.finish()


@app.command(epilog="Example: softmargin learn stream.svm --checkpoint c.sm --resume --lam 1e-5 -o model.sm")
@refusing
def learn(  # noqa: PLR0917
    stream: Annotated[Path, typer.Argument(help="Text in the format of svmlight, or a block cache, of any size.")],
    lam: Annotated[float, typer.Option(help="1/(C T) for T rows.")] = 1e-4,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to keep the model.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Keep the stream here from time to time.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint, if there is one.")] = False,  # noqa: FBT002
    classes: Annotated[str, typer.Option(help="All labels, with commas.")] = "-1,1",
    columns: Annotated[int | None, typer.Option(help="The largest index; that of the first rows without it.")] = None,
    loss: Loss = "hinge",
    schedule: Annotated[str, typer.Option(help="strong, sqrt, constant or adaptive.")] = "strong",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Learn in one pass over a file larger than memory; the regret is certified."""
    from softmargin.cli import learning

    speaker = Speaker(as_json=as_json)
    files = [file for file in (checkpoint, output) if file is not None]
    asked = {"lam": lam, "loss": loss, "schedule": schedule}
    told = learning.read_classes(classes)
    learning.learn(speaker, stream, files, asked, told, columns=columns, checkpoint=checkpoint, resume=resume)
    speaker.finish()


@app.command(epilog="Example: softmargin convert train.svm train.smc")
@refusing
def convert(
    source: Data,
    target: Annotated[Path, typer.Argument(help="A block cache (.smc), CSV, Parquet, or text of svmlight.")],
    label: Annotated[str | None, typer.Option(help="Tables: the column of labels.")] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Write rows in another format."""
    from softmargin.cli import converting

    speaker = Speaker(as_json=as_json)
    converting.convert(speaker, source, target, label)
    speaker.finish()


@app.command(epilog="Example: softmargin export model.sm score.h --format c")
@refusing
def export(
    model: Annotated[Path, typer.Argument(help="What fit, rank or learn kept.")],
    target: Annotated[Path, typer.Argument(help="Where to.")],
    form: Annotated[str, typer.Option("--format", help="json, or c for a header with the score.")] = "json",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Write weights for other programs."""
    from softmargin.cli import converting

    speaker = Speaker(as_json=as_json)
    converting.export_model(speaker, model, target, form)
    speaker.finish()


@app.command(epilog="Example: softmargin report model.sm test.svm -o report.html")
@refusing
def report(
    model: Annotated[Path, typer.Argument(help="What fit, rank or learn kept.")],
    data: Data,
    output: Output,
    comparisons: Annotated[Path | None, typer.Option(help="A table of answers about the items in the data.")] = None,
    title: Annotated[str | None, typer.Option(help="Of the page.")] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Write one HTML page about a model: what is proved, margins, slack, weights, ranking, regret, conflicts."""
    from softmargin.cli import reporting

    speaker = Speaker(as_json=as_json)
    reporting.report(speaker, model, data, output, comparisons, title)
    speaker.finish()


@app.command(epilog="Example: softmargin demo football")
@refusing
def demo(name: Annotated[str, typer.Argument(help="football")] = "football") -> None:
    """Show what it can do, on data that come with it."""
    from softmargin.cli import converting

    converting.show_demo(name)


def main() -> None:
    """The command."""
    app()
