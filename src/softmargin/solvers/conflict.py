"""Constraints that no weights can satisfy together, as few as possible, with the proof."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import qr, svd

from softmargin.constraints.cycles import shortest_cycles
from softmargin.kernels.band import gather
from softmargin.kernels.coordinate import lengths2
from softmargin.kernels.rows import PairRows, as_vector
from softmargin.solvers.active_set import satisfy
from softmargin.solvers.class_problem import ClassProblem
from softmargin.solvers.problem import Problem

PROVED = 16.0 * float(
    np.finfo(np.float64).eps
)  # times the root of how many: what rounding leaves of a sum that is zero
NOTHING = (1e-9, 1e-11, 1e-13, 1e-15)  # of the largest multiplier: what may be nothing but rounding, few rows first
SAMPLE_ROWS, SAMPLE_NUMBERS = 1000, 20_000_000


@dataclass(frozen=True)
class Conflict:
    """An irreducible set of constraints that no weights satisfy: leave out any one, and some weights satisfy the rest.

    The proof (Farkas): ``sum multipliers * z = 0`` and ``sum multipliers * required > 0``, for the signed rows z of
    the constraints, so that ``z . w >= required`` for all of them would be ``0 > 0``.
    """

    rows: np.ndarray  # numbers of the constraints: lines of pairs, or rows of X where there are labels
    multipliers: np.ndarray  # positive, their sum is 1
    residual: float  # |sum multipliers * z| as a share of sum multipliers * |z|: what rounding leaves of zero
    pairs: np.ndarray | None = None  # comparisons: (better, worse) of each
    cycle: list[int] | None = None  # comparisons: the items, each over the next and the last over the first
    classes: np.ndarray | None = None  # several classes: the wrong class that each row is too close to
    twins: bool = False  # labels: one row of features with two labels

    def __len__(self) -> int:
        """How many constraints."""
        return int(self.rows.size)

    def __str__(self) -> str:
        """A few lines that a person understands."""
        lines = [f"{len(self)} constraint{'s' * (len(self) > 1)} that {self.verdict()}:"]
        for place, (row, multiplier) in enumerate(zip(self.rows.tolist(), self.multipliers.tolist(), strict=True)):
            said = f"row {row}"
            if self.pairs is not None:
                better, worse = self.pairs[place].tolist()
                said = f"pairs[{row}]: {better} over {worse}"
            elif self.classes is not None:
                said = f"row {row}, against class {self.classes[place]}"
            lines.append(f"  {said}  (times {multiplier:.4g})")
        return "\n".join(lines)

    def verdict(self, them: str = "") -> str:
        """What cannot satisfy them, in one clause."""
        score = "no score at all" if self.contradicts else "no linear score of these features"
        return " ".join(filter(None, (score, "can satisfy", them, "together" * (len(self) > 1))))

    @property
    def contradicts(self) -> bool:
        """Whether people contradict each other or themselves: a cycle, or one row of features with two labels."""
        return self.cycle is not None or self.twins


class InfeasibleError(ValueError):
    """There is no hard margin: ``conflict`` holds constraints that no weights can satisfy together."""

    def __init__(self, conflict: Conflict) -> None:
        self.conflict = conflict
        super().__init__(f"C=inf allows no slack, but {story(conflict)}; pass a finite C to allow slack")

    def named(self, classes: np.ndarray) -> "InfeasibleError":
        """The same with labels in the place of class numbers."""
        numbers = self.conflict.classes
        return self if numbers is None else InfeasibleError(replace(self.conflict, classes=classes[numbers]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross processes as what they were made of."""
        return type(self), (self.conflict,)


def story(conflict: Conflict) -> str:
    """One clause that tells a contradiction from a missing feature."""
    named = [str(row) for row in conflict.rows[:5].tolist()]
    if conflict.pairs is not None:
        named = [f"{row} ({a} over {b})" for row, (a, b) in zip(named, conflict.pairs.tolist(), strict=False)]
    shown = ", ".join(named) + (", ..." if len(conflict) > 5 else "")
    what = ("row" if conflict.pairs is None else "pair") + ("s" if len(conflict) > 1 else "")
    if conflict.cycle is not None:
        why = "they are a cycle, somebody contradicts somebody"
    elif conflict.twins:
        why = "they hold the same features and have two labels"
    elif conflict.pairs is not None:
        why = "they are no cycle, so a feature is missing that tells these items apart"
    else:
        why = "a label is wrong, or a feature is missing that tells these rows apart"
    return f"{conflict.verdict(f'{what} {shown}')} ({why})"


