"""Batch problems solved online: shuffled passes until the certificate is good enough."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from softmargin.solvers.interrupts import stop_if_interrupted
from softmargin.solvers.online import OnlineRun, Plan

FAR_FROM_ALL = 0.9  # of a dual: a smaller share of it is worth a proof of its own


def solve_online(
    stream: Any,
    plan: Plan,
    order: np.ndarray,
    C: float,
    prove: Callable[..., Any],
    tol: float,
    max_passes: int,
    rng: np.random.Generator,
) -> tuple[Any, OnlineRun]:
    """Weights, duals and gap after at most ``max_passes`` shuffled passes, and the run that made them.

    minimise    1/2 |w|^2 + C * sum over copies of price_t loss_t
    given       stream  the constraints with the price of one copy, without C; order  each copy once
                prove   (weights, bias, dual, passes, reason) -> a solution with its gap; costs two sequential passes
    the dual    C times the mean force on each constraint since the last proof: a force lies between 0 and the price,
                so it is feasible whatever the schedule; or the share of it that proves most
    keeps       the best weights met, also when interrupted
    """
    run, best, reason = OnlineRun(plan, forces_kept=stream.price.size), None, "max_passes"
    earlier, earlier_passes, proofs = run.forces.copy(), 0, proof_passes(max_passes)

    def better(passes: int) -> Any:
        """The best weights so far, after one more proof."""
        dual = (run.forces - earlier) * (C / (passes - earlier_passes))
        solution = prove(*run.weights(), dual, passes, reason)
        share = best_share(float(stream.required @ solution.dual.reshape(len(dual), -1).sum(axis=1)), solution.gap.dual)
        if share < FAR_FROM_ALL:
            solution = prove(*run.weights(), share * solution.dual, passes, reason)
        return solution if best is None or solution.gap.gap < best.gap.gap else best

    passes = 0
    try:
        while passes < max_passes:
            stop_if_interrupted()
            run.learn(stream, rng.permutation(order))
            passes += 1
            if passes not in proofs:
                continue
            best = better(passes)
            if best.gap.relative <= tol:
                reason = "tol"
                break
            earlier, earlier_passes = run.forces.copy(), passes
    except KeyboardInterrupt:
        reason = "interrupted"
        if passes > earlier_passes:
            best = better(passes)
    if best is None:
        best = prove(*run.weights(), run.forces * 0.0, 0, reason)
    return replace(best, passes=run.seen / order.size, reason=reason), run


def best_share(gain: float, value: float) -> float:
    """The share of a dual that proves most: the value of a share is ``share gain - share^2 (gain - value)``.

    The forces of long steps are large one way and then the other; all of them can prove less than none.
    """
    bend = gain - value
    return min(1.0, max(0.0, 0.5 * gain / bend)) if bend > 0.0 else 1.0


def proof_passes(max_passes: int) -> frozenset[int]:
    """After which passes to prove: the last one, half-way to it, half-way to that, ...

    Proofs stay a small part of the work, and each looks at the duals of the latter half of the passes only.
    """
    passes = {max_passes}
    while max_passes > 3:
        max_passes //= 2
        passes.add(max_passes)
    return frozenset(passes)
