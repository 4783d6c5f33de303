"""The hard margin: the shortest weights that satisfy every constraint, or the proof that none do."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from softmargin.solvers.active_set import BELOW_ZERO, System
from softmargin.solvers.certificate import distance_bound, feasible
from softmargin.solvers.class_newton import ClassNewton
from softmargin.solvers.class_problem import ClassProblem, feasible_classes
from softmargin.solvers.conflict import ClassSystem, InfeasibleError, SignedSystem, search
from softmargin.solvers.newton import SHARE, RowNewton
from softmargin.solvers.problem import PRECISION, Gap, Problem, Solution

FIRST, GROW, STIFFEST = 10.0, 10.0, 1e16  # the stiffness, in units of 1 / |row|^2
SEARCH_AT = 4  # rounds without weights that satisfy every constraint, before a conflict is searched for
ENOUGH = 0.2  # of what was short before: a round that leaves less needs no greater stiffness
SHORTEST = 0.1  # of what the shortest lacks: where a conflict is searched for first
STALLED = 4  # rounds without a smaller gap: the end of what float64 can tell
MOST_STEPS, MOST_ROUNDS, WEARY = 100, 60, 3  # a round; in all; steps without a smaller gradient, at rounding's level
NOTHING_PROVED = "neither weights that satisfy every constraint nor a conflict, as far as float64 can tell"


def solve_hard(problem: Problem | ClassProblem, tol: float, max_passes: float) -> Solution:
    """The best weights met that satisfy every constraint, with their gap; or ``InfeasibleError`` with the conflict.

    minimise    1/2 |w|^2
    subject to  margin_t >= required_t where price_t > 0, against every wrong class where there are classes
    each round  for a fixed centre and stiffness s: dual_t = max(0, centre_t + s/|z_t|^2 (required_t - margin_t)), a
                squared hinge that requires a little more of who was short before; Newton steps as for any squared
                hinge; then the centre moves to the dual and s grows (the method of multipliers)
    the proof   weights with margins above zero are scaled until every margin is sufficient; duals have no ceiling, and
                are scaled to where their value is largest.  Then
                1/2 |w|^2 - dual value = sum dual_t (margin_t - required_t) + 1/2 |w - w_dual|^2,
                a sum of terms that are never negative
    no weights  no scale helps after a few rounds: search for a conflict (``solvers.conflict``)
    Source      Hestenes (1969), Powell (1969); Goldfarb and Idnani (1983) for the conflict
    """
    run = RowRounds(problem) if isinstance(problem, Problem) else ClassRounds(problem)
    reason = "max_passes"
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # rows of 1e-100 want weights of 1e100
            reason = run.until(tol, max_passes)
    except KeyboardInterrupt:
        reason = "interrupted"
    if not np.isfinite(run.best.gap.gap) and reason != "interrupted" and not run.searched:
        run.search()
    best = run.best
    if not np.isfinite(best.gap.gap) and reason == PRECISION:
        reason = NOTHING_PROVED
    return Solution(best.w, best.bias, best.dual, best.gap, run.newton.passes, reason)


class Point(NamedTuple):
    """Weights with their intercepts, a dual, and the gap between them."""

    w: np.ndarray
    bias: Any
    dual: np.ndarray
    gap: Gap


NO_GAP = Gap(np.inf, 0.0, np.inf, np.inf)


def prove(system: System, point: Point, margins: np.ndarray, w_dual: np.ndarray) -> Point:
    """The point, its weights and its dual each scaled to their best; the gap is infinite where no scale is feasible."""
    required, live = system.required, np.isfinite(system.lengths)
    w, bias, dual, _ = point
    asked, size, multipliers = live & (required > 0), float(np.linalg.norm(w)), dual.ravel()
    dual2, gain = float(np.vdot(w_dual, w_dual)), float(multipliers @ required)
    down = gain / dual2 if dual2 > 0 else 0.0
    value = 0.5 * gain * down
    if not asked.any():
        return Point(0.0 * w, 0.0 * bias, 0.0 * dual, Gap(0.0, 0.0, 0.0, 0.0))
    worst, idle = float(np.min(margins[asked] / required[asked])), live & ~asked
    if worst <= 0.0 or np.any(margins[idle] < -BELOW_ZERO * size * system.lengths[idle]):
        return Point(w, bias, down * dual, Gap(np.inf, value, np.inf, np.inf))
    up = 1.0 / worst
    apart2 = float(np.sum((up * w - down * w_dual) ** 2))
    residual = float(np.sum(np.maximum(multipliers * (up * margins - required), 0.0), where=live))
    gap = down * residual + 0.5 * apart2
    proved = Gap(0.5 * (up * size) ** 2, value, gap, distance_bound(gap, float(np.sqrt(apart2))))
    return Point(up * w, up * bias, down * dual, proved)


def evened(lengths: np.ndarray, *, free_bias: bool) -> np.ndarray:
    """Prices that make constraints equally stiff, however long their rows; zero where one has no say."""
    live = np.isfinite(lengths)
    length2 = np.where(live, lengths, 0.0) ** 2
    mean = float(length2.sum()) / max(1, int(live.sum())) or 1.0
    return np.where(live, 1.0 / (length2 + mean * (1.0 if free_bias else 1e-3)), 0.0)


def rates_of(price: np.ndarray) -> np.ndarray:
    """One over the price, where there is one."""
    return np.where(price > 0, 1.0 / np.where(price > 0, price, 1.0), 0.0)


class Rounds(ABC):
    """The rounds of the method of multipliers; how a step is made is up to the kind of constraints."""

    newton: RowNewton | ClassNewton
    system: SignedSystem | ClassSystem

    def __init__(self, best: Point, rates: np.ndarray) -> None:
        self.best, self.rates, self.searched = best, rates, False
        self.newton.stiffness, self.stiffest = FIRST, STIFFEST

    # -------------------------------------------------------------- what the kind of constraints has to say

    @abstractmethod
    def begin(self) -> np.ndarray:
        """Duals at the present weights, centre and stiffness; the gradient."""

    @abstractmethod
    def half(self, gradient: np.ndarray) -> float:
        """Half of the square of a gradient."""

    @abstractmethod
    def weights(self) -> np.ndarray:
        """Weights and intercepts, as the system of constraints takes them."""

    @abstractmethod
    def at(self, v: np.ndarray) -> Point:
        """What the present duals prove about weights."""

    # -------------------------------------------------------------- the algorithm

    def until(self, tol: float, max_passes: float) -> str:
        """Rounds; returns why it stopped."""
        stalled, least, newton = 0, np.full(2, np.inf), self.newton
        for rounds in range(1, MOST_ROUNDS + 1):
            try:
                self.solve_round(max_passes)
            except np.linalg.LinAlgError:  # a Newton matrix that rounding has made singular
                self.stiffest = newton.stiffness = newton.stiffness / GROW
            point = self.at(self.weights())
            self.best = point if point.gap.gap <= self.best.gap.gap else self.best
            if self.best.gap.relative <= tol:
                return "tol"
            if newton.passes >= max_passes:
                return "max_passes"
            if rounds >= SEARCH_AT and not self.searched and not np.isfinite(self.best.gap.gap):
                self.search()
            now = np.array([point.gap.gap, self.short().max()])
            # Rounds that are too soft win nothing either: they count once they have won something, or as the stiffest.
            counts = self.best.gap.relative < 0.5 or newton.stiffness >= self.stiffest
            stalled = stalled + 1 if counts and np.all(now > 0.9 * least) else 0
            if stalled == STALLED:
                return PRECISION
            np.copyto(newton.centre, newton.dual)
            if now[1] > ENOUGH * least[1] or not np.isfinite(least[1]):
                newton.stiffness = min(GROW * newton.stiffness, self.stiffest)
            least = np.minimum(least, now)
        return PRECISION

    def solve_round(self, max_passes: float) -> None:
        """Newton steps until the gradient is small beside what the duals have moved, or rounding keeps it up."""
        newton, weary, least = self.newton, 0, np.inf
        smoothing, gradient = newton.smoothing(), self.begin()
        for _ in range(MOST_STEPS):
            half = self.half(gradient)
            moved = float(np.sum((newton.dual - newton.centre) ** 2 * self.rates)) / (2.0 * newton.stiffness)
            rounding = newton.stiffness * float(np.finfo(np.float64).eps) * float(np.linalg.norm(self.weights()))
            weary = weary + 1 if half >= 0.5 * least and half <= rounding**2 else 0
            if half <= SHARE * moved or weary == WEARY or newton.passes >= max_passes:
                return
            least = min(least, half)
            gradient, _ = newton.step(smoothing, gradient)  # type: ignore[arg-type]  # each its own smoothing

    def short(self) -> np.ndarray:
        """What each constraint lacks."""
        system = self.system
        slack = np.maximum(0.0, system.required - system.margins(self.weights()))
        return np.where(np.isfinite(system.lengths), slack, 0.0)

    def search(self) -> None:
        """Raise the conflict if there is one; take weights that satisfy every constraint if there are any."""
        self.searched = True
        short = self.short()
        v, conflict = search(self.system, np.flatnonzero(short > SHORTEST * short.max()))
        if conflict is not None:
            raise InfeasibleError(conflict)
        point = self.best if v is None else self.at(v)
        self.best = point if point.gap.gap <= self.best.gap.gap else self.best


class RowRounds(Rounds):
    """Signed rows, and one intercept at most."""

    newton: RowNewton

    def __init__(self, problem: Problem) -> None:
        self.problem, self.system = problem, SignedSystem(problem)
        price = evened(self.system.lengths, free_bias=problem.free_bias)
        even = Problem(
            problem.constraints._replace(price=price), problem.width, squared=True, free_bias=problem.free_bias
        )
        self.newton = RowNewton(even)
        super().__init__(Point(self.newton.w, 0.0, self.newton.dual, NO_GAP), rates_of(price))

    def begin(self) -> np.ndarray:
        self.newton.refresh()
        return self.newton.balance_and_settle(self.newton.smoothing(), 0.0)[0]

    def half(self, gradient: np.ndarray) -> float:
        return 0.5 * float(gradient @ gradient)

    def weights(self) -> np.ndarray:
        free = self.problem.free_bias
        return np.append(self.newton.w, self.newton.bias) if free else self.newton.w.copy()

    def at(self, v: np.ndarray) -> Point:
        w, bias = (v[:-1], float(v[-1])) if self.problem.free_bias else (v, 0.0)
        dual = feasible(self.newton.problem, self.newton.dual)
        w_dual, _ = self.problem.weights(dual)
        self.newton.passes += 2.0
        return prove(self.system, Point(w, bias, dual, NO_GAP), self.system.margins(v), w_dual)


class ClassRounds(Rounds):
    """Rows with a class each, against every wrong class: "max" and "sum" are one problem where there is no slack."""

    newton: ClassNewton

    def __init__(self, problem: ClassProblem) -> None:
        self.problem, self.system = problem, ClassSystem(problem)
        lengths = self.system.lengths.reshape(problem.size, -1).min(axis=1)
        price = evened(lengths, free_bias=problem.free_bias)
        constraints = problem.constraints._replace(price=price)
        self.newton = ClassNewton(replace(problem, constraints=constraints, every=True, squared=True))
        nothing = Point(np.zeros((problem.width, problem.classes)), np.zeros(problem.classes), self.newton.dual, NO_GAP)
        super().__init__(nothing, rates_of(price)[:, None])

    def begin(self) -> np.ndarray:
        newton = self.newton
        if self.problem.free_bias:
            newton.anchor[-1] = newton.V[-1]
        return newton.settle(newton.smoothing())[0]

    def half(self, gradient: np.ndarray) -> float:
        return self.newton.half(gradient)

    def weights(self) -> np.ndarray:
        return self.newton.V.ravel().copy()

    def at(self, v: np.ndarray) -> Point:
        problem, V = self.problem, v.reshape(-1, self.problem.classes)
        bias = V[-1] if problem.free_bias else np.zeros(problem.classes)
        dual = feasible_classes(self.newton.asked, self.newton.dual)
        w_dual = problem.weights(dual)
        self.newton.passes += 2.0
        return prove(self.system, Point(V[: problem.width].copy(), bias, dual, NO_GAP), self.system.margins(v), w_dual)
