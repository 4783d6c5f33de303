"""What the classifier and the ranker share: parameters, the way from C to lam, streams, certificates."""

import time
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from softmargin.constraints.weights import WEIGHTINGS
from softmargin.data.matrix import rows_of
from softmargin.kernels.rows import DenseRows, SparseRows
from softmargin.schedules import steps_of
from softmargin.solvers.certificate import Certificate
from softmargin.solvers.choose import SOLVERS, Answer, Task
from softmargin.solvers.online import OnlineRun, Plan, averaging_of
from softmargin.solvers.regret import Regret

LOSSES = ("hinge", "squared_hinge")


class SoftMarginModel(BaseEstimator):
    """Common ground of the soft-margin estimators; see ``SoftMarginClassifier`` and ``SoftMarginRanker``."""

    # What a stream is made of: none of it may change while the stream is under way.
    stream_parameters: ClassVar[tuple[str, ...]] = ("lam", "loss", "weighting", "schedule", "step0", "average")

    # ------------------------------------------------------------------------------- what is asked for

    def _check_parameters(self) -> None:
        """One sentence for a parameter that makes no sense, before any data are read."""
        self._refuse_unless(self.loss in LOSSES, "loss", f"one of {', '.join(LOSSES)}")
        self._refuse_unless(self.weighting in WEIGHTINGS, "weighting", f"one of {', '.join(WEIGHTINGS)}")
        self._refuse_unless(self.solver in SOLVERS, "solver", f"one of {', '.join(SOLVERS)}")
        self._refuse_unless(_is_number(self.C) and self.C > 0, "C", "a number above 0")
        lam = self.lam
        self._refuse_unless(lam is None or (_is_number(lam) and 0 < lam < np.inf), "lam", "a finite number above 0")
        self._refuse_unless(_is_number(self.tol) and self.tol >= 0, "tol", "a number, 0 or more")
        self._refuse_unless(_is_number(self.max_passes) and self.max_passes >= 1, "max_passes", "a number, 1 or more")
        if lam is not None and self.C != 1.0:
            message = f"lam={lam} and C={self.C} both say what slack costs (lam = 1/(C T)): pass one of them"
            raise ValueError(message)
        averaging_of(self.average)
        steps_of(self.schedule, 1.0, self.step0)

    def _refuse_unless(self, fine: bool, name: str, wanted: str) -> None:  # noqa: FBT001 a condition, not an option
        if not fine:
            message = f"{name}={getattr(self, name)!r}: pass {wanted}"
            raise ValueError(message)

    def _plan(self, lam: float, width: int, first: int = 0, **shape: Any) -> Plan:
        steps = steps_of(self.schedule, lam, self.step0, first)
        return Plan(steps, width, averaging_of(self.average), self.loss == "squared_hinge", **shape)

    def _task(self, total: int) -> tuple[Task, float]:
        """What to solve for a batch of ``total`` constraints, and its lam = 1/(C total)."""
        C = float(self.C) if self.lam is None else 1.0 / (float(self.lam) * total)
        seed = check_random_state(self.random_state).randint(2**31)
        task = Task(self.solver, C, float(self.tol), float(self.max_passes), np.random.default_rng(seed))
        return task, 1.0 / (C * total)

    def _rows(self, X: Any, *, reset: bool) -> DenseRows | SparseRows:
        """Rows over X; the number and the names of its columns are checked or, with ``reset``, learned."""
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_all_finite=False,
            reset=reset,
        )  # fmt: skip
        return rows_of(X)

    # ------------------------------------------------------------------------------- what came out

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

    def _conclude(self, met: int, solve: Callable[[], Answer]) -> Answer:
        """Run a solver on ``met`` constraints; keep its answer, its certificate and any online run."""
        started = time.perf_counter()
        answer = solve()
        seconds = time.perf_counter() - started
        self._forget()
        self._weights, self._run, self._met = (answer.weights, np.atleast_1d(answer.bias)), answer.run, met
        self.dual_ = answer.dual
        self.certificate_ = Certificate.of(
            answer.gap, float(self.tol), answer.solver, answer.passes, seconds, answer.reason
        )
        self.n_iter_ = max(1, int(np.ceil(answer.passes)))
        if self.verbose:
            print(self.certificate_)  # noqa: T201 verbose asks for it
        if not self.certificate_.converged:
            warnings.warn(f"{self.certificate_}; raise max_passes or tol", ConvergenceWarning, stacklevel=4)
        return answer

    def _forget(self) -> None:
        """Drop everything learned."""
        for name in [name for name in vars(self) if name in LEARNED]:
            delattr(self, name)

    # ------------------------------------------------------------------------------- streams

    def _asked(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.stream_parameters)

    def _stream_for(self, width: int, **shape: Any) -> OnlineRun:
        """The stream under way, or a new one at w = 0, or one that goes on from the weights of ``fit``."""
        if self.lam is None:
            message = "lam is not set: a stream has no length T, so C alone means nothing in it; pass lam = 1/(C T)"
            raise ValueError(message)
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
    ("_stream", "_stream_asked", "_live", "_weights", "_run", "_met", "certificate_", "n_iter_", "dual_")
)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
