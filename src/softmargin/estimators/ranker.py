"""Comparisons: a utility for every row, learned from which of two rows is better."""

from typing import Any

import numpy as np

from softmargin.constraints.graded import SHARING, GroupCounts
from softmargin.constraints.pairs import as_pairs, pair_rows
from softmargin.constraints.weights import Importance, importance, numbers_of
from softmargin.data.matrix import centred, row_count, rows_of
from softmargin.estimators._base import SoftMarginModel, StreamMethod
from softmargin.estimators._explain import Explanation, Support, explain
from softmargin.estimators._inputs import read_grades, read_matrix, refuse_unless
from softmargin.estimators._statements import Statements, read_groups, read_statements, weighted_pair_accuracy
from softmargin.kernels.constraints import Constraints
from softmargin.kernels.rows import DenseRows, SparseRows
from softmargin.metrics import pair_accuracy
from softmargin.solvers.choose import solve
from softmargin.solvers.choose_scores import only_groups, solve_statements
from softmargin.solvers.group_stream import after_groups
from softmargin.solvers.points import PointCounts, count_points
from softmargin.solvers.score_problem import ScoreProblem


class SoftMarginRanker(SoftMarginModel):
    """Linear ranking from comparisons or graded groups, with a certificate.

    minimise  1/2 |w|^2 + C * sum_t price_t * loss(required_t - w.(X[better_t] - X[worse_t]))

    There is no intercept: it would cancel in every comparison.  Graded groups imply all their pairs.

    Parameters
    ----------
    C : price of slack; ``inf`` is the hard margin.
    lam : the same as ``lam = 1/(C T)`` for T comparisons; streams need it: ``partial_fit_pairs``, and ``partial_fit``,
        where T counts groups.
    loss : "hinge" or "squared_hinge".
    weighting : what ``weight`` means: "slack" scales the price of slack, "margin" the required margin, "replicate"
        repeats the comparison.
    groups : what a graded group costs: "pairs" is the sum over its pairs, "equal" their mean, so that each group
        weighs the same.
    solver : "auto", "dual", "newton" or "online".
    tol : stop at this relative duality gap.
    max_passes : stop after this many passes over the data.
    schedule : steps of the online solver: "strong" 1/(lam t), "sqrt" step0/sqrt(t), "constant" step0, "adaptive"
        (nothing to choose), or a function of t = 1, 2, ...
    step0 : the constant of "sqrt" and "constant", 1 by default.
    average : weights of the online solver: False or "last", "mean", True or "weighted" (step t counts t times).
    random_state : seed of the order of the comparisons.
    verbose : print the certificate.
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        lam: float | None = None,
        loss: str = "hinge",
        weighting: str = "slack",
        groups: str = "pairs",
        solver: str = "auto",
        tol: float = 1e-4,
        max_passes: int = 1000,
        schedule: Any = "strong",
        step0: float | None = None,
        average: bool | str = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.lam = lam
        self.loss = loss
        self.weighting = weighting
        self.groups = groups
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.schedule = schedule
        self.step0 = step0
        self.average = average
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> "SoftMarginRanker":
        """Learn from grades: within a group of ``qid``, a higher grade is better than every lower one.

        Parameters
        ----------
        X : one row an item.
        y : one grade a row, any numbers; or ``softmargin.constraints.Constraints``, several sources at once.
        qid : the group of each row, in any order; without it all rows are one group.
        sample_weight : with ``qid`` how much each group matters, one number a group (in the order of sorted ``qid``) or
            a row; of rows with different weights a pair has the geometric mean.  Without ``qid`` copies of each row.
        """
        with self._all_or_nothing():
            self._check_parameters()
            X = read_matrix(self, X, reset=True)
            rows_of(X)  # refuses NaN and the like
            X = centred(X)
            rows = rows_of(X)
            told = self._read(y, qid, sample_weight, row_count(rows))
            task, lam = self._task_of(told.total, told.rounds)
            plan, problem = self._plan(lam, int(self.n_features_in_)), self._problem(rows, told)
            answer = self._conclude(told.rounds, lambda: solve_statements(task, problem, X, plan))
            self.groups_: GroupCounts = told.groups
            for name, value in (("stiffness_", answer.stiffness), ("pair_dual_", answer.single)):
                if value is not None:
                    setattr(self, name, value)
        self._warn_unless_converged()
        return self

    def _read(self, y: Any, qid: Any, weight: Any, rows: int, *, idle: bool = False) -> Statements:
        return read_statements(y, qid, weight, rows, weighting=self.weighting, share=self.groups, idle=idle)

    def _problem(self, rows: DenseRows | SparseRows, told: Statements) -> ScoreProblem:
        return ScoreProblem(rows, int(self.n_features_in_), told.sources, self.loss == "squared_hinge")

    @StreamMethod
    def partial_fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> "SoftMarginRanker":
        """One step of the online algorithm for each group, in the order in which groups first appear.

        A step judges all pairs of its group at once.  Here the T of ``lam = 1/(C T)`` counts groups.
        """
        with self._all_or_nothing():
            self._check_parameters()
            X = read_matrix(self, X, reset=not self.__sklearn_is_fitted__())
            rows = rows_of(X)
            told = self._read(y, qid, sample_weight, row_count(rows), idle=True)
            groups = only_groups(self._problem(rows, told))
            stream = self._stream_for(int(self.n_features_in_))
            self._keep_stream(after_groups(stream, X, groups, groups.as_met()))
        return self

    def fit_pairs(self, X: Any, pairs: Any, weight: Any = None, margin: Any = None) -> "SoftMarginRanker":
        """Learn from ``pairs[t] = (better, worse)``, row numbers of X; ``margin`` is how much better, 1 by default."""
        with self._all_or_nothing():
            self._check_parameters()
            rows, pairs = self._rows(X, reset=True), as_pairs(pairs)
            self._solve(rows, pairs, self._importance(pairs, weight, margin), "weight")
        self._warn_unless_converged()
        return self

    def _importance(self, pairs: np.ndarray, weight: Any, margin: Any) -> Importance:
        return importance(len(pairs), weight, self.weighting, 1.0 if margin is None else margin, "weight")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        refuse_unless(self, self.groups in SHARING, "groups", f"one of {', '.join(SHARING)}")

    def _solve(self, rows: DenseRows | SparseRows, pairs: np.ndarray, matter: Importance, name: str) -> None:
        stream = _constraints(rows, pairs, matter)
        matter.refuse_nothing(name)
        task, lam = self._task(matter)
        plan = self._plan(lam, int(self.n_features_in_))
        stream, batch = self._handed_over(stream, matter.whole_price)
        met, order = matter.total, self._order(matter)
        del matter
        self._conclude(met, lambda: solve(task, stream, batch, plan, order))
        self.support_pairs_ = pairs[self.support_].astype(np.int64)

    @StreamMethod
    def partial_fit_pairs(self, X: Any, pairs: Any, weight: Any = None, margin: Any = None) -> "SoftMarginRanker":
        """One step of the online algorithm for each pair, in the order given; a refused call learns nothing."""
        with self._all_or_nothing():
            self._check_parameters()
            rows, pairs = self._rows(X, reset=not self.__sklearn_is_fitted__()), as_pairs(pairs)
            matter = self._importance(pairs, weight, margin)
            constraints = _constraints(rows, pairs, matter)
            self._keep_stream(self._stream_for(int(self.n_features_in_)).after(constraints, matter.order()))
        return self

    # ------------------------------------------------------------------------------- what was learned

    @property
    def coef_(self) -> np.ndarray:
        """One weight a feature."""
        return self._learned()[0]

    def predict(self, X: Any) -> np.ndarray:
        """The utility of each row; higher is better."""
        return np.asarray(self._finite_matrix(X) @ self.coef_)

    def rank(self, X: Any) -> np.ndarray:
        """Row numbers, best first; equals keep their order."""
        return np.argsort(-self.predict(X), kind="stable")

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """Share of the pairs implied by grades ``y`` that the utilities order rightly; a tie counts half.

        ``sample_weight`` means what it means to ``fit`` with ``groups="pairs"``.
        """
        utility = self.predict(X)
        if sample_weight is not None:
            return weighted_pair_accuracy(utility, y, qid, sample_weight)
        y = read_grades(y, utility.size)
        return pair_accuracy(y, utility, None if qid is None else read_groups(qid, y.size), average="pairs")

    def explain(self, X: Any, a: int, b: int) -> Explanation:
        """Why row a of X is ranked over row b: what each feature adds and, for the X of ``fit``, each answer."""
        X = self._finite_matrix(X)
        names = getattr(self, "feature_names_in_", np.arange(X.shape[1]))
        support = None
        if hasattr(self, "dual_"):
            left_open = float(np.sqrt(2.0 * self.certificate_.gap))
            pairs = getattr(self, "support_pairs_", None)
            support = Support(self.support_, pairs, self.dual_[self.support_], left_open)
        return explain(X, a, b, self.coef_, names, support)

    def margins(self, X: Any, pairs: Any) -> np.ndarray:
        """How far the better row of each pair is ahead; negative where the model disagrees."""
        utility = self.predict(X)
        pairs = pair_rows(DenseRows(utility[:, None]), pairs, utility.size)
        return np.asarray(utility[pairs.better] - utility[pairs.worse])

    def slack(self, X: Any, pairs: Any, margin: Any = None) -> np.ndarray:
        """What each pair lacks of its required margin, 1 by default."""
        margins = self.margins(X, pairs)
        return np.maximum(0.0, numbers_of(1.0 if margin is None else margin, margins.size, "margin") - margins)

    def points(self, X: Any, pairs: Any, tolerance: float = 1e-3) -> PointCounts:
        """How many pairs lie outside, on and inside the margin, and how many are the wrong way round."""
        return count_points(self.margins(X, pairs), tolerance)


def _constraints(rows: DenseRows | SparseRows, pairs: np.ndarray, matter: Importance) -> Constraints:
    compared = pair_rows(rows, pairs, row_count(rows))
    return Constraints(compared, np.ones(matter.price.size, dtype=np.int8), matter.required, matter.price)
