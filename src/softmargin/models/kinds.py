"""Which classes a model file may hold, and where it is written what they are made of.

A class joins with one line here and a module that has

    store(model, known)       its state as values that ``Packer`` takes, of its attributes ``known``
    rebuild(kind, state)      the model again; ``UnknownValueError`` where the state is none
    RECORDS                   the types of our own that its state holds
"""

from importlib import import_module
from typing import Any, NamedTuple

HOMES = {
    "BayesianLinearRegression": ("softmargin.estimators.bayes", "softmargin.models.bayesian"),
    "PreferencePosterior": ("softmargin.estimators.preference", "softmargin.models.preference"),
    "SoftMarginClassifier": ("softmargin.estimators.classifier", "softmargin.models.soft_margin"),
    "SoftMarginRanker": ("softmargin.estimators.ranker", "softmargin.models.soft_margin"),
}


class Kind(NamedTuple):
    """A class and the module that stores and rebuilds its models."""

    model: Any  # the class itself
    keeper: Any


def kind_of(name: str) -> Kind | None:
    """The class of this name, if there is one: it is looked up here, never in what a file says."""
    if name not in HOMES:
        return None
    home, keeper = HOMES[name]
    return Kind(getattr(import_module(home), name), import_module(keeper))
