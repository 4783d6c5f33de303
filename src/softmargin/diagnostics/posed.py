"""What a fitted model was asked to minimise, read again from its parameters and its data into plain arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from softmargin.constraints.graded import Constraints
from softmargin.constraints.labels import class_numbers
from softmargin.constraints.pairs import as_pairs, pair_rows
from softmargin.constraints.weights import numbers_of
from softmargin.data.matrix import rows_of
from softmargin.estimators._inputs import class_factors, read_labels, read_matrix
from softmargin.estimators.classifier import SoftMarginClassifier
from softmargin.estimators.ranker import SoftMarginRanker

ROUNDINGS = 100 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Posed:
    """minimise 1/2 |W|^2 + sum price loss(slack), one column of W a class, or one in all.

    With ``sign`` a constraint is ``sign (row . W[:, k] + bias_k) >= required - slack``, for every row and column.
    With ``label`` it is ``row . (W[:, label] - W[:, k]) + bias_label - bias_k >= required - slack``, for k != label.
    """

    X: Any  # float64, dense or sparse
    pairs: Any  # None, or a sparse matrix with +1 and -1 in every line: X[better] - X[worse] = pairs @ X
    sign: np.ndarray | None  # (rows, columns)
    label: np.ndarray | None  # (rows,)
    required: np.ndarray  # (rows, 1)
    price: np.ndarray  # (rows, 1), C included
    columns: int
    squared: bool = False
    shared: bool = False  # one slack for all constraints of a row
    free: bool = False  # an intercept that is not penalised
    dummy: bool = False  # one that is: a last line of W

    @property
    def separate(self) -> bool:
        """Whether the columns are problems of their own."""
        return self.label is None

    @property
    def there(self) -> np.ndarray:
        """Where there is a constraint: a class has none against itself."""
        if self.label is None:
            return np.ones((1, 1), dtype=bool)
        return np.asarray(np.arange(self.columns) != self.label[:, None])

    def short(self, W: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """What each constraint lacks: required - margin; 0 where there is none."""
        scores = self.X @ (W[:-1] if self.dummy else W)
        scores = (scores if self.pairs is None else self.pairs @ scores) + (W[-1] if self.dummy else bias)
        if self.label is None:
            return np.asarray(self.required - self.sign * scores)
        ahead = scores[np.arange(len(scores)), self.label][:, None] - scores
        return np.where(self.there, self.required - ahead, 0.0)

    def rounding(self, W: np.ndarray) -> np.ndarray:
        """What float64 cannot tell of a margin: some roundings of the terms that it is the sum of."""
        terms = abs(self.X) @ np.abs(W[:-1] if self.dummy else W)
        terms = terms if self.pairs is None else abs(self.pairs) @ terms
        return np.asarray(ROUNDINGS * (self.required + terms.max(axis=1, keepdims=True)))

    def pull(self, dual: np.ndarray) -> np.ndarray:
        """How hard the duals pull each row to each column."""
        if self.label is None:
            return np.asarray(self.sign * dual)
        pull = -dual
        pull[np.arange(len(dual)), self.label] += dual.sum(axis=1)
        return pull

    def weights(self, dual: np.ndarray) -> np.ndarray:
        """The weights that duals stand for: sum dual z."""
        pull = self.pull(dual)
        W = np.asarray(self.X.T @ (pull if self.pairs is None else self.pairs.T @ pull))
        return np.vstack([W, pull.sum(axis=0)]) if self.dummy else W

    def shaped(self, dual: Any) -> np.ndarray:
        """Duals as one line a row, or a sentence: they are of other data."""
        dual = np.asarray(dual, dtype=np.float64)
        if dual.shape != ((len(self.price), self.columns) if self.columns > 1 else (len(self.price),)):
            what = "pairs" if self.pairs is not None else "rows"
            message = (
                f"X and y make {len(self.price)} {what}, and dual_ of the model has shape {dual.shape}: "
                "pass the X and y that it was fitted on"
            )
            raise ValueError(message)
        return dual.reshape(len(self.price), self.columns)


def checked_matrix(model: Any, X: Any) -> Any:
    """X in float64, for a model that may be verified and has learned something."""
    if not isinstance(model, SoftMarginClassifier | SoftMarginRanker):
        message = (
            f"model is a {type(model).__name__}: pass a SoftMarginClassifier or a SoftMarginRanker (not a pipeline)"
        )
        raise TypeError(message)
    len(model.coef_)  # or the sentence of a model that has learned nothing
    X = read_matrix(model, X, reset=False)
    rows_of(X)  # refuses NaN and the like
    return X.astype(np.float64, copy=False)


def holds_pairs(y: Any) -> bool:
    """Whether y is pairs and not one grade a row."""
    return not isinstance(y, Constraints) and np.ndim(y) == 2 and np.shape(y)[1:] != (1,)


def posed(model: Any, X: Any, y: Any, **more: Any) -> Posed:
    """The problem of ``model`` on labels or pairs, with the parameters that it has now."""
    if isinstance(model, SoftMarginClassifier):
        refuse(more, ("qid", "weight", "margin"), "goes with a ranker, and model is a classifier")
        return labels_posed(model, X, y, more["sample_weight"])
    refuse(more, ("qid", "sample_weight"), "goes with grades, and y holds pairs, which take weight and margin")
    return pairs_posed(model, X, as_pairs(y), more["weight"], more["margin"], "weight")


def refuse(more: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    """One sentence for an argument that has no meaning here."""
    for name in names:
        if more[name] is not None:
            message = f"{name} {why}"
            raise ValueError(message)


def labels_posed(model: SoftMarginClassifier, X: Any, y: Any, weight: Any) -> Posed:
    """Labels: signed rows for two classes and for "ovr", rows with a label otherwise."""
    label = class_numbers(read_labels(y, X.shape[0]), model.classes_)
    classes, form = len(model.classes_), model.multiclass if len(model.classes_) > 2 else "binary"
    weight = np.ones(label.size) if weight is None else numbers_of(weight, label.size, "sample_weight")
    required, price = importance_of(model, weight, np.ones(label.size))
    mass = np.bincount(label, price, classes)
    factor = class_factors(model.class_weight, model.classes_, mass)[label]
    columns = 1 if form == "binary" else classes
    one = np.array([1]) if form == "binary" else np.arange(classes)
    sign = np.where(label[:, None] == one, 1.0, -1.0) if form in ("binary", "ovr") else None
    return Posed(
        X, None, sign, label if sign is None else None, required[:, None], (cost(model, price) * factor)[:, None],
        columns, model.loss == "squared_hinge", form == "max",
        free=bool(model.fit_intercept and not model.penalize_intercept), dummy=bool(model.penalize_intercept),
    )  # fmt: skip


def pairs_posed(model: SoftMarginRanker, X: Any, pairs: Any, weight: Any, margin: Any, name: str) -> Posed:
    """Pairs: signed rows X[better] - X[worse]."""
    held = pair_rows(rows_of(X), pairs, X.shape[0])  # refuses what are no pairs
    count = held.better.size
    weight = np.ones(count) if weight is None else numbers_of(weight, count, name)
    required, price = importance_of(model, weight, numbers_of(1.0 if margin is None else margin, count, "margin"))
    better, worse = held.better.astype(np.int64), held.worse.astype(np.int64)
    return one_by_one(X, better, worse, required, cost(model, price), squared=model.loss == "squared_hinge")


def one_by_one(
    X: Any, better: np.ndarray, worse: np.ndarray, required: np.ndarray, price: np.ndarray, *, squared: bool
) -> Posed:
    """Pairs as lines of a sparse matrix."""
    count, numbers = better.size, np.concatenate([better, worse])
    ends, sign = np.tile(np.arange(count), 2), np.repeat([1.0, -1.0], count)
    pairs = sparse.csr_array((sign, (ends, numbers)), shape=(count, X.shape[0]))
    return Posed(X, pairs, np.ones((count, 1)), None, required[:, None], price[:, None], 1, squared)


def importance_of(model: Any, weight: np.ndarray, required: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each constraint requires, and the price of its slack without C: k copies cost k times as much."""
    if model.weighting == "margin":
        return required * weight, np.ones(weight.size)
    return required, weight


def cost(model: Any, price: np.ndarray) -> np.ndarray:
    """The price of slack with C, which is 1/(lam T) where lam is set; T is the sum of the weights."""
    C = float(model.C) if model.lam is None else 1.0 / (float(model.lam) * float(price.sum()))
    return np.multiply(C, price, out=np.zeros_like(price), where=price > 0.0)


def learned_weights(model: Any, task: Posed) -> tuple[np.ndarray, np.ndarray]:
    """Weights and intercepts, one column each; a penalised intercept is the last line of the weights."""
    W, bias = np.atleast_2d(model.coef_).T.astype(np.float64), np.zeros(task.columns)
    if isinstance(model, SoftMarginClassifier):
        bias = np.asarray(model.intercept_, dtype=np.float64)
    if not (np.isfinite(W).all() and np.isfinite(bias).all()):
        message = "coef_ or intercept_ of the model is not finite: nothing can be proved about such weights"
        raise ValueError(message)
    if task.dummy:
        return np.vstack([W, bias]), np.zeros(task.columns)
    if not task.free and bias.any():
        message = "intercept_ is not zero and fit_intercept=False: such weights are no answer to the problem asked"
        raise ValueError(message)
    return W, bias
