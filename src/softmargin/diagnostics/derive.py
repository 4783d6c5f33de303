"""Duals for weights that came without any: those of a smoothed objective, a few dozen steps from the weights."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from softmargin.diagnostics.posed import Posed

WIDTHS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # of the smoothing, as shares of the largest required margin
SMOOTH_ALREADY = (1e-6,)  # squared slack of its own for every constraint
STEPS = 40  # for each of them


def derived(
    task: Posed, W: np.ndarray, bias: np.ndarray, gap: Callable[[np.ndarray], float]
) -> tuple[np.ndarray, float]:
    """The duals with the smallest gap to these weights among those met, and the passes that it took.

    Where slack is smoothed over a width, duals are continuous in the weights, and at the minimum of the smoothed
    objective they make up its weights: a pair with a small gap.  From one smoothing to the next the width shrinks.
    """
    lines, unit = len(W), float(task.required.max(initial=0.0)) or 1.0
    at, passes = np.vstack([W, bias]), 0.0
    best, smallest = np.zeros((len(task.price), task.columns)), gap(np.zeros((len(task.price), task.columns)))

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal passes
        passes += 2.0
        V = flat.reshape(at.shape)
        dual, loss = smoothed(task, task.short(V[:lines], V[-1]), width)
        pulls = np.vstack([task.weights(dual), task.pull(dual).sum(axis=0) if task.free else np.zeros(task.columns)])
        slope = np.vstack([V[:lines], np.zeros(task.columns)]) - pulls
        return 0.5 * float((V[:lines] ** 2).sum()) + loss, slope.ravel()

    for share in SMOOTH_ALREADY if task.squared and not task.shared else WIDTHS:
        width = share * unit
        at = minimize(objective, at.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x.reshape(
            at.shape
        )
        dual = scaled(task, smoothed(task, task.short(at[:lines], at[-1]), width)[0])
        passes += 5.0
        if (now := gap(dual)) < smallest:
            best, smallest = dual, now
    return best, passes


def smoothed(task: Posed, short: np.ndarray, width: float) -> tuple[np.ndarray, float]:
    """Duals ``price / width * max(0, short - excess)`` and the loss whose slope they are.

    ``excess`` keeps the duals of a slack within its price or, for squared slack, at twice the price times itself.
    """
    short = np.where(task.there, short, -np.inf)
    tops = -np.sort(-short, axis=1) if task.shared else short
    sums, count = (np.cumsum(tops, axis=1), np.arange(1.0, tops.shape[1] + 1.0)) if task.shared else (tops, 1.0)
    excess = sums / (2.0 * width + count) if task.squared else (sums - width) / count
    if task.shared:
        excess = excess.max(axis=1, keepdims=True)
    part = np.maximum(0.0, short - np.maximum(excess, 0.0)) / width
    mass = part.sum(axis=1, keepdims=True) if task.shared else part
    worth = (part * np.where(part > 0.0, short, 0.0) - 0.5 * width * part**2).sum(axis=1, keepdims=True)
    if task.squared:
        worth -= (0.25 * mass**2).sum(axis=1, keepdims=True)
    return task.price * part, float((task.price * worth).sum())


def scaled(task: Posed, dual: np.ndarray) -> np.ndarray:
    """The multiple, at most 1, with the largest value: that is quadratic in it."""
    gain, bend = float((dual * task.required).sum()), float((task.weights(dual) ** 2).sum())
    if task.squared:
        mass = dual.sum(axis=1, keepdims=True) if task.shared else dual
        bend += float(np.divide(mass**2, 2.0 * task.price, out=np.zeros_like(mass), where=task.price > 0).sum())
    return dual * min(1.0, gain / bend) if bend > 0.0 else dual
