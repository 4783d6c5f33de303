"""Random problems for the tests, and every layout in which the same numbers may arrive."""

from typing import NamedTuple

import numpy as np
from scipy import sparse


class Stream(NamedTuple):
    """Rows with labels in the order of a stream, and what each requires and costs."""

    X: np.ndarray
    label: np.ndarray
    required: np.ndarray
    price: np.ndarray

    @property
    def sign(self):
        """The labels 0 and 1 as -1 and +1."""
        return np.where(self.label == 1, 1.0, -1.0)


class Comparisons(NamedTuple):
    """Items, pairs (better, worse) of them, and what each pair requires and costs."""

    X: np.ndarray
    pairs: np.ndarray
    required: np.ndarray
    price: np.ndarray

    @property
    def better(self):
        """The better item of each pair, written out."""
        return self.X[self.pairs[:, 0]]

    @property
    def worse(self):
        """The worse item of each pair, written out."""
        return self.X[self.pairs[:, 1]]


def stream(seed, *, T=70, d=6, classes=2, noise=0.6):
    """Noisy labels of a planted model: some rows end up outside, some inside the margin, some on the wrong side."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, d)) * (rng.random((T, d)) < 0.7)
    planted = rng.normal(size=(d, classes))
    label = np.argmax(X @ planted + noise * rng.normal(size=(T, classes)), axis=1)
    label[:classes] = np.arange(classes)
    return Stream(X, label, rng.uniform(0.2, 2.5, T), rng.uniform(0.1, 3.0, T))


def comparisons(seed, *, T=70, d=6, items=25):
    """Comparisons of random items by a planted utility, some of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(items, d)) * (rng.random((items, d)) < 0.7)
    pairs = np.array([rng.choice(items, 2, replace=False) for _ in range(T)])
    utility = X @ rng.normal(size=d) + 0.5 * rng.normal(size=items)
    wrong = utility[pairs[:, 0]] < utility[pairs[:, 1]]
    pairs[wrong] = pairs[wrong, ::-1]
    return Comparisons(X, pairs, rng.uniform(0.2, 2.5, T), rng.uniform(0.1, 3.0, T))


def messy_csr(X):
    """The same matrix with unsorted columns, values split in two, and stored zeros: legal CSR."""
    rows, columns = np.nonzero(np.ones_like(X))
    order = np.random.default_rng(0).permutation(len(rows))
    order = order[np.argsort(rows[order], kind="stable")]
    rows, columns = np.repeat(rows[order], 2), np.repeat(columns[order], 2)
    values = X[rows, columns] * np.tile([0.75, 0.25], len(order))
    indptr = np.searchsorted(rows, np.arange(len(X) + 1))
    return sparse.csr_matrix((values, columns.astype(np.int32), indptr.astype(np.int32)), shape=X.shape)


def csr_with(X, index):
    """CSR whose indices are of the given integer type."""
    made = sparse.csr_matrix(X)
    made.indices, made.indptr = made.indices.astype(index), made.indptr.astype(index)
    return made


def strided(X):
    """The same numbers behind steps of 2 and -1."""
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[::-1, ::2] = X
    return wide[::-1, ::2]


def read_only(X):
    """The same numbers, not to be written to."""
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "strided": strided,
    "read-only": read_only,
    "lists": np.ndarray.tolist,
    "CSR int32": lambda X: csr_with(X, np.int32),
    "CSR int64": lambda X: csr_with(X, np.int64),
    "CSR array": sparse.csr_array,
    "messy CSR": messy_csr,
    "CSC": sparse.csc_matrix,
    "COO": sparse.coo_array,
}


def close(found, expected, relative=1e-10):
    """Whether two arrays differ by at most ``relative`` of the length of the expected one."""
    found, expected = np.asarray(found), np.asarray(expected)
    return found.shape == expected.shape and bool(
        np.linalg.norm(found - expected) <= relative * max(np.linalg.norm(expected), 1e-300)
    )
