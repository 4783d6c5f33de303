"""``convert``, ``export`` and ``demo``: the same things in other clothes."""

from pathlib import Path

import numpy as np

from softmargin.cli.rows import is_table, read_rows
from softmargin.cli.speak import Speaker
from softmargin.data import write_cache, write_svmlight
from softmargin.demo.__main__ import main as football
from softmargin.models import export, load

DEMOS = {"football": football}


def convert(speaker: Speaker, source: Path, target: Path, label: str | None) -> None:
    """Blocks go from text to a cache as they come; all else is read whole."""
    if target.suffix == ".smc" and not is_table(source):
        if label is not None:
            message = f"--label goes with a table, and {source} is none"
            raise ValueError(message)
        write_cache(target, source)
    elif is_table(target):
        message = f"{target}: tables are read, not written; name a block cache (.smc) or a text of svmlight"
        raise ValueError(message)
    else:
        rows = read_rows(source, label=label)
        X = np.asarray(rows.X.to_pandas()) if is_table(source) else rows.X
        if rows.y is None or rows.y.dtype.kind not in "biuf":
            message = f"{source}: a line of svmlight begins with a label, a number: name its column with --label"
            raise ValueError(message)
        write_svmlight(target, X, rows.y, rows.qid)
    size = target.stat().st_size
    speaker.say(f"{target}: {size:,} bytes")
    speaker.tell(file=str(target), bytes=size)


def export_model(speaker: Speaker, model: Path, target: Path, form: str) -> None:
    """JSON or a C header."""
    export(load(model), target, form)
    speaker.say(f"{target}: {target.stat().st_size:,} bytes")
    speaker.tell(file=str(target), format=form)


def show_demo(name: str) -> None:
    """One of the demos."""
    if name not in DEMOS:
        message = f"demo {name}: there is {', '.join(DEMOS)}"
        raise ValueError(message)
    DEMOS[name]()
