"""The exact line search of the Newton solver: the root of a sum that falls piecewise linearly."""

import numpy as np

from softmargin.kernels.band import Smoothing, slope_along
from softmargin.solvers.parallel import over_ranges

MOST_TRIALS = 100


def search(
    smoothing: Smoothing,
    margins: np.ndarray,
    change: np.ndarray,
    linear: float,
    quadratic: float,
    start: float,
    accept: float = 0.0,
) -> float:
    """The x at which ``linear + quadratic x - sum dual(margins + x change) change`` is zero; it rises with x.

    The derivative of the smoothed objective along a direction: no function values, which cancel where C is large.
    Newton steps inside a bracket; halved where they creep.  ``accept`` is a derivative small enough to stop at.
    """
    low, high, x, grow, width_before, first = -np.inf, np.inf, start, 1.0, np.inf, None

    def derivative(x: float) -> tuple[float, float]:
        parts = over_ranges(lambda a, b: slope_along(smoothing, margins, change, x, a, b), change.size, change.size)
        return linear + quadratic * x - sum(pull for pull, _ in parts), quadratic + sum(bend for _, bend in parts)

    for trial in range(MOST_TRIALS):
        value, bend = derivative(x)
        first = abs(value) if first is None else first
        if abs(value) <= max(accept, 1e-13 * first):
            return x
        low, high = (low, x) if value > 0 else (x, high)
        new = x - value / bend if bend > 0 else np.copysign(np.inf, -value)
        width = high - low
        if not low < new < high or (trial > 5 and np.isfinite(width) and width > 0.5 * width_before):
            if np.isfinite(width):
                new = 0.5 * (low + high)
            else:
                new, grow = x - np.copysign(grow, value), 4.0 * grow
        if new == x or not np.isfinite(new):
            return x
        width_before, x = width, new
    return x
