"""Batch problems solved online: shuffled passes until the certificate is good enough."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from softmargin.solvers.online import OnlineRun, Plan

NEXT_CHECK = 1.5  # a check costs about two passes, so the number of passes between checks grows


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
                prove   (weights, bias, dual, passes, reason) -> a solution with its gap
    the dual    C times the mean force on each constraint, over all passes or over those since the last check:
                forces lie between 0 and the price, so both are feasible, whatever the schedule
    keeps       the best weights met, also when interrupted
    """
    run = OnlineRun(plan, forces_kept=stream.price.size)
    best: Any = None
    reason, check = "max_passes", 1
    earlier, earlier_passes = np.zeros_like(run.forces), 0
    try:
        for passes in range(1, max_passes + 1):
            run.learn(stream, rng.permutation(order))
            if passes < min(check, max_passes):
                continue
            recent = (run.forces - earlier) * (C / (passes - earlier_passes))
            duals = [run.forces * (C / passes)] + ([recent] if earlier_passes else [])
            weights, bias = run.weights()
            for dual in duals:
                solution = prove(weights, bias, dual, passes, reason)
                best = solution if best is None or solution.gap.gap < best.gap.gap else best
            if best.gap.relative <= tol:
                reason = "tol"
                break
            earlier, earlier_passes = run.forces.copy(), passes
            check = int(np.ceil(passes * NEXT_CHECK))
    except KeyboardInterrupt:
        reason = "interrupted"
    if best is None:
        weights, bias = run.weights()
        best = prove(weights, bias, run.forces * 0.0, 0.0, reason)
    return replace(best, passes=run.seen / order.size, reason=reason), run
