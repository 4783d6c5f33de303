"""The other solvers of the same problem, each with a ladder of settings from quick to thorough.

A run is prepared, then timed: what turns the data into a library's own form is not on the clock where the library
lets it be done beforehand.  No intercept, the hinge, the same C.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from liblinear import liblinear, liblinearutil
from rehline import ReHLine
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC
from snapml import SupportVectorMachine

Run = Callable[[], np.ndarray]


class Peer(NamedTuple):
    """A library's solver: what it is called, what it is told, and how."""

    name: str
    ladder: tuple[Any, ...]
    prepare: Callable[[Any, np.ndarray, float, Any], Run | None]


def _liblinear(X: Any, y: np.ndarray, C: float, setting: str) -> Run:
    data = liblinear.problem(y.astype(float), sparse.csr_matrix(X))
    options = liblinear.parameter(f"-s 3 -c {C} -B -1 -q {setting}")
    first = float(y[0])

    def run() -> np.ndarray:
        model = liblinearutil.train(data, options)
        return np.array(model.w[: X.shape[1]]) * (1.0 if model.get_labels()[0] > 0 else -1.0)

    del first
    return run


def _liblinear_classes(X: Any, y: np.ndarray, C: float, setting: str) -> Run:
    data = liblinear.problem(y.astype(float), sparse.csr_matrix(X))
    options = liblinear.parameter(f"-s 4 -c {C} -B -1 -q {setting}")
    places = np.unique(y)

    def run() -> np.ndarray:
        model = liblinearutil.train(data, options)
        W = np.array(model.w[: X.shape[1] * places.size]).reshape(X.shape[1], places.size)
        return W[:, np.argsort(model.get_labels())]

    return run


def _linear_svc(X: Any, y: np.ndarray, C: float, setting: dict[str, Any]) -> Run:
    return lambda: LinearSVC(C=C, loss="hinge", fit_intercept=False, random_state=0, **setting).fit(X, y).coef_[0]


def _sgd(X: Any, y: np.ndarray, C: float, setting: dict[str, Any]) -> Run:
    lam = 1.0 / (C * y.size)
    return lambda: SGDClassifier(alpha=lam, fit_intercept=False, average=True, random_state=0, **setting).fit(X, y).coef_[0]


def _snap(X: Any, y: np.ndarray, C: float, setting: dict[str, Any]) -> Run:
    def run() -> np.ndarray:
        model = SupportVectorMachine(regularizer=1.0 / C, n_jobs=2, random_state=0, **setting)
        return np.asarray(model.fit(X, y).coef_).ravel()

    return run


def _rehline(X: Any, y: np.ndarray, C: float, setting: dict[str, Any]) -> Run | None:
    if sparse.issparse(X):
        if X.shape[1] > 1000:
            return None  # it takes dense rows only
        X = X.toarray()
    U, V = -(C * y).reshape(1, -1).astype(float), np.full((1, y.size), float(C))

    def run() -> np.ndarray:
        model = ReHLine(C=1.0, U=U, V=V, **setting)
        return np.asarray(model.fit(X=X).coef_)

    return run


BINARY = (
    Peer("LIBLINEAR -s 3", ("-e 1", "-e 0.1", "-e 0.01", "-e 0.0001"), _liblinear),
    Peer("LinearSVC", ({}, {"tol": 1e-7, "max_iter": 3000}), _linear_svc),
    Peer("SGDClassifier", ({"max_iter": 5, "tol": None}, {"max_iter": 50, "tol": None}), _sgd),
    Peer("Snap ML", ({}, {"tol": 1e-6}), _snap),
    Peer("ReHLine", ({}, {"max_iter": 5000}), _rehline),
)
CLASSES = (Peer("LIBLINEAR -s 4", ("-e 1", "-e 0.1", "-e 0.001"), _liblinear_classes),)


def quiet(run: Run) -> np.ndarray:
    """Run without the warnings of peers that did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run()
