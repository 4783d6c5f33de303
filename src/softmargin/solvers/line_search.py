"""The exact line search of the Newton solvers: the root of a derivative that rises, in straight pieces."""

from collections.abc import Callable

import numpy as np

MOST_TRIALS = 100


def search(
    derivative: Callable[[float], tuple[float, float]], start: float, accept: float = 0.0, at_zero: float | None = None
) -> float:
    """The x at which a rising derivative, given with its own slope, is zero.

    It works on the derivative of an objective, because differences of its values cancel where C is large.
    Newton steps inside a bracket, chords where they would leave it, halves where both creep.  ``accept`` is a
    derivative small enough to stop at; ``at_zero`` is the derivative at 0, where that is known to be negative.
    """
    low, high, x, grow, width_before = -np.inf, np.inf, start, 1.0, np.inf
    value_low, value_high = -np.inf, np.inf
    if at_zero is not None and at_zero < 0.0 < start:
        low, value_low = 0.0, at_zero
    value, bend = derivative(x)
    first = abs(value)
    for trial in range(MOST_TRIALS):
        if abs(value) <= max(accept, 1e-13 * first):
            return x
        if value > 0:
            high, value_high = x, value
        else:
            low, value_low = x, value
        width = high - low
        new = x - value / bend if bend > 0 else np.copysign(np.inf, -value)
        if np.isfinite(width):
            if not low < new < high:
                new = low + width * (value_low / (value_low - value_high))
            if not low < new < high or (trial > 3 and width > 0.5 * width_before):
                new = 0.5 * (low + high)
        elif not low < new < high:
            new, grow = x - np.copysign(grow, value), 4.0 * grow
        if new == x or not np.isfinite(new):
            return x
        width_before, x = width, float(new)
        value, bend = derivative(x)
    return x
