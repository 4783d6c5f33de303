"""Regret: what an online run paid beyond the best fixed weights in hindsight, with proof."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Regret:
    """The course of an online run; every array has one entry for each number of ``steps`` recorded.

    ``paid`` is the sum of ``lam/2 |w|^2 + price loss`` at the weights *before* each step.
    ``gain`` and ``u_norm2`` prove what any fixed weights must pay: see ``lower`` and ``comparator``.
    A free intercept of the comparator is confined to the largest value that the run itself used.
    """

    steps: np.ndarray
    paid: np.ndarray
    gain: np.ndarray
    u_norm2: np.ndarray
    mistakes: np.ndarray
    violated: np.ndarray
    steepest: np.ndarray
    farthest: np.ndarray
    idle: np.ndarray
    lam: float
    schedule: str
    step0: float
    bounded: bool  # whether the bound of the notes speaks of this run

    @property
    def lower(self) -> np.ndarray:
        """The least value of the sum of tangents; with steps 1/(lam t) ``paid - lower`` is sum |g|^2 / (2 lam t)."""
        return self.gain - self.u_norm2 / (2.0 * self.lam * self.steps)

    @cached_property
    def comparator(self) -> np.ndarray:
        """The certified lower bound of the comparator's loss.

        Any share of each tangent's slope is a tangent too, so the best share is taken; and a sum of losses that are
        never negative cannot fall.
        """
        curve = self.lam * self.steps
        share = np.clip(self.gain * curve / np.maximum(self.u_norm2, np.finfo(float).tiny), 0.0, 1.0)
        return np.maximum.accumulate(share * self.gain - share**2 * self.u_norm2 / (2.0 * curve))

    @property
    def certified(self) -> np.ndarray:
        """At least the true regret."""
        return self.paid - self.comparator

    @property
    def progressive_error(self) -> np.ndarray:
        """Share of constraints on the wrong side when first met: predict, then learn."""
        return self.mistakes / self.steps

    @property
    def bound(self) -> np.ndarray | None:
        """The bound of the notes with the measured G = ``steepest``, or None where they have none.

        "strong": ``G^2 / (2 lam) (1 + log T)``.
        "sqrt" and "constant": ``D^2 / (2 step_T) + G^2 / 2 sum step``, D at least every ``|w_t - w*|``.
        They start at zero weights, at t = 1, and penalise every weight: none for a free intercept, nor after ``fit``.
        """
        if not self.bounded:
            return None
        squared_slope = self.steepest**2
        if self.schedule == "strong":
            return squared_slope / (2.0 * self.lam) * (1.0 + np.log(self.steps))
        diameter = self.farthest + np.sqrt(2.0 * self.idle / (self.lam * self.steps))
        if self.schedule == "sqrt":
            last, total = self.step0 / np.sqrt(self.steps), self.step0 * 2.0 * np.sqrt(self.steps)
        elif self.schedule == "constant":
            last, total = np.full_like(self.steps, self.step0), self.step0 * self.steps
        else:
            return None
        return diameter**2 / (2.0 * last) + 0.5 * squared_slope * total

    def __len__(self) -> int:
        """How many records."""
        return int(self.steps.size)

    def __str__(self) -> str:
        """One line on where the run stands."""
        if not len(self):
            return "nothing learned yet"
        steps, certified = self.steps[-1], self.certified[-1]
        bound = "" if self.bound is None else f" (bound of the notes {self.bound[-1]:.4g})"
        return (
            f"{steps:.0f} constraints met: paid {self.paid[-1]:.6g}, regret at most {certified:.4g}{bound}, "
            f"{certified / steps:.2g} a constraint; {self.progressive_error[-1]:.1%} wrong when first met"
        )

    def plot(self, axes: Any = None) -> Any:
        """Draw the certified regret with the bound of the notes; needs matplotlib.  Returns the axes."""
        if axes is None:
            from matplotlib import pyplot as plt

            axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1]
        axes.plot(self.steps, self.certified, label="certified regret", color="#0b6e99", linewidth=2)
        if self.bound is not None:
            axes.plot(self.steps, self.bound, label="bound of the notes, measured G", color="#b5541c", linestyle="--")
        axes.set(xscale="log", xlabel="constraints met", ylabel="loss beyond the best fixed weights")
        axes.set_ylim(bottom=0.0)
        axes.grid(alpha=0.25)
        axes.legend(frameon=False)
        return axes
