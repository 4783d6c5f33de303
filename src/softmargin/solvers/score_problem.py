"""The problem of statements about scores ``X w``, and what any scores prove about it."""

from dataclasses import dataclass, replace

import numpy as np

from softmargin.data.matrix import row_count
from softmargin.kernels.constraints import Constraints
from softmargin.kernels.rows import DenseRows, PairRows, SparseRows
from softmargin.kernels.sweep import SQUARED_HINGE, Rule
from softmargin.solvers.certificate import distance_bound
from softmargin.solvers.problem import Gap, Problem, Solution
from softmargin.solvers.sources import Source, Totals

ALL = np.ones(1)  # of something that all rows share
STIFFNESSES = 0.5 * 4.0 ** np.arange(15)  # tried where weights came without any


@dataclass(frozen=True)
class ScoreProblem:
    """minimise ``1/2 |w|^2 + sum price loss(required - (score[better] - score[worse]))``, scores = X w.

    The pairs are those of all ``sources``, which never list them unless they were listed by their user.  ``price``
    already holds C.  Whatever the scores s, the duals that a rule makes of them are feasible, and with
    ``w_dual = X' pull``

        primal(w) - dual value = sum residual + 1/2 |w - w_dual|^2     where s = X w.
    """

    rows: DenseRows | SparseRows
    width: int
    sources: list[Source]
    squared: bool = False

    @property
    def size(self) -> int:
        """How many rows X has."""
        return row_count(self.rows)

    @property
    def items(self) -> Problem:
        """The rows of X as they are: their margins are the scores."""
        return Problem(Constraints(self.rows, np.ones(self.size, dtype=np.int8), ALL, ALL), self.width)

    @property
    def unit(self) -> float:
        """The largest required margin: how large differences of scores are."""
        return max(source.largest for source in self.sources) or 1.0

    def rule(self, stiffness: float) -> Rule:
        """How duals follow from scores; the squared hinge is smooth as it is."""
        return SQUARED_HINGE if self.squared else Rule(1.0 / stiffness, stiffness, 1.0)

    def settle(self, scores: np.ndarray, rule: Rule) -> tuple[np.ndarray, Totals]:
        """The balance of duals of each row, and the sums over all pairs."""
        pull = np.zeros(self.size)
        return pull, Totals.of([source.settle(scores, rule, pull) for source in self.sources])

    def proved(self, w: np.ndarray, stiffness: float) -> tuple[np.ndarray, Gap]:
        """The balance of the duals at these weights, and the gap to them, from the data alone."""
        items = self.items
        pull, totals = self.settle(items.margins(w), self.rule(stiffness))
        return pull, gap_between(w, items.weights(pull)[0], totals)

    def listed(self) -> Problem:
        """The same problem with every pair a signed row of its own."""
        lists = [source.listed() for source in self.sources]
        better, worse, required, price = (np.concatenate(parts) for parts in zip(*lists, strict=True))
        rows = PairRows(self.rows, better.astype(np.uint64), worse.astype(np.uint64))
        sign = np.ones(better.size, dtype=np.int8)
        return Problem(Constraints(rows, sign, required, price), self.width, self.squared)


@dataclass(frozen=True)
class ScoreSolution(Solution):
    """A solution whose dual is the balance by row of X; ``stiffness`` says how every single dual follows from w."""

    stiffness: float = 0.0


def gap_between(w: np.ndarray, w_dual: np.ndarray, totals: Totals) -> Gap:
    """The numbers of a certificate from the sums over all pairs."""
    length2, apart2 = float(w_dual @ w_dual), float(np.sum((w - w_dual) ** 2))
    gap = totals.residual + 0.5 * apart2
    distance = distance_bound(gap, float(np.sqrt(apart2)))
    return Gap(0.5 * float(w @ w) + totals.loss, totals.gain - 0.5 * length2, gap, distance)


def stiffnesses_to_try(unit: float, *, squared: bool) -> np.ndarray:
    """For weights that came without one; the squared hinge has no use for any, but one has to stand for it."""
    return STIFFNESSES[:1] if squared else STIFFNESSES / unit


def score_solution_at(problem: ScoreProblem, w: np.ndarray, passes: float, reason: str) -> ScoreSolution:
    """These weights with the most that duals made of their own scores prove about them."""
    best: ScoreSolution | None = None
    for stiffness in stiffnesses_to_try(problem.unit, squared=problem.squared):
        pull, gap = problem.proved(w, stiffness)
        if best is None or gap.gap < best.gap.gap:
            best = ScoreSolution(w, 0.0, pull, gap, passes, reason, stiffness)
    assert best is not None  # noqa: S101 there is always a first
    return best


def pairs_of(listed: Problem) -> PairRows:
    """The rows of a problem that ``ScoreProblem.listed`` made."""
    pairs = listed.constraints.rows
    assert isinstance(pairs, PairRows)  # noqa: S101 ``listed`` made it
    return pairs


def balanced(listed: Problem, solution: Solution, rows: int) -> Solution:
    """A solution over listed pairs with its duals summed up by row of X."""
    pairs = pairs_of(listed)
    dual = np.bincount(pairs.better.astype(np.int64), solution.dual, rows)
    return replace(solution, dual=dual - np.bincount(pairs.worse.astype(np.int64), solution.dual, rows))
