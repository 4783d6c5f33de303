"""A file of any size is read in blocks: in order, up to the fault, in memory that does not grow."""

import gzip
import lzma
import os
import sys
import threading
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import softmargin.data.svmlight
import softmargin.data.texts
from refusal import one_sentence
from softmargin.data import blocks, read_svmlight
from softmargin.data.groups import SeenGroups
from softmargin.data.texts import last_group
from softmargin.data.threads import in_order

FILES = 5_000 if os.environ.get("SOFTMARGIN_SOAK") else 200
LINE = b"1 1:0.25 7:-3.5 900:1e-3\n"


def until_it_fails(results):
    """What came before an exception, and the exception."""
    read = []
    try:
        for result in results:
            read.append(result)  # noqa: PERF402  those before an exception are wanted
    except (ValueError, KeyError) as error:
        return read, error
    return read, None


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_memory_does_not_grow_with_the_file(tmp_path, pack):
    """A file of 8 MB, whose rows take 25 MB, needs some blocks of 100 KB at the highest point, as a small one does."""
    path, highest = tmp_path / "data.svm", []
    for lines in (20_000, 20_000, 320_000):  # the first one compiles
        path.write_bytes(pack(LINE * lines))
        tracemalloc.start()
        assert sum(block.y.size for block in blocks(path, size=100_000)) == lines
        highest.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(highest[1:]) < 10e6  # a busy machine reads further ahead


def test_memory_for_a_whole_file_is_little_more_than_its_rows(tmp_path, monkeypatch):
    """12 bytes a value, 40 a row and some windows; no second copy of all of it."""
    monkeypatch.setattr(softmargin.data.svmlight, "WINDOW", 100_000)
    path, rows = tmp_path / "data.svm", 320_000
    path.write_bytes(LINE * rows)
    read_svmlight(path)
    tracemalloc.start()
    X, *_ = read_svmlight(path)
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert highest < 1.05 * (12 * X.nnz + 40 * rows) + 10e6


@pytest.mark.nojit
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_blocks_come_in_order_up_to_the_fault(tmp_path, threads):
    """What stands before the fault is handed out, and then the fault is named."""
    path = tmp_path / "data.svm"
    path.write_bytes(b"".join(b"%d 1:1\n" % t for t in range(500)) + b"nan 1:1\n" + LINE * 500)
    read, error = until_it_fails(blocks(path, size=200, threads=threads))
    assert "line 501, column 1: 'nan' is not a label" in str(error)
    assert [label for block in read for label in block.y.tolist()] == list(range(read[-1].after.row))
    assert all(block.after.row == block.after.line == block.y[-1] + 1 for block in read)
    assert read[-1].after.row > 450


@pytest.mark.nojit
def test_what_is_left_is_cleaned_up(tmp_path):
    """Who leaves after one block leaves no file open and no thread waiting; ResourceWarning would be an error."""
    path = tmp_path / "data.svm"
    path.write_bytes(LINE * 1000)
    stream = blocks(path, size=100)
    assert next(stream).y.size == 4
    stream.close()


@pytest.mark.nojit
def test_a_block_says_when_it_is_too_wide(tmp_path):
    """An index beyond n_features is refused as the whole file would be; a matrix of fewer columns too."""
    path = tmp_path / "data.svm"
    path.write_bytes(LINE)
    with pytest.raises(ValueError, match="line 1, column 17: '900:1e-3' has an index above n_features=899"):
        next(blocks(path, n_features=899))
    block = next(blocks(path, n_features=1000))
    assert (block.columns, block.matrix().shape, block.matrix(1000).shape) == (900, (1, 900), (1, 1000))
    with pytest.raises(ValueError, match="these rows have 900 columns, more than n_features=899"):
        block.matrix(899)


@pytest.mark.nojit
@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.lists(st.integers(1, 29), max_size=5))
def test_groups_are_seen_however_they_are_cut(groups, cuts):
    """The first row whose group comes back after another, found in parts, is that of a plain loop."""
    wanted, last = -1, {}
    for row, group in enumerate(groups):
        if row and group in last and groups[row - 1] != group:
            wanted = row
            break
        last[group] = row + 1
    seen, found, edges = SeenGroups(), -1, sorted({0, len(groups), *(cut for cut in cuts if cut < len(groups))})
    for begin, end in pairwise(edges):
        bad = seen.add(np.array(groups[begin:end]), np.arange(begin + 1, end + 1))
        if bad >= 0:
            found = begin + bad
            if bad:
                assert seen.add(np.array(groups[begin:found]), np.arange(begin + 1, found + 1)) == -1
            break
    assert found == wanted
    assert {group: seen.last_line(group) for group in range(10)} == {group: last.get(group) for group in range(10)}


