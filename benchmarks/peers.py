"""The other solvers of the same problem, each with a ladder of settings from quick to thorough.

Data is turned into a library's own form before the clock starts, wherever the library lets that be done.  Everybody
has no intercept, the hinge, the same C, and a fixed seed.  LIBLINEAR knows rows as lists of (column, value) only, so
dense data reaches it as sparse; the LIBLINEAR inside LinearSVC has a dense form.
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


class Answer(NamedTuple):
    """The weights, and whether the library stopped at a limit of its own: a tighter setting then changes nothing."""

    w: np.ndarray
    at_limit: bool = False


class Peer(NamedTuple):
    """A library's solver: what it is called, what it is told, how data is prepared for it, and how it is run.

    One that ``stops_itself`` at few passes is asked for its most thorough setting even where it takes long.
    """

    name: str
    ladder: tuple[Any, ...]
    prepare: Callable[[Any, np.ndarray], Any]
    solve: Callable[[Any, float, Any], Answer]
    stops_itself: bool = False


def quiet(task: Callable[[], Any]) -> Any:
    """Run without the warnings of peers that did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return task()


def _as_is(X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    return X, y


# ------------------------------------------------------------------------------------ LIBLINEAR


def _nodes(X: Any, y: np.ndarray) -> tuple[Any, np.ndarray, int]:
    """LIBLINEAR's own form: what it is given by its own programs as well."""
    return liblinear.problem(y.astype(float), sparse.csr_matrix(X)), np.unique(y), X.shape[1]


def _train(problem: Any, options: str) -> tuple[Any, bool]:
    """A model, and whether LIBLINEAR said that it stopped at its limit of passes (fixed at compile time)."""
    said: list[bytes] = []
    hear = liblinear.PRINT_STRING_FUN(said.append)
    parameter = liblinear.parameter(options)
    parameter.print_func = hear
    model = liblinearutil.train(problem, parameter)
    return model, b"reaching max number of iterations" in b"".join(said)


def _liblinear(prepared: Any, C: float, setting: str) -> Answer:
    problem, _, columns = prepared
    model, at_limit = _train(problem, f"-s 3 -c {C} -B -1 {setting}")
    w = np.ctypeslib.as_array(model.w, (columns,)).copy()
    return Answer(w if model.get_labels()[0] > 0 else -w, at_limit)


def _liblinear_classes(prepared: Any, C: float, setting: str) -> Answer:
    problem, classes, columns = prepared
    model, at_limit = _train(problem, f"-s 4 -c {C} -B -1 {setting}")
    W = np.ctypeslib.as_array(model.w, (columns * classes.size,)).reshape(columns, classes.size)
    return Answer(W[:, np.argsort(model.get_labels())], at_limit)  # indexing copies: the model's memory goes with it


# ---------------------------------------------------------------------------------- the others


def _linear_svc(prepared: Any, C: float, setting: dict[str, Any]) -> Answer:
    model = LinearSVC(C=C, loss="hinge", fit_intercept=False, random_state=0, **setting)
    return Answer(model.fit(*prepared).coef_[0])


def _sgd(prepared: Any, C: float, setting: dict[str, Any]) -> Answer:
    lam = 1.0 / (C * prepared[1].size)
    model = SGDClassifier(alpha=lam, fit_intercept=False, average=True, tol=None, random_state=0, **setting)
    return Answer(model.fit(*prepared).coef_[0])


def _snap(prepared: Any, C: float, setting: dict[str, Any]) -> Answer:
    model = SupportVectorMachine(regularizer=1.0 / C, random_state=0, **setting)
    return Answer(np.asarray(model.fit(*prepared).coef_).ravel())


def _rehline(prepared: Any, C: float, setting: dict[str, Any]) -> Answer:
    X, y = prepared
    U, V = (
        -(C * y).reshape(1, -1).astype(float),
        np.full((1, y.size), float(C)),
    )  # C max(0, 1 - y x.w) = relu(U x.w + V)
    return Answer(np.asarray(ReHLine(C=1.0, U=U, V=V, **setting).fit(X=X).coef_))


BINARY = (
    Peer(
        "LIBLINEAR -s 3",
        ("-e 1", "-e 0.3", "-e 0.1", "-e 0.03", "-e 0.01", "-e 0.0001"),
        _nodes,
        _liblinear,
        stops_itself=True,
    ),
    Peer(
        "LinearSVC",
        ({"tol": 1.0, "max_iter": 100}, {"tol": 0.1}, {}, {"tol": 1e-6, "max_iter": 5000}),
        _as_is,
        _linear_svc,
    ),
    Peer("SGDClassifier", ({"max_iter": 5}, {"max_iter": 20}, {"max_iter": 100}), _as_is, _sgd),
    Peer("Snap ML", ({}, {"n_jobs": 2}, {"tol": 1e-6}, {"tol": 1e-8, "max_iter": 5000}), _as_is, _snap),
    Peer("ReHLine", ({"tol": 1e-2}, {}, {"tol": 1e-6, "max_iter": 10_000}), _as_is, _rehline),
)
CLASSES = (Peer("LIBLINEAR -s 4", ("-e 1", "-e 0.3", "-e 0.1", "-e 0.01", "-e 0.001"), _nodes, _liblinear_classes),)
