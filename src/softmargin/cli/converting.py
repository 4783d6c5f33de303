"""``convert``, ``export`` and ``demo``: the same things in other clothes."""

from pathlib import Path

import numpy as np
from scipy import sparse

from softmargin.cli.rows import Rows, is_table, read_rows
from softmargin.cli.speak import Speaker
from softmargin.data import blocks, write_cache, write_svmlight
from softmargin.data.block import Block, Place
from softmargin.data.write_table import write_table
from softmargin.demo.__main__ import main as football
from softmargin.models import export, load

DEMOS = {"football": football}


def convert(speaker: Speaker, source: Path, target: Path, label: str | None) -> None:
    """Blocks go from text to a cache as they come; all else is read whole."""
    if target.suffix == ".smc" and not is_table(source) and label is None:
        write_cache(target, blocks(source))
    else:
        rows = read_rows(source, label=label)
        if rows.y is None or rows.y.dtype.kind not in "biuf":
            message = f"{source}: rows begin with a label, a number: name its column with --label"
            raise ValueError(message)
        write_as(target, rows)
    size = target.stat().st_size
    speaker.say(f"{target}: {size:,} bytes")
    speaker.tell(file=str(target), bytes=size)


def write_as(target: Path, rows: Rows) -> None:
    """A table, a cache or text, by the name of the file."""
    X, y = rows.numbers(), np.asarray(rows.y, dtype=np.float64)
    if is_table(target):
        if rows.qid is not None:
            message = f"{target}: a table has no place for qid; name a block cache (.smc) or a text of svmlight"
            raise ValueError(message)
        write_table(target, X, y)
    elif target.suffix == ".smc":
        found = sparse.csr_array(X)
        found.sort_indices()
        place = Place(0, 0, y.size)
        write_cache(target, [Block(
            found.data.astype(np.float64), found.indices.astype(np.int32), found.indptr.astype(np.int64), y, None,
            int(found.indices.max(initial=-1)) + 1, place,
        )])  # fmt: skip
    else:
        write_svmlight(target, X, y, rows.qid)


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
