"""A stream of rows and what is believed after each: the state behind an estimator."""

import copy
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from softmargin.data.matrix import rows_of
from softmargin.kernels.design import keep_row
from softmargin.regression.design import Rows, batch_of
from softmargin.regression.posterior import Posterior
from softmargin.regression.reweigh import Spec, Weighing, absorb, settle

if TYPE_CHECKING:
    from softmargin.regression.sums import Sums

KEPT = 256  # single rows that wait to be summed together, which takes a tenth of the time
ENOUGH, ENOUGH_TIMES = 100, 4  # rows from which weights of rows begin: so many, or so many times the columns
AT_ONCE = 1024  # rows of a stream that are weighed by the same posterior


class Predictive(NamedTuple):
    """Student's t for each row: normal where ``dof`` is infinite."""

    mean: np.ndarray
    scale: np.ndarray
    dof: np.ndarray


class Learner:
    """Rows come in, the posterior comes out."""

    def __init__(self, spec: Spec, width: int) -> None:
        self.spec, self.width = spec, width
        self.sums: Sums = spec.no_sums(width)
        self.weighing: Weighing | None = None
        self.waiting: list[Rows] = []  # too few to be weighed: they are weighed anew with each that joins them
        self.kept, self.values, self.count = np.empty((0, width)), np.empty(0), 0
        self._posterior: Posterior | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be worked out again."""
        return {**self.__dict__, "_posterior": None}

    # ------------------------------------------------------------------------------- learning

    def keep(self, X: np.ndarray, y: float) -> bool:
        """Learn one row of float64, at the cost of a copy; False, and nothing learned, where a value is not usable."""
        if self.count == len(self.values):
            self.flush()
            if not self.values.size:
                self.kept, self.values = np.empty((KEPT, self.width)), np.empty(KEPT)
        if not keep_row(X, y, self.kept, self.values, self.count):
            return False
        self.count += 1
        self._posterior = None
        return True

    def flush(self) -> None:
        """Sum the rows that wait for it."""
        if self.count:
            self.sums.add(batch_of(Rows(self.kept[: self.count], self.values[: self.count]), self.spec.forgetting))
            self.count = 0

    def learn(self, rows: Rows) -> None:
        """Learn rows in their order; whatever goes wrong, none is learned."""
        rows = rows.there()
        if not len(rows.y):
            return
        self.flush()
        if not self.spec.reweighs:
            self.sums.add(batch_of(rows, self.spec.forgetting))
        elif self.weighing is None or self.waiting:
            self._gather(rows)
        else:
            sums, weighing = self.sums.copy(), copy.deepcopy(self.weighing)
            for first in range(0, len(rows.y), AT_ONCE):
                absorb(rows.each(itemgetter(slice(first, first + AT_ONCE))), self.spec, sums, weighing)
            self.sums, self.weighing = sums, weighing
        self._posterior = None

    def _gather(self, rows: Rows) -> None:
        rows_of(rows.X)
        waiting = [*self.waiting, rows]
        if sum(len(part.y) for part in waiting) >= max(ENOUGH, ENOUGH_TIMES * self.width):
            self.sums, self.weighing = settle(_joined(waiting), self.spec)
            self.waiting = []
        else:  # X and y are the caller's, who may write on them
            self.waiting = [*self.waiting, rows.each(lambda part: part.copy())]
            self.weighing = None

    def _weigh_waiting(self) -> None:
        """Weigh the rows that wait, once for all questions about them."""
        if self.waiting and self.weighing is None:
            self.sums, self.weighing = settle(_joined(self.waiting), self.spec)

    # ------------------------------------------------------------------------------- taking back, and merging

    def without(self, rows: Rows) -> "Learner":
        """What would be believed had these rows never come; or one sentence."""
        self.flush()
        rows = rows.there()
        rest = Learner(self.spec, self.width)
        rest.sums = self.sums.without(batch_of(rows)) if len(rows.y) else self.sums.copy()
        return rest

    def merged(self, other: "Learner") -> "Learner":
        """What would be believed after the rows of both."""
        self.flush()
        other.flush()
        both = Learner(self.spec, self.width)
        both.sums = self.sums.merged(other.sums)
        return both

    # ------------------------------------------------------------------------------- what is believed

    def posterior(self) -> Posterior:
        """After all rows so far."""
        if self._posterior is None:
            self.flush()
            self._weigh_waiting()
            self._posterior = self.spec.posterior(self.sums)
        return self._posterior

    def predictive(self, X: Any, variance: np.ndarray | None) -> Predictive:
        """The distribution of the value of each row; ``variance``: of its noise, in units of that of all."""
        posterior = self.posterior()
        own = np.ones(X.shape[0]) if variance is None else variance
        dof = np.full(X.shape[0], posterior.dof)
        noise = None if self.weighing is None else self.weighing.noise
        if noise is not None:
            own = own * np.exp(noise.log_variance(X))
            dof = np.minimum(dof, 2.0 / np.maximum(noise.uncertainty(X), 1e-12))
        if self.spec.student and self.weighing is not None:
            dof = np.minimum(dof, self.weighing.dof)
        scale2 = posterior.noise * (own + posterior.distances(X))
        return Predictive(posterior.predict(X), np.sqrt(scale2), dof)

    def mean_variance(self) -> float:
        """The mean of the variances that came with the rows."""
        self.flush()
        copies = self.sums.totals.copies
        return self.sums.totals.variance / copies if copies > 0.0 else 1.0


def _joined(parts: list[Rows]) -> Rows:
    if len(parts) == 1:
        return parts[0]
    blocks = [part.X for part in parts]
    if all(sparse.issparse(block) for block in blocks):
        X = sparse.vstack(blocks, format="csr")
    else:
        X = np.vstack([block.toarray() if sparse.issparse(block) else block for block in blocks])
    count = [len(part.y) for part in parts]
    weight = (
        None
        if all(part.weight is None for part in parts)
        else np.concatenate(
            [np.ones(n) if part.weight is None else part.weight for n, part in zip(count, parts, strict=True)]
        )
    )
    variance = (
        None
        if all(part.variance is None for part in parts)
        else np.concatenate(
            [np.ones(n) if part.variance is None else part.variance for n, part in zip(count, parts, strict=True)]
        )
    )
    return Rows(X, np.concatenate([part.y for part in parts]), weight, variance)