# ----------------------------------------------------------------------------------- systems of constraints


class SignedSystem:
    """Signed rows; a free intercept is the last weight."""

    def __init__(self, problem: Problem) -> None:
        self.problem, constraints = problem, problem.constraints
        self.width, self.required = problem.width + problem.free_bias, constraints.required
        length2 = np.empty(problem.size)
        lengths2(constraints.rows, problem.width, 0, problem.size, length2)
        self.lengths = np.where(constraints.price > 0, np.sqrt(length2 + problem.free_bias), np.inf)

    def margins(self, v: np.ndarray) -> np.ndarray:
        """What every constraint has."""
        d = self.problem.width
        return self.problem.margins(v[:d], float(v[d]) if self.problem.free_bias else 0.0)

    def row(self, t: int) -> np.ndarray:
        """One row, written out."""
        rows, sign, _, _ = self.problem.constraints
        return sign[t] * _with_bias(as_vector(rows, t, self.problem.width), free=self.problem.free_bias)

    def scale(self) -> np.ndarray:
        """How large the columns are."""
        return _scale(self.problem)


class ClassSystem:
    """A row against each wrong class: constraint ``t * classes + k`` says that row t is in its class, not in k."""

    def __init__(self, problem: ClassProblem) -> None:
        self.problem, constraints, K = problem, problem.constraints, problem.classes
        self.depth = problem.width + problem.free_bias
        self.width, self.required = self.depth * K, np.repeat(constraints.required, K)
        length2 = np.empty(problem.size)
        lengths2(constraints.rows, problem.width, 0, problem.size, length2)
        lengths = np.repeat(np.where(constraints.price > 0, np.sqrt(2.0 * (length2 + problem.free_bias)), np.inf), K)
        lengths[np.arange(problem.size) * K + constraints.label] = np.inf  # nobody competes with himself
        self.lengths = lengths

    def margins(self, v: np.ndarray) -> np.ndarray:
        """What every constraint has."""
        problem, V = self.problem, v.reshape(self.depth, -1)
        bias = V[-1] if problem.free_bias else np.zeros(problem.classes)
        score = problem.scores(np.ascontiguousarray(V[: problem.width]), bias)
        own = score[np.arange(problem.size), problem.constraints.label]
        return np.asarray(own[:, None] - score).ravel()

    def row(self, t: int) -> np.ndarray:
        """One row, written out."""
        t, k = divmod(t, self.problem.classes)
        rows, label, _, _ = self.problem.constraints
        out = np.zeros((self.depth, self.problem.classes))
        out[:, label[t]] = _with_bias(as_vector(rows, t, self.problem.width), free=self.problem.free_bias)
        out[:, k] = -out[:, label[t]]
        return out.ravel()

    def scale(self) -> np.ndarray:
        """How large the columns are."""
        return np.repeat(_scale(self.problem), self.problem.classes)


def _with_bias(row: np.ndarray, *, free: bool) -> np.ndarray:
    return np.append(row, 1.0) if free else row


