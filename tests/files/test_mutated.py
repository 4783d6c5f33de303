"""A thousand spoiled files: the quick reader and the slow one read the same, or refuse with the same sentence."""

import os

import numpy as np
import pytest

import svmlight_twin
from softmargin.data import blocks, read_svmlight
from softmargin.data.block import joined

pytestmark = pytest.mark.nojit
FILES = 100_000 if os.environ.get("SOFTMARGIN_SOAK") else 1_000

SEEDS = [
    b"2 qid:3 1:0.5 4:-1e-3 # a\n1 qid:3 2:7\n\n#\n0 qid:1 3:2\n-1.5 qid:1\n",
    b"2 1:0.5 4:-1e-3 # a\n1 2:7\n\n#\n0 3:2\n-1.5\n",
    b"+1 1:1 2:0.70710678118654752440084436210485 9:9007199254740993 2147483647:1e22\r\n-1 3:4.9e-324\r\n",
    b"1 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:1\n1 qid:7 2:0.25\n0 qid:7 2:.5\n1 qid:5\n",
    b"0 1:123456789012345678 2:12345678901234567890 3:1.7976931348623157e308 4:2.2250738585072011e-308 5:00000000.1\n",
    b"1\t 1:1 \t2:2\t\n \t\n\t 2  3:3#4:4\n3 1:9223372036854775807.5 2:0.3e1# :::\n",
]
PIECES = [
    *(bytes([byte]) for byte in b"0123456789:#.,+-eE_ \t\r\n\0\x0b\x0c\x85\xa0\xff"),
    *(b"qid:", b" qid:3 ", b"\n", b"\r\n", b"nan", b"1e400", b"0x1", b"\xef\xbb\xbf", b"9" * 10, b"0" * 20, b":", b" "),
    *(b"1.7976931348623158079e308", b"179769313486231580793e289", b"2147483648:1", b"1e-400", b"0e999", b"\n1 qid:3\n"),
    *(b"9007199254740993.00000000000000000000001", b"\n0 1:1\n", b"9223372036854775808", b"1e99999999999999999999"),
]


def spoiled(rng):
    """One of the seeds after up to four edits: bytes left out, put in, and moved."""
    text = SEEDS[rng.integers(len(SEEDS))] * rng.integers(1, 3)
    for _ in range(rng.integers(0, 5)):
        at, removed = rng.integers(0, len(text) + 1), rng.integers(0, 4) if rng.random() < 0.7 else 0
        other = rng.integers(0, len(text) + 1)
        piece = PIECES[rng.integers(len(PIECES))] if rng.random() < 0.8 else text[other : other + rng.integers(0, 12)]
        text = text[:at] + piece + text[at + removed :]
    return text


def outcome(read):
    """What a reader makes of the file, to the last bit, or its sentence."""
    try:
        X, y, qid = read()
    except ValueError as error:
        return str(error)
    return [
        X.shape,
        *(part.tobytes() for part in (X.data, X.indices, X.indptr.astype(np.int64), y)),
        None if qid is None else qid.tobytes(),
    ]


def streamed(path, size, threads, **options):
    """The blocks of a file, put together."""
    whole = joined(blocks(path, size=size, threads=threads, **options))
    return whole.matrix(options.get("n_features")), whole.y, whole.qid


@pytest.mark.parametrize("part", range(4))
def test_spoiled_files_have_one_outcome(tmp_path, part):
    """The same bits or the same sentence, whole or in windows of a few bytes, on one thread or two."""
    rng = np.random.default_rng(None if os.environ.get("SOFTMARGIN_SOAK") else part)
    path, refused = tmp_path / "data.txt", 0
    for _ in range(FILES // 4):
        text = spoiled(rng)
        path.write_bytes(text)
        columns = None if rng.random() < 0.8 else int(rng.integers(1, 10))
        wanted = outcome(lambda: svmlight_twin.read_svmlight(path, n_features=columns))  # noqa: B023
        size, threads = int(rng.integers(1, 60)), int(rng.integers(1, 3))
        assert outcome(lambda: read_svmlight(path, n_features=columns)) == wanted, text  # noqa: B023
        in_parts = outcome(lambda: streamed(path, size, threads, n_features=columns))  # noqa: B023
        assert in_parts == wanted, (text, size)
        refused += isinstance(wanted, str)
    assert 0.2 < refused / (FILES // 4) < 0.9  # both kinds were tried
