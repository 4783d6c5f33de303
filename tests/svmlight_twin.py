"""A file of `label [qid:N] index:value ...` -> X, y, qid, or one sentence that names line, column and token.

docs/files.md is the grammar.
Plain and strict: regular expressions say what is right, everything else is refused, and only then is it asked why.
"""

import gzip
import operator
import re
import zlib
from array import array
from collections.abc import Iterable
from itertools import pairwise, starmap
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

LARGEST_INDEX, QID_LIMIT = 2**31 - 1, 2**63

# What repeats a character gives nothing back, so that no line, however long or wrong, is read more than a few times.
# Groups may: before Python 3.11.5 a possessive group that fails half-way leaves its place in the text there.
_NUMBER = rb"[+-]?+(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?+\d++)?"
_END = rb"(?![^ \t])"
_HEAD = re.compile(rb"[ \t]*+(" + _NUMBER + rb")" + _END + rb"(?:[ \t]++qid:(\d{1,19}+)" + _END + rb")?")
# At most so many at once: a line of gigabytes is never a list of Python objects.
_PAIRS = re.compile(rb"(?:[ \t]++\d{1,19}+:" + _NUMBER + _END + rb"){1,1000}")
_TOKEN = re.compile(rb"[^ \t]++")
_SHOWN = 60  # characters of a refused token

_GZIP = b"\x1f\x8b"
_OTHERS = {b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"PK\x03\x04": "zip"}
_BOM = b"\xef\xbb\xbf"


