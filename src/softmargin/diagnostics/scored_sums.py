"""Sums over all pairs of two sets of scores, by bisection and cumulative sums."""

import numpy as np

BLOCK, BLOCKS = 256, 200  # rows that share a reference, and how many times they do at most


def one_side(
    bound: np.ndarray, mass: np.ndarray, partner: np.ndarray, partner_mass: np.ndarray, width: float
) -> tuple[np.ndarray, float, float]:
    """Of rows that want all partners below their bound: the pull of each, and the sums of loss and residual.

    What a pair lacks is ``short = partner - bound``.  Sums are taken of differences to a reference beside the bounds,
    a new one every few rows: sums of the scores themselves would leave nothing of what lies close to a bound.
    """
    order, rows = np.argsort(partner), np.argsort(bound)
    partner, weight = partner[order], partner_mass[order]
    first = np.searchsorted(partner, bound, side="right")
    beyond = np.full(bound.size, partner.size)
    if width < np.inf:
        beyond = np.maximum(first, np.searchsorted(partner, bound + width, side="left"))
    held, loss, residual = np.zeros(bound.size), 0.0, 0.0
    step = max(BLOCK, bound.size // BLOCKS)
    for start in range(0, rows.size, step):
        block = rows[start : start + step]
        low, reference = int(first[block].min()), float(np.median(bound[block]))
        beside, w = partner[low:] - reference, weight[low:]
        # From the top down, so that a partner far above weighs on those only whose window it is in.
        n, s, ss = (from_the_top(w * beside**power) for power in (0, 1, 2))
        own, begin, end = bound[block] - reference, first[block] - low, beyond[block] - low
        inside, total, squares = n[begin] - n[end], s[begin] - s[end], ss[begin] - ss[end]
        short = np.maximum(0.0, total - inside * own)
        short2 = np.maximum(0.0, squares - 2.0 * own * total + inside * own**2)
        if width == np.inf:
            held[block] = mass[block] * 2.0 * short
            loss += float(np.sum(mass[block] * short2))
            continue
        held[block] = mass[block] * (short / width + n[end])
        loss += float(np.sum(mass[block] * (short + np.maximum(0.0, s[end] - n[end] * own))))
        residual += float(np.sum(mass[block] * np.maximum(0.0, short - short2 / width)))
    return held, loss, residual


def from_the_top(values: np.ndarray) -> np.ndarray:
    """Sums of the values from each place on; of none at the end."""
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)
