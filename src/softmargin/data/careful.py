"""Why a line of `label [qid:N] index:value ...` is refused: one sentence with file, line, column, token and reason.

Plain and strict: regular expressions say what is right, everything else is refused, and only then is it asked why.
One line at a time, of which the quick reader says that it is wrong; docs/files.md is the grammar.
"""

import operator
import re
from collections.abc import Callable
from itertools import pairwise, starmap
from math import isfinite
from os import PathLike
from typing import NamedTuple, NoReturn

LARGEST_INDEX, QID_LIMIT = 2**31 - 1, 2**63

# What repeats a character gives nothing back, so that no line, however long or wrong, is read more than a few times.
# Groups may: before Python 3.11.5 a possessive group that fails half-way leaves its place in the text there.
NUMBER = rb"[+-]?+(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?+\d++)?"
_END = rb"(?![^ \t])"
_HEAD = re.compile(rb"[ \t]*+(" + NUMBER + rb")" + _END + rb"(?:[ \t]++qid:(\d{1,19}+)" + _END + rb")?")
# At most so many at once: a line of gigabytes is never a list of Python objects.
_PAIRS = re.compile(rb"(?:[ \t]++\d{1,19}+:" + NUMBER + _END + rb"){1,1000}")
_TOKEN = re.compile(rb"[^ \t]++")
_SHOWN = 60  # characters of a refused token


class Before(NamedTuple):
    """What the lines before say about this one."""

    first_row: int  # the line of the first row; 0 where this is the first one
    grouped: bool  # whether that names a group
    group: int  # of the row before
    last_line: Callable[[int], int | None]  # of a group that was seen


class CarefulLine:
    """A line that is wrong."""

    def __init__(self, path: str | PathLike[str], number: int, limit: int) -> None:
        self.path, self.number, self.limit = path, number, limit
        self.line = b""

    def say_why(self, line: bytes, before: Before) -> NoReturn:
        """Raise ValueError for the first fault of the line, which is without its end."""
        self.line = line
        nul = line.find(b"\0")
        if nul >= 0:
            self.refuse(nul, "is a character that no text has", nul + 1)
        self.line = line = line.partition(b"#")[0].rstrip(b" \t")
        head = _HEAD.match(line)
        if head is None:
            self.refuse_label()
        if not isfinite(float(head[1])):
            self.refuse(head.start(1), "is too large for a float64")
        self.check_group(head, before)
        self.check_pairs(head.end())
        raise AssertionError(line)  # pragma: no cover  it was said to be wrong

    def check_group(self, head: re.Match[bytes], before: Before) -> None:
        """All rows name a group or none does, and groups stand together."""
        if head[2] is None:
            after = _TOKEN.search(self.line, head.end())
            if after and after[0].startswith(b"qid:"):
                self.refuse(after.start(), "is not qid: and a whole number below 2^63")
            if before.first_row and before.grouped:
                self.refuse(head.start(1), f"is not followed by qid:N, but the label of line {before.first_row} is")
            return
        qid, at = int(head[2]), head.start(2) - len(b"qid:")
        if qid >= QID_LIMIT:
            self.refuse(at, "is not qid: and a whole number below 2^63")
        if before.first_row and not before.grouped:
            self.refuse(at, f"is a group, but line {before.first_row} names none")
        last_line = before.last_line(qid)
        if last_line is not None and before.group != qid:
            self.refuse(at, f"comes back after another group, and was last on line {last_line}")

    def check_pairs(self, at: int) -> None:
        """Indices and values, from there to the end."""
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
        """The first token, which is no label."""
        found = _TOKEN.search(self.line)
        assert found  # noqa: S101  the line is not blank
        if b"," in found[0]:
            why = "has a comma, and several labels a row are not read"
        elif b":" in found[0]:
            why = "stands where the label belongs"
        else:
            why = "is not a label, which is a finite decimal number"
        self.refuse(found.start(), why)

    def refuse_token(self, found: re.Match[bytes] | None) -> NoReturn:
        """A token that is not written as a pair is."""
        assert found  # noqa: S101  blanks at the end of the line are gone
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
