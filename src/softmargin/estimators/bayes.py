"""Numbers: Bayesian linear regression that learns row by row, and admits what it does not know."""

import copy
import warnings
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning

from softmargin.constraints.weights import is_number, numbers_of
from softmargin.data.matrix import rows_of
from softmargin.estimators._believed import Believer
from softmargin.estimators._inputs import read_grades, read_matrix, read_seed, refuse_unless
from softmargin.estimators._state import all_or_nothing
from softmargin.regression.calibration import Calibration, Used, calibration
from softmargin.regression.design import Rows
from softmargin.regression.learner import Learner, Predictive
from softmargin.regression.prior import LARGEST, SMALLEST, check_precision, prior_of
from softmargin.regression.reweigh import Spec

NOISES, LIKELIHOODS = ("unknown", "rows", "loglinear"), ("gaussian", "student_t")
FLOAT64 = np.dtype(np.float64)
MOST_FEATURES = 5000
LARGEST_VALUE = 1e75  # of y: squares of values are summed, and these sums are multiplied
PARAMETERS = ("prior_precision", "noise", "likelihood", "forgetting", "evidence", "fit_intercept")


class BayesianLinearRegression(RegressorMixin, Believer):
    """Linear regression that keeps the whole posterior over its weights, up to date after every row.

    y = w.x + intercept + noise,   w ~ N(0, prior_precision^-1)

    The posterior is made of sums over the rows (the notes' rules 18 and 19), so ``fit`` is ``partial_fit`` in any
    order and any pieces, models of different rows add up with ``+``, and rows can be taken back with ``unlearn``.

    Parameters
    ----------
    prior_precision : how sure we are that weights are near zero: a number, one a feature, or a matrix.  The intercept
        is free.  Where the noise is a number, "rows" or "loglinear", the variance of a weight is 1/prior_precision;
        where it is "unknown", noise variance / prior_precision, so that the units of y do not matter.
    noise : the variance of the noise as a number; "unknown", learned with the weights (predictions are Student's t);
        "rows", given with each row; "loglinear", learned as exp(level + slopes.x).
    likelihood : "gaussian", or "student_t" where some values are far off for no reason; its degrees of freedom are
        learned.
    forgetting : what is left of everything known before, for each row that comes: 1 forgets nothing, 0.99 remembers
        about the last 100 rows.  The prior is not forgotten.
    evidence : scale the prior to the largest marginal likelihood, from the sums alone.
    fit_intercept : whether there is an intercept; it has no prior.
    """

    def __init__(
        self,
        prior_precision: Any = 1.0,
        *,
        noise: Any = "unknown",
        likelihood: str = "gaussian",
        forgetting: float = 1.0,
        evidence: bool = False,
        fit_intercept: bool = True,
    ) -> None:
        self.prior_precision = prior_precision
        self.noise = noise
        self.likelihood = likelihood
        self.forgetting = forgetting
        self.evidence = evidence
        self.fit_intercept = fit_intercept

    # ------------------------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None, noise_variance: Any = None) -> Self:
        """Learn these rows, and nothing else.

        A row of weight k counts as k rows.  With noise="rows", ``noise_variance`` is the variance of the noise of each
        row; where it is not given, it is 1/sample_weight.
        """
        with all_or_nothing(self):
            rows = self._read(X, y, sample_weight, noise_variance, reset=True)
            self._start(rows)
            self._learner.learn(rows)
        self._warn_unless_settled()
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, noise_variance: Any = None) -> Self:
        """Learn these rows after all others; ``fit`` says what weights and variances are."""
        if sample_weight is None and noise_variance is None and self._learn_live(X, y):
            return self
        with all_or_nothing(self):
            begun = "_learner" in self.__dict__
            if begun:
                self._refuse_changes()
            rows = self._read(X, y, sample_weight, noise_variance, reset=not begun)
            if not begun:
                self._start(rows)
            self._learner.learn(rows)
        self._warn_unless_settled()
        return self

    def _learn_live(self, X: Any, y: Any) -> bool:
        """Learn one dense row at the cost of a copy; False: take the long way."""
        known = self.__dict__
        if (
            "_one_row" not in known
            or type(X) is not np.ndarray
            or X.shape != known["_one_row"]
            or X.dtype is not FLOAT64
            or not X.flags.c_contiguous
            or type(y) not in (np.ndarray, list)
            or len(y) != 1
            or not isinstance(y[0], float)
        ):
            return False
        asked = known["_asked"]
        unchanged = (
            known["prior_precision"] is asked[0] and known["noise"] is asked[1] and known["likelihood"] is asked[2]
            and known["forgetting"] is asked[3] and known["evidence"] is asked[4] and known["fit_intercept"] is asked[5]
        )  # fmt: skip
        return unchanged and known["_learner"].keep(X, y[0])

    def _start(self, rows: Rows) -> None:
        for name in ("_learner", "_asked", "_one_row"):
            self.__dict__.pop(name, None)
        width = int(self.n_features_in_)
        noise = None if self._noise_is("unknown") else 1.0 if isinstance(self.noise, str) else float(self.noise)
        spec = Spec(
            prior_of(self.prior_precision, width), noise, bool(self.fit_intercept), self.likelihood == "student_t",
            self._noise_is("loglinear"), float(self.forgetting), bool(self.evidence),
        )  # fmt: skip
        if rows.weight is not None and not rows.weight.any():
            message = "sample_weight is zero everywhere: there is nothing to learn from"
            raise ValueError(message)
        self._learner, self._asked = Learner(spec, width), tuple(getattr(self, name) for name in PARAMETERS)
        plain = not spec.reweighs and not self._noise_is("rows") and not hasattr(self, "feature_names_in_")
        self._one_row = (1, width) if plain else None  # the shape of what takes the short way

    def unlearn(self, X: Any, y: Any, sample_weight: Any = None, noise_variance: Any = None) -> Self:
        """Take back rows that were learned with the same weight: what is left is the model of all other rows."""
        with all_or_nothing(self):
            learner = self._fitted()
            self._refuse_changes()
            self._refuse_history("unlearn takes back")
            rows = self._read(X, y, sample_weight, noise_variance, reset=False)
            rows_of(rows.X)
            self._learner = learner.without(rows)
        return self

    def __add__(self, other: Any) -> Any:
        """The model of the rows of both; the prior counts once."""
        if not isinstance(other, BayesianLinearRegression):
            return NotImplemented
        for name in PARAMETERS:
            mine, theirs = getattr(self, name), getattr(other, name)
            if not np.array_equal(mine, theirs):
                message = (
                    f"{name} is {mine!r} in one model and {theirs!r} in the other: only models that ask the same merge"
                )
                raise ValueError(message)
        parts = [model for model in (self, other) if "_learner" in model.__dict__]
        both: BayesianLinearRegression = clone(self)
        if not parts:
            return both
        for model in parts:
            model._refuse_changes()
        if len(parts) == 2:
            self._refuse_history("+ merges")
            _refuse_other_columns(self, other)
        named = next((model for model in parts if hasattr(model, "feature_names_in_")), parts[0])
        both.__dict__.update({name: value for name, value in named.__dict__.items() if name not in PARAMETERS})
        both._learner = Learner(parts[0]._learner.spec, parts[0]._learner.width)
        if len(parts) == 1 and parts[0]._learner.spec.reweighs:
            both._learner = copy.deepcopy(parts[0]._learner)
        else:
            for model in parts:
                both._learner = both._learner.merged(model._learner)
        return both

    def __radd__(self, other: Any) -> Any:
        """So that ``sum(models)``, which begins with 0, merges them."""
        return self + clone(self) if isinstance(other, int) and other == 0 else NotImplemented

    # ------------------------------------------------------------------------------- what is believed

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """``n`` draws from the posterior, one a line: the weights, and last the intercept if there is one."""
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 0:
            message = f"n={n!r}: pass how many draws, a whole number"
            raise ValueError(message)
        known = isinstance(random_state, np.random.Generator)
        return self._posterior().sample(int(n), random_state if known else read_seed(random_state))

    # ------------------------------------------------------------------------------- new rows

    def predict(self, X: Any, return_std: bool = False, noise_variance: Any = None) -> Any:  # noqa: FBT001, FBT002 the contract
        """The mean of the value of each row and, asked for, its standard deviation, noise included.

        The deviation is infinite where the noise is not known well enough to have one.
        ``noise_variance`` is for noise="rows": that of these rows; by default the mean of those learned.
        """
        if not return_std:
            X = self._new_rows(X)
            return self._posterior().predict(X)
        told = self._predictive(self._new_rows(X), noise_variance)
        wide = told.dof > 2.0
        dof = np.where(wide & np.isfinite(told.dof), told.dof, 1e300)  # so many are normal
        return told.mean, np.where(wide, told.scale, np.inf) * np.sqrt(dof / (dof - 2.0))

    def predict_dist(self, X: Any, noise_variance: Any = None) -> Any:
        """The predictive distribution of each row, as a distribution of ``scipy.stats``: ``.interval(0.95)``, ..."""
        from scipy import stats

        told = self._predictive(self._new_rows(X), noise_variance)
        if not np.all(told.dof > 0.0):
            message = "the rows learned so far say nothing of the noise yet: learn at least 2 rows"
            raise ValueError(message)
        scale = np.maximum(told.scale, np.finfo(np.float64).tiny)
        if np.isinf(told.dof).all():
            return stats.norm(told.mean, scale)
        return stats.t(told.dof, told.mean, scale)

    def calibration(self, X: Any, y: Any, noise_variance: Any = None) -> Calibration:
        """Whether predictive distributions keep their word on these rows, and which repair suits where they do not.

        Rows that were not learned, in the order of their time, are the honest test; those learned flatter the model.
        """
        X = self._new_rows(X)
        y = self._values(y, X.shape[0])
        told = self._predictive(X, noise_variance)
        if not np.all(told.dof > 0.0):
            message = "the rows learned so far say nothing of the noise yet: learn at least 2 rows"
            raise ValueError(message)
        full = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        posterior, spec = self._posterior(), self._learner.spec
        repairs = spec.forgetting, spec.student, spec.loglinear, spec.constant
        used = Used(*repairs, posterior.prior_doubt, *posterior.about_middle)
        return calibration(full, y, told, used)

    def _predictive(self, X: Any, noise_variance: Any) -> Predictive:
        self._posterior()
        variance = None
        if self._noise_is("rows"):
            told = self._learner.mean_variance() if noise_variance is None else noise_variance
            variance = self._variances(told, X.shape[0])
        elif noise_variance is not None:
            self._refuse_variances()
        return self._learner.predictive(X, variance)

    # ------------------------------------------------------------------------------- what is handed in

    def _read(self, X: Any, y: Any, weight: Any, variance: Any, *, reset: bool) -> Rows:
        self._check_parameters()
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) == 2 and shape[1] > MOST_FEATURES:
            matrix = 8e-9 * float(shape[1]) ** 2
            message = (
                f"X has {shape[1]} columns: a posterior over so many weights is a matrix of {matrix:.3g} GB, and more "
                f"than {MOST_FEATURES} columns are refused"
            )
            raise ValueError(message)
        X = read_matrix(self, X, reset=reset)
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        y = self._values(y, X.shape[0])
        weights = None if weight is None else numbers_of(weight, y.size, "sample_weight")
        if not self._noise_is("rows"):
            if variance is not None:
                self._refuse_variances()
            return Rows(X, y, weights, None)
        if variance is not None:
            return Rows(X, y, weights, self._variances(variance, y.size))
        if weights is None:
            return Rows(X, y, None, None)
        there = weights > 0.0
        variances = self._variances(np.where(there, 1.0 / np.where(there, weights, 1.0), 1.0), y.size)
        return Rows(X, y, there.astype(np.float64), variances)

    def _values(self, y: Any, rows: int) -> np.ndarray:
        values = np.asarray(read_grades(y, rows, "y", "value"), dtype=np.float64)
        if values.size and not np.abs(values).max() <= LARGEST_VALUE:
            row = int(np.argmax(np.abs(values)))
            message = f"y[{row}] is {values[row]:g}: scale the values, for squares of such numbers overflow"
            raise ValueError(message)
        return values

    def _variances(self, told: Any, rows: int) -> np.ndarray:
        variances = numbers_of(told, rows, "noise_variance")
        if not np.all(variances > 0.0):
            row = int(np.argmin(variances > 0.0))
            message = f"noise_variance[{row}] is {variances[row]:g}: a variance is above 0"
            raise ValueError(message)
        return variances

    def _refuse_variances(self) -> None:
        message = f'noise_variance is for noise="rows", and noise is {self.noise!r}'
        raise ValueError(message)

    def _new_rows(self, X: Any) -> Any:
        self._fitted()
        plain = (
            type(X) is np.ndarray and X.ndim == 2 and X.dtype is FLOAT64 and "feature_names_in_" not in self.__dict__
        )
        if not plain or X.shape[1] != self.n_features_in_ or not len(X):  # what is plain needs no long look
            X = read_matrix(self, X, reset=False)
        rows_of(X)
        return X

    def _noise_is(self, name: str) -> bool:
        return isinstance(self.noise, str) and self.noise == name

    def _check_parameters(self) -> None:
        check_precision(self.prior_precision)
        named = isinstance(self.noise, str) and self.noise in NOISES
        fine = named or (is_number(self.noise) and SMALLEST <= self.noise <= LARGEST)
        refuse_unless(self, fine, "noise", f"a variance above 0, or one of {', '.join(NOISES)}")
        fine = isinstance(self.likelihood, str) and self.likelihood in LIKELIHOODS
        refuse_unless(self, fine, "likelihood", f"one of {', '.join(LIKELIHOODS)}")
        fine = is_number(self.forgetting) and 0.0 < self.forgetting <= 1.0
        refuse_unless(self, fine, "forgetting", "a number above 0, at most 1")
        for name in ("evidence", "fit_intercept"):
            refuse_unless(self, isinstance(getattr(self, name), (bool, np.bool_)), name, "True or False")

    def _refuse_changes(self) -> None:
        now = tuple(getattr(self, name) for name in PARAMETERS)
        changed = [
            name for name, one, two in zip(PARAMETERS, self._asked, now, strict=True) if not np.array_equal(one, two)
        ]
        if changed:
            message = f"{', '.join(changed)} changed since the first row was learned: call fit, or start from a clone"
            raise ValueError(message)

    def _refuse_history(self, what: str) -> None:
        """Sums do not remember an order: what depends on it can be neither merged nor taken back."""
        spec = self._learner.spec
        if spec.forgetting < 1.0:
            message = (
                f"forgetting={self.forgetting}: {what} rows, but how much is left of a row depends on what came after"
            )
            raise ValueError(message)
        if spec.reweighs:
            name = "likelihood" if spec.student else "noise"
            message = f"{name}={getattr(self, name)!r}: {what} rows, but what a row counts depends on all others"
            raise ValueError(message)

    # ------------------------------------------------------------------------------- the state

    def __sklearn_tags__(self) -> Any:
        """Sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _warn_unless_settled(self) -> None:
        weighing = self._learner.weighing
        if weighing is not None and not weighing.converged:
            message = (
                f"the weights of the rows still moved after {weighing.passes} passes, the last step was "
                f"{weighing.step:.1e} deviations of the posterior"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=3)


def _refuse_other_columns(one: BayesianLinearRegression, other: BayesianLinearRegression) -> None:
    names = [list(getattr(model, "feature_names_in_", ())) for model in (one, other)]
    if one.n_features_in_ != other.n_features_in_:
        message = f"one model has learned {one.n_features_in_} columns and the other {other.n_features_in_}"
        raise ValueError(message)
    if all(names) and names[0] != names[1]:
        message = "the feature names of the two models are not the same, or not in the same order"
        raise ValueError(message)
