"""A batch of rows -> the sum of its products, by blocks: dense ones by BLAS, sparse ones by what they store."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk

from softmargin.data.matrix import dense_rows, rows_of
from softmargin.kernels.design import fill_design
from softmargin.kernels.gram import add_gram
from softmargin.kernels.rows import DenseRows, SparseRows
from softmargin.solvers.interrupts import stop_if_interrupted
from softmargin.solvers.parallel import one_blas_thread, over_ranges

BLOCK = 512  # rows multiplied at once: they stay near the processor
MANY_COLUMNS = 1000  # beyond, one product keeps all cores busy, and a matrix for each of them costs too much memory
SMALL_PRODUCT = 20_000  # of a few rows, which take less time than to tell BLAS how many threads to use
WORK = 2e10  # products between two looks at the keyboard: half a second
SPARSE_COST = 30.0  # one product of stored numbers takes as long as so many of dense ones (measured)
ONE = np.ones(1)


class Origin(NamedTuple):
    """Where sums are counted from: a row, weights, and the value that they give that row."""

    middle: np.ndarray
    weights: np.ndarray
    level: float


class Batch(NamedTuple):
    """Rows to be learned, checked but for the numbers in dense ``X``: those are looked at when they are summed."""

    X: Any
    y: np.ndarray
    precision: np.ndarray  # what is left of the weight of each row, over its variance in units of the noise
    totals: tuple[float, float, float]  # sums over the batch, in the order of `Totals`
    keep: float = 1.0  # what is left of everything learned before
    forgetting: float = 1.0

    @property
    def sparse(self) -> bool:
        """Whether zeros are not stored."""
        return sparse.issparse(self.X)

    def head(self, rows: int) -> "Batch":
        """The first rows of the batch; its totals are left out."""
        if rows >= len(self.y):
            return self
        precision = self.precision if self.precision.size == 1 else self.precision[:rows]
        return self._replace(X=self.X[:rows], y=self.y[:rows], precision=precision)


def moments_of(batch: Batch, origin: Origin, *, constant: bool) -> np.ndarray:
    """``sum p z z'`` of the batch."""
    if batch.sparse:
        return _sparse_moments(batch, origin, constant=constant)
    return _dense_moments(dense_rows(batch.X), batch, origin, constant=constant)


def _dense_moments(rows: DenseRows | SparseRows, batch: Batch, origin: Origin, *, constant: bool) -> np.ndarray:
    side, count = origin.middle.size + 1 + constant, len(batch.y)
    total, root = np.zeros((side, side)), np.sqrt(batch.precision)
    several = side <= MANY_COLUMNS

    def own_sum(start: int, stop: int) -> tuple[int, np.ndarray]:
        mine = np.zeros((side, side))
        return _add_products(rows, batch.y, root, origin, start, stop, mine), mine

    at_once = max(BLOCK, int(WORK / side**2))
    for first in range(0, count, at_once):
        stop_if_interrupted()
        last = min(first + at_once, count)
        if several:
            small = (last - first) * side**2 <= SMALL_PRODUCT
            parts = [own_sum(first, last)] if small else _on_all_cores(own_sum, first, last, side)
            bad = max(found for found, _ in parts)
            total += sum(products for _, products in parts)
        else:
            bad = _add_products(rows, batch.y, root, origin, first, last, total)
        if bad >= 0:
            rows_of(batch.X)
            message = f"X at row {bad} is too far from the other rows: scale the features, for products overflow"
            raise ValueError(message)
    if not several:
        for row in range(1, side):
            total[:row, row] = total[row, :row]
    return total


def _add_products(
    rows: DenseRows | SparseRows,
    y: np.ndarray,
    root: np.ndarray,
    origin: Origin,
    start: int,
    stop: int,
    sums: np.ndarray,
) -> int:
    """OUT ``sums``: plus the products of a range of rows, of many columns the lower half; the first bad row, or -1."""
    side = len(sums)
    several = side <= MANY_COLUMNS
    length = min(max(BLOCK, 2 * side) if several else BLOCK, stop - start)
    Z, product = np.empty((length, side)), np.empty((side, side) if several else 0)
    for first in range(start, stop, length):
        block = Z[: stop - first]
        bad = fill_design(rows, first, y, root, origin.middle, origin.weights, origin.level, block)
        if bad >= 0:
            return int(bad)
        if several:  # releases the GIL, and finds that half of it is enough
            np.matmul(block.T, block, out=product)
            sums += product
        else:
            dsyrk(1.0, block.T, beta=1.0, c=sums.T, overwrite_c=1)
    return -1


