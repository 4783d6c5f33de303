"""A file is read as its grammar says, or refused in one sentence that says where; nothing in between."""

import bz2
import gzip
import lzma
import re
import subprocess
import sys

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from refusal import one_sentence
from softmargin.data import read_svmlight

pytestmark = pytest.mark.nojit
PLAIN = b"2 qid:3 1:0.5 4:-1e-3 # a\n1 qid:3 2:7\n\n#\n0 qid:1 3:2\n-1.5 qid:1\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for files of this module."""
    return tmp_path_factory.mktemp("files")


def read(folder, text, **options):
    """What is read from a file with these bytes."""
    path = folder / "data.txt"
    path.write_bytes(text)
    return read_svmlight(path, **options)


def same(one, other):
    """Whether two readings are the same to the last bit."""
    (X, y, qid), (Z, z, q) = one, other
    stored = all(np.array_equal(getattr(X, part), getattr(Z, part)) for part in ("data", "indices", "indptr", "shape"))
    return stored and np.array_equal(y, z) and (qid is q is None or np.array_equal(qid, q))


def complaint(folder, text, **options):
    """The one sentence of the refusal, without the path that it begins with."""
    with pytest.raises(ValueError, match="data") as caught:
        read(folder, text, **options)
    path, message = str(folder / "data.txt"), str(caught.value)
    assert message.startswith(path)
    assert one_sentence(message.removeprefix(path)), message
    return message.removeprefix(path)


def by_the_book(text):
    """The grammar of docs/files.md once more, token by token, slowly: rows, or None where it is refused."""
    number, rows = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"), []
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if b"\0" in line:
            return None
        tokens = re.split(rb"[ \t]+", re.sub(rb"\r$", b"", line).split(b"#")[0].strip(b" \t"))
        if tokens == [b""]:
            continue
        qid = tokens.pop(1)[4:] if len(tokens) > 1 and tokens[1].startswith(b"qid:") else None
        parts = [token.split(b":") for token in tokens[1:]]
        whole = [part[0] for part in parts] + [qid] * (qid is not None)
        right = all(len(part) == 2 for part in parts) and all(re.fullmatch(rb"\d{1,19}", token) for token in whole)
        numbers = [tokens[0], *(part[-1] for part in parts)]
        if not right or not all(number.fullmatch(token) and np.isfinite(float(token)) for token in numbers):
            return None
        indices = [int(part[0]) for part in parts]
        if indices != sorted({*indices}) or not all(1 <= index < 2**31 for index in indices):
            return None
        rows.append((float(tokens[0]), qid and int(qid), indices, [float(part[1]) for part in parts]))
    return rows if rows and groups_are_right([row[1] for row in rows]) else None


def groups_are_right(qids):
    """All or none, below 2^63, and contiguous."""
    if None in qids:
        return {*qids} == {None}
    begins = [qid for before, qid in zip([None, *qids], qids, strict=False) if qid != before]
    return len(begins) == len({*begins}) and max(qids) < 2**63


def as_read(rows):
    """What the reader should make of rows by the book."""
    data, indices = (np.array([value for row in rows for value in row[part]], dtype=float) for part in (3, 2))
    indptr = np.cumsum([0, *(len(row[2]) for row in rows)])
    X = sparse.csr_matrix((data, indices.astype(np.int64) - 1, indptr), shape=(len(rows), int(max([0, *indices]))))
    qid = None if rows[0][1] is None else np.array([row[1] for row in rows], dtype=np.int64)
    return X, np.array([row[0] for row in rows]), qid


@given(seed=st.integers(0, 2**32 - 1), groups=st.booleans())
def test_it_reads_what_scikit_learn_reads(folder, seed, groups):
    """What scikit-learn writes is read back as it was, and as scikit-learn reads it."""
    rng = np.random.default_rng(seed)
    X = sparse.random(rng.integers(1, 30), rng.integers(1, 20), rng.uniform(0.1, 1), "csr", rng=rng)
    X.data *= 10.0 ** rng.integers(-300, 300, X.data.size)
    y, qid = rng.normal(size=X.shape[0]), np.sort(rng.integers(0, 4, X.shape[0])) if groups else None
    path = folder / "written.txt"
    dump_svmlight_file(X, y, str(path), zero_based=False, query_id=qid)
    ours = read_svmlight(path, n_features=X.shape[1])
    theirs = load_svmlight_file(str(path), zero_based=False, query_id=True, n_features=X.shape[1])
    assert same(ours, (*theirs[:2], theirs[2] if groups else None))
    assert ours[0].nnz == 0 or np.allclose(ours[0].toarray(), X.toarray(), rtol=1e-14, atol=0)


