"""A file of `label [qid:N] index:value ...` -> X, y, qid, or one sentence that names line, column and token.

docs/files.md is the grammar.
Windows of whole lines are read by a kernel, one a core; what it cannot read is read again with care, to say why.
"""

import operator
import re
from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

import numpy as np

from softmargin.data.block import Block, Place, canonical, joined
from softmargin.data.careful import LARGEST_INDEX, NUMBER, Before, CarefulLine
from softmargin.data.groups import SeenGroups
from softmargin.data.texts import UnreadableError, Window, size_of, windows
from softmargin.data.threads import cores, in_order
from softmargin.kernels.lines import NOT_SHORT, Found, Room, count_tokens, read_lines

if TYPE_CHECKING:
    from scipy import sparse

WINDOW = 1 << 22  # bytes of text that one thread reads at a time
STREAM_WINDOW = 1 << 21
_NUMBER = re.compile(NUMBER)


def read_svmlight(
    path: str | PathLike[str], *, n_features: int | None = None
) -> "tuple[sparse.csr_matrix, np.ndarray, np.ndarray | None]":
    """Rows, labels and groups of a file in the format of SVMlight, LIBSVM and LETOR.

    Parameters
    ----------
    path : str or PathLike
        A text file, or a text file compressed with gzip, xz or zstd.
    n_features : int, optional
        Columns of ``X``, so that files of training and of testing agree; without it, the largest index of the file.

    Returns
    -------
    X : csr_matrix of float64
        Index 1 of the file is column 0; sorted, without duplicates.
    y : array of float64
        The labels.
    qid : array of int64, or None
        The group of each row, or None where no line names one.

    Raises
    ------
    ValueError
        For whatever is not as docs/files.md says, in one sentence that names file, line, column and token.
    OSError
        Where the file cannot be opened.
    """
    columns = checked_columns(n_features)
    whole = joined(_blocks(path, columns, Place(), WINDOW, cores()), size_of(path))
    return canonical(whole.data, whole.indices, whole.indptr, columns or whole.columns), whole.y, whole.qid


def text_blocks(
    path: str | PathLike[str],
    *,
    n_features: int | None = None,
    start: Place | None = None,
    size: int = STREAM_WINDOW,
    threads: int = 1,
) -> Iterator[Block]:
    """The rows of a file in order, some at a time, and a group at once; memory does not grow with the file."""
    yield from _blocks(path, checked_columns(n_features), start or Place(), size, threads, grouped=True)


def _blocks(
    path: str | PathLike[str], columns: int | None, start: Place, size: int, threads: int, *, grouped: bool = False
) -> Iterator[Block]:
    limit = columns or LARGEST_INDEX
    so_far = _SoFar(path, limit, start)
    try:
        texts = windows(path, size, start.byte, grouped=grouped)
        for parsed in in_order(lambda window: _parse(window, limit), texts, threads):
            block = so_far.accept(parsed)
            if block.y.size:
                yield block
    except UnreadableError as why:
        message = f"{path}, line {so_far.line + 1}, column 1: {why}"
        raise ValueError(message) from None
    if so_far.row == 0:
        message = f"{path} has no rows: it is empty, or all of its lines are blank or comments"
        raise ValueError(message)


class _Parsed(NamedTuple):
    window: Window
    room: Room
    indptr: np.ndarray
    found: Found


def _parse(window: Window, limit: int) -> _Parsed:
    rows, values = count_tokens(window.text, window.size)
    indptr = np.empty(rows + 1, dtype=np.int64)
    indptr[0] = 0
    labels, data, indices = np.empty(rows), np.empty(values), np.empty(values, dtype=np.int32)
    qids, lines = np.empty((2, rows), dtype=np.int64)
    hard = np.empty((window.size // NOT_SHORT + 2, 3), dtype=np.int64)
    room = Room(labels, qids, lines, indptr[1:], indices, data, hard)
    with np.errstate(over="ignore"):  # digits beyond the 19th wrap around, which NumPy tells of where there is no JIT
        found = read_lines(window.text, window.size, np.uint64(limit), room)
    return _Parsed(window, room, indptr, _ask_python(window, room, found))


def _ask_python(window: Window, room: Room, found: Found) -> Found:
    """Numbers of more than 19 digits that lie at the middle of two float64s, as near as 19 digits can tell.

    One of them may be too large: its line is then the first that is wrong.
    """
    for row, place, begin in room.hard[: found.hard].tolist():
        value = float(cast("re.Match[bytes]", _NUMBER.match(memoryview(cast("Any", window.text)), begin))[0])
        if not np.isfinite(value):
            values = int(room.ends[row - 1]) if row else 0
            wrong = bytes(window.text[:begin]).rfind(b"\n") + 1
            return found._replace(rows=row, values=values, lines=int(room.lines[row]) - 1, wrong=wrong)
        if place < 0:
            room.labels[row] = value
        else:
            room.data[place] = value
    return found


class _SoFar:
    """What was read of a file, as far as it matters to what comes."""

    def __init__(self, path: str | PathLike[str], limit: int, start: Place) -> None:
        self.path, self.limit = path, limit
        self.byte, self.line, self.row = start
        self.first_row, self.grouped = 0, False  # the line of the first row decides whether there are groups
        self.seen = SeenGroups()

    def accept(self, parsed: _Parsed) -> Block:
        """The next block, if all is right with it."""
        window, room, indptr, found = parsed
        rows, values = int(found.rows), int(found.values)
        if rows:
            self.check_groups(window, room.qids[:rows], room.lines[:rows], grouped=bool(found.grouped))
        if found.wrong < window.size:
            self.refuse(window, int(found.wrong), self.line + int(found.lines) + 1)
        self.byte += window.size + window.skipped
        self.line += int(found.lines)
        self.row += rows
        qid = room.qids[:rows] if self.grouped else None
        after = Place(self.byte, self.line, self.row)
        arrays = room.data[:values], room.indices[:values], indptr[: rows + 1], room.labels[:rows]
        return Block(*arrays, qid, int(found.largest), after)

    def check_groups(self, window: Window, qids: np.ndarray, lines: np.ndarray, *, grouped: bool) -> None:
        bad = -1
        if self.first_row == 0:
            self.first_row, self.grouped = self.line + int(lines[0]), grouped
        if self.grouped != grouped:
            bad = 0
        elif grouped:
            lines = lines + self.line
            bad = self.seen.add(qids, lines)
            if bad > 0:
                self.seen.add(qids[:bad], lines[:bad])
            lines = lines - self.line
        if bad >= 0:
            line = int(lines[bad])
            ends = np.flatnonzero(window.text[: window.size] == ord("\n"))
            self.refuse(window, int(ends[line - 2]) + 1 if line > 1 else 0, self.line + line)

    def refuse(self, window: Window, begin: int, number: int) -> NoReturn:
        """Say why the line that begins there is wrong."""
        text = window.text[begin : window.size]
        line = bytes(text[: int(np.argmax(text == ord("\n")))]).removesuffix(b"\r")
        before = Before(self.first_row, self.grouped, self.seen.open[0], self.seen.last_line)
        CarefulLine(self.path, number, self.limit).say_why(line, before)


def checked_columns(n_features: Any) -> int | None:
    """A number of columns, or None, which leaves it to the file."""
    if n_features is None:
        return None
    try:
        columns = 0 if isinstance(n_features, bool) else operator.index(n_features)
    except TypeError:
        columns = 0
    if not 1 <= columns <= LARGEST_INDEX:
        message = f"n_features must be a whole number from 1 to {LARGEST_INDEX}, got {n_features!r}"
        raise ValueError(message)
    return columns
