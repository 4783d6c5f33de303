"""Some rows at a time: what a stream learns from, and what a cache keeps."""

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softmargin.data.threads import cores, in_order
from softmargin.kernels.rows import SparseRows

if TYPE_CHECKING:
    from scipy import sparse


class Place(NamedTuple):
    """Where in a file reading goes on: after so many bytes of text, lines and rows."""

    byte: int = 0
    line: int = 0
    row: int = 0


class Block(NamedTuple):
    """Rows that follow each other in a file, in the arrays of a CSR matrix."""

    data: np.ndarray  # float64
    indices: np.ndarray  # int32, from 0, sorted along a row and without duplicates
    indptr: np.ndarray  # int64
    y: np.ndarray  # float64
    qid: np.ndarray | None  # int64; None where no row of the file has a group
    columns: int  # the largest index, plus 1
    after: Place  # where the next block begins

    def rows(self) -> SparseRows:
        """For a kernel: the same memory, which is not written to, under unsigned types."""
        data, indices, indptr = self.data.view(), self.indices.view(np.uint32), self.indptr.view(np.uint64)
        data.flags.writeable = indices.flags.writeable = False
        return SparseRows(data, indices, indptr)

    def matrix(self, n_features: int | None = None) -> "sparse.csr_matrix":
        """For an estimator: with so many columns, or with as many as these rows need."""
        columns = self.columns if n_features is None else n_features
        if columns < self.columns:
            message = f"these rows have {self.columns} columns, more than n_features={n_features}"
            raise ValueError(message)
        return canonical(self.data, self.indices, self.indptr, columns)


def canonical(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, columns: int) -> "sparse.csr_matrix":
    """The matrix of these arrays, which are known to be sorted and without duplicates: nobody needs to look."""
    from scipy import sparse

    if data.size < 2**31:
        indptr = indptr.astype(np.int32)
    X = sparse.csr_matrix((data, indices, indptr), shape=(indptr.size - 1, columns))
    X.has_canonical_format = True
    return X


def joined(parts: deque[Block]) -> Block:
    """One block out of many, on all cores; each part is let go as soon as it is copied."""
    last = parts[-1]
    values, rows = sum(part.data.size for part in parts), sum(part.y.size for part in parts)
    data, indices, indptr = np.empty(values), np.empty(values, dtype=np.int32), np.zeros(rows + 1, dtype=np.int64)
    y, qid = np.empty(rows), None if last.qid is None else np.empty(rows, dtype=np.int64)

    def copy(part: tuple[int, int, Block]) -> None:
        row, value, block = part
        its_rows, its_values = slice(row, row + block.y.size), slice(value, value + block.data.size)
        data[its_values], indices[its_values], y[its_rows] = block.data, block.indices, block.y
        indptr[row + 1 : row + 1 + block.y.size] = block.indptr[1:] + value
        if qid is not None and block.qid is not None:
            qid[its_rows] = block.qid

    columns = max(part.columns for part in parts)
    for _ in in_order(copy, _places(parts), cores()):
        pass
    return Block(data, indices, indptr, y, qid, columns, last.after)


def _places(parts: deque[Block]) -> Iterator[tuple[int, int, Block]]:
    """Each block, and how many rows and values come before it."""
    row = value = 0
    while parts:
        part = parts.popleft()
        yield row, value, part
        row, value = row + part.y.size, value + part.data.size
