"""One problem with several classes, and what a dual point proves about weights."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from softmargin.data.matrix import stored_numbers
from softmargin.kernels.class_sums import class_gap_terms, class_scores_of, class_weights_of
from softmargin.kernels.constraints import ClassConstraints
from softmargin.solvers.certificate import distance_bound
from softmargin.solvers.parallel import over_ranges
from softmargin.solvers.problem import Gap, Solution, added_up


@dataclass(frozen=True)
class ClassProblem:
    """minimise ``1/2 |W|^2 + sum price_t loss_t`` with ``short_k = required - (s_label - s_k)``, s = row . W + bias.

    "max": ``loss_t = loss(max_k short_k)``; "sum": ``loss_t = sum_k loss(short_k)``.
    A dual is a number for each row and wrong class: at most the price in each row together ("max") or each ("sum").
    """

    constraints: ClassConstraints
    width: int
    classes: int
    every: bool  # "sum"
    squared: bool = False
    free_bias: bool = False

    @property
    def size(self) -> int:
        """How many rows."""
        return int(self.constraints.label.size)

    def scores(self, W: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """The score of every class on every row."""
        out = np.empty((self.size, self.classes))

        def part(start: int, stop: int) -> None:
            class_scores_of(self.constraints.rows, W, start, stop, out)

        over_ranges(part, self.size, stored_numbers(self.constraints.rows) * self.classes)
        out += bias
        return out

    def weights(self, dual: np.ndarray) -> np.ndarray:
        """The weights that a dual stands for."""

        def part(start: int, stop: int) -> np.ndarray:
            W = np.zeros((self.width, self.classes))
            class_weights_of(self.constraints.rows, self.constraints.label, dual, start, stop, W)
            return W

        parts = over_ranges(part, self.size, stored_numbers(self.constraints.rows) * self.classes)
        return added_up(parts)

    def loss_and_residual(self, score: np.ndarray, dual: np.ndarray) -> tuple[float, float]:
        """The loss at these scores, and what it and the dual's conjugate leave of the gap."""
        loss, _, residual = class_gap_terms(self.constraints, score, dual, self.every, self.squared)
        return float(loss), float(residual)


def feasible_classes(problem: ClassProblem, dual: np.ndarray) -> np.ndarray:
    """The nearest thing to ``dual`` that proves something: in its set, and balanced where intercepts are free."""
    labels, price = problem.constraints.label, problem.constraints.price
    dual = np.where(price[:, None] > 0, np.maximum(dual, 0.0), 0.0)
    dual[np.arange(labels.size), labels] = 0.0
    if not problem.squared and problem.every:
        dual = np.minimum(dual, price[:, None])
    elif not problem.squared:
        mass = dual.sum(axis=1)
        dual *= np.where(mass > price, price / np.where(mass > 0, mass, 1.0), 1.0)[:, None]
    if problem.free_bias:
        flow = np.zeros((problem.classes, problem.classes))
        np.add.at(flow, labels, dual)
        dual *= balancing(flow)[labels]
    return dual


def balancing(flow: np.ndarray) -> np.ndarray:
    """Factors between 0 and 1 that make ``flow`` a circulation: as much into every class as out of it.

    Osborne's scaling ``exp(potential_from - potential_to)``, one class after the other, on the strongly connected
    parts: what leads from one part to another can never come back.
    """
    _, part = connected_components(flow > 0, connection="strong")
    flow = np.where(part[:, None] == part[None, :], flow, 0.0)
    potential = np.zeros(len(flow))
    for _ in range(1000):
        for k in range(len(flow)):
            out = flow[k] @ np.exp(potential[k] - potential)
            into = flow[:, k] @ np.exp(potential - potential[k])
            if out > 0 and into > 0:
                potential[k] += 0.5 * np.log(into / out)
        scaled = flow * np.exp(potential[:, None] - potential)
        if np.abs(scaled.sum(axis=0) - scaled.sum(axis=1)).sum() <= 1e-15 * scaled.sum():
            break
    factors = np.where(flow > 0, np.exp(potential[:, None] - potential), 0.0)
    return factors / max(1.0, factors.max())


def measure_classes(problem: ClassProblem, W: np.ndarray, bias: np.ndarray, dual: np.ndarray) -> Gap:
    """The gap between weights and a feasible dual, from the data alone."""
    score = problem.scores(W, bias)
    apart2 = float(np.sum((W - (W_dual := problem.weights(dual))) ** 2))
    loss, gain, residual = class_gap_terms(problem.constraints, score, dual, problem.every, problem.squared)
    gap = residual + 0.5 * apart2
    return Gap(
        primal=0.5 * float(np.sum(W**2)) + loss,
        dual=gain - 0.5 * float(np.sum(W_dual**2)),
        gap=gap,
        distance=distance_bound(gap, float(np.sqrt(apart2))),
    )


def class_solution_at(
    problem: ClassProblem, W: np.ndarray, bias: np.ndarray, dual: np.ndarray, passes: float, reason: str
) -> Solution:
    """These weights with what ``dual``, made feasible, proves about them."""
    dual = feasible_classes(problem, dual)
    return Solution(W, bias, dual, measure_classes(problem, W, bias, dual), passes, reason)
