"""A file, plain or compressed -> windows of whole lines, each a copy in memory of its own.

A file that is mapped kills the process when somebody cuts it short meanwhile; a copy costs a twentieth of reading it.
"""

import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from softmargin.kernels.memory import PADDING

_MAGIC = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_UNREAD = {b"BZh": "bzip2", b"PK\x03\x04": "zip"}
_LONGEST_MAGIC = 6
# A KB of gzip holds a MB at most, one of xz 7 MB, one of zstd 32 MB: no small file can fill the memory at once.
_PIECE = 1 << 10
_XZ_MEMORY = 1 << 28  # of a dictionary; the greatest that `xz -9` makes is a quarter of it
LONGEST = 1 << 30  # line, or group; a few KB of zstd can hold one that fills any memory
_ENOUGH = 1 << 16  # bytes that are thrown away at once, where compressed text is not read from its beginning
# Label, and group if there is one; lines that are blank or comments, or begin with neither, do not match.
_ROW = re.compile(rb"[ \t]*+[^ \t\r\n#]++(?:[ \t]++qid:(\d{1,19}+))?")
_LINE = re.compile(rb"[^\n]*\n")
_BOM, _NEWLINE = b"\xef\xbb\xbf", 10


class UnreadableError(Exception):
    """There is no next line, and that is not the end of the file; the argument says why."""


class Window(NamedTuple):
    """Whole lines, and some bytes behind them that mean nothing."""

    text: np.ndarray  # of uint8
    size: int  # of what is meant, the last of which ends a line
    skipped: int  # bytes of the mark before it


def windows(path: str | PathLike[str], size: int, start: int = 0, *, grouped: bool = False) -> Iterator[Window]:
    """The text from byte ``start`` on, in windows of at most ``size``, or twice, four times... where a line is longer.

    Without a byte order mark; with an end of the last line, if it has none.
    With ``grouped`` the rows of a group, if rows name groups, are in one window.
    """
    with Path(path).open("rb") as raw:
        kind = _kind(raw.peek(_LONGEST_MAGIC)[:_LONGEST_MAGIC], path)
        stream = _Inflated(raw, *_inflater(kind, path)) if kind else raw
        _skip(stream, start)
        yield from _cut(stream, size, begins=start == 0, grouped=grouped)


def size_of(path: str | PathLike[str]) -> int:
    """Bytes of the file, as far as that can be known; of a pipe 0."""
    return Path(path).stat().st_size


def _kind(start: bytes, path: str | PathLike[str]) -> str:
    for magic, kind in _UNREAD.items():
        if start.startswith(magic):
            message = f"{path} is compressed with {kind}, which is not read; decompress it, or use gzip, xz or zstd"
            raise ValueError(message)
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "")


def _skip(stream: Any, count: int) -> None:
    if not isinstance(stream, _Inflated):
        if count:  # a pipe cannot seek, and is read from its beginning
            stream.seek(count)
        return
    while count and (read := len(stream.read(min(count, _ENOUGH)) or b"")):
        count -= read


def _cut(stream: Any, size: int, *, begins: bool, grouped: bool) -> Iterator[Window]:
    """As many lines as fit, or what does not fit; a window depends on where it begins, and on nothing else."""
    text, at, have = np.empty(0, dtype=np.uint8), 0, 0  # of the text, what is between `at` and `have` is known
    damage, ended, last = None, False, False
    while not last:
        length, end = size, 0
        while not end and not last:
            if have - at < length and not ended:
                known, text = text[at:have], np.empty(length + 1 + PADDING, dtype=np.uint8)
                text[: known.size] = known
                at, (have, damage) = 0, _fill(stream, text, known.size, length)
                ended = have < length
            last = ended and have - at <= length
            end = _behind_last_line(text[at : min(have, at + length)])
            if grouped and not last:
                end = last_group(text[at : at + end])
            if not end and not last and length >= LONGEST:
                raise UnreadableError(f"a line, or a group, that begins here does not end within {LONGEST} bytes")
            length = min(2 * length, LONGEST)
        if last and damage is None and end < have - at:
            text[have] = _NEWLINE
            end = have - at + 1
        mark = len(_BOM) if begins and text[at : at + len(_BOM)].tobytes() == _BOM else 0
        if end:
            begins = False
            yield Window(text[at + mark :], end - mark, mark)
        at += end
    if damage is not None:
        raise damage


