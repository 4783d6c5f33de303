"""Why one row is ranked over another: what each feature adds, and which answers hold it up."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

MOST_LINES = 10


@dataclass(frozen=True)
class Explanation:
    """The difference of two utilities, taken apart twice: by features, and by the answers that made the weights.

    ``contributions`` add up to ``difference = w.(x_a - x_b)``.  With ``w_dual = sum dual_t z_t``, the weights that the
    duals stand for, ``influence`` adds up to ``w_dual.(x_a - x_b)``, which is the difference up to what the
    certificate leaves open.  ``answers`` is None where the answers cannot be told, and ``why_not`` says why.
    """

    a: int
    b: int
    difference: float
    names: np.ndarray  # of the features
    weights: np.ndarray
    change: np.ndarray  # x_a - x_b
    answers: np.ndarray | None = None  # numbers of the pairs or, after ``fit``, of the rows whose grades speak
    pairs: np.ndarray | None = None  # (better, worse) of each pair; None for rows
    influence: np.ndarray | None = None  # dual_t z_t.(x_a - x_b), of the largest size first
    why_not: str = ""

    @property
    def contributions(self) -> np.ndarray:
        """What each feature adds to the difference."""
        return self.weights * self.change

    @property
    def order(self) -> np.ndarray:
        """Numbers of the features that add something, those that add or take most first."""
        size = np.abs(self.contributions)
        return np.argsort(-size, kind="stable")[: np.count_nonzero(size)]

    @property
    def verdict(self) -> str:
        """How row a stands to row b, in one phrase."""
        if self.difference == 0.0:
            return f"level with row {self.b}"
        where = f"over row {self.b} by" if self.difference > 0 else f"NOT over row {self.b}, but behind it by"
        return f"{where} {abs(self.difference):.4g}"

    def __str__(self) -> str:
        """Two small tables, with the largest parts of each."""
        lines = [f"row {self.a} is {self.verdict}", ""]
        names = [str(self.names[place]) for place in self.order[:MOST_LINES]]
        wide = max(map(len, ["feature", *names]))
        lines.append(f"{'feature':<{wide}}  {'adds':>10}  {'weight':>10}  {'difference':>10}")
        for name, place in zip(names, self.order, strict=False):
            parts = self.contributions[place], self.weights[place], self.change[place]
            lines.append(f"{name:<{wide}}  {parts[0]:>+10.4g}  {parts[1]:>10.4g}  {parts[2]:>+10.4g}")
        lines += others(self.contributions[self.order[MOST_LINES:]], "feature", wide)
        if self.answers is None or self.influence is None:
            return "\n".join([*lines, "", self.why_not])
        if self.pairs is None:
            told = [f"grade of {row}" for row in self.answers[:MOST_LINES]]
        else:
            told = [f"{better} over {worse}" for better, worse in self.pairs[:MOST_LINES]]
        wide = max(map(len, ["answer", *told]))
        lines += ["", f"{'answer':<{wide}}  {'adds':>10}  {'number':>10}"]
        for name, adds, number in zip(told, self.influence, self.answers, strict=False):
            lines.append(f"{name:<{wide}}  {adds:>+10.4g}  {number:>10}")
        return "\n".join([*lines, *others(self.influence[MOST_LINES:], "answer", wide)])


def others(parts: np.ndarray, what: str, wide: int) -> list[str]:
    """One line for all that is left, where something is."""
    if not parts.size:
        return []
    name = f"{parts.size} more {what}{'s' if parts.size > 1 else ''}"
    return [f"{name:<{wide}}  {parts.sum():>+10.4g}"]


@dataclass(frozen=True)
class Support:
    """The answers that hold the weights up: all that an explanation needs beside the weights and X."""

    answers: np.ndarray
    pairs: np.ndarray | None  # None: answers are rows of X, and duals their balance
    dual: np.ndarray
    open: float  # |w - w_dual| is at most this


def row_number(value: Any, name: str, count: int) -> int:
    """A row of X, or one sentence."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not whole or not 0 <= value < count:
        message = f"{name}={value!r}: explain takes two row numbers of X, which are whole numbers from 0 to {count - 1}"
        raise ValueError(message)
    return int(value)


def explain(X: Any, a: Any, b: Any, w: np.ndarray, names: np.ndarray, support: Support | None) -> Explanation:
    """Row a of X against row b; ``X`` is checked already."""
    a, b = row_number(a, "a", X.shape[0]), row_number(b, "b", X.shape[0])
    if a == b:
        message = f"a={a} and b={b} are the same row: there is no difference to explain"
        raise ValueError(message)
    change = dense(X[[a]]) - dense(X[[b]])
    parts = a, b, float(w @ change), names, w, change
    if support is None:
        return Explanation(*parts, why_not="The answers are not told: a stream keeps no duals.")
    foreign = "The answers are not told: X holds other rows than those that the model was fitted on."
    pairs = support.pairs
    if X.shape[0] <= (support.answers if pairs is None else pairs).max(initial=-1):
        return Explanation(*parts, why_not=foreign)
    if pairs is None:
        hold = np.bincount(support.answers, support.dual, X.shape[0])
    else:
        hold = np.bincount(pairs[:, 0], support.dual, X.shape[0]) - np.bincount(pairs[:, 1], support.dual, X.shape[0])
    # The same rows make weights that differ from w by no more than the certificate leaves open.
    if not np.linalg.norm(X.T @ hold - w) <= support.open + 1e-6 * np.linalg.norm(w):
        return Explanation(*parts, why_not=foreign)
    toward = X @ change
    moves = toward[support.answers] if pairs is None else toward[pairs[:, 0]] - toward[pairs[:, 1]]
    influence = support.dual * moves
    order = np.argsort(-np.abs(influence), kind="stable")
    order = order[: np.count_nonzero(influence)]
    return Explanation(*parts, support.answers[order], None if pairs is None else pairs[order], influence[order])


def dense(row: Any) -> np.ndarray:
    """One row as a vector of float64."""
    return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=np.float64).ravel()
