"""The certificate of a model once more, from data, weights and duals alone: plain NumPy, no solver, no kernel."""

import time
from typing import Any

import numpy as np

from softmargin.data.matrix import centred
from softmargin.diagnostics.derive import derived
from softmargin.diagnostics.posed import Posed, checked_matrix, holds_pairs, learned_weights, posed, refuse
from softmargin.diagnostics.scored import Told, every_pair_posed, proof, told
from softmargin.estimators.ranker import SoftMarginRanker
from softmargin.solvers.certificate import Certificate
from softmargin.solvers.class_problem import balancing
from softmargin.solvers.parallel import one_blas_thread
from softmargin.solvers.problem import Gap

ROUNDING = 1e-9  # relative; duals further outside their set than this are said to be so

LARGEST = 1e60  # a dual beyond this proves nothing, and its square may not be a number


def verify(
    model: Any,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    margin: Any = None,
) -> Certificate:
    """What is proved about the weights of ``model``, worked out anew from what it was fitted on.

    Parameters
    ----------
    model : a ``SoftMarginClassifier`` or ``SoftMarginRanker`` with weights.
    X : the rows it was fitted on.
    y : the labels; for a ranker its grades, its ``Constraints`` or, two columns, its pairs ``(better, worse)``.
    qid, sample_weight : as they were given to ``fit``.
    weight, margin : as they were given to ``fit_pairs``.

    Duals that are not feasible are moved into their set first, and where the model has none they are derived from its
    weights; the reason says so.  Whatever weights and duals the model holds, ``dual <= optimum <= primal``.
    """
    started = time.perf_counter()
    X, more = checked_matrix(model, X), {"qid": qid, "sample_weight": sample_weight, "weight": weight, "margin": margin}
    if isinstance(model, SoftMarginRanker):
        X = centred(X)
    if isinstance(model, SoftMarginRanker) and not holds_pairs(y):
        refuse(more, ("weight", "margin"), "goes with pairs (two columns), and y holds grades")
        said = told(model, y, qid, sample_weight, X.shape[0])
        if not np.isinf(model.C) and not hasattr(model, "pair_dual_"):
            return of_grades(model, said, X, started)
        task, stored = every_pair_posed(X, said), getattr(model, "pair_dual_", None)
    else:
        task, stored = posed(model, X, y, **more), getattr(model, "dual_", None)
    W, bias = learned_weights(model, task)
    passes = 0.0
    with one_blas_thread():
        if stored is None:

            def proves(dual: np.ndarray) -> tuple[float, float]:
                found = certify(task, W, bias, feasible(task, dual))
                return found.gap, found.primal

            dual, passes = derived(task, W, bias, proves)
            dual, reason = feasible(task, dual), "no duals stored, so derived from the weights"
        else:
            asked = task.shaped(stored)
            dual, reason = feasible(task, asked), "with the duals as stored"
            if not np.all(np.abs(dual - asked) <= ROUNDING * np.abs(dual).max()):  # NaN differs from everything
                reason = "the stored duals were not feasible, and were moved into their set"
        gap = certify(task, W, bias, dual)
    return Certificate.of(gap, float(model.tol), "verify", passes + 2.0, time.perf_counter() - started, reason)


def of_grades(model: SoftMarginRanker, said: Told, X: Any, started: float) -> Certificate:
    """The same where constraints are all pairs of grades, which are not listed."""
    w = np.asarray(model.coef_, dtype=np.float64)
    if not np.isfinite(w).all():
        message = "coef_ of the model is not finite: nothing can be proved about such weights"
        raise ValueError(message)
    with one_blas_thread():
        gap, passes, reason = proof(model, said, X, w)
    return Certificate.of(gap, float(model.tol), "verify", passes, time.perf_counter() - started, reason)


