"""Step sizes: a schedule takes the number of the constraint, t = 1, 2, ..., and gives the step."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

Schedule = Callable[[int], float]
NAMES = ("strong", "sqrt", "constant", "adaptive")


@dataclass(frozen=True)
class Steps:
    """The steps of one run.  ``adaptive`` steps depend on the gradients met, so the kernel works them out itself."""

    kind: Literal["strong", "sqrt", "constant", "adaptive", "given"]
    lam: float
    step0: float = 1.0
    given: Schedule | None = None
    first: int = 0  # constraints that came before the run: t goes on from there

    def one(self, t: int) -> float:
        """The step for constraint t of the run."""
        t += self.first
        match self.kind:
            case "strong":
                return 1.0 / (self.lam * t)
            case "sqrt":
                return self.step0 / t**0.5
            case "constant":
                return self.step0
            case _:
                return self._given(t)

    def after(self, seen: int, count: int) -> np.ndarray:
        """The steps for the ``count`` constraints that follow the first ``seen``; empty where adaptive."""
        seen += self.first
        t = np.arange(seen + 1.0, seen + count + 1.0)
        match self.kind:
            case "strong":
                return 1.0 / (self.lam * t)
            case "sqrt":
                return self.step0 / np.sqrt(t)
            case "constant":
                return np.full(count, self.step0)
            case "adaptive":
                return np.empty(0)
            case _:
                return np.array([self._given(number) for number in range(seen + 1, seen + count + 1)])

    def _given(self, t: int) -> float:
        try:
            step = float(self.given(t)) if self.given else float("nan")
        except (TypeError, ValueError):
            step = float("nan")
        if not 0.0 <= step < float("inf"):
            message = f"schedule gave no step for t = {t}, or one that is not a finite number, 0 or more"
            raise ValueError(message)
        return step


def steps_of(schedule: str | Schedule, lam: float, step0: float | None, first: int = 0) -> Steps:
    """The steps that the estimator's parameters ask for, or a sentence on what is wrong with them."""
    wanted = schedule in ("sqrt", "constant") if isinstance(schedule, str) else False
    if step0 is not None and not (wanted and isinstance(step0, (int, float, np.number)) and 0 < step0 < float("inf")):
        message = f"step0={step0!r} with schedule={schedule!r}: step0 > 0 goes with schedule='sqrt' or 'constant'"
        raise ValueError(message)
    if callable(schedule):
        return Steps("given", lam, given=schedule, first=first)
    match schedule:
        case "strong" | "sqrt" | "constant" | "adaptive":
            return Steps(schedule, lam, 1.0 if step0 is None else step0, first=first)
    message = f"schedule={schedule!r}: pass one of {', '.join(NAMES)}, or a function of t = 1, 2, ..."
    raise ValueError(message)
