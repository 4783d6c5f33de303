"""Labels: two classes or more, by constraints with a margin."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from softmargin.constraints.labels import class_numbers, classes_of, signs_of
from softmargin.constraints.weights import Importance, importance
from softmargin.data.matrix import dense_rows, row_count, with_constant
from softmargin.estimators._base import SoftMarginModel, StreamMethod
from softmargin.estimators._inputs import class_factors, read_classes, read_labels, refuse_unless
from softmargin.kernels.constraints import ClassConstraints, Constraints
from softmargin.kernels.rows import DenseRows, SparseRows
from softmargin.solvers.choose import solve
from softmargin.solvers.conflict import InfeasibleError
from softmargin.solvers.points import PointCounts, count_points

MULTICLASS = ("max", "sum", "ovr")
ONE = np.ones(1)


class SoftMarginClassifier(ClassifierMixin, SoftMarginModel):
    """Linear support vector machine for two classes or more, with a certificate.

    minimise  1/2 |w|^2 + C * sum_t price_t * loss(required_t - margin_t)

    Parameters
    ----------
    C : price of slack; ``inf`` is the hard margin.
    lam : the same as ``lam = 1/(C T)`` for T constraints; streams (``partial_fit``) need it.
    loss : "hinge" or "squared_hinge".
    multiclass : "max" (one slack a row, the closest wrong class), "sum" (one slack for each wrong class) or
        "ovr" (one binary problem a class); ignored for two classes.
    fit_intercept, penalize_intercept : the intercept is free, or penalised like any weight (the notes' dummy feature).
    class_weight : None, "balanced", or a dict from class to the factor on the price of its slack.
    weighting : what ``sample_weight`` means: "slack" scales the price of slack, "margin" the required margin,
        "replicate" repeats the constraint.
    solver : "auto", "dual", "newton" or "online".
    tol : stop at this relative duality gap.
    max_passes : stop after this many passes over the data.
    schedule : steps of the online solver: "strong" 1/(lam t), "sqrt" step0/sqrt(t), "constant" step0, "adaptive"
        (nothing to choose), or a function of t = 1, 2, ...
    step0 : the constant of "sqrt" and "constant", 1 by default.
    average : weights of the online solver: False or "last", "mean", True or "weighted" (step t counts t times).
    random_state : seed of the order of the constraints.
    verbose : print the certificate.
    """

    stream_parameters = (
        *SoftMarginModel.stream_parameters, "multiclass", "fit_intercept", "penalize_intercept", "class_weight",
    )  # fmt: skip

    def __init__(
        self,
        C: float = 1.0,
        *,
        lam: float | None = None,
        loss: str = "hinge",
        multiclass: str = "max",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        class_weight: Any = None,
        weighting: str = "slack",
        solver: str = "auto",
        tol: float = 1e-4,
        max_passes: int = 1000,
        schedule: Any = "strong",
        step0: float | None = None,
        average: bool | str = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.lam = lam
        self.loss = loss
        self.multiclass = multiclass
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.weighting = weighting
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.schedule = schedule
        self.step0 = step0
        self.average = average
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SoftMarginClassifier":
        """Solve the whole problem; ``certificate_`` says how well."""
        with self._all_or_nothing():
            self._check_parameters()
            rows = self._rows(X, reset=True)
            y = read_labels(y, row_count(rows))
            classes, numbers = classes_of(y)
            if classes.size < 2:
                message = f"y holds one class only, {classes.tolist()[0]!r}: there is nothing to tell apart"
                raise ValueError(message)
            matter = importance(y.size, sample_weight, self.weighting)
            matter.refuse_nothing("sample_weight")
            mass = np.bincount(numbers, matter.whole_price, classes.size)
            factors = class_factors(self.class_weight, classes, mass)
            task, lam = self._task(matter)
            plan = self._plan(lam, self._width(), **self._shape(classes))
            stream = self._constraints(rows, numbers, matter, factors)
            price = stream.price if matter.copies is None else matter.whole_price * factors[numbers]
            stream, batch = self._handed_over(stream, price)
            met, order = matter.total, self._order(matter)
            del y, numbers, matter, price  # as long as all rows: solvers have no use for them
            try:
                self._conclude(met, lambda: solve(task, stream, batch, plan, order))
            except InfeasibleError as error:
                raise error.named(classes) from None
            self.classes_ = classes
        self._warn_unless_converged()
        return self

    @StreamMethod
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> "SoftMarginClassifier":
        """One step of the online algorithm for each row, in the order given; a refused call learns nothing."""
        if classes is None and sample_weight is None and self._learn_live(X, y):
            return self
        with self._all_or_nothing():
            self._check_parameters()
            rows = self._rows(X, reset=not self.__sklearn_is_fitted__())
            y, classes = read_labels(y, row_count(rows)), self._stream_classes(classes)
            numbers, factors = class_numbers(y, classes), self._stream_factors(classes)
            matter = importance(y.size, sample_weight, self.weighting)
            constraints = self._constraints(rows, numbers, matter, factors)
            stream = self._stream_for(self._width(), **self._shape(classes))
            self._keep_stream(stream.after(constraints, matter.order()))
            self.classes_ = classes
            if not hasattr(self, "_live"):
                once = Importance(ONE, ONE, None)
                places = enumerate(classes.tolist())
                self._live = {label: self._constraints(rows, np.array([k]), once, factors) for k, label in places}
        return self

    def _learn_live(self, X: Any, y: Any) -> bool:
        """Learn from one dense row of a stream under way at the cost of the step; False: take the long way."""
        known = self.__dict__
        if (
            "_live" not in known
            or "feature_names_in_" in known
            or type(X) is not np.ndarray
            or X.dtype != np.float64
            or X.shape != (1, self.n_features_in_)
            or not X.flags.c_contiguous
            or not ((type(y) is np.ndarray and y.shape == (1,)) or (type(y) is list and len(y) == 1))
            or self._asked() != self._stream_asked
        ):
            return False
        try:
            like = self._live[y[0]]
        except (KeyError, TypeError):
            return False
        row = dense_rows(X)
        return self._stream.learn_one(like._replace(rows=with_constant(row) if self._has_dummy() else row))

    def _stream_classes(self, classes: Any) -> np.ndarray:
        """The classes of a stream: told at its first call, the same ever after."""
        known: np.ndarray | None = getattr(self, "classes_", None)
        if classes is None:
            if known is None:
                message = "classes is not set: the first partial_fit is told all classes that may come"
                raise ValueError(message)
            return known
        told = read_classes(classes)
        if known is not None and not np.array_equal(known, told):
            message = f"classes is {told.tolist()}, but the stream began with {known.tolist()}"
            raise ValueError(message)
        return told

    def _stream_factors(self, classes: np.ndarray) -> np.ndarray:
        if isinstance(self.class_weight, str):
            message = (
                f"class_weight={self.class_weight!r} needs the whole of y, which a stream never has: pass a dict from "
                "class to weight"
            )
            raise ValueError(message)
        return class_factors(self.class_weight, classes, np.ones(classes.size))

    # ------------------------------------------------------------------------------- the problem

    def _check_parameters(self) -> None:
        super()._check_parameters()
        refuse_unless(self, self.multiclass in MULTICLASS, "multiclass", f"one of {', '.join(MULTICLASS)}")
        for name in ("fit_intercept", "penalize_intercept"):
            refuse_unless(self, isinstance(getattr(self, name), (bool, np.bool_)), name, "True or False")
        pointless = self.penalize_intercept and not self.fit_intercept
        refuse_unless(self, not pointless, "penalize_intercept", "False where fit_intercept=False")

    def _has_dummy(self) -> bool:
        return bool(self.fit_intercept and self.penalize_intercept)

    def _width(self) -> int:
        return int(self.n_features_in_) + self._has_dummy()

    def _shape(self, classes: np.ndarray) -> dict[str, Any]:
        free = bool(self.fit_intercept and not self.penalize_intercept)
        several = {"classes": classes.size, "form": self.multiclass} if classes.size > 2 else {}
        return {"free_bias": free, **several}

    def _constraints(
        self, rows: DenseRows | SparseRows, numbers: np.ndarray, matter: Importance, factors: np.ndarray
    ) -> Constraints | ClassConstraints:
        """Labels as constraints, with the price of one copy of each."""
        price = matter.price if np.all(factors == 1.0) else matter.price * factors[numbers]
        columns = with_constant(rows) if self._has_dummy() else rows
        if factors.size == 2:
            return Constraints(columns, signs_of(numbers), matter.required, price)
        return ClassConstraints(columns, numbers, matter.required, price)

    # ------------------------------------------------------------------------------- what was learned

    @property
    def coef_(self) -> np.ndarray:
        """Weights, one line a class, or one line in all for two classes."""
        weights, _ = self._learned()
        return np.atleast_2d(weights[: self.n_features_in_].T)

    @property
    def intercept_(self) -> np.ndarray:
        """One intercept for each line of ``coef_``; zero where none is fitted."""
        weights, bias = self._learned()
        return np.atleast_1d(weights[-1]) if self._has_dummy() else bias

    def decision_function(self, X: Any) -> np.ndarray:
        """Score of the second of two classes, or of every class."""
        scores = np.asarray(self._finite_matrix(X) @ self.coef_.T + self.intercept_)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest score."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[places])

    def margins(self, X: Any, y: Any) -> np.ndarray:
        """How far each row is on the right side of the closest other class; negative where it is wrong."""
        scores = self.decision_function(X)
        numbers = self._numbers(y, len(scores))
        if scores.ndim == 1:
            return scores * signs_of(numbers)
        right = scores[np.arange(numbers.size), numbers]
        scores[np.arange(numbers.size), numbers] = -np.inf
        return right - scores.max(axis=1)

    def slack(self, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray:
        """What each row lacks of its required margin: zero outside and on the margin, positive inside it.

        "max": against the closest wrong class; "sum" and "ovr": added over their constraints.  The margin is 1 or, with
        weighting="margin", the weight.
        """
        scores = self.decision_function(X)
        numbers = self._numbers(y, len(scores))
        required = importance(numbers.size, sample_weight, self.weighting).required
        if scores.ndim == 1 or self.multiclass == "max":
            return np.maximum(0.0, required - self.margins(X, y))
        mine = np.arange(numbers.size), numbers
        if self.multiclass == "ovr":
            scores[mine] *= -1.0
            return np.maximum(0.0, required[:, None] + scores).sum(axis=1)
        short = np.maximum(0.0, required[:, None] - (scores[mine][:, None] - scores))
        short[mine] = 0.0
        return np.asarray(short.sum(axis=1))

    def points(self, X: Any, y: Any, tolerance: float = 1e-3) -> PointCounts:
        """How many rows lie outside, on and inside the margin, and how many on the wrong side (the 0-1 loss)."""
        return count_points(self.margins(X, y), tolerance)

    def _numbers(self, y: Any, rows: int) -> np.ndarray:
        return class_numbers(read_labels(y, rows), self.classes_)
