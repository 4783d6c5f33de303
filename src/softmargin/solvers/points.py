"""The three kinds of points of the notes."""

from typing import NamedTuple

import numpy as np


class PointCounts(NamedTuple):
    """Rows by where they lie; ``mistakes`` (the 0-1 loss) are among those inside."""

    outside: int  # margin > 1: no slack, no say in the weights
    on: int  # margin = 1: no slack, holds the weights up
    inside: int  # margin < 1: pays for slack
    mistakes: int  # margin <= 0

    def __str__(self) -> str:
        """One line."""
        total = self.outside + self.on + self.inside
        return (
            f"{total} points: {self.outside} outside the margin, {self.on} on it, {self.inside} inside, "
            f"of which {self.mistakes} on the wrong side"
        )


def count_points(margins: np.ndarray, tolerance: float) -> PointCounts:
    """Sort margins against the required 1; within ``tolerance`` of it counts as on it."""
    on = np.abs(margins - 1.0) <= tolerance
    return PointCounts(
        outside=int(np.sum(~on & (margins > 1.0))),
        on=int(np.sum(on)),
        inside=int(np.sum(~on & (margins < 1.0))),
        mistakes=int(np.sum(margins <= 0.0)),
    )
