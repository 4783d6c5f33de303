"""A file, plain or compressed -> windows of whole lines, each a copy in memory of its own.

A file that is mapped kills the process when somebody cuts it short meanwhile; a copy costs a twentieth of reading it.
"""

import io
import lzma
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
LONGEST_LINE = 1 << 30  # that is read; 10 KB of zstd can hold one that fills any memory
_ENOUGH = 1 << 16  # bytes that are decompressed before the window is looked at again
_BOM, _NEWLINE = b"\xef\xbb\xbf", 10


class UnreadableError(Exception):
    """There is no next line, and that is not the end of the file; the argument says why."""


class Window(NamedTuple):
    """Whole lines, and some bytes behind them that mean nothing."""

    text: np.ndarray  # of uint8
    size: int  # of what is meant, the last of which ends a line
    skipped: int  # bytes of the mark before it


def windows(path: str | PathLike[str], size: int, start: int = 0) -> Iterator[Window]:
    """The text from byte ``start`` on, in windows of about ``size``, or of one line where that is longer.

    Without a byte order mark; with an end of the last line, if it has none.
    """
    with Path(path).open("rb") as raw:
        kind = _kind(raw.peek(_LONGEST_MAGIC)[:_LONGEST_MAGIC], path)
        stream = _Inflated(raw, *_inflater(kind, path)) if kind else raw
        _skip(stream, start)
        yield from _cut(stream, size, begins=start == 0)


def _kind(start: bytes, path: str | PathLike[str]) -> str:
    for magic, kind in _UNREAD.items():
        if start.startswith(magic):
            message = f"{path} is compressed with {kind}, which is not read; decompress it, or use gzip, xz or zstd"
            raise ValueError(message)
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "")


def _skip(stream: Any, count: int) -> None:
    if not isinstance(stream, _Inflated):
        stream.seek(count)
        return
    while count and (read := len(stream.read(min(count, _ENOUGH)) or b"")):
        count -= read


def _cut(stream: Any, size: int, *, begins: bool) -> Iterator[Window]:
    """As many lines as fit, or one that does not; so the next window depends on where it begins, and on nothing else.

    ``carry``, which begins the next window, is shorter than ``size``.
    """
    carry, damage, last = b"", None, False
    while not last:
        text = np.empty(size + 1 + PADDING, dtype=np.uint8)
        text[: len(carry)] = np.frombuffer(carry, dtype=np.uint8)
        filled, damage = _fill(stream, text, len(carry), size)
        last = filled < size
        end = _behind_last_line(text, filled)
        if not (end or last):
            text, filled, damage = _rest_of_line(stream, text[:size], size)
            end = _behind_first_line(text, filled)
            last = not end  # what stands behind it, be it the end or a fault, is met again
        if last and end < filled and damage is None:
            text[filled] = _NEWLINE
            end = filled = filled + 1
        carry = text[end:filled].tobytes()
        mark = len(_BOM) if begins and text[: len(_BOM)].tobytes() == _BOM else 0
        if end:
            begins = False
            yield Window(text[mark:], end - mark, mark)
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


def _rest_of_line(stream: Any, begin: np.ndarray, size: int) -> tuple[np.ndarray, int, UnreadableError | None]:
    """A line that is longer than a window, and less than a window behind it."""
    pieces, damage, read = [begin], None, size
    while damage is None and read == size and not (pieces[-1] == _NEWLINE).any():
        if len(pieces) * size > LONGEST_LINE:
            return begin, 0, UnreadableError(f"this line has more than {LONGEST_LINE} bytes")
        piece = np.empty(size, dtype=np.uint8)
        read, damage = _fill(stream, piece, 0, size)
        pieces.append(piece)
    pieces.append(np.empty(1 + PADDING, dtype=np.uint8))
    text = np.concatenate(pieces)
    return text, text.size - 1 - PADDING - (size - read), damage


def _behind_first_line(text: np.ndarray, filled: int) -> int:
    ends = np.flatnonzero(text[:filled] == _NEWLINE)
    return int(ends[0]) + 1 if ends.size else 0


def _behind_last_line(text: np.ndarray, filled: int) -> int:
    """Where the last end of a line is behind one; 0 where there is none."""
    length = 1 << 12
    while True:
        begin = max(0, filled - length)
        found = text[begin:filled].tobytes().rfind(b"\n")
        if found >= 0 or begin == 0:
            return begin + found + 1
        length *= 8


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