def _on_all_cores(task: Callable[[int, int], Any], first: int, last: int, side: int) -> list[Any]:
    with one_blas_thread():
        return over_ranges(lambda start, stop: task(first + start, first + stop), last - first, (last - first) * side)


def _sparse_moments(batch: Batch, origin: Origin, *, constant: bool) -> np.ndarray:
    """Columns with zeros are counted from zero, and moved to the origin when all is summed."""
    rows, d, X = rows_of(batch.X), origin.middle.size, batch.X
    stored = np.diff(X.indptr).astype(np.float64)
    if SPARSE_COST * float(stored @ stored) >= len(batch.y) * float(d) ** 2 or d == 0:
        return _dense_moments(rows, batch, origin, constant=constant)
    residual = batch.y - origin.level - X @ origin.weights + float(origin.weights @ origin.middle)
    middle, everywhere = origin.middle, stored_everywhere(X)
    if middle[everywhere].any():
        data = X.data - np.where(everywhere, middle, 0.0)[X.indices]
        X = sparse.csr_array((data, X.indices, X.indptr), X.shape)
        rows, middle = rows_of(X), np.where(everywhere, 0.0, middle)
    precision = np.ascontiguousarray(np.broadcast_to(batch.precision, batch.y.shape))
    total = np.zeros((d + 1 + constant, d + 1 + constant))
    products, order = np.zeros((d, d)), np.arange(len(batch.y), dtype=np.uint64)
    at_once = max(BLOCK, int(WORK / SPARSE_COST * len(batch.y) / max(1.0, float(stored @ stored))))
    for first in range(0, len(batch.y), at_once):
        stop_if_interrupted()
        add_gram(rows, order, precision, first, min(first + at_once, len(batch.y)), products)
    total[:d, :d] = products + np.tril(products, -1).T
    total[-1, :d] = total[:d, -1] = X.T @ (precision * residual)
    total[-1, -1] = precision @ residual**2
    if constant:
        total[d, :d] = total[:d, d] = X.T @ precision
        total[d, d] = precision.sum()
        total[d, -1] = total[-1, d] = precision @ residual
        total[:d] -= np.outer(middle, total[d])
        total[:, :d] -= np.outer(total[:, d], middle)
    return total


def stored_everywhere(X: Any) -> np.ndarray:
    """Which columns of a sparse matrix have no zero that is left out."""
    return np.asarray(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0])


class Rows(NamedTuple):
    """What was said: rows, values, how often (None: once each), and the variance of each (None: that of all)."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None = None
    variance: np.ndarray | None = None

    def each(self, change: Callable[[Any], Any]) -> "Rows":
        """The same change to every part."""
        weight, variance = (None if part is None else change(part) for part in (self.weight, self.variance))
        return Rows(change(self.X), change(self.y), weight, variance)

    def there(self) -> "Rows":
        """Without the rows of no weight, which are no rows at all."""
        if self.weight is None or self.weight.all():
            return self
        rows_of(self.X)  # what is wrong is wrong, weight or none
        return self.each(itemgetter(np.flatnonzero(self.weight)))


def what_is_left(weight: np.ndarray, forgetting: float) -> tuple[np.ndarray, float]:
    """The weights when the last row has been learned, and the share that is left of what was known before."""
    if forgetting == 1.0:
        return weight, 1.0
    after = np.cumsum(weight[::-1])[::-1] - weight
    copies = forgetting**after * np.expm1(weight * np.log(forgetting)) / (forgetting - 1.0)
    return copies, forgetting ** float(weight.sum())


def batch_of(rows: Rows, forgetting: float = 1.0, log_precision: np.ndarray | None = None) -> Batch:
    """Rows (weight k is k copies) in the order of a stream.

    While a row is learned, what came before shrinks by ``forgetting`` once for each of its copies.
    ``log_precision`` is what each row has in the evidence, minus the logarithm of its variance unless said otherwise.
    """
    X, y, weight, variance = rows
    if weight is None and variance is None and forgetting == 1.0:
        return Batch(X, y, ONE, (float(len(y)), 0.0, float(len(y))))
    weight = np.ones(len(y)) if weight is None else weight
    variance = np.ones(len(y)) if variance is None else variance
    log_precision = -np.log(variance) if log_precision is None else log_precision
    copies, keep = what_is_left(weight, forgetting)
    totals = float(copies.sum()), float(copies @ log_precision), float(copies @ variance)
    return Batch(X, y, copies / variance, totals, keep, forgetting)