def test_types_and_form(folder):
    """CSR of float64 with int32 indices in canonical form, labels of float64, groups of int64."""
    X, y, qid = read(folder, PLAIN)
    assert (X.format, X.dtype, X.indices.dtype, X.indptr.dtype) == ("csr", np.float64, np.int32, np.int32)
    assert X.has_canonical_format
    assert (y.dtype, qid.dtype) == (np.float64, np.int64)
    assert X.toarray().tolist() == [[0.5, 0, 0, -1e-3], [0, 7, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]]
    assert (y.tolist(), qid.tolist()) == ([2, 1, 0, -1.5], [3, 3, 1, 1])
    X[0, 0], y[0], qid[0] = 9, 9, 9  # they can be written to
    assert read(folder, b"1 2:3\n")[2] is None
    X, y, _ = read(folder, b"1e300")  # a label alone
    assert (X.shape, y.tolist()) == ((1, 0), [1e300])


PIECE = st.one_of(
    st.sampled_from([*(bytes([byte]) for byte in b"0123456789:#.,+-eE_ \t\r\n\0\x0b\x0c\x85\xa0\xff")]),
    st.sampled_from([b"qid:", b" qid:3 ", b"\n", b"\r\n", b"nan", b"1e400", b"0x1", b"\xef\xbb\xbf", b"9" * 10]),
    st.binary(max_size=3),
)


