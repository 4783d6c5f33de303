"""What is written is read back to the last bit, and a file is there whole or as it was before."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as some
from scipy import sparse

import softmargin.data.write
from refusal import one_sentence
from softmargin.data import read_svmlight, write_svmlight
from softmargin.data.atomic import replacing

pytestmark = pytest.mark.nojit

SOAK = bool(os.environ.get("SOFTMARGIN_SOAK"))
MANY = 200_000 if SOAK else 300
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Where files of this module are."""
    return tmp_path_factory.mktemp("written") / "data.svm"


def bits(array):
    """Signs of zeros count too."""
    return np.asarray(array, dtype=np.float64).tobytes()


@given(X=some.arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=FINITE), data=st.data())
def test_it_is_read_back_to_the_last_bit(path, X, data):
    """Dense or sparse, with stored zeros, with groups or without."""
    y = data.draw(some.arrays(float, len(X), elements=FINITE))
    qid = np.sort(data.draw(some.arrays(np.int64, len(X), elements=st.integers(0, 2**63 - 1))))
    stored = sparse.csr_matrix(X)
    for given_X, groups in ((X, None), (stored, qid), (sparse.csr_matrix((X.ravel(), np.nonzero(np.inf != X))), qid)):
        write_svmlight(path, given_X, y, groups)
        read, labels, read_qid = read_svmlight(path, n_features=X.shape[1])
        wanted = sparse.csr_matrix(given_X)
        assert bits(read.data) == bits(wanted.data)
        assert np.array_equal(read.indices, wanted.indices)
        assert np.array_equal(read.indptr, wanted.indptr)
        assert bits(labels) == bits(y)
        assert groups is read_qid is None or np.array_equal(read_qid, groups)


def test_numbers_are_short(path):
    """Whole numbers have no point, others as many digits as they need; zero keeps its sign."""
    X = sparse.csr_matrix(np.array([[1, -3, 0.1, 1e15, 1e16, 1e300]]))
    write_svmlight(path, X, [2], [7])
    assert path.read_text() == "2 qid:7 1:1 2:-3 3:0.1 4:1000000000000000 5:1e+16 6:1e+300\n"
    write_svmlight(path, sparse.csr_matrix(([-0.0, 0.0], [0, 1], [0, 2, 2])), [-0.0, 1])
    assert path.read_text() == "-0.0 1:-0.0 2:0\n1\n"


def shown(value):
    """The shortest text of a number: Python's, without the point of a whole one."""
    return str(int(value)) if value == int(value) and abs(value) < 1e16 and repr(value) != "-0.0" else repr(value)


@pytest.mark.parametrize("seed", range(3))
def test_digits_are_those_of_python(path, seed):
    """Of random bits, subnormals, powers of two and ten, short decimals and whole numbers."""
    rng = np.random.default_rng(None if SOAK else seed)
    bits = rng.integers(0, 0x7FF0000000000000, MANY, dtype=np.uint64) | rng.integers(0, 2, MANY, dtype=np.uint64) << 63
    kinds = [
        bits.view(float),
        (bits & np.uint64(2**52 - 1)).view(float),
        2.0 ** rng.integers(-1074, 1024, MANY),
        10.0 ** rng.integers(-323, 309, MANY),
        np.round(rng.normal(size=MANY) * 10.0 ** rng.integers(-6, 6, MANY), 3),
        rng.integers(-(10**17), 10**17, MANY) // 10 ** rng.integers(0, 17, MANY) * 1.0,
    ]
    values = np.concatenate([*kinds, [0.0, -0.0, 5e-324, np.finfo(float).max, 1e-4, 9.5e-5, 1e15, 1e16, 1e17, 1e23]])
    write_svmlight(path, sparse.csr_matrix((values, np.zeros(values.size, int), np.arange(values.size + 1))), values)
    assert path.read_text().splitlines() == [f"{shown(value)} 1:{shown(value)}" for value in values.tolist()]


def test_parts_change_nothing(path, monkeypatch):
    """However few values are strings at one time."""
    rng = np.random.default_rng(0)
    X, y = sparse.random(50, 9, 0.3, "csr", rng=rng), rng.normal(size=50)
    write_svmlight(path, X, y)
    before = path.read_bytes()
    monkeypatch.setattr(softmargin.data.write, "_AT_ONCE", 4)
    write_svmlight(path, X, y)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("X", "y", "qid", "said"),
    [
        ([[1.0, np.nan]], [1], None, "X has nan at row 0, column 1"),
        ([[1.0], [np.inf]], [1, 2], None, "X has inf at row 1, column 0"),
        ([1.0], [1], None, "X must have rows and columns"),
        (np.empty((0, 2)), [], None, "X has no rows"),
        ([[1.0]], [np.nan], None, "y has nan at row 0"),
        ([[1.0]], ["a"], None, "y must be one number a row of X, which has 1"),
        ([[1.0]], [1, 2], None, "y must be one number a row of X, which has 1"),
        ([[1.0]], [1], [1.5], "qid must be whole numbers from 0"),
        ([[1.0]], [1], [-1], "qid must be whole numbers from 0"),
        ([[1.0]] * 3, [1] * 3, [1, 2, 1], "qid has group 1 at row 2 once more"),
        (sparse.csr_matrix((1, 2**31)), [1], None, "X has 2147483648 columns, and indices of files end at"),
    ],
)
def test_what_could_not_be_read_is_refused(path, X, y, qid, said):
    """In one sentence, and the file is as it was."""
    path.write_text("as it was")
    with pytest.raises(ValueError, match=said) as caught:
        write_svmlight(path, X, y, qid)
    assert one_sentence(str(caught.value))
    assert path.read_text() == "as it was"


class SpoiledError(Exception):
    """Something that goes wrong half-way."""


def _half(path):
    with replacing(path) as stream:
        stream.write(b"half")
        raise SpoiledError


def test_a_file_is_whole_or_as_it_was(tmp_path):
    """Whatever goes wrong on the way, no part of a file is left, under any name."""
    path = tmp_path / "a"
    path.write_text("as it was")
    with pytest.raises(SpoiledError):
        _half(path)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a", "as it was")]
    with pytest.raises(IsADirectoryError):
        _half(tmp_path)