def certify(task: Posed, W: np.ndarray, bias: np.ndarray, dual: np.ndarray) -> Gap:
    """The gap between any weights and a feasible dual; ``gap`` is ``primal - dual`` as a sum of terms >= 0."""
    short = task.short(W, bias)  # required - margin, of every constraint
    slack, mass = np.maximum(short, 0.0), dual
    if np.isinf(task.price).any():  # no slack at any price, but a rounding is none
        slack = np.where((slack <= task.rounding(W)) & np.isinf(task.price), 0.0, slack)
    if task.shared:  # one slack for all constraints of a row
        slack, mass = slack.max(axis=1, keepdims=True), dual.sum(axis=1, keepdims=True)
    if task.squared:
        best = np.divide(mass, 2.0 * task.price, out=np.zeros_like(mass), where=task.price > 0)  # slack of this dual
        loss, conjugate, excess = (times(task.price, part) for part in (slack**2, best**2, (slack - best) ** 2))
    else:
        loss, conjugate, excess = times(task.price, slack), np.zeros(1), times(task.price - mass, slack)
    W_dual = task.weights(dual)
    apart = 0.5 * ((W - W_dual) ** 2).sum(axis=0)
    gaps = (dual * (slack - short)).sum(axis=0) + apart + (0.0 if task.shared else excess.sum(axis=0))
    gap = float(gaps.sum() + (excess.sum() if task.shared else 0.0))
    return Gap(
        primal=0.5 * float((W**2).sum()) + float(loss.sum()),
        dual=float((dual * task.required).sum() - conjugate.sum()) - 0.5 * float((W_dual**2).sum()),
        gap=gap,
        distance=reach(gaps, apart) if task.separate else reach(np.array([gap]), apart.sum(keepdims=True)),
    )


def reach(gaps: np.ndarray, apart: np.ndarray) -> float:
    """How far w can be from w*: r^2 + s^2 <= 2 gap, with r = |w - w*| and s = |w_dual - w*| >= |r - |w - w_dual||."""
    length = np.sqrt(2.0 * apart)
    return float(np.linalg.norm(0.5 * (length + np.sqrt(np.maximum(0.0, 4.0 * gaps - length**2)))))


def times(price: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """Their product, zero for an amount of zero, also at an infinite price."""
    return np.multiply(price, amount, out=np.zeros_like(amount), where=amount != 0.0)


def feasible(task: Posed, dual: np.ndarray) -> np.ndarray:
    """Duals that prove something: not negative, within their price, and balanced where an intercept is free."""
    dual = np.where((dual > 0.0) & (dual < LARGEST) & (task.price > 0.0) & task.there, dual, 0.0)
    if not task.squared and task.shared:
        mass = dual.sum(axis=1, keepdims=True)
        dual *= np.divide(task.price, mass, out=np.ones_like(mass), where=mass > task.price)
    elif not task.squared:
        dual = np.minimum(dual, task.price)
    if task.free and task.sign is not None:
        up, down = (np.where(side, dual, 0.0).sum(axis=0) for side in (task.sign > 0, task.sign < 0))
        lighter = np.minimum(up, down)
        up, down = (np.divide(lighter, side, out=np.zeros_like(side), where=side > 0) for side in (up, down))
        dual *= np.where(task.sign > 0, up, down)
    elif task.free and task.label is not None:
        dual = balanced(task, task.label, dual)
    return dual


def balanced(task: Posed, label: np.ndarray, dual: np.ndarray) -> np.ndarray:
    """As much dual for every class as against it; none at all where that cannot be reached."""

    def astray(dual: np.ndarray) -> float:
        return float(np.abs(task.pull(dual).sum(axis=0)).sum() / max(dual.sum(), 1e-300))

    if astray(dual) <= 1e-12:
        return dual
    flow = np.zeros((dual.shape[1], dual.shape[1]))
    np.add.at(flow, label, dual)
    dual = dual * balancing(flow)[label]
    return dual if astray(dual) <= 1e-12 else np.zeros_like(dual)