def read_svmlight(
    path: str | PathLike[str], *, n_features: int | None = None
) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray | None]:
    """Rows, labels and groups of a file in the format of SVMlight, LIBSVM and LETOR.

    Parameters
    ----------
    path : str or PathLike
        A text file, or a text file compressed with gzip.
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
    table = _Table(path, _checked(n_features))
    with Path(path).open("rb") as stream:
        start = stream.peek(6)[:6]
        for magic, name in _OTHERS.items():
            if start.startswith(magic):
                message = f"{path} is compressed with {name}, which is not read yet; decompress it, or use gzip"
                raise ValueError(message)
        table.read(gzip.GzipFile(fileobj=stream) if start.startswith(_GZIP) else stream)
    return table.finish()


class _Table:
    """What was read so far, in three numbers a row and two a value, and the line that is being read."""

    def __init__(self, path: str | PathLike[str], n_features: int | None) -> None:
        self.path, self.n_features = path, n_features
        self.limit = n_features or LARGEST_INDEX
        self.labels, self.qids, self.indptr = array("d"), array("q"), array("q", [0])
        self.indices, self.values = array("i"), array("d")
        self.largest = 0
        self.line, self.number = b"", 0
        self.first_row = 0  # its line, which decides whether there are groups
        self.seen_on: dict[int, int] = {}  # the last line of each group

    def read(self, stream: Iterable[bytes]) -> None:
        try:
            for line in stream:
                self.number += 1
                text = line.removeprefix(_BOM) if self.number == 1 else line
                self.read_line(text.removesuffix(b"\n").removesuffix(b"\r"))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            message = f"{self.path}, line {self.number + 1}, column 1: the gzip data are damaged or cut off here"
            raise ValueError(message) from None

    def finish(self) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray | None]:
        """Views of the buffers, not copies."""
        if not self.labels:
            message = f"{self.path} has no rows: it is empty, or all of its lines are blank or comments"
            raise ValueError(message)
        shape = len(self.labels), self.n_features or self.largest
        X = sparse.csr_matrix((np.asarray(self.values), np.asarray(self.indices), np.asarray(self.indptr)), shape=shape)
        return X, np.asarray(self.labels), np.asarray(self.qids) if self.qids else None

    def read_line(self, line: bytes) -> None:
        self.line = line
        nul = line.find(b"\0")
        if nul >= 0:
            self.refuse(nul, "is a character that no text has", nul + 1)
        self.line = line = line.partition(b"#")[0].rstrip(b" \t")
        if not line:
            return
        head = _HEAD.match(line)
        if head is None:
            self.refuse_label()
        label = float(head[1])
        if not isfinite(label):
            self.refuse(head.start(1), "is too large for a float64")
        self.first_row = self.first_row or self.number
        self.read_group(head)
        self.read_pairs(head.end())
        self.labels.append(label)
        self.indptr.append(len(self.indices))

    def read_group(self, head: re.Match[bytes]) -> None:
        if head[2] is None:
            after = _TOKEN.search(self.line, head.end())
            if after and after[0].startswith(b"qid:"):
                self.refuse(after.start(), "is not qid: and a whole number below 2^63")
            if self.qids:
                self.refuse(head.start(1), f"is not followed by qid:N, but the label of line {self.first_row} is")
            return
        qid, at = int(head[2]), head.start(2) - len(b"qid:")
        if qid >= QID_LIMIT:
            self.refuse(at, "is not qid: and a whole number below 2^63")
        if self.labels and not self.qids:
            self.refuse(at, f"is a group, but line {self.first_row} names none")
        if qid in self.seen_on and self.qids[-1] != qid:
            self.refuse(at, f"comes back after another group, and was last on line {self.seen_on[qid]}")
        self.seen_on[qid] = self.number
        self.qids.append(qid)

    def read_pairs(self, at: int) -> None:
        last = 0
        while at < len(self.line):
            found = _PAIRS.match(self.line, at)
            if found is None:
                self.refuse_token(_TOKEN.search(self.line, at))
            numbers = found[0].replace(b":", b" ").split()
            indices, values = list(map(int, numbers[::2])), list(map(float, numbers[1::2]))
            rising = last < indices[0] and all(starmap(operator.lt, pairwise(indices)))
            if not (rising and indices[-1] <= self.limit and all(map(isfinite, values))):
                self.refuse_one_of(at, last)
            last, at = indices[-1], found.end()
            self.indices.extend([index - 1 for index in indices])
            self.values.extend(values)
        self.largest = max(self.largest, last)

    def refuse(self, at: int, why: str, end: int | None = None) -> NoReturn:
        """Columns are characters, and what stands before a refused token is right, hence mostly ASCII."""
        token = self.line[at:end] if end else _TOKEN.match(self.line, at)[0]  # type: ignore[index]  # it begins at `at`
        shown = repr(token.decode(errors="replace"))
        if len(token) > _SHOWN:
            shown = repr(token[:_SHOWN].decode(errors="replace")) + "..."
        column = 1 + len(self.line[:at].decode(errors="replace"))
        message = f"{self.path}, line {self.number}, column {column}: {shown} {why}"
        raise ValueError(message)

    def refuse_label(self) -> NoReturn:
        found = _TOKEN.search(self.line)
        assert found
        if b"," in found[0]:
            why = "has a comma, and several labels a row are not read"
        elif b":" in found[0]:
            why = "stands where the label belongs"
        else:
            why = "is not a label, which is a finite decimal number"
        self.refuse(found.start(), why)

    def refuse_token(self, found: re.Match[bytes] | None) -> NoReturn:
        assert found
        index, colon, value = found[0].partition(b":")
        if re.search(rb"[\x00-\x1f]", found[0]):
            why = "has a control character, and only spaces and tabs stand between tokens"
        elif index == b"qid":
            why = "is not in its place, which is once, right after the label"
        elif not colon:
            why = "is not index:value, for it has no colon"
        elif b":" in value:
            why = "is not index:value, for it has two colons or more"
        elif not index:
            why = "has no index before the colon"
        elif not value:
            why = "has no value after the colon"
        elif not re.fullmatch(rb"\d{1,19}", index):
            why = f"has an index that is not a whole number from 1 to {LARGEST_INDEX}"
        else:
            why = "has a value that is not a finite decimal number"
        self.refuse(found.start(), why)

    def refuse_one_of(self, at: int, last: int) -> NoReturn:
        """The first of the pairs from there on that is well written, and wrong all the same."""
        for found in _TOKEN.finditer(self.line, at):
            before, (index, _, value) = last, found[0].partition(b":")
            last = int(index)
            if last == 0:
                why = "has index 0, but indices begin at 1"
            elif last > LARGEST_INDEX:
                why = f"has an index above {LARGEST_INDEX}"
            elif last > self.limit:
                why = f"has an index above n_features={self.limit}"
            elif last == before:
                why = "has the same index as the token before it"
            elif last < before:
                why = f"has an index below {before}, the one before it, but indices increase along a line"
            elif not isfinite(float(value)):
                why = "has a value too large for a float64"
            else:
                continue
            self.refuse(found.start(), why)
        raise AssertionError(self.line)  # pragma: no cover  one of them was found to be wrong


def _checked(n_features: Any) -> int | None:
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
