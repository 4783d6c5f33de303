"""Some rows at a time: what a stream learns from, and what a cache keeps."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softmargin.kernels.rows import SparseRows

if TYPE_CHECKING:
    from scipy import sparse


MOST_AT_FIRST = 1 << 27  # numbers that room is made for before they have been seen


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


def joined(parts: Iterable[Block], size: int = 0) -> Block:
    """One block out of many; each is let go as soon as it is copied, and its memory serves for the next.

    ``size`` is that of the file, from which the first block tells how many rows and values there may be.
    """
    whole: dict[str, np.ndarray] = {}
    rows = values = columns = 0
    after = Place()
    for part in parts:
        arrays = {"data": part.data, "indices": part.indices, "ends": part.indptr[1:] + values, "y": part.y}
        if part.qid is not None:
            arrays["qid"] = part.qid
        for name, array in arrays.items():
            begin = values if name in ("data", "indices") else rows
            if name not in whole:
                share = min(1.02 * size / max(1, part.after.byte), MOST_AT_FIRST / max(1, array.size))
                whole[name] = np.empty(max(array.size, int(array.size * share)), dtype=array.dtype)
            if begin + array.size > whole[name].size:  # larger in place, as far as the system can
                whole[name].resize(int(1.3 * (begin + array.size)), refcheck=False)
            whole[name][begin : begin + array.size] = array
        rows, values = rows + part.y.size, values + part.data.size
        columns, after = max(columns, part.columns), part.after
    for name, array in whole.items():
        array.resize(values if name in ("data", "indices") else rows, refcheck=False)
    indptr = np.concatenate((np.zeros(1, dtype=np.int64), whole["ends"]))
    return Block(whole["data"], whole["indices"], indptr, whole["y"], whole.get("qid"), columns, after)
