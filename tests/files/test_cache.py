"""A block cache gives back the rows it was made of, or refuses, and says which block is wrong."""

import os
import struct
import zlib

import numpy as np
import pytest

from refusal import one_sentence
from softmargin.data import Place, blocks, read_cache, read_svmlight, write_cache
from softmargin.data.cache import _BLOCK, _END, _HEAD, _START, MAGIC, _Head

SOAK = bool(os.environ.get("SOFTMARGIN_SOAK"))
MUTATIONS = 20_000 if SOAK else 1_000


def text_of(rows, *, grouped):
    """Lines of a file."""
    rng = np.random.default_rng(rows)
    lines = []
    for t in range(rows):
        columns = np.flatnonzero(rng.random(7) < 0.5) + 1
        pairs = "".join(f" {j}:{value!r}" for j, value in zip(columns, rng.normal(size=7).tolist(), strict=False))
        lines.append(f"{t % 3}{f' qid:{t // 4}' if grouped else ''}{pairs}\n")
    return "".join(lines)


@pytest.fixture(params=[False, True], ids=["labels", "groups"])
def pair(request, tmp_path):
    """A text and its cache, which has several blocks."""
    text, cache = tmp_path / "data.svm", tmp_path / "data.smc"
    text.write_text(text_of(40, grouped=request.param))
    write_cache(cache, blocks(text, size=700))
    return text, cache


def bits(rows):
    """Everything that was read."""
    X, y, qid = rows
    return (
        X.shape,
        X.data.tobytes(),
        X.indices.tobytes(),
        X.indptr.tobytes(),
        y.tobytes(),
        qid is not None and qid.tobytes(),
    )


def test_a_cache_holds_what_the_text_does(pair):
    """To the last bit; whole or block by block; made of a path or of blocks."""
    text, cache = pair
    wanted = bits(read_svmlight(text))
    assert bits(read_cache(cache)) == wanted
    assert len(list(blocks(cache))) == len(list(blocks(text, size=700))) > 3
    write_cache(cache, text)
    assert bits(read_cache(cache)) == wanted
    assert read_cache(cache, n_features=9)[0].shape[1] == 9
    with pytest.raises(ValueError, match="block 1 has index 7, above n_features=6"):
        read_cache(cache, n_features=6)


@pytest.mark.parametrize("kind", [0, 1], ids=["text", "cache"])
def test_reading_goes_on_where_it_ended(pair, kind):
    """From the place behind any block the rest comes as it came before."""
    all_of_them = list(blocks(pair[kind], size=700))
    for done in range(len(all_of_them)):
        rest = list(blocks(pair[kind], size=700, start=all_of_them[done].after))
        assert [one.after for one in rest] == [one.after for one in all_of_them[done + 1 :]]
        same = [
            one.data.tobytes() == other.data.tobytes() for one, other in zip(rest, all_of_them[done + 1 :], strict=True)
        ]
        assert all(same)
    assert all_of_them[-1].after.row == 40


def test_arrays_lie_where_they_can_be_mapped(pair):
    """Each array begins at a multiple of 64 bytes, little-endian, so that other programs can map it."""
    cache = pair[1].read_bytes()
    first = next(blocks(pair[1]))
    assert cache.index(first.data.tobytes()) % 64 == 0
    assert cache.index(first.indices.tobytes()) % 64 == 0
    assert len(cache) % 64 == 0
    rows = first.rows()
    assert (rows.indices.dtype, rows.indptr.dtype, rows.data.flags.writeable) == (np.uint32, np.uint64, False)


def complaint(path):
    """The one sentence of a refusal."""
    with pytest.raises(ValueError, match=str(path)) as caught:
        read_cache(path)
    said = str(caught.value).removeprefix(f"{path}, ")
    assert one_sentence(said), said
    return said


def test_a_file_that_was_cut_is_refused(pair, tmp_path):
    """At any byte, in a soak at each; the sentence names the header or a block."""
    whole, path = pair[1].read_bytes(), tmp_path / "cut.smc"
    said = set()
    for size in range(0, len(whole), 1 if SOAK else 13):
        path.write_bytes(whole[:size])
        said.add(complaint(path).split(" is ")[0])
    assert {"the header", "block 1", "block 2", "block 3"} <= said
    path.write_bytes(whole + b"\0")
    assert "is not followed by the end of the file" in complaint(path)