@given(
    start=st.sampled_from([PLAIN, PLAIN.replace(b" qid:3", b"").replace(b" qid:1", b""), b"1 2147483647:1"]),
    edits=st.lists(st.tuples(st.integers(0, 70), st.integers(0, 3), PIECE), max_size=4),
)
def test_a_spoiled_file_is_read_by_the_book_or_refused(folder, start, edits):
    """Whatever bytes a file holds, it is read as the grammar says, or refused with ValueError where that refuses."""
    text = start
    for at, removed, piece in edits:
        text = text[:at] + piece + text[at + removed :]
    rows = by_the_book(text)
    if rows is None:
        assert re.match(r", line \d+, column \d+: ['\"t]| has no rows| is compressed", complaint(folder, text))
    else:
        assert same(read(folder, text), as_read(rows))


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.removesuffix(b"\n"),
        b"\xef\xbb\xbf" + PLAIN,
        b"\xef\xbb\xbf# first\n" + PLAIN,
        PLAIN.replace(b" ", b" \t ").replace(b"\n", b" \n\t"),
        PLAIN.replace(b"# a", b"#\xff\xfe 1:2 qid:9 # nan"),
        gzip.compress(PLAIN, mtime=0),
        gzip.compress(PLAIN[:9], mtime=0) + gzip.compress(PLAIN[9:], mtime=0),
        gzip.compress(b"\xef\xbb\xbf" + PLAIN, mtime=0),
        gzip.compress(PLAIN, mtime=0) + bytes(512),
        lzma.compress(PLAIN),
        lzma.compress(PLAIN[:9]) + bytes(4) + lzma.compress(PLAIN[9:]),
        zstandard.compress(PLAIN),
        zstandard.compress(PLAIN[:9]) + zstandard.compress(PLAIN[9:]),
    ],
)
def test_the_same_file_in_other_clothes(folder, text):
    """Ends of lines, a byte order mark, blanks, comments and compression change nothing."""
    assert same(read(folder, text), read(folder, PLAIN))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"1 1:2\n1 x:2\n", "line 2, column 3: 'x:2' has an index that is not a whole number"),
        (b"\n# c\n1 0:2", "line 3, column 3: '0:2' has index 0, but indices begin at 1"),
        (b"1 -1:2", "line 1, column 3: '-1:2' has an index that is not a whole number"),
        (b"1 2147483648:1", "line 1, column 3: '2147483648:1' has an index above 2147483647"),
        (b"1 1:2 2147483648:1", "line 1, column 7: '2147483648:1' has an index above 2147483647"),
        (b"1 4294967297:1", "line 1, column 3: '4294967297:1' has an index above 2147483647"),
        (b"1 9223372036854775808:1", "line 1, column 3: '9223372036854775808:1' has an index above 2147483647"),
        (b"1 18446744073709551617:1", "line 1, column 3: '18446744073709551617:1' has an index that is not a whole"),
        (b"1 " + b"9" * 5000 + b":1", "line 1, column 3: '" + "9" * 60 + "'... has an index that is not"),
        (b"1 1:2 1:3", "line 1, column 7: '1:3' has the same index as the token before it"),
        (b"1 4:2 3:3", "line 1, column 7: '3:3' has an index below 4"),
        (b"1 1:", "line 1, column 3: '1:' has no value"),
        (b"1 1: 2", "line 1, column 3: '1:' has no value"),
        (b"1 :1", "line 1, column 3: ':1' has no index"),
        (b"1 1:2:3", "line 1, column 3: '1:2:3' is not index:value, for it has two colons"),
        (b"1 7", "line 1, column 3: '7' is not index:value, for it has no colon"),
        (b"1 1:2\r2:3\n", r"line 1, column 3: '1:2\r2:3' has a control character"),
        (b"1 1:2\x0b2:3\n", r"line 1, column 3: '1:2\x0b2:3' has a control character"),
        (b"1 1:nan", "line 1, column 3: '1:nan' has a value that is not a finite decimal number"),
        (b"1 1:1 2:inf", "line 1, column 7: '2:inf' has a value that is not"),
        (b"1 1:1 2:1e400", "line 1, column 7: '2:1e400' has a value too large for a float64"),
        (b"1 1:0x1p3", "line 1, column 3: '1:0x1p3' has a value that is not"),
        (b"1 1:1_0", "line 1, column 3: '1:1_0' has a value that is not"),
        ("1 1:é".encode(), "line 1, column 3: '1:é' has a value that is not"),
        (b"nan 1:1", "line 1, column 1: 'nan' is not a label"),
        (b"-1e400 1:1", "line 1, column 1: '-1e400' is too large for a float64"),
        (b"1_0 1:1", "line 1, column 1: '1_0' is not a label"),
        (b"  1:1", "line 1, column 3: '1:1' stands where the label belongs"),
        (b"1,2 3:4", "line 1, column 1: '1,2' has a comma, and several labels a row are not read"),
        (b"1 1:1 # \xc3\xa9\0", r"line 1, column 10: '\x00' is a character that no text has"),
        (b"1 qid:2 1:1\n1 qid:2\n1 1:1", "line 3, column 1: '1' is not followed by qid:N, but the label of line 1 is"),
        (b"#\n1 1:1\n1 qid:2 1:1", "line 3, column 3: 'qid:2' is a group, but line 2 names none"),
        (b"1 qid:1\n1 qid:1\n1 qid:2\n2 qid:1 1:1", "line 4, column 3: 'qid:1' comes back .* last on line 2$"),
        (b"1 qid:-1 1:1", "line 1, column 3: 'qid:-1' is not qid: and a whole number below 2.63"),
        (b"1 qid:9223372036854775808", "line 1, column 3: 'qid:9223372036854775808' is not qid: and a whole"),
        (b"1 qid:1.5 1:1", "line 1, column 3: 'qid:1.5' is not qid: and a whole number"),
        (b"1 qid: 1:1", "line 1, column 3: 'qid:' is not qid: and a whole number"),
        (b"1 qid:1 qid:1", "line 1, column 9: 'qid:1' is not in its place, which is once, right after the label"),
        (b"1 1:1 qid:1", "line 1, column 7: 'qid:1' is not in its place"),
        (b"\xef\xbb\xbf1 1:x", "line 1, column 3: '1:x' has a value"),
        (b"\xff\xfe1\0", r"line 1, column 4: '\x00' is a character"),
    ],
)
def test_a_refusal_says_where_what_and_why(folder, text, said):
    """Line, column and token are those of the first fault, and the reason is that of the grammar."""
    message = complaint(folder, text)
    assert re.match(", " + re.sub(r"\\(?=[rx])", r"\\\\", said), message), message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", " has no rows"),
        (b"\xef\xbb\xbf", " has no rows"),
        (b"\n # c\r\n", " has no rows"),
        (gzip.compress(b"", mtime=0), " has no rows"),
        (gzip.compress(PLAIN, mtime=0)[:-9], ", line 7, column 1: the gzip data are damaged"),
        (gzip.compress(PLAIN, mtime=0)[:-8] + bytes(8), ", line 1, column 1: the gzip data are damaged"),
        (b"\x1f\x8bnothing", ", line 1, column 1: the gzip data are damaged"),
        (gzip.compress(PLAIN, mtime=0) + b"more", ", line 7, column 1: the gzip data are damaged"),
        (lzma.compress(PLAIN)[:-9], ", line 7, column 1: the xz data are damaged"),
        (b"\xfd7zXZ\0nothing", ", line 1, column 1: the xz data are damaged"),
        (zstandard.compress(PLAIN)[:-1], ", line 6, column 1: the zstd data are damaged"),
        (b"\x28\xb5\x2f\xfd0000", ", line 1, column 1: the zstd data are damaged"),
        (bz2.compress(PLAIN), " is compressed with bzip2, which is not read"),
        (b"PK\x03\x04", " is compressed with zip, which is not read"),
    ],
)
def test_a_file_of_another_kind_is_refused(folder, text, said):
    """Nothing to learn from, damaged gzip, and what is compressed otherwise."""
    assert re.match(said, complaint(folder, text))


