"""The certificate: how far given weights are from the best possible ones, proved by a dual point.

For any weights w and any feasible dual, with ``w_dual = sum dual z``,

    primal(w) - dual value = sum residual_t + 1/2 |w - w_dual|^2,

a sum of terms that are never negative: no cancellation, however small the gap.
"""

from dataclasses import dataclass

import numpy as np

from softmargin.solvers.problem import Gap, Problem, Solution, Spare


@dataclass(frozen=True)
class Certificate:
    """What is proved about a model's weights."""

    primal: float  # the objective at these weights
    dual: float  # no weights have a lower objective
    gap: float  # primal - dual, as a sum of non-negative terms
    relative_gap: float  # gap / primal
    distance: float  # |w - w*| is at most this
    converged: bool  # relative_gap <= tol
    solver: str
    passes: float  # over the data
    seconds: float
    reason: str  # why the solver stopped

    def __str__(self) -> str:
        """One line that a person understands."""
        verdict = "optimal" if self.converged else "NOT converged"
        story = self.reason if self.solver == "verify" else f"stopped: {self.reason}"
        return (
            f"{verdict} to {self.relative_gap:.1e} of the objective {self.primal:.6g} "
            f"(|w - w*| <= {self.distance:.2g}); {self.solver}, {self.passes:.4g} passes, {self.seconds:.3g} s; {story}"
        )

    @classmethod
    def of(cls, gap: Gap, tol: float, solver: str, passes: float, seconds: float, reason: str) -> "Certificate":
        """The numbers of a gap with the story of how they were reached."""
        return cls(
            gap.primal, gap.dual, gap.gap, gap.relative, gap.distance, gap.relative <= tol, solver, passes,
            seconds, reason,
        )  # fmt: skip


def distance_bound(gap: float, apart: float) -> float:
    """How far w can be from w*, given the gap and ``apart = |w - w_dual|``.

    Strong convexity on both sides gives r^2 + s^2 <= 2 gap with r = |w - w*| and s = |w_dual - w*| >= |r - apart|.
    """
    return 0.5 * (apart + float(np.sqrt(max(0.0, 4.0 * gap - apart * apart))))


def feasible(problem: Problem, dual: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The nearest thing to ``dual`` that proves something: inside its box, balanced where an intercept is free."""
    price, sign = problem.constraints.price, problem.constraints.sign
    dual = np.maximum(dual, 0.0, out=out)
    if problem.squared:
        np.copyto(dual, 0.0, where=price <= 0)
    else:
        np.minimum(dual, price, out=dual)
    if problem.free_bias:
        sums = [(side, float(np.sum(dual, where=side))) for side in (sign > 0, sign < 0)]
        lighter = min(total for _, total in sums)
        for side, total in sums:
            np.multiply(dual, lighter / total if total else 0.0, out=dual, where=side)
    return dual


def measure(
    problem: Problem, w: np.ndarray, bias: float, dual: np.ndarray, room: np.ndarray | None = None, spare: Spare = ()
) -> Gap:
    """The gap between weights and a feasible dual, from the data alone."""
    margins = problem.margins(w, bias, room)
    w_dual, _ = problem.weights(dual, spare)
    loss, gain, residual = problem.gap_terms(margins, dual)
    dual_value = gain - 0.5 * float(w_dual @ w_dual)
    w_dual -= w
    apart2 = float(w_dual @ w_dual)
    gap = residual + 0.5 * apart2
    return Gap(
        primal=0.5 * float(w @ w) + loss,
        dual=dual_value,
        gap=gap,
        distance=distance_bound(gap, float(np.sqrt(apart2))),
    )


@dataclass(frozen=True)
class Room:
    """Where a proof may be written, so that it takes no memory: for the feasible dual, for margins, for weights."""

    dual: np.ndarray | None = None  # may be the dual itself
    margins: np.ndarray | None = None
    weights: Spare = ()


NO_ROOM = Room()


def solution_at(
    problem: Problem, w: np.ndarray, bias: float, dual: np.ndarray, passes: float, reason: str, room: Room = NO_ROOM
) -> Solution:
    """These weights with what ``dual``, made feasible, proves about them."""
    dual = feasible(problem, dual, room.dual)
    gap = measure(problem, w, float(bias), dual, room.margins, room.weights)
    return Solution(w, float(bias), dual, gap, passes, reason)
