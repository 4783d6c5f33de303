"""Blocks of rows in a file, as they are in memory: nothing to parse, and a checksum for each.

    8 bytes   what the file is
    4 bytes   length of the header, which is JSON: version, whether there are groups, types
    4 bytes   its checksum, then the header, then zeros up to a multiple of 64
    blocks    64 bytes (BLOCK_HEAD), then data, indptr, y, qid where there are groups, indices; each a multiple of 64
    64 bytes  the same head with another name: how many blocks, rows, values and columns there are

All numbers are little-endian.  docs/files.md says more.
"""

import json
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, NoReturn, cast

import numpy as np

from softmargin.data.atomic import replacing
from softmargin.data.block import Block, Place, canonical, joined
from softmargin.data.careful import LARGEST_INDEX
from softmargin.data.groups import SeenGroups
from softmargin.data.svmlight import checked_columns, text_blocks
from softmargin.data.texts import size_of
from softmargin.data.threads import cores, in_order
from softmargin.kernels.checks import first_bad_stored

if TYPE_CHECKING:
    from scipy import sparse

MAGIC = b"\x89SMC\r\n\x1a\n"  # no text begins so, and a program that changes ends of lines spoils it
VERSION = 1
LONGEST_HEADER = 1 << 16
ALIGNED = 64
_START = struct.Struct("<8sII")
# Name, number of the block, rows, values, columns, row that comes first, checksum of what follows and of this.
_HEAD = struct.Struct("<8sQQQQQII8x")
_BLOCK, _END = b"SMCblock", b"SMC  end"
_TYPES = {"data": "<f8", "indptr": "<i8", "y": "<f8", "qid": "<i8", "indices": "<i4"}


class _Head(NamedTuple):
    name: bytes
    number: int  # from 1; of the end, how many there are
    rows: int
    values: int
    columns: int
    first_row: int
    checksum: int
    own_checksum: int

    def packed(self) -> bytes:
        own = zlib.crc32(_HEAD.pack(*self[:-1], 0))
        return _HEAD.pack(*self[:-1], own)

    def is_whole(self) -> bool:
        return self.own_checksum == zlib.crc32(_HEAD.pack(*self[:-1], 0))


