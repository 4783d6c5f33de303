"""What the classifier and the ranker share: parameters, the way from C to lam, streams, certificates."""

import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from softmargin.constraints.weights import LARGEST, WEIGHTINGS, Importance, is_number
from softmargin.data.matrix import rows_of
from softmargin.estimators._inputs import read_matrix, read_seed, refuse_unless
from softmargin.estimators._state import all_or_nothing
from softmargin.kernels.constraints import Constraints
from softmargin.kernels.rows import DenseRows, SparseRows
from softmargin.schedules import steps_of
from softmargin.solvers.certificate import Certificate
from softmargin.solvers.choose import SOLVERS, Answer, Task
from softmargin.solvers.interrupts import stop_if_interrupted
from softmargin.solvers.online import OnlineRun, Plan, averaging_of
from softmargin.solvers.regret import Regret

NO_ORDER = np.zeros(0, dtype=np.uint64)
LOSSES = ("hinge", "squared_hinge")


class NoStreamError(AttributeError, ValueError):
    """There is no stream without lam: the method is absent (``hasattr`` says so), and the sentence says why."""


class StreamMethod:
    """A method that is there only where ``lam`` is set: a stream has no length T from which C could tell it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, model: Any, owner: type) -> Any:
        """The bound method, or the sentence; on the class, the function itself."""
        if model is None:
            return self.function
        if model.lam is None:
            message = "lam is not set: a stream has no length T, so C alone means nothing in it; pass lam = 1/(C T)"
            raise NoStreamError(message)
        return self.function.__get__(model, owner)


class SoftMarginModel(BaseEstimator):
    """Common ground of the soft-margin estimators; see ``SoftMarginClassifier`` and ``SoftMarginRanker``."""

    # What a stream is made of: none of it may change while the stream is under way.
    stream_parameters: ClassVar[tuple[str, ...]] = ("lam", "loss", "weighting", "schedule", "step0", "average")

    # ------------------------------------------------------------------------------- what is asked for

    def _check_parameters(self) -> None:
        """One sentence for a parameter that makes no sense, before any data are read."""
        refuse_unless(self, self.loss in LOSSES, "loss", f"one of {', '.join(LOSSES)}")
        refuse_unless(self, self.weighting in WEIGHTINGS, "weighting", f"one of {', '.join(WEIGHTINGS)}")
        refuse_unless(self, self.solver in SOLVERS, "solver", f"one of {', '.join(SOLVERS)}")
        refuse_unless(self, is_number(self.C) and self.C > 0, "C", "a number above 0")
        lam = self.lam
        fine = lam is None or (is_number(lam) and 1.0 / LARGEST <= lam <= LARGEST)
        refuse_unless(self, fine, "lam", f"a number above 0, from {1.0 / LARGEST:g} to {LARGEST:g}")
        refuse_unless(self, is_number(self.tol) and self.tol >= 0, "tol", "a number, 0 or more")
        refuse_unless(self, is_number(self.max_passes) and self.max_passes >= 1, "max_passes", "a number, 1 or more")
        if lam is not None and self.C != 1.0:
            message = f"lam={lam} and C={self.C} both say what slack costs (lam = 1/(C T)): pass one of them"
            raise ValueError(message)
        if self.solver == "online" and np.isinf(self.C):
            message = (
                "C=inf allows no slack, which is what solver='online' learns from: pass solver='auto' or a finite C"
            )
            raise ValueError(message)
        fine = isinstance(self.verbose, (int, np.integer)) and self.verbose >= 0
        refuse_unless(self, fine, "verbose", "a whole number, 0 or more")
        averaging_of(self.average)
        steps_of(self.schedule, 1.0, self.step0)

    def _plan(self, lam: float, width: int, first: int = 0, **shape: Any) -> Plan:
        steps = steps_of(self.schedule, lam, self.step0, first)
        return Plan(steps, width, averaging_of(self.average), self.loss == "squared_hinge", **shape)

    def _task(self, matter: Importance) -> tuple[Task, float]:
        """What to solve for a batch, and the lam of online passes over it."""
        return self._task_of(float(matter.whole_price.sum()), matter.total)

    def _task_of(self, mass: float, met: int) -> tuple[Task, float]:
        """The same where all prices together are ``mass``.

        That is the T of ``lam = 1/(C T)``, so that weight k is k copies whichever of the two is set; passes meet
        ``met`` constraints whatever their weights.
        """
        C = float(self.C) if self.lam is None else 1.0 / (float(self.lam) * mass)
        task = Task(self.solver, C, float(self.tol), float(self.max_passes), read_seed(self.random_state))
        return task, 1.0 / (C * met)

    def _handed_over(self, stream: Any, price: np.ndarray) -> tuple[Any, Any]:
        """The constraints as a stream, and as a batch with these prices of all copies; where one will do, only that."""
        batch = stream._replace(price=price)
        if isinstance(batch, Constraints) and np.isfinite(self.C):
            batch = batch.short()
        return (stream if self.solver == "online" else batch), batch

    def _order(self, matter: Importance) -> np.ndarray:
        """The order in which a stream meets its constraints; other solvers have their own, and it takes memory."""
        return matter.order() if self.solver == "online" else NO_ORDER

    def _rows(self, X: Any, *, reset: bool) -> DenseRows | SparseRows:
        """Rows over X; the number and the names of its columns are checked or, with ``reset``, learned."""
        return rows_of(read_matrix(self, X, reset=reset))

    def _finite_matrix(self, X: Any) -> Any:
        """X as scikit-learn has it, checked the same way."""
        check_is_fitted(self)
        X = read_matrix(self, X, reset=False)
        rows_of(X)
        return X

    def _all_or_nothing(self) -> AbstractContextManager[None]:
        return all_or_nothing(self)

    # ------------------------------------------------------------------------------- what came out

    def __sklearn_tags__(self) -> Any:
        """Sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are weights."""
        return hasattr(self, "_weights") or hasattr(self, "_stream")

    def _learned(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts as the solvers leave them."""
        if hasattr(self, "_stream"):
            return self._stream.weights()
        if hasattr(self, "_weights"):
            weights: tuple[np.ndarray, np.ndarray] = self._weights
            return weights
        message = f"this {type(self).__name__} has learned nothing yet: call fit or partial_fit first"
        raise NotFittedError(message)

    @property
    def regret_(self) -> Regret:
        """What the online run paid beyond the best fixed weights, with proof."""
        run: OnlineRun | None = getattr(self, "_stream", None) or getattr(self, "_run", None)
        if run is None:
            message = "regret_ is there after partial_fit, or after fit with solver='online'"
            raise AttributeError(message)
        return run.regret()

    @property
    def support_(self) -> np.ndarray:
        """Numbers of the constraints that hold the weights up: those whose dual is not zero."""
        if not hasattr(self, "dual_"):
            message = "support_ is there after fit: it has the duals that are not zero, and a stream keeps none"
            raise AttributeError(message)
        return np.flatnonzero(self.dual_.reshape(len(self.dual_), -1).any(axis=1))

    def _conclude(self, met: int, solve: Callable[[], Answer]) -> Answer:
        """Run a solver on ``met`` constraints; keep its answer, its certificate and any online run."""
        stop_if_interrupted()  # while the data were read: there is nothing to keep
        started = time.perf_counter()
        answer = solve()
        seconds = time.perf_counter() - started
        self._forget()
        self._weights, self._run, self._met = (answer.weights, np.atleast_1d(answer.bias)), answer.run, met
        self.dual_ = answer.dual
        self.certificate_ = Certificate.of(
            answer.gap, float(self.tol), answer.solver, float(answer.passes), seconds, answer.reason
        )
        self.n_iter_ = max(1, int(np.ceil(answer.passes)))
        if self.verbose:
            print(self.certificate_)  # noqa: T201 verbose asks for it
        return answer

    def _warn_unless_converged(self) -> None:
        """Outside ``_all_or_nothing``: who turns warnings into errors keeps the weights all the same."""
        if not self.certificate_.converged:
            warnings.warn(f"{self.certificate_}; raise max_passes or tol", ConvergenceWarning, stacklevel=3)

    def _forget(self) -> None:
        """Drop everything learned."""
        for name in [name for name in vars(self) if name in LEARNED]:
            delattr(self, name)

    # ------------------------------------------------------------------------------- streams

    def _asked(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.stream_parameters)

    def _stream_for(self, width: int, **shape: Any) -> OnlineRun:
        """The stream under way, or a new one at w = 0, or one that goes on from the weights of ``fit``."""
        if not hasattr(self, "_stream"):
            plan = self._plan(float(self.lam), width, getattr(self, "_met", 0), **shape)
            return OnlineRun(plan, start=getattr(self, "_weights", None))
        if self._asked() != self._stream_asked:
            pairs = zip(self.stream_parameters, self._stream_asked, self._asked(), strict=True)
            changed = ", ".join(name for name, before, now in pairs if before != now)
            message = f"{changed} changed while a stream was under way: call fit, or start a new stream from a clone"
            raise ValueError(message)
        stream: OnlineRun = self._stream
        return stream

    def _keep_stream(self, stream: OnlineRun) -> None:
        if getattr(self, "_stream", None) is not stream:
            self._forget()
            self._stream, self._stream_asked = stream, self._asked()


LEARNED = frozenset(
    (
        "_stream",
        "_stream_asked",
        "_live",
        "_weights",
        "_run",
        "_met",
        "certificate_",
        "n_iter_",
        "dual_",
        "support_pairs_",
        "stiffness_",
        "pair_dual_",
        "groups_",
    )
)
