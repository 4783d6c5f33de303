"""The exact line search of the Newton solvers: the root of a derivative that rises, in straight pieces."""

from collections.abc import Callable

import numpy as np

MOST_TRIALS = 100


def search(derivative: Callable[[float], tuple[float, float]], start: float, accept: float = 0.0) -> float:
    """The x at which a rising derivative, given with its own slope, is zero.

    It works on the derivative of an objective, because differences of its values cancel where C is large.
    Newton steps inside a bracket; halved where they creep.  ``accept`` is a derivative small enough to stop at.
    """
    low, high, x, grow, width_before = -np.inf, np.inf, start, 1.0, np.inf
    value, bend = derivative(x)
    first = abs(value)
    for trial in range(MOST_TRIALS):
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
        width_before, x = width, float(new)
        value, bend = derivative(x)
    return x