@pytest.mark.nojit
def test_a_line_has_its_limit(tmp_path, monkeypatch):
    """A line that would fill the memory is refused, also where it is compressed well."""
    monkeypatch.setattr(softmargin.data.texts, "LONGEST", 100_000)
    path = tmp_path / "data.svm"
    path.write_bytes(gzip.compress(LINE + b"1 1:0" + b"0" * 300_000 + b"\n"))
    with pytest.raises(ValueError, match="line 2, column 1: a line, or a group, that begins here does not end"):
        list(blocks(path, size=10_000))
    path.write_bytes(LINE + b"1 1:0" + b"0" * 50_000 + b"\n" + LINE)
    assert [block.y.size for block in blocks(path, size=10_000)] == [1, 2]


@pytest.mark.nojit
def test_zstd_needs_its_package(tmp_path, monkeypatch):
    """Without it the sentence says what to install."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = tmp_path / "data.svm"
    path.write_bytes(b"\x28\xb5\x2f\xfd0000")
    with pytest.raises(ValueError, match="is compressed with zstd, which needs a package: pip install zstandard"):
        read_svmlight(path)


@pytest.mark.nojit
def test_results_come_in_order_before_the_exception_of_their_source():
    """Of the work, and of what gives the work."""

    def numbers():
        yield from range(5)
        raise KeyError

    done, error = until_it_fails(in_order(lambda number: number * number, numbers(), 2))
    assert done == [0, 1, 4, 9, 16]
    assert isinstance(error, KeyError)


@pytest.mark.nojit
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=40),
    st.sampled_from([b"", b"# qid:9\n", b"\n \t\n", b"\r\n"]),
    st.integers(1, 300),
)
def test_a_group_is_in_one_block(tmp_path_factory, lengths, between, size):
    """However small the windows and long the groups, and whatever stands between the rows."""
    groups = [group for group, length in enumerate(lengths) for _ in range(length)]
    if not groups:
        return
    path = tmp_path_factory.mktemp("groups") / "data.svm"
    path.write_bytes(
        between + b"".join(b"%d qid:%03d 1:%d\n" % (k, group, k) + between for k, group in enumerate(groups))
    )
    parts = list(blocks(path, size=size))
    assert [group for part in parts for group in part.qid.tolist()] == groups
    assert [label for part in parts for label in part.y.tolist()] == list(range(len(groups)))
    assert all(one.qid[-1] != other.qid[0] for one, other in pairwise(parts))
    for part in parts:
        rest = list(blocks(path, size=size, start=part.after)) if part.after.row < len(groups) else []
        assert [one.after for one in rest if one.y.size] == [
            one.after for one in parts if one.after.row > part.after.row
        ]


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("lines", "where"),
    [
        (b"", 0),
        (b"# only\n\n", 8),
        (b"1 1:1\n2 1:1\n", 12),
        (b"1 qid:1\n2 qid:1\n", 0),
        (b"1 qid:1\n2 qid:2\n3 qid:02\n", 8),
        (b"1 qid:1\n#\n2 qid:2 # qid:1\n\n", 10),
        (b"1 qid:1 1:1\r2 qid:5\n2 qid:1\n", 0),
        (b"1 qid:1\n" + b"2 qid:2 1:" + b"1" * 100_000 + b"\n" + b"#\n" * 9000, 8),
        (b"1 qid:1\n" * 3000 + b"2 qid:2\n" * 3000, 24_000),
    ],
)
def test_where_the_last_group_begins(lines, where):
    """Behind all others; where rows name none, there is nothing to keep together."""
    assert last_group(np.frombuffer(lines, dtype=np.uint8)) == where


@pytest.mark.nojit
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress], ids=["gzip", "xz", "zstd"])
def test_spoiled_compressed_files_are_refused_or_the_same(tmp_path, pack):
    """Bytes changed, left out or doubled, and files cut anywhere: one sentence with a line, or nothing was lost."""
    rng, path, text = np.random.default_rng(0), tmp_path / "data.svm", LINE * 40
    whole, refused = pack(text), 0
    for _ in range(FILES):
        changed = bytearray(whole)
        at, length = int(rng.integers(len(whole))), int(rng.integers(0, 5))
        changed[at : at + length] = rng.bytes(int(rng.integers(0, 5)))
        path.write_bytes(changed[: rng.integers(at, len(changed) + 1)] if rng.random() < 0.3 else changed)
        read, error = until_it_fails(blocks(path, size=200))
        if error is None:
            assert sum(block.y.size for block in read) == 40
        else:
            refused += 1
            assert one_sentence(str(error).removeprefix(str(path))), error
    assert refused > 0.5 * FILES


@pytest.mark.nojit
def test_a_pipe_is_read_like_a_file(tmp_path):
    """What can be read only once, and in small pieces."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(LINE * 5000,))
    writer.start()
    assert sum(block.y.size for block in blocks(path, size=10_000)) == 5000
    writer.join()
