"""How stiff the smoothing of a Newton round is: what a unit of slack adds to a dual, per unit of its price."""

import numpy as np

GROW = 4.0  # how much tighter
MOST_STEPS, SOFTEN = 30, 64.0  # a round that takes so many steps was too stiff, so many times
# The first and the last stiffness, as far as sum price |row|^2 allows: too soft takes more rounds, too stiff and the
# rounding of a margin moves its dual.  A sum, so that k copies of a row and one row of weight k take the same steps.
FIRST_TRACE, LAST_TRACE, STIFFEST = 1e8, 1e22, 1e6


def stiffnesses(trace: float, required: np.ndarray) -> tuple[float, float]:
    """The first and the last stiffness: in proportion to what is required, for so is what constraints lack."""
    unit, trace = float(required.max()) or 1.0, max(trace, 1e-300)
    first = min(1.0 / unit, FIRST_TRACE / trace)
    return first, max(first, min(STIFFEST / unit, LAST_TRACE / trace))


def stiffer(stiffness: float, stiffest: float, steps: int) -> float:
    """The stiffness of the next round, after one of so many steps."""
    return stiffness / SOFTEN if steps == MOST_STEPS else min(stiffness * GROW, stiffest)
