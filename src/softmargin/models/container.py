"""A file of one JSON header and arrays: what is written is what is read, or one sentence says why not.

    magic  version  length of the header  SHA-256 of all other bytes  header  arrays, one after the other

docs/models.md has the layout.  Nothing in a file is a program, and nothing is believed before it is checked: sizes
against the size of the file before anything is made of them, then the hash, then the header.
"""

import json
import os
import stat
import struct
from collections.abc import Sequence
from hashlib import sha256
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from softmargin.data.atomic import replacing

MAGIC, VERSION = b"\x93SOFTMARGIN\n", 1
HEAD = struct.Struct("<12sIQ")
START = HEAD.size + sha256().digest_size  # of the header
LARGEST_HEADER, LARGEST_FILE, MOST_ARRAYS, MOST_AXES = 2**21, 2**34, 1024, 4
KINDS = ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1")

Path_ = str | PathLike[str]


class Stored(NamedTuple):
    """What a file holds: all that is not an array as JSON has it, and the arrays, which are nobody else's."""

    header: dict[str, Any]
    arrays: list[np.ndarray]


def refuse(path: Path_, why: str) -> NoReturn:
    """One sentence that begins with the file."""
    message = f"{path} {why}"
    raise ValueError(message)


# ----------------------------------------------------------------------------------- writing


def write(path: Path_, header: dict[str, Any], arrays: Sequence[np.ndarray]) -> None:
    """Write the file as a whole or not at all: what was there before stays until the new one is on the disk."""
    views, lines, end = [np.asarray(array) for array in arrays], [], 0
    for array in views:
        kind = f"{array.dtype.kind}{array.dtype.itemsize}"
        lines.append({"kind": kind, "shape": list(array.shape), "order": _order(array), "begin": end})
        end += array.nbytes
        lines[-1]["end"] = end
    text = json.dumps({**header, "arrays": lines}, ensure_ascii=False, allow_nan=False).encode()
    if len(text) > LARGEST_HEADER or len(views) > MOST_ARRAYS or START + len(text) + end > LARGEST_FILE:
        refuse(path, f"is not written: a model file has at most {LARGEST_HEADER} bytes of names and settings,"
                     f" {MOST_ARRAYS} arrays and {LARGEST_FILE} bytes in all")  # fmt: skip
    head = HEAD.pack(MAGIC, VERSION, len(text))
    with replacing(path) as file:
        file.write(head + bytes(START - HEAD.size) + text)
        digest = sha256(head + text)
        for array in views:
            block = _bytes_of(array)
            digest.update(block)
            file.write(block)
        file.seek(HEAD.size)
        file.write(digest.digest())


def _order(array: np.ndarray) -> str:
    """Products with a matrix add up in another order where it lies the other way round in memory."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _bytes_of(array: np.ndarray) -> Any:
    """The numbers in little-endian order of bytes."""
    flat = array.ravel(order="F" if _order(array) == "F" else "C")
    return flat.astype(flat.dtype.newbyteorder("<"), copy=False).view(np.uint8).data


# ----------------------------------------------------------------------------------- reading


def read(path: Path_) -> Stored:
    """What ``write`` wrote; ``ValueError`` for anything else."""
    data, length = _checked_bytes(path)
    header = _parsed(path, data[START : START + length])
    lines = header.pop("arrays", None)
    if not isinstance(lines, list) or len(lines) > MOST_ARRAYS:
        refuse(path, f"has no list of at most {MOST_ARRAYS} arrays in its header")
    arrays, end = [], START + length
    for number, line in enumerate(lines):
        array, end = _array(path, number, line, data, end, START + length)
        arrays.append(array)
    if end != len(data):
        refuse(path, f"has {len(data) - end} bytes more than its header tells of")
    return Stored(header, arrays)


def _checked_bytes(path: Path_) -> tuple[memoryview, int]:
    """The whole file, after its first bytes, its size and its hash were found to be right, and its header's length."""
    if not stat.S_ISREG(Path(path).stat().st_mode):
        refuse(path, "is not a file that can be read from beginning to end")
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(START)
        if not head.startswith(MAGIC):
            what = "is empty" if not head else "is cut off" if MAGIC.startswith(head) else "does not begin like one"
            refuse(path, f"is no model file of softmargin: it {what}")
        if len(head) < START:
            refuse(path, f"is cut off after {len(head)} bytes")
        _, version, length = HEAD.unpack(head[: HEAD.size])
        if version != VERSION:
            newer = "a newer softmargin wrote it" if version > VERSION else "there never was such a version"
            refuse(path, f"has version {version} of the format and this softmargin reads version {VERSION}: {newer}")
        if length > LARGEST_HEADER:
            refuse(path, f"says that its header has {length} bytes, and a header has at most {LARGEST_HEADER}")
        if size < START + length:
            refuse(path, f"is cut off: it has {size} bytes and its header alone ends at {START + length}")
        if size > LARGEST_FILE:
            refuse(path, f"has {size} bytes, and a model file has at most {LARGEST_FILE}")
        data = bytearray(size)
        data[:START] = head
        file.readinto(memoryview(data)[START:])
    digest = sha256(head[: HEAD.size])
    digest.update(memoryview(data)[START:])
    if digest.digest() != head[HEAD.size :]:
        refuse(path, "is damaged: its bytes do not have the hash that was written with them")
    return memoryview(data), length


def _parsed(path: Path_, text: memoryview) -> dict[str, Any]:
    """The header; it has the right hash, but anybody can work out a hash."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            refuse(path, "has a header that says something twice")
        return found

    def never(name: str) -> NoReturn:
        refuse(path, f"has {name} in its header, which is not JSON")

    try:
        header = json.loads(bytes(text).decode(), object_pairs_hook=once, parse_constant=never)
    except RecursionError:
        refuse(path, "has a header that is nested too deeply")
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        refuse(path, f"has a header that is not JSON ({type(error).__name__})")
    if not isinstance(header, dict):
        refuse(path, "has a header that is not a JSON object")
    return header


def _array(path: Path_, number: int, line: Any, data: memoryview, at: int, start: int) -> tuple[np.ndarray, int]:
    """One array, in memory of its own, and where its bytes end."""
    told = f"says of its array {number} "
    if not isinstance(line, dict) or line.keys() != {"kind", "shape", "order", "begin", "end"}:
        refuse(path, told + "something else than kind, shape, order, begin and end")
    kind, shape, order = line["kind"], line["shape"], line["order"]
    if not isinstance(kind, str) or kind not in KINDS or order not in ("C", "F"):
        refuse(path, told + "a kind or an order that no array of a model has")
    fine = isinstance(shape, list) and len(shape) <= MOST_AXES
    if not fine or not all(type(side) is int and 0 <= side <= LARGEST_FILE for side in shape):
        refuse(path, told + "a shape that no array of a model has")
    size = prod(shape) * int(kind[1])
    if line["begin"] != at - start or line["end"] != at - start + size or at + size > len(data):
        refuse(path, told + "a place that is not where its bytes are")
    flat = np.frombuffer(data[at : at + size], dtype=np.uint8)
    if kind == "b1" and flat.size and flat.max() > 1:
        refuse(path, f"has an array {number} of truth values that are neither 0 nor 1")
    try:
        numbers = flat.copy().view(f"<{kind}" if kind != "b1" else np.bool_)
        return numbers.astype(kind, copy=False).reshape(shape, order=order), at + size
    except (ValueError, OverflowError):
        refuse(path, told + "a shape that no array of a model has")
