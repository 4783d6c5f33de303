"""What a user hands in, checked: one sentence names the argument and the row, whatever is wrong."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d, validate_data

from softmargin.constraints.weights import LARGEST, is_number


def refuse_unless(model: Any, fine: Any, name: str, wanted: str) -> None:
    """One sentence for a parameter of a model that makes no sense."""
    if not fine:
        message = f"{name}={getattr(model, name)!r}: pass {wanted}"
        raise ValueError(message)


def read_matrix(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Dense C-ordered or CSR, float64 or float32; columns are checked against, or with ``reset`` become, the known."""
    dimensions = X.ndim if hasattr(X, "ndim") else np.asarray(X).ndim
    if dimensions != 2:
        message = (
            f"X is not a 2D array, it has {dimensions} dimension(s): Reshape your data with X.reshape(-1, 1) for one "
            "column or X.reshape(1, -1) for one row"
        )
        raise ValueError(message)
    try:
        return validate_data(
            estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_all_finite=False,
            reset=reset,
        )  # fmt: skip
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        message = f"X does not hold numbers: {error}"
        raise ValueError(message) from error


def read_column(values: Any, rows: int, name: str, what: str) -> np.ndarray:
    """One value for each row."""
    if values is None:
        message = f"fit requires {name} to be passed, but the target {name} is None: pass one {what} a row"
        raise ValueError(message)
    try:
        column = column_or_1d(values, warn=True)
    except ValueError as error:
        message = f"{name} is not a column: {name} should be a 1d array with one {what} a row"
        raise ValueError(message) from error
    if column.size != rows:
        message = f"{name} has {column.size} values and X has {rows} rows; pass one {what} a row"
        raise ValueError(message)
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        row = int(np.argmin(np.isfinite(column)))
        message = f"{name}[{row}] is {column[row]}: a {what} is never NaN or infinity (inf)"
        raise ValueError(message)
    return column


@np.errstate(invalid="ignore")  # scikit-learn asks whether labels are whole by making them so, and 1e300 cannot be
def read_labels(y: Any, rows: int) -> np.ndarray:
    """One class label a row."""
    y = read_column(y, rows, "y", "label")
    if y.dtype.kind in "biu":  # classes, whatever they are: scikit-learn takes as long to say so as a small fit
        return y
    try:
        check_classification_targets(y)
        if y.dtype.kind == "O":
            np.unique(y)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in y}))
        message = f"y mixes labels that have no order ({kinds}): pass labels of one kind, and none that is missing"
        raise ValueError(message) from error
    except ValueError as error:
        message = f"y cannot be read as classes (Unknown label type: {type_of_target(y)}); pass whole numbers or texts"
        raise ValueError(message) from error
    return y


def read_grades(y: Any, rows: int, name: str = "y", what: str = "grade") -> np.ndarray:
    """One number a row."""
    y = read_column(y, rows, name, what)
    if y.dtype.kind in "iufb":
        return y
    try:
        return read_column(y.astype(np.float64), rows, name, what)
    except (TypeError, ValueError) as error:
        message = f"{name} holds {y.dtype} values: a {what} is a number"
        raise ValueError(message) from error


def read_classes(classes: Any) -> np.ndarray:
    """All classes that may come, sorted."""
    try:
        told = np.unique(column_or_1d(classes))
    except (TypeError, ValueError) as error:
        message = f"classes={classes!r}: pass a list of labels"
        raise ValueError(message) from error
    if told.dtype.kind == "f" and np.isnan(told).any():
        message = "classes holds NaN, which is no label"
        raise ValueError(message)
    if told.size < 2:
        message = f"classes is {told.tolist()}: one class only leaves nothing to tell apart"
        raise ValueError(message)
    return told


def read_seed(random_state: Any) -> np.random.Generator:
    """scikit-learn's ``random_state`` as a generator of orders."""
    try:
        return np.random.default_rng(check_random_state(random_state).randint(2**31))
    except ValueError as error:
        message = f"random_state={random_state!r}: pass None, a whole number, or a RandomState"
        raise ValueError(message) from error


def class_factors(class_weight: Any, classes: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The factor on the price of slack of each class; ``mass`` is how much of the data each class has."""
    if class_weight is None:
        return np.ones(classes.size)
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.where(mass > 0, mass.sum() / (classes.size * np.where(mass > 0, mass, 1.0)), 1.0)
    if not isinstance(class_weight, dict):
        message = f"class_weight={class_weight!r}: pass None, 'balanced' or a dict from class to weight"
        raise ValueError(message)
    places = {label: place for place, label in enumerate(classes.tolist())}
    factors = np.ones(classes.size)
    for label, weight in class_weight.items():
        if label not in places:
            message = f"class_weight names {label!r}, which is not among the classes {classes.tolist()}"
            raise ValueError(message)
        if not is_number(weight) or not 0 <= weight <= LARGEST:
            message = f"class_weight[{label!r}] is {weight!r}: pass a finite number, not negative, at most {LARGEST}"
            raise ValueError(message)
        factors[places[label]] = weight
    return factors
