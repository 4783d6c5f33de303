"""Duals for weights that came without any: those of a smoothed objective, then a climb on what is still open."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from softmargin.diagnostics.posed import Posed

WIDTHS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # of the smoothing, as shares of the largest required margin
SMOOTH_ALREADY = (1e-6,)  # squared slack of its own for every constraint
STEPS = 40  # for each of them
GOOD_ENOUGH = 1e-4  # relative gap
BANDS = (0.003, 0.03, 0.3)  # how far from its required margin a row is open, as a share of the largest
CLIMB = 150  # steps for each of them
BIAS_COLUMN2 = 0.1  # of the mean squared length of a row: how stiffly a free intercept is held

Proof = Callable[[np.ndarray], tuple[float, float]]  # a dual -> the gap of the weights to it, and their primal


class Derivation:
    """The best dual met for given weights; ``gap`` says what a dual proves."""

    def __init__(self, task: Posed, W: np.ndarray, bias: np.ndarray, gap: Proof) -> None:
        self.task, self.W, self.bias, self.gap = task, W, bias, gap
        self.unit = float(task.required.max(initial=0.0)) or 1.0
        self.dual, self.smallest, self.passes = np.zeros((len(task.price), task.columns)), np.inf, 0.0
        self.consider(self.dual)

    def consider(self, dual: np.ndarray) -> None:
        """Keep it if it proves more."""
        dual = scaled(self.task, dual)
        now, primal = self.gap(dual)
        self.passes += 5.0
        if now < self.smallest:
            self.dual, self.smallest, self.enough = dual, now, now <= GOOD_ENOUGH * primal

    def smooth(self) -> None:
        """Duals of smoothed objectives, a few dozen steps from the weights.

        Where slack is smoothed over a width, duals are continuous in the weights, and at the minimum of the smoothed
        objective they make up its weights: a pair with a small gap.  From one smoothing to the next the width shrinks.
        """
        task, lines = self.task, len(self.W)
        at = np.vstack([self.W, self.bias])

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            self.passes += 2.0
            V = flat.reshape(at.shape)
            dual, loss = smoothed(task, task.short(V[:lines], V[-1]), np.array([[width]]), task.there)
            flow = task.pull(dual).sum(axis=0) if task.free else np.zeros(task.columns)
            slope = np.vstack([V[:lines] - task.weights(dual), -flow])
            return 0.5 * float((V[:lines] ** 2).sum()) + loss, slope.ravel()

        for share in SMOOTH_ALREADY if task.squared and not task.shared else WIDTHS:
            width = share * self.unit
            found = minimize(objective, at.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
            at = found.reshape(at.shape)
            self.consider(smoothed(task, task.short(at[:lines], at[-1]), np.array([[width]]), task.there)[0])
            if self.enough:
                return

    def climb(self, share: float) -> None:
        """Accelerated gradient steps on the value of the dual; rows far from their required margin stay as they are."""
        task, short = self.task, self.task.short(self.W, self.bias)
        # One slack for a whole row: only classes that are about the worst can hold it.
        worst = np.maximum(short.max(axis=1, keepdims=True), 0.0) if task.shared else 0.0
        free, fixed = (short > worst - share * self.unit) & task.there, np.zeros_like(short)
        if not task.shared and not task.squared:
            full = short > share * self.unit
            free, fixed = free & ~full, np.where(full & task.there, task.price, 0.0)
        price, stiff = np.where(task.price > 0.0, task.price, 1.0), self.stiffness()

        def lacks(dual: np.ndarray) -> np.ndarray:
            self.passes += 2.0
            return task.short(task.weights(dual), self.bias + stiff * task.pull(dual).sum(axis=0))

        nothing = np.zeros_like(short)
        steepness = 1.05 * self.curvature(lambda v: np.where(free, lacks(nothing) - lacks(v), 0.0), free)
        if steepness == 0.0:
            return
        dual = ahead = np.where(free, self.dual, fixed)
        speed = 1.0
        for _ in range(CLIMB):
            moved = smoothed(task, lacks(ahead) + steepness * ahead, steepness * price, free)[0]
            new = np.where(free, moved, fixed)
            if float(((ahead - new) * (new - dual)).sum()) > 0.0:
                speed = 1.0  # it overshot: start again from here
            faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * speed**2))
            ahead = new + (speed - 1.0) / faster * (new - dual)
            dual, speed = new, faster
        self.consider(dual)

    def stiffness(self) -> float:
        """The square of a constant column that stands for a free intercept."""
        if not self.task.free:
            return 0.0
        X = self.task.X
        return BIAS_COLUMN2 * float(X.multiply(X).sum() if hasattr(X, "multiply") else np.vdot(X, X)) / X.shape[0]

    @staticmethod
    def curvature(product: Callable[[np.ndarray], np.ndarray], free: np.ndarray) -> float:
        """The largest eigenvalue, by powers."""
        v, size = np.where(free, np.random.default_rng(0).normal(size=free.shape), 0.0), 0.0
        for _ in range(12):
            if not (length := float(np.linalg.norm(v))) > 0.0:
                return 0.0
            v = product(v / length)
            size = max(size, float(np.linalg.norm(v)))
        return size


def derived(task: Posed, W: np.ndarray, bias: np.ndarray, gap: Proof) -> tuple[np.ndarray, float]:
    """The duals with the smallest gap to these weights among those met, and the passes that it took."""
    found = Derivation(task, W, bias, gap)
    found.smooth()
    for share in BANDS:
        if not found.enough:
            found.climb(share)
    return found.dual, found.passes


def smoothed(task: Posed, short: np.ndarray, width: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, float]:
    """Duals ``price / width * max(0, short - excess)`` and the loss whose slope they are.

    Duals that are not ``free`` are zero.  ``excess`` keeps the duals of a slack within its price or, for squared slack,
    at twice the price times itself.
    """
    short = np.where(free, short, -np.inf)
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