def test_a_file_that_was_changed_is_refused_or_the_same(pair, tmp_path):
    """One byte, some bytes, or whole parts that change places: refused, unless only padding was touched."""
    whole, path, wanted = pair[1].read_bytes(), tmp_path / "changed.smc", bits(read_cache(pair[1]))
    rng, refused = np.random.default_rng(None if SOAK else 0), 0
    for _ in range(MUTATIONS):
        changed = bytearray(whole)
        at, length = rng.integers(len(whole)), rng.integers(1, 80) if rng.random() < 0.3 else 1
        if rng.random() < 0.2:
            other = rng.integers(len(whole))
            changed[at : at + length], changed[other : other + length] = (
                changed[other : other + length],
                changed[at : at + length],
            )
        else:
            changed[at : at + length] = rng.bytes(len(changed[at : at + length]))
        path.write_bytes(changed)
        try:
            assert bits(read_cache(path)) == wanted
        except ValueError as error:
            assert one_sentence(str(error).removeprefix(str(path)))  # noqa: PT017  either is right
            refused += 1
    assert refused > 0.8 * MUTATIONS


def forged(head, payload):
    """A cache of one block, with checksums that are right."""
    text = b'{"version": 1, "grouped": false}'
    start = _START.pack(MAGIC, len(text), zlib.crc32(text)) + text
    head = head._replace(checksum=zlib.crc32(payload))
    end = _Head(_END, 1, head.rows, head.values, head.columns, 0, 0, 0)
    return start.ljust(64, b"\0") + head.packed() + payload + end.packed()


def arrays(data, indptr, y, indices):
    """Of a block, as they are stored."""
    parts = [np.array(data, "<f8"), np.array(indptr, "<i8"), np.array(y, "<f8"), np.array(indices, "<i4")]
    return b"".join(part.tobytes().ljust(-(-part.nbytes // 64) * 64, b"\0") for part in parts)


@pytest.mark.parametrize(
    ("numbers", "right"),
    [
        (([1, 2], [0, 2], [1], [0, 2]), True),
        (([1, 2], [0, 2], [1], [0, 3]), False),
        (([1, 2], [0, 2], [1], [-1, 2]), False),
        (([1, 2], [0, 2], [1], [2, 2]), False),
        (([1, 2], [0, 3], [1], [0, 2]), False),
        (([1, 2], [1, 2], [1], [0, 2]), False),
        (([1, 2], [0, 1], [1], [0, 2]), False),
        (([1, 2], [0, -1], [1], [0, 2]), False),
        (([1, np.nan], [0, 2], [1], [0, 2]), False),
        (([1, np.inf], [0, 2], [1], [0, 2]), False),
        (([1, 2], [0, 2], [np.nan], [0, 2]), False),
    ],
)
def test_a_forged_block_does_no_harm(tmp_path, numbers, right):
    """With right checksums and wrong numbers: what would reach out of bounds is refused by row."""
    path = tmp_path / "forged.smc"
    path.write_bytes(forged(_Head(_BLOCK, 1, 1, 2, 3, 0, 0, 0), arrays(*numbers)))
    if right:
        assert read_cache(path)[0].toarray().tolist() == [[1, 0, 2]]
    else:
        assert complaint(path) == "block 1 row 0 has numbers that are not finite, or indices out of order"


@pytest.mark.parametrize("rows", [2**62, 2**40, 10**6, 0])
def test_sizes_are_checked_before_memory_is_asked_for(tmp_path, rows):
    """A block that says it is larger than the file, or empty, is refused."""
    path = tmp_path / "forged.smc"
    path.write_bytes(forged(_Head(_BLOCK, 1, rows, 2, 3, 0, 0, 0), arrays([1, 2], [0, 2], [1], [0, 2])))
    assert complaint(path) == "block 1 is cut off, or blocks are missing before it"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (b'{"version": 2}', "says version 2, and version 1 is read"),
        (b"[]", "is damaged or cut off"),
        (b"[" * 60_000, "is damaged or cut off"),
        (b"\xff", "is damaged or cut off"),
    ],
)
def test_headers_that_are_not_ours(tmp_path, header, said):
    """Of another version, or no header at all."""
    path = tmp_path / "other.smc"
    path.write_bytes(_START.pack(MAGIC, len(header), zlib.crc32(header)) + header)
    assert complaint(path) == f"the header {said}"
    path.write_bytes(_START.pack(MAGIC, 2**32 - 1, 0) + header)
    assert complaint(path) == "the header is damaged or cut off"


def test_what_cannot_be_a_cache(tmp_path):
    """No rows, groups in some blocks only, and a file of another kind."""
    path, text = tmp_path / "a.smc", tmp_path / "a.svm"
    with pytest.raises(ValueError, match="is not written, for there are no rows"):
        write_cache(path, [])
    text.write_text("1 qid:1 1:1\n")
    block = next(blocks(text))
    with pytest.raises(ValueError, match="block 2 differs from block 1 in whether its rows name groups"):
        write_cache(path, [block, block._replace(qid=None)])
    assert not path.exists()
    write_cache(path, [block, block._replace(qid=block.qid + 1), block])
    assert complaint(path) == "block 3 row 2 has a group that comes back after another"
    assert complaint(text) == "the header is not that of a block cache"
    assert next(blocks(text)).after == Place(12, 1, 1)
    assert struct.calcsize(_HEAD.format) == 64
