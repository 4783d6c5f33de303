"""All that a Gaussian model knows of its rows: their number, and the sums of products of what is in them.

    moments = sum_i p_i z_i z_i',   z = [x - origin, 1, y - level - weights.(x - origin)]

``p_i`` is the precision of row i in units of the noise.  Precision and shift of the notes' rules (18) and (19) are the
moments in other coordinates: ``P = P0 + X'X/s2`` is the block of ``x``, and ``J = X'y/s2`` is its product with ``y``.
Sums of two parts add, those of rows taken back subtract, and what is forgotten shrinks: the state is nothing else.

The origin is where the sums are counted from, near the middle of the rows and near their best weights, and it moves
there as the rows come in.  What is small in truth, residuals and distances from the mean, is then summed as small
numbers: nothing has to be had as the difference of two large ones.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from softmargin.regression.design import Batch, Origin, moments_of, stored_everywhere
from softmargin.regression.prior import Prior
from softmargin.regression.solve import solved

FIRST, FIRST_TIMES = 2048, 4  # rows that give the first origin: so many, or so many times the columns
LEAST_SHARE = float(np.sqrt(np.finfo(np.float64).eps))  # of what was known before: with less, half the digits are lost
UNLEARN_ROUNDING = 1e-10  # how far below zero rounding may push sums that were made of learned rows


class Totals(NamedTuple):
    """Sums that are no products, each over the copies of rows that are not yet forgotten."""

    copies: float = 0.0  # how many rows there are, weights counted as copies
    log_precision: float = 0.0  # of log(p / weight)
    variance: float = 0.0  # of the variances given with the rows

    def plus(self, other: "Totals", keep: float = 1.0) -> "Totals":
        """These, of which ``keep`` is left, and the others."""
        return Totals(*(keep * mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Sums:
    """Sums of the rows learned so far; ``ridge`` is the prior in units of the noise, only used to choose the origin."""

    def __init__(self, width: int, *, constant: bool, ridge: Prior) -> None:
        side = width + 1 + constant
        self.width, self.constant, self.ridge = width, constant, ridge
        self.moments = np.zeros((side, side))
        self.origin = Origin(np.zeros(width), np.zeros(width), 0.0)
        self.totals = Totals()
        self.settled, self.fresh = 0.0, 0.0  # rows before and after the last move of the origin

    # ------------------------------------------------------------------------------- learning

    def add(self, batch: Batch) -> None:
        """Learn the rows of a batch; whatever goes wrong, nothing is learned."""
        origin, moments, settled, fresh = self.origin, self.moments, self.settled, self.fresh
        half_lives = 2.0 / (1.0 - batch.forgetting) if batch.forgetting < 1.0 else np.inf
        if len(batch.y) >= settled + fresh:  # they know better than what came before where to count from
            begun = Sums(self.width, constant=self.constant, ridge=self.ridge)
            begun._settle(batch.head(max(FIRST, FIRST_TIMES * len(moments))))
            origin, moments = begun.origin, self.moved_moments(begun.origin)
            settled, fresh = begun.settled, fresh + settled - begun.settled
        elif fresh >= max(2 * len(moments), min(settled, half_lives)):
            moved = self.copy()
            moved.recentre()
            origin, moments, settled, fresh = moved.origin, moved.moments, settled + fresh, 0.0
        more = moments_of(batch, origin, constant=self.constant)
        totals = self.totals.plus(Totals(*batch.totals), batch.keep)
        # From here on nothing can fail.
        moments *= batch.keep
        moments += more
        self.origin, self.moments, self.totals = origin, moments, totals
        self.settled, self.fresh = settled, fresh + len(batch.y)

    def _settle(self, batch: Batch) -> None:
        """An origin in the middle of the batch, near its best weights."""
        if self.constant:
            middle = np.asarray(batch.X.mean(axis=0), dtype=np.float64).ravel()
            if batch.sparse:  # zeros that are not stored stay zeros
                middle = np.where(stored_everywhere(batch.X), middle, 0.0)
            self.origin = Origin(middle, self.origin.weights, float(batch.y.mean()))
        self.moments = moments_of(batch, self.origin, constant=self.constant)
        self.recentre(move_middle=not batch.sparse)
        self.settled = float(len(batch.y))

    def recentre(self, *, move_middle: bool = True) -> None:
        """Count from the mean of the rows and from the weights that fit them best, as far as they are known."""
        best = solved(self, self.ridge)
        middle = best.middle if move_middle else self.origin.middle
        level = best.level + float(best.weights @ (middle - best.middle)) if self.constant else 0.0
        if np.isfinite(best.weights).all() and np.isfinite(level):
            origin = Origin(middle, best.weights, level)
            self.moments, self.origin = self.moved_moments(origin), origin

    def moved_moments(self, origin: Origin) -> np.ndarray:
        """``T moments T'`` for the linear map T from old coordinates of a row to new ones."""
        old, d, moments = self.origin, self.width, self.moments.copy()
        slope = origin.weights - old.weights
        step = origin.middle - old.middle
        if self.constant and step.any():
            moments[:d] -= np.outer(step, moments[d])
            moments[:, :d] -= np.outer(moments[:, d], step)
        change = np.zeros(len(moments))
        change[:d] = slope
        if self.constant:
            change[d] = origin.level - old.level - float(old.weights @ step)
        moments[-1] -= change @ moments
        moments[:, -1] -= moments @ change
        return moments

    # ------------------------------------------------------------------------------- merging and taking back

    def merged(self, other: "Sums") -> "Sums":
        """The sums of both, counted from where the one with more rows does."""
        if other.settled + other.fresh > self.settled + self.fresh:
            return other.merged(self)
        both = self.copy()
        both.moments += other.moved_moments(self.origin)
        both.totals = self.totals.plus(other.totals)
        both.fresh += other.settled + other.fresh
        return both

    def without(self, batch: Batch) -> "Sums":
        """The sums of the rows that are left, or one sentence why they cannot be had."""
        less = moments_of(batch, self.origin, constant=self.constant)
        rest = self.copy()
        rest.totals = self.totals.plus(Totals(*(-total for total in batch.totals)))
        rest.moments -= less
        size = np.sqrt(np.maximum(np.diag(self.moments), 0.0))
        if rest.totals.copies < -UNLEARN_ROUNDING * self.totals.copies:
            message = (
                f"X has {batch.totals[0]:g} rows (weights counted) and the model has learned "
                f"{self.totals.copies:g}: they cannot all be taken back"
            )
            raise ValueError(message)
        if not _nearly_positive(rest.moments, size):
            message = (
                "X, y are not rows that this model has learned with this weight: without them its precision would not "
                "be positive definite"
            )
            raise ValueError(message)
        if rest.totals.copies <= UNLEARN_ROUNDING * self.totals.copies:
            if np.any(np.sqrt(np.abs(np.diag(rest.moments))) > 1e-4 * size):
                message = "X, y are as many rows as this model has learned, but not the same: nothing is taken back"
                raise ValueError(message)
            return Sums(self.width, constant=self.constant, ridge=self.ridge)
        if not self._known_well_enough(rest, size):
            message = (
                "X holds nearly all that is known of some direction: of the precision that is left, half the digits "
                "would be lost to rounding, so fit the other rows anew"
            )
            raise ValueError(message)
        return rest

    def _known_well_enough(self, rest: "Sums", size: np.ndarray) -> bool:
        """Whether the precision keeps, in every direction, a share that rounding cannot swamp."""
        side = self.width + self.constant
        kept = rest.moments[:side, :side] - LEAST_SHARE * self.moments[:side, :side]
        self.ridge.scaled(1.0 - LEAST_SHARE).add_to(kept)
        return _positive(kept, np.sqrt(np.maximum(np.diag(kept), size[:side] ** 2)), 0.0)

    def copy(self) -> "Sums":
        """Sums of their own."""
        twin = Sums.__new__(Sums)
        twin.__dict__.update(self.__dict__)
        twin.moments = self.moments.copy()
        return twin


def _positive(matrix: np.ndarray, size: np.ndarray, shift: float) -> bool:
    """Whether the matrix, scaled to numbers near 1 and shifted, is positive definite."""
    scale = 1.0 / np.where(size > 0.0, size, 1.0)
    scaled: Any = matrix * scale * scale[:, None]
    scaled[np.diag_indices(len(scaled))] += shift
    try:
        cholesky(scaled, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


def _nearly_positive(moments: np.ndarray, size: np.ndarray) -> bool:
    return _positive(moments, size, UNLEARN_ROUNDING)
