"""``report``: a page about a model and its data."""

from pathlib import Path

from softmargin.cli.fitting import working
from softmargin.cli.ranking import MOST_BELIEVED, believed
from softmargin.cli.rows import rows_for
from softmargin.cli.speak import Speaker
from softmargin.data import read_comparisons
from softmargin.models import load
from softmargin.report import write_report


def report(
    speaker: Speaker, model_file: Path, data: Path, out: Path, comparisons: Path | None, title: str | None
) -> None:
    """Labels and grades are in the data; comparisons of its items are in a table of their own."""
    model = load(model_file)
    rows = rows_for(model, data)
    told, posterior, weight, margin = rows.y, None, None, None
    if comparisons is not None:
        if rows.ids is None:
            message = f"--comparisons goes with a table of items, and {data} is none"
            raise ValueError(message)
        found = read_comparisons(comparisons, list(rows.ids))
        told, weight, margin = found.pairs, found.weight, found.margin
        X = rows.numbers()
        if X.shape[1] <= MOST_BELIEVED:
            posterior = believed(X, found)
    if told is None:
        message = f"{data} has neither labels nor grades: name the table of answers with --comparisons"
        raise ValueError(message)
    with working(speaker, "writing the page"):
        write_report(
            out, model, rows.X, told, qid=rows.qid, weight=weight, margin=margin, names=rows.ids, title=title,
            posterior=posterior,
        )  # fmt: skip
    size = out.stat().st_size
    speaker.say(f"{out}: {size:,} bytes")
    speaker.tell(file=str(out), bytes=size)