def _fill(stream: Any, text: np.ndarray, filled: int, wanted: int) -> tuple[int, UnreadableError | None]:
    """How much there is by now, and why there is no more, if that is not the end of the file."""
    view = memoryview(cast("Any", text))
    try:
        while filled < wanted and (read := stream.readinto(view[filled:wanted])):
            filled += read
    except UnreadableError as error:
        return filled, error
    return filled, None


def _behind_last_line(text: np.ndarray) -> int:
    """Where the last end of a line is behind one; 0 where there is none."""
    length = 1 << 12
    while True:
        begin = max(0, text.size - length)
        found = text[begin:].tobytes().rfind(b"\n")
        if found >= 0 or begin == 0:
            return begin + found + 1
        length *= 8


def last_group(lines: np.ndarray) -> int:
    """Where the last group of these lines begins, or their end if the last row names none; 0 if there is no other.

    A line that is wrong is nobody's: who reads it will say so.
    """
    end, length, group = lines.size, 1 << 12, None
    begin_of_group = lines.size
    while end:
        begin = max(0, end - length)
        if begin and (begin := begin + lines[begin:end].tobytes().find(b"\n") + 1) == end:
            length *= 8
            continue
        for line in reversed(_LINE.findall(lines[begin:end].tobytes())):
            row = _ROW.match(line)
            if row is not None and group is None:
                if row[1] is None:
                    return lines.size
                group = int(row[1])
            elif row is not None and (row[1] is None or int(row[1]) != group):
                return begin_of_group
            end -= len(line)
            if row is not None:
                begin_of_group = end
        length *= 2
    return 0 if group is not None else lines.size


class _Inflated(io.RawIOBase):
    """What compressed data hold, a bounded piece at a time; members one after another are one text."""

    def __init__(self, raw: Any, new: Callable[[], Any], fault: type[Exception], kind: str) -> None:
        self.raw, self.new, self.fault, self.kind = raw, new, fault, kind
        self.machine = new()
        self.ready, self.broken = b"", False

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self.ready:
            piece = b"" if self.broken else self.raw.read(_PIECE)
            if not piece:
                if self.broken or not self.machine.eof:
                    raise UnreadableError(f"the {self.kind} data are damaged or cut off from here on")
                return 0
            self.ready = self._inflate(piece)
        taken, self.ready = self.ready[: len(room)], self.ready[len(room) :]
        room[: len(taken)] = taken
        return len(taken)

    def _inflate(self, piece: bytes) -> bytes:
        parts = []
        try:
            while piece:
                if self.machine.eof:
                    piece = piece.lstrip(b"\0")  # members may be padded
                    if not piece:
                        break
                    self.machine = self.new()
                parts.append(self.machine.decompress(piece))
                piece = self.machine.unused_data if self.machine.eof else b""
        except self.fault:
            self.broken = True  # what was right is read first
        return b"".join(parts)


def _inflater(kind: str, path: str | PathLike[str]) -> tuple[Callable[[], Any], type[Exception], str]:
    """Who makes a decompressor, what it raises, and the kind."""
    if kind == "gzip":
        return partial(zlib.decompressobj, wbits=31), zlib.error, kind
    if kind == "xz":
        return partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=_XZ_MEMORY), lzma.LZMAError, kind
    try:
        import zstandard
    except ImportError:
        message = f"{path} is compressed with zstd, which needs a package: pip install zstandard"
        raise ValueError(message) from None
    return zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError, kind
