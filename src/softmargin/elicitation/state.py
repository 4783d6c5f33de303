"""All that follows from the answers that stand, and from nothing else."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from softmargin.elicitation.correct import Moments, corrected
from softmargin.elicitation.fit import even, fit
from softmargin.elicitation.log import BIAS_SD, Judge, Log, summary_of
from softmargin.elicitation.questions import Kinds, View, view_of


class JudgeReport(NamedTuple):
    """What the answers say about one judge; ``bias`` above 0 is a pull to the left, in units of the judges' noise."""

    judge: Judge
    answers: int
    error: float
    bias: float
    bias_sd: float
    surprise: float  # of an answer on average, in bits


class State:
    """Each part is worked out when it is first asked for.

    ``items`` are in units of the prior, so that before any answer the weights are N(0, I); ``scale`` brings weights
    back to the units of X.
    """

    def __init__(self, items: np.ndarray, kinds: Kinds, scale: np.ndarray, log: Log, judge_error: float) -> None:
        self.items, self.kinds, self.scale = items, kinds, scale
        self.summary = summary_of(log)
        self.answers = self.summary.answers(items)
        self.belief = fit(self.summary, self.answers, judge_error)

    @cached_property
    def moments(self) -> Moments:
        """The fit, corrected where that can be done."""
        return corrected(self.belief, self.answers)

    @cached_property
    def mean(self) -> np.ndarray:
        """Of the weights, in the units of X."""
        return self.moments.mean[: self.scale.size] * self.scale

    @cached_property
    def covariance(self) -> np.ndarray:
        """Of the weights, in the units of X."""
        width = self.scale.size
        return self.moments.covariance[:width, :width] * np.outer(self.scale, self.scale)

    @cached_property
    def precision(self) -> np.ndarray:
        """The inverse of the covariance."""
        width = self.scale.size
        inverse = even(self.moments.covariance[:width, :width], -0.5)
        return inverse @ inverse.T / np.outer(self.scale, self.scale)

    @cached_property
    def told(self) -> View:
        """The kinds of items as the corrected fit sees them: for all that is reported."""
        return self._view(self.moments.mean, self.moments.covariance)

    @cached_property
    def quick(self) -> View:
        """The same by the fit alone, which is all that a question needs."""
        return self._view(self.belief.mean, self.belief.covariance)

    @cached_property
    def judges(self) -> tuple[JudgeReport, ...]:
        """Everybody who answered."""
        summary, moments, place, reports = self.summary, self.moments, self.scale.size, []
        for k, judge in enumerate(summary.judges):
            of_judge, bias, sd = summary.judge == k, 0.0, 0.0
            count = int(summary.times[of_judge].sum())
            surprise = float(-(self.belief.log_chance * summary.times)[of_judge].sum() / np.log(2.0) / count)
            if judge is not None:
                bias, sd = float(moments.mean[place]), float(np.sqrt(moments.covariance[place, place]))
                place += 1
            error = float(self.belief.errors[k])
            reports.append(JudgeReport(judge, count, error, bias * BIAS_SD, sd * BIAS_SD, surprise))
        return tuple(reports)

    def _view(self, mean: np.ndarray, covariance: np.ndarray) -> View:
        width = self.scale.size
        return view_of(self.items[self.kinds.first], mean[:width], covariance[:width, :width])