def is_cache(path: str | PathLike[str]) -> bool:
    """Whether the file begins like a block cache; a pipe never does, for what is read of it is gone."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def write_cache(path: str | PathLike[str], source: str | PathLike[str] | Iterable[Block]) -> None:
    """A block cache of ``source``, a file that ``read_svmlight`` reads or an iterator over blocks.

    The file is there whole, or as it was before.
    """
    parts = text_blocks(source, threads=cores()) if isinstance(source, str | PathLike) else source
    with replacing(path) as stream:
        number = rows = values = columns = 0
        grouped = False
        for number, block in enumerate(parts, 1):
            if number == 1:
                grouped = block.qid is not None
                _write_header(stream, grouped=grouped)
            if (block.qid is not None) != grouped:
                raise ValueError(f"block {number} differs from block 1 in whether its rows name groups")
            payload = _payload(block)
            head = _Head(_BLOCK, number, block.y.size, block.data.size, block.columns, rows, zlib.crc32(payload), 0)
            stream.write(head.packed())
            stream.write(payload)
            rows, values, columns = rows + block.y.size, values + block.data.size, max(columns, block.columns)
        if rows == 0:
            raise ValueError(f"{path} is not written, for there are no rows")
        stream.write(_Head(_END, number, rows, values, columns, 0, 0, 0).packed())


def read_cache(
    path: str | PathLike[str], *, n_features: int | None = None
) -> "tuple[sparse.csr_matrix, np.ndarray, np.ndarray | None]":
    """Rows, labels and groups of a block cache, as ``read_svmlight`` gives them for the text it was made of."""
    whole = joined(cache_blocks(path, n_features=n_features, threads=cores()), size_of(path))
    X = canonical(whole.data, whole.indices, whole.indptr, n_features or whole.columns)
    return X, whole.y, whole.qid


def cache_blocks(
    path: str | PathLike[str], *, n_features: int | None = None, start: Place | None = None, threads: int = 1
) -> Iterator[Block]:
    """The blocks of a cache in order, each after its checksum and its numbers were found to be right."""
    limit = checked_columns(n_features) or LARGEST_INDEX
    seen = SeenGroups()
    with Path(path).open("rb") as stream:
        cache = _Cache(path, stream, limit)
        for block in in_order(cache.checked, cache.stored(start or Place()), threads):
            if block.qid is not None:
                first = block.after.row - block.y.size
                bad = seen.add(block.qid, np.arange(first + 1, block.after.row + 1))
                if bad >= 0:
                    cache.refuse(block.after.line, f"row {first + bad} has a group that comes back after another")
            yield block


class _Stored(NamedTuple):
    head: _Head
    payload: np.ndarray  # of uint8
    after: int


class _Cache:
    """A file that is open; nothing of it is believed before a checksum says so."""

    def __init__(self, path: str | PathLike[str], stream: BufferedReader, limit: int) -> None:
        self.path, self.stream, self.limit = path, stream, limit
        self.size = os.fstat(stream.fileno()).st_size
        self.names: tuple[str, ...] = ()
        self.begin = 0
        self.read_header()

    def read_header(self) -> None:
        start = self.stream.read(_START.size)
        if len(start) < _START.size or not start.startswith(MAGIC):
            self.refuse(0, "is not that of a block cache")
        _, length, checksum = _START.unpack(start)
        text = self.stream.read(min(length, LONGEST_HEADER))
        try:
            header = json.loads(text) if len(text) == length and zlib.crc32(text) == checksum else None
        except (ValueError, RecursionError):
            header = None
        if not isinstance(header, dict):
            self.refuse(0, "is damaged or cut off")
        if header.get("version") != VERSION:
            self.refuse(0, f"says version {header.get('version')!r}, and version {VERSION} is read")
        grouped = header.get("grouped") is True
        self.names = tuple(name for name in _TYPES if grouped or name != "qid")
        self.begin = _up(_START.size + length)

    def stored(self, start: Place) -> Iterator[_Stored]:
        """Block after block, up to the end, which must be where it says; none is larger than the file."""
        at = start.byte or self.begin
        before = _Head(_BLOCK, start.line, 0, 0, 0, start.row, 0, 0)
        blocks, rows = start.line, start.row
        while True:
            self.stream.seek(at)
            packed = self.stream.read(_HEAD.size)
            head = _Head(*_HEAD.unpack(packed)) if len(packed) == _HEAD.size else before
            if not head.is_whole() or head.name not in (_BLOCK, _END):
                self.refuse(blocks + 1, "is damaged or cut off at its head")
            at += _HEAD.size
            if head.name == _END:
                if (head.number, head.rows, at) != (blocks, rows, self.size) or rows == 0:
                    self.refuse(blocks, "is not followed by the end of the file, or blocks are missing")
                return
            length = sum(_up(size) for size in self.sizes(head))
            if (
                (head.number, head.first_row) != (blocks + 1, rows)
                or not 0 < length <= self.size - at
                or head.rows == 0
            ):
                self.refuse(blocks + 1, "is cut off, or blocks are missing before it")
            payload = np.empty(length, dtype=np.uint8)
            if self.stream.readinto(memoryview(cast("Any", payload))) != length:
                self.refuse(blocks + 1, "is cut off")
            at += length
            blocks, rows = blocks + 1, rows + head.rows
            yield _Stored(head, payload, at)

    def sizes(self, head: _Head) -> list[int]:
        """Bytes of each array of a block."""
        counts = {"data": head.values, "indptr": head.rows + 1, "indices": head.values}
        return [counts.get(name, head.rows) * int(_TYPES[name][-1]) for name in self.names]

    def checked(self, stored: _Stored) -> Block:
        """The block, if it is as it was written, and could be used without harm whoever wrote it."""
        head, payload, after = stored
        if zlib.crc32(memoryview(cast("Any", payload))) != head.checksum:
            self.refuse(head.number, "is damaged: its checksum is another")
        arrays, at = {}, 0
        for name, size in zip(self.names, self.sizes(head), strict=True):
            arrays[name] = payload[at : at + size].view(_TYPES[name])
            at += _up(size)
        data, indices, indptr, y = (arrays[name] for name in ("data", "indices", "indptr", "y"))
        if head.columns > self.limit:
            self.refuse(head.number, f"has index {head.columns}, above n_features={self.limit}")
        bad = first_bad_stored(data, indices, indptr, y, head.columns)
        if bad >= 0:
            self.refuse(head.number, f"row {bad} has numbers that are not finite, or indices out of order")
        place = Place(after, head.number, head.first_row + head.rows)
        return Block(data, indices, indptr, y, arrays.get("qid"), head.columns, place)

    def refuse(self, number: int, what: str) -> NoReturn:
        """Say which part of the file is wrong; the header is number 0."""
        where = f"block {number}" if number else "the header"
        raise ValueError(f"{self.path}, {where} {what}")


def _write_header(stream: BinaryIO, *, grouped: bool) -> None:
    text = json.dumps({"version": VERSION, "grouped": grouped, "types": _TYPES}).encode()
    stream.write(_aligned(_START.pack(MAGIC, len(text), zlib.crc32(text)) + text))


def _payload(block: Block) -> bytes:
    arrays = {"data": block.data, "indptr": block.indptr, "y": block.y, "qid": block.qid, "indices": block.indices}
    return b"".join(
        _aligned(np.ascontiguousarray(array, dtype=_TYPES[name]).tobytes())
        for name, array in arrays.items()
        if array is not None
    )


def _up(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _aligned(part: bytes) -> bytes:
    return part.ljust(_up(len(part)), b"\0")
