"""Groups met one after the other: at the present weights, a whole group is one signed row."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from softmargin.data.matrix import dense_rows, rows_of
from softmargin.kernels.constraints import Constraints
from softmargin.kernels.sweep import HINGE, SQUARED_HINGE, Forest
from softmargin.solvers.interrupts import stop_if_interrupted
from softmargin.solvers.online import FIRST, OnlineRun, Plan
from softmargin.solvers.online_fit import proof_passes
from softmargin.solvers.score_problem import ScoreProblem, ScoreSolution, score_solution_at
from softmargin.solvers.sources import GradedGroups

SIGN = np.ones(1, dtype=np.int8)


def group_constraint(rows: Any, forest: Forest, w: np.ndarray, *, squared: bool) -> Constraints:
    """A signed row and a required margin with the loss and the slope that the whole group has at w.

    hinge       L(v) >= L(w) + L'(w).(v - w) = required - z.v,    z = sum of the violated pairs, required one each
    its square  sqrt(L) is convex too, so L(v) >= (required - z.v)^2 with z = -L'(w) / (2 sqrt L(w))
    so          what is paid for the row is what is paid for the group, and no weights pay less for the group than for
                the row: the regret of the rows bounds that of the groups
    """
    scores = rows @ w
    pull = np.zeros(scores.size)
    alone = GradedGroups(np.arange(scores.size), forest._replace(price=np.ones(1)))
    loss, gain, _ = alone.settle(scores, SQUARED_HINGE if squared else HINGE, pull)
    required, root = gain, np.sqrt(loss)
    if loss == 0.0:  # any satisfied pair: nothing to pay, and no mistake
        pull[[-1, 0]], required = (1.0, -1.0), 0.0
    elif squared:
        pull, required = pull / (2.0 * root), (loss + gain) / (2.0 * root)
    if sparse.issparse(rows):
        row = sparse.csr_array(pull[None, :]) @ rows
        row.sort_indices()
        signed = rows_of(row)
    else:
        signed = dense_rows((pull @ rows)[None, :])
    return Constraints(signed, SIGN, np.array([required]), forest.price)


def learn_groups(run: OnlineRun, X: Any, groups: GradedGroups, order: np.ndarray) -> None:
    """One step a group, in this order."""
    for g in order:
        stop_if_interrupted()
        rows, forest = groups.one(g)
        run.learn(group_constraint(X[rows], forest, run.present(), squared=run.plan.squared), FIRST)


def after_groups(run: OnlineRun, X: Any, groups: GradedGroups, order: np.ndarray) -> OnlineRun:
    """The run after these groups: all of them or, if that fails, an error and this run unchanged."""
    run = run.copy()
    learn_groups(run, X, groups, order)
    return run


def solve_groups_online(
    problem: ScoreProblem, X: Any, groups: GradedGroups, plan: Plan, tol: float, max_passes: int,
    rng: np.random.Generator,
) -> tuple[ScoreSolution, OnlineRun]:  # fmt: skip
    """The best weights that a proof looked at, after at most ``max_passes`` shuffled passes over the groups.

    minimise    the problem, whose prices hold C; those of ``groups`` do not
    """
    run, proofs, reason, passes = OnlineRun(plan), proof_passes(max_passes), "max_passes", 0
    best = score_solution_at(problem, np.zeros(problem.width), 0.0, reason)
    proved = 0
    try:
        while passes < max_passes and best.gap.relative > tol:
            learn_groups(run, X, groups, rng.permutation(groups.groups))
            passes += 1
            if passes in proofs:
                best, proved = better(problem, run, best), run.seen
    except KeyboardInterrupt:
        reason = "interrupted"
    if run.seen > proved:
        best = better(problem, run, best)
    if best.gap.relative <= tol:
        reason = "tol"
    return replace(best, passes=run.seen / groups.groups, reason=reason), run


def better(problem: ScoreProblem, run: OnlineRun, best: ScoreSolution) -> ScoreSolution:
    """The weights of the run, if they are better."""
    found = score_solution_at(problem, run.weights()[0], 0.0, "")
    return found if found.gap.gap < best.gap.gap else best
