"""What a Bayesian model believes, as attributes."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from softmargin.regression.learner import Learner
from softmargin.regression.posterior import Posterior


class Believer(BaseEstimator):
    """Attributes of a posterior; see ``BayesianLinearRegression``."""

    @property
    def mean_(self) -> np.ndarray:
        """The mean of the weights, with the intercept last if there is one."""
        return self._posterior().mean.copy()

    @property
    def precision_(self) -> np.ndarray:
        """The inverse of ``covariance_``."""
        return self._posterior().precision.copy()

    @property
    def covariance_(self) -> np.ndarray:
        """Of weights and intercept; where the noise is unknown, the squared scale of their Student's t."""
        return self._posterior().covariance.copy()

    @property
    def coef_(self) -> np.ndarray:
        """The mean of the weights."""
        return self._posterior().coef.copy()

    @property
    def intercept_(self) -> float:
        """The mean of the intercept; 0 where there is none."""
        return self._posterior().intercept

    @property
    def noise_variance_(self) -> float:
        """The variance of the noise, as far as it is known; with "rows" and "loglinear" it is 1, in units of theirs."""
        return float(self._posterior().noise)

    @property
    def dof_(self) -> float:
        """Degrees of freedom of the posterior: infinite for a Gaussian."""
        return float(self._posterior().dof)

    @property
    def prior_precision_(self) -> Any:
        """The prior precision in use: with ``evidence``, the one it chose."""
        precision = self._posterior().prior.precision
        return float(precision) if precision.ndim == 0 else precision.copy()

    @property
    def log_evidence_(self) -> float:
        """Log density of the values given their rows; a lower bound of it with likelihood="student_t"."""
        value = self._posterior().log_evidence
        if np.isnan(value):
            message = "log_evidence_ is there after two rows: one row says nothing of an unknown noise"
            raise AttributeError(message)
        return value

    @property
    def log_noise_coef_(self) -> np.ndarray:
        """With noise="loglinear": the slopes of the log variance."""
        noise = self._log_noise()
        return np.asarray(noise.theta[:-1] / noise.scale)

    @property
    def log_noise_intercept_(self) -> float:
        """With noise="loglinear": the log variance at the row of zeros."""
        noise = self._log_noise()
        return float(noise.theta[-1] - noise.middle @ (noise.theta[:-1] / noise.scale))

    @property
    def student_dof_(self) -> float:
        """With likelihood="student_t": the degrees of freedom of the noise."""
        self._posterior()
        if self._learner.weighing is None or not self._learner.spec.student:
            message = 'student_dof_ is there with likelihood="student_t"'
            raise AttributeError(message)
        return float(self._learner.weighing.dof)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether rows were learned."""
        return "_learner" in self.__dict__

    def _fitted(self) -> Learner:
        if "_learner" not in self.__dict__:
            message = f"this {type(self).__name__} has learned nothing yet: call fit or partial_fit first"
            raise NotFittedError(message)
        return self._learner

    def _posterior(self) -> Posterior:
        return self._fitted().posterior()

    def _log_noise(self) -> Any:
        self._posterior()
        noise = None if self._learner.weighing is None else self._learner.weighing.noise
        if noise is None:
            message = 'the log variance has slopes with noise="loglinear" only'
            raise AttributeError(message)
        return noise