@pytest.mark.parametrize("n_features", [4, np.int64(9), 2**31 - 1])
def test_columns_are_those_asked_for(folder, n_features):
    """With n_features, X has so many columns, and int32 indices all the same."""
    X = read(folder, PLAIN, n_features=n_features)[0]
    assert X.shape == (4, n_features)
    assert X.indices.dtype == np.int32


def test_an_index_beyond_the_columns_is_refused(folder):
    """The sentence names the token and n_features."""
    said = complaint(folder, PLAIN, n_features=3)
    assert said == ", line 1, column 15: '4:-1e-3' has an index above n_features=3"


@pytest.mark.parametrize("n_features", [0, -1, True, 2.0, "3", 2**31, [3]])
def test_columns_are_a_whole_number(folder, n_features):
    """Anything else is refused before the file is opened."""
    with pytest.raises(ValueError, match="n_features must be a whole number from 1 to 2147483647, got"):
        read_svmlight(folder / "missing", n_features=n_features)


def test_what_cannot_be_opened_is_an_error_of_the_system(folder):
    """A missing file and a folder."""
    with pytest.raises(FileNotFoundError):
        read_svmlight(folder / "missing")
    with pytest.raises(IsADirectoryError):
        read_svmlight(folder)


def test_a_line_may_be_long(folder):
    """A line of 100,000 values is read, and a fault near its end is found where it is."""
    values = np.random.default_rng(0).normal(size=100_000)
    text = b"1" + b"".join(b" %d:%r" % (index, float(value)) for index, value in enumerate(values, 1))
    assert np.array_equal(read(folder, text)[0].toarray()[0], values)
    assert complaint(folder, text + b" 100000:1").startswith(f", line 1, column {len(text) + 2}: '100000:1' has the")
    assert complaint(folder, b"1 1:" + b"1" * 1_000_000 + b"x").startswith(", line 1, column 3: '1:11")


def test_importing_the_package_of_data_is_light():
    """Neither scikit-learn nor SciPy nor Numba comes with the name; scikit-learn not even with the reader."""
    program = (
        "import sys, softmargin.data as d; print({'sklearn', 'scipy', 'numba'} & {*sys.modules});"
        "print(d.read_svmlight.__name__, 'read_svmlight' in dir(d), 'sklearn' in sys.modules, hasattr(d, 'other'))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert told.stdout.splitlines() == ["set()", "read_svmlight True False False"]