def _scale(problem: Problem | ClassProblem) -> np.ndarray:
    """The largest number of each column in a sample of rows: other units are the same question, better put."""
    count = max(1, min(problem.size, SAMPLE_ROWS, SAMPLE_NUMBERS // problem.width))
    sample = np.linspace(0, problem.size - 1, count).astype(np.uint64)
    block = np.empty((count, problem.width))
    gather(problem.constraints.rows, sample, np.ones(count), np.zeros(problem.width), 0, count, block)
    largest = np.abs(block).max(axis=0)
    return _with_bias(np.where(largest > 0, largest, 1.0), free=problem.free_bias)


# ----------------------------------------------------------------------------------- the search


def search(system: SignedSystem | ClassSystem, among: np.ndarray | None = None) -> tuple[np.ndarray | None, Any]:
    """Weights with sufficient margins, or a ``Conflict``, or neither where float64 can prove neither.

    given  among  numbers of constraints to look at first; contradictions, which any features leave, come before them
    """
    scale = system.scale()
    for first in (contradiction(system), among):
        if first is None or first.size == 0:
            continue
        found = satisfy(system, scale, first)
        if found.conflict is not None and (conflict := irreducible(system, scale, found.conflict)) is not None:
            return None, conflict
        if found.v is None and found.conflict is None:  # nor will it find anything among more of them
            return None, None
    found = satisfy(system, scale)
    return found.v, None if found.conflict is None else irreducible(system, scale, found.conflict)


def contradiction(system: SignedSystem | ClassSystem) -> np.ndarray | None:
    """Pairs that form a cycle, or two labels of one row, where there are any."""
    rows = system.problem.constraints.rows
    if not isinstance(rows, PairRows):
        return twins_of(system)
    asked = np.flatnonzero(np.isfinite(system.lengths) & (system.required > 0))
    found = shortest_cycles(rows.better[asked].astype(np.int64), rows.worse[asked].astype(np.int64))
    return asked[min(found, key=lambda cycle: len(cycle.items)).lines] if found else None


def twins_of(system: SignedSystem | ClassSystem) -> np.ndarray | None:
    """Two constraints that say of one row of features that it has two labels: equal rows have equal scores."""
    problem = system.problem
    rows, label, _, price = problem.constraints
    scores = np.random.default_rng(0).normal(size=(problem.width, 1))
    if isinstance(problem, ClassProblem):
        key = problem.scores(np.tile(scores, problem.classes), np.zeros(problem.classes))[:, 0]
    else:
        key = problem.margins(scores[:, 0]) * label
    order = np.lexsort((label, key))
    order = order[price[order] > 0]
    places = np.flatnonzero((np.diff(key[order]) == 0.0) & (np.diff(label[order]) != 0))
    for a, b in zip(order[places].tolist(), order[places + 1].tolist(), strict=True):
        if np.array_equal(as_vector(rows, a, problem.width), as_vector(rows, b, problem.width)):
            if isinstance(problem, ClassProblem):
                return np.array([a * problem.classes + label[b], b * problem.classes + label[a]])
            return np.array([a, b])
    return None


def irreducible(system: SignedSystem | ClassSystem, scale: np.ndarray, numbers: np.ndarray) -> Conflict | None:
    """The conflict among rows of which all but one are linearly independent; None where rounding leaves a doubt.

    One sum of them only is zero.  Without any of the rows that are in it, the others are linearly independent, and
    have weights for whatever they require.
    """
    rows = np.array([system.row(int(t)) for t in numbers]) / scale
    lengths = np.linalg.norm(rows, axis=1)
    rows /= np.where(lengths > 0, lengths, 1.0)[:, None]
    first = null_vector(rows)
    for nothing in NOTHING:
        kept = first > nothing * first.max()
        multipliers = null_vector(rows[kept])
        residual = float(np.linalg.norm(multipliers @ rows[kept]))
        multipliers /= np.where(lengths > 0, lengths, 1.0)[kept]
        left = numbers[kept]
        if (
            residual <= PROVED * np.sqrt(left.size)
            and multipliers.min() > 0.0
            and multipliers @ system.required[left] > 0.0
        ):
            order = np.argsort(left)
            return told(system, left[order], multipliers[order] / multipliers.sum(), residual)
    return None


def null_vector(rows: np.ndarray) -> np.ndarray:
    """The multipliers of length 1 whose sum of the rows is smallest, most of them positive."""
    triangle = qr(rows.T, mode="r")[0] if rows.shape[1] > rows.shape[0] else rows.T
    multipliers = np.asarray(svd(triangle[: rows.shape[0]])[2][-1])
    return multipliers if multipliers.sum() >= 0.0 else -multipliers


def told(system: SignedSystem | ClassSystem, numbers: np.ndarray, multipliers: np.ndarray, residual: float) -> Conflict:
    """A conflict in the words of who made the constraints."""
    rows = system.problem.constraints.rows
    if isinstance(rows, PairRows):
        pairs = np.column_stack([rows.better[numbers], rows.worse[numbers]]).astype(np.int64)
        cycles = shortest_cycles(*pairs.T)
        return Conflict(numbers, multipliers, residual, pairs, cycles[0].items if cycles else None)
    classes = None
    if isinstance(system, ClassSystem):
        numbers, classes = np.divmod(numbers, system.problem.classes)
    written = [as_vector(rows, int(t), system.problem.width) for t in numbers]
    twins = len(written) == 2 and bool(np.array_equal(written[0], written[1]))
    return Conflict(numbers, multipliers, residual, classes=classes, twins=twins)
