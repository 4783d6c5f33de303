"""Learn linear models you can trust from soft constraints.

>>> import numpy as np
>>> from softmargin import SoftMarginRanker
>>> teams = np.array([[9.0, 31.5], [7.0, 24.0], [3.0, 17.5]])     # wins, points a game
>>> games = np.array([[0, 1], [0, 2], [1, 2]])                    # winner, loser
>>> ranker = SoftMarginRanker(C=1.0).fit_pairs(teams, games)
>>> ranker.rank(teams).tolist()
[0, 1, 2]
>>> ranker.certificate_.converged
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmargin.constraints.cycles import find_cycles
    from softmargin.diagnostics.conflicts import find_conflict
    from softmargin.diagnostics.verify import verify
    from softmargin.estimators.bayes import BayesianLinearRegression
    from softmargin.estimators.classifier import SoftMarginClassifier
    from softmargin.estimators.preference import PreferencePosterior
    from softmargin.estimators.ranker import SoftMarginRanker
    from softmargin.models.files import load, save
    from softmargin.solvers.certificate import Certificate
    from softmargin.solvers.conflict import InfeasibleError

__all__ = [
    "BayesianLinearRegression",
    "Certificate",
    "InfeasibleError",
    "PreferencePosterior",
    "SoftMarginClassifier",
    "SoftMarginRanker",
    "find_conflict",
    "find_cycles",
    "load",
    "save",
    "verify",
]
__version__ = "0.1.0"

# scikit-learn and Numba take a second to import; a name is fetched when it is first asked for.
_HOME = {
    "BayesianLinearRegression": "softmargin.estimators.bayes",
    "Certificate": "softmargin.solvers.certificate",
    "InfeasibleError": "softmargin.solvers.conflict",
    "PreferencePosterior": "softmargin.estimators.preference",
    "SoftMarginClassifier": "softmargin.estimators.classifier",
    "SoftMarginRanker": "softmargin.estimators.ranker",
    "find_conflict": "softmargin.diagnostics.conflicts",
    "find_cycles": "softmargin.constraints.cycles",
    "load": "softmargin.models.files",
    "save": "softmargin.models.files",
    "verify": "softmargin.diagnostics.verify",
}
# softmargin.data.read_svmlight works without an import of its own.
_MODULES = frozenset(("data", "metrics", "models", "report"))


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"softmargin.{name}")
    message = f"module 'softmargin' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
