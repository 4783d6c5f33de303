"""What a person prefers, asked question by question: a posterior over weights, and the next question."""

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import ndtr
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from softmargin.constraints.pairs import as_pairs, whole_pairs
from softmargin.constraints.weights import is_number
from softmargin.data.matrix import rows_of
from softmargin.elicitation.log import VERDICTS, Answer, Judge, Log
from softmargin.elicitation.questions import GOALS, Asked, kinds_of, next_questions
from softmargin.elicitation.state import JudgeReport, State
from softmargin.elicitation.summaries import (
    Ranking,
    Weights,
    better_chance,
    expected_regret_of,
    expected_tau_of,
    ranking_of,
    weights_of,
)
from softmargin.estimators._inputs import read_matrix

MOST_FEATURES = 5000
LARGEST_PRECISION = 1e25
FARTHEST = 1e9
TARGETS = {"rank": 0.9, "best": 0.95}


class Question(tuple[int, int]):  # noqa: SLOT001 a tuple takes no other slots
    """The row numbers (left, right); ``repeat`` says that this pair was answered before."""

    repeat: bool

    def __new__(cls, left: int, right: int, *, repeat: bool = False) -> Self:
        """A pair that carries a word of explanation."""
        self = super().__new__(cls, (left, right))
        self.repeat = repeat
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[int, int], dict[str, bool]]:
        """Copies and pickles are made of the same parts."""
        return (self[0], self[1]), {"repeat": self.repeat}


class Chances(NamedTuple):
    """The probability of each answer to a question."""

    left: float
    equal: float
    right: float


class PreferencePosterior:
    """A Gaussian over the weights of a linear utility, learned from answers to "left or right", and what to ask next.

    A judge sees ``w.(x_left - x_right)`` through Gaussian noise of standard deviation 1, which is the unit of all
    utilities.  Where what he sees is within a width of zero, he says "equal"; otherwise he names the side, and with
    probability ``judge_error`` the wrong one.  The width is learned from the answers, and so is the error rate of each
    judge who is named, with his pull to the left; answers of nobody in particular have the error ``judge_error`` and
    no pull.  ``mean_`` and ``precision_`` follow from the answers that stand, in whatever order they came.

    Parameters
    ----------
    X : the items, one a row; they are copied.
    prior_precision : how sure we are that weights are near zero; a number, or one for each feature.
    judge_error : how often a judge names the wrong side of two that he can tell apart, from 0 to 0.5.
    ties : whether "equal" is an answer.
    """

    def __init__(self, X: Any, prior_precision: Any = 1.0, judge_error: float = 0.05, ties: bool = True) -> None:  # noqa: FBT001, FBT002 the contract's order
        reader = type("PreferencePosterior", (BaseEstimator,), {})()  # scikit-learn's messages name it
        items = read_matrix(reader, X, reset=True)
        if items.shape[0] < 2:
            message = f"X has {items.shape[0]} row(s): a comparison needs two items"
            raise ValueError(message)
        if items.shape[1] > MOST_FEATURES:
            message = (
                f"X has {items.shape[1]} columns: the posterior of d weights has d x d numbers, d <= {MOST_FEATURES}"
            )
            raise ValueError(message)
        rows_of(items)
        items = np.array(items.toarray() if sparse.issparse(items) else items, dtype=np.float64, order="C") + 0.0
        self.n_features_in_ = items.shape[1]
        if hasattr(reader, "feature_names_in_"):
            self.feature_names_in_ = reader.feature_names_in_
        if not is_number(judge_error) or not 0.0 <= judge_error <= 0.5:
            message = f"judge_error={judge_error!r}: pass a number from 0 to 0.5"
            raise ValueError(message)
        if not isinstance(ties, (bool, np.bool_)):
            message = f"ties={ties!r}: pass True or False"
            raise ValueError(message)
        precision = _read_precision(prior_precision, items.shape[1])
        self.prior_precision, self.judge_error, self.ties = prior_precision, float(judge_error), bool(ties)
        self._scale = 1.0 / np.sqrt(precision)
        self._items = items * self._scale
        _refuse_far(self._items)
        self._kinds, self._log = kinds_of(items), Log()
        self._known: State | None = None

    def __repr__(self) -> str:
        """How much there is of what."""
        items, features = self._items.shape
        return f"PreferencePosterior({items} items, {features} features, {len(self._log.standing)} answers)"

    # ------------------------------------------------------------------------------- what is said

    def answer(self, a: int, b: int, verdict: str, judge: Judge = None) -> int:
        """Row a was on the left and row b on the right, and ``verdict`` is "left", "right" or "equal": its number."""
        a, b = self._pair(a, b)
        if not isinstance(verdict, str) or verdict not in VERDICTS:
            message = f"verdict={verdict!r}: pass 'left', 'right' or 'equal'"
            raise ValueError(message)
        if verdict == "equal" and not self.ties:
            message = "verdict='equal' is no answer where ties=False: pass 'left' or 'right'"
            raise ValueError(message)
        number = self._log.add(a, b, str(verdict), _read_judge(judge))
        self._known = None
        return number

    def answer_pairs(self, pairs: Any, judge: Judge = None) -> list[int]:
        """The comparisons that ``SoftMarginRanker.fit_pairs`` takes, ``pairs[t] = (better, worse)``: their numbers.

        The better one counts as seen on the left of every other pair, since nothing is known of sides.
        """
        pairs, judge = as_pairs(pairs), _read_judge(judge)
        pairs = whole_pairs(pairs) if len(pairs) else np.zeros((0, 2), dtype=np.int64)
        outside = (pairs >= len(self._items)).any(axis=1)
        if outside.any():
            t = int(np.argmax(outside))
            told = f"pairs[{t}] = ({pairs[t, 0]}, {pairs[t, 1]})"
            message = f"{told} names a row outside X, which has {len(self._items)} rows"
            raise ValueError(message)
        self._known = None
        numbers = []
        for t, (better, worse) in enumerate(pairs.tolist()):
            sides = (better, worse, "left") if t % 2 == 0 else (worse, better, "right")
            numbers.append(self._log.add(*sides, judge))
        return numbers

    def undo(self, i: int) -> None:
        """Answer number i was never given."""
        del self._log.standing[self._standing(i)]
        self._known = None

    @property
    def answers_(self) -> tuple[Answer, ...]:
        """The answers that stand, each with number, left, right, verdict and judge, in the order of their numbers."""
        return tuple(self._log.standing.values())

    @property
    def pairs_(self) -> np.ndarray:
        """The same as pairs ``(better, worse)`` for ``SoftMarginRanker.fit_pairs``; "equal" makes none."""
        decided = [one for one in self.answers_ if one.verdict != "equal"]
        pairs = [(one.left, one.right) if one.verdict == "left" else (one.right, one.left) for one in decided]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    # ------------------------------------------------------------------------------- what to ask

    def suggest(self, goal: str = "rank", n: int = 1, pending: Any = (), *, repeats: bool = False) -> list[Question]:
        """The n best questions, each a pair (left, right) of row numbers; fewer where fewer pairs are left.

        goal "rank" asks what says most about the weights (mutual information), "best" what is expected to show the
        best item (expected utility of the better one).  A pair that was answered, or that has the features of one
        that was, is not asked again unless ``repeats`` is True, and then its ``repeat`` says so.  ``pending`` are
        pairs that others have been asked and did not answer yet.
        """
        _refuse_goal(goal)
        if not is_whole(n) or n < 1:
            message = f"n={n!r}: pass a whole number, 1 or more"
            raise ValueError(message)
        waiting = [self._pair(*_two(pair)) for pair in (() if pending is None else pending)]
        state, of = self._state, self._kinds.of
        answered = of[np.column_stack((state.summary.better, state.summary.worse))]
        asked = Asked(answered, of[np.array(waiting, dtype=np.int64).reshape(-1, 2)], bool(repeats))
        found = next_questions(state.quick, self._kinds, goal, int(n), asked, self.judge_error, state.summary.seed)
        return [Question(left, right, repeat=repeat) for left, right, repeat in found]

    def should_stop(self, goal: str = "rank", target: float | None = None) -> bool:
        """Whether ``expected_tau()`` is at the target (0.9), or for "best" ``1 - expected_regret()`` is (0.95)."""
        _refuse_goal(goal)
        if target is None:
            target = TARGETS[goal]
        if not is_number(target) or not 0.0 <= target <= 1.0:
            message = f"target={target!r}: pass a number from 0 to 1"
            raise ValueError(message)
        reached = self.expected_tau() if goal == "rank" else 1.0 - self.expected_regret()
        return bool(reached >= target)

    # ------------------------------------------------------------------------------- what is believed

    @property
    def _state(self) -> State:
        """What follows from the answers that stand; it is kept until there is another answer."""
        if self._known is None:
            state = State(self._items, self._kinds, self._scale, self._log, self.judge_error)
            if not state.belief.settled:
                moved = f"{state.belief.moved:.2g} standard deviations"
                message = f"after {state.belief.sweeps} sweeps over the answers the fit still moves by {moved}"
                warnings.warn(message, ConvergenceWarning, stacklevel=3)
            self._known = state
        return self._known

    @property
    def mean_(self) -> np.ndarray:
        """Of the weights."""
        return self._state.mean.copy()

    @property
    def precision_(self) -> np.ndarray:
        """Of the weights: the inverse of their covariance."""
        return self._state.precision.copy()

    @property
    def tie_width_(self) -> float:
        """How far apart two items may seem and still be called equal; 0 where nobody said so."""
        return self._state.belief.tie_width

    @property
    def judges_(self) -> tuple[JudgeReport, ...]:
        """Everybody who answered: error rate, pull to the left, and how surprising the answers are."""
        return self._state.judges

    def surprise(self, i: int | None = None) -> Any:
        """Bits: minus log2 of the probability that all other answers give to answer i; all of ``answers_`` for None."""
        state = self._state
        surprises = -state.belief.log_chance[state.summary.group] / np.log(2.0)
        if i is None:
            return surprises
        return float(surprises[list(self._log.standing).index(self._standing(i))])

    def probability(self, a: int, b: int) -> float:
        """The probability that row a is better than row b, that is ``w.x_a > w.x_b``; 0.5 where they are the same."""
        a, b = self._pair(a, b)
        return better_chance(self._state.told, int(self._kinds.of[a]), int(self._kinds.of[b]))

    def answer_probability(self, a: int, b: int) -> Chances:
        """What somebody who is not named would answer, with row a on the left and row b on the right."""
        a, b = self._pair(a, b)
        view, error, width = self._state.told, self.judge_error, self.tie_width_
        one, other = self._kinds.of[a], self._kinds.of[b]
        along, m = view.spread[one] - view.spread[other], view.utility[one] - view.utility[other]
        s = np.sqrt(1.0 + along @ along)
        above, below = float(ndtr((m - width) / s)), float(ndtr((-m - width) / s))
        left, right = (1.0 - error) * above + error * below, (1.0 - error) * below + error * above
        return Chances(left, max(0.0, 1.0 - left - right), right)

    def ranking(self, level: float = 0.95) -> Ranking:
        """Every item with its rank and an interval of ranks."""
        return ranking_of(self._state.told, self._kinds, _read_level(level))

    def weights(self, level: float = 0.95) -> Weights:
        """Every weight with an interval."""
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        return weights_of(names, self._state.mean, self._state.covariance, _read_level(level))

    def expected_tau(self) -> float:
        """Kendall's tau between this ranking and the true one, as far as the posterior can tell."""
        return expected_tau_of(self._state.told, self._kinds)

    def expected_regret(self) -> float:
        """What the first of this ranking is expected to lack of the best item, as a share of best minus worst."""
        return expected_regret_of(self._state.told)

    # ------------------------------------------------------------------------------- what is refused

    def _standing(self, i: Any) -> int:
        if not is_whole(i) or not 0 <= i < self._log.next_number:
            message = f"i={i!r} is the number of no answer: pass a number that answer() returned"
            raise ValueError(message)
        if int(i) not in self._log.standing:
            message = f"i={i!r}: that answer was undone before"
            raise ValueError(message)
        return int(i)

    def _pair(self, a: Any, b: Any) -> tuple[int, int]:
        for name, row in (("a", a), ("b", b)):
            if not is_whole(row) or not 0 <= row < len(self._items):
                message = f"{name}={row!r} is no row of X: rows are whole numbers from 0 to {len(self._items) - 1}"
                raise ValueError(message)
        if a == b:
            message = f"a={a} and b={b} are the same row: a comparison takes two"
            raise ValueError(message)
        return int(a), int(b)


def is_whole(value: Any) -> bool:
    """A whole number; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def _two(pair: Any) -> tuple[Any, Any]:
    try:
        left, right = pair
    except (TypeError, ValueError) as error:
        message = f"pending holds {pair!r}: pass pairs (left, right) of row numbers"
        raise ValueError(message) from error
    return left, right


def _refuse_far(items: np.ndarray) -> None:
    """Beyond the limit rounding is all that is left of the prior."""
    apart = np.abs(items - items[0])
    row, column = np.unravel_index(int(np.argmax(apart)), apart.shape)
    if apart[row, column] > FARTHEST:
        where = f"{apart[row, column]:.1g} prior standard deviations of utility at row {row}, column {column}"
        message = (
            f"X is apart from row 0 by {where}, more than {FARTHEST:g}; scale the features or raise prior_precision"
        )
        raise ValueError(message)


def _read_precision(value: Any, width: int) -> np.ndarray:
    if is_number(value):
        value = np.full(width, float(value))
    try:
        precision = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"prior_precision={value!r}: pass a number above 0, or one for each feature"
        raise ValueError(message) from error
    if precision.shape != (width,) or isinstance(value, (bool, np.bool_)):
        wanted = f"a number above 0, or one for each of {width} features"
        message = f"prior_precision has shape {precision.shape}: pass {wanted}"
        raise ValueError(message)
    bad = ~((precision >= 1.0 / LARGEST_PRECISION) & (precision <= LARGEST_PRECISION))
    if bad.any():
        place = int(np.argmax(bad))
        message = (
            f"prior_precision[{place}] is {precision[place]}: pass a number above 0, "
            f"from {1.0 / LARGEST_PRECISION:g} to {LARGEST_PRECISION:g}"
        )
        raise ValueError(message)
    return precision


def _read_judge(judge: Any) -> Judge:
    if judge is None:
        return None
    if isinstance(judge, str):
        return str(judge)
    if is_whole(judge):
        return int(judge)
    message = f"judge={judge!r}: pass a name, a whole number, or None for nobody in particular"
    raise ValueError(message)


def _read_level(level: Any) -> float:
    if not is_number(level) or not 0.0 < level < 1.0:
        message = f"level={level!r}: pass a number between 0 and 1"
        raise ValueError(message)
    return float(level)


def _refuse_goal(goal: Any) -> None:
    if not isinstance(goal, str) or goal not in GOALS:
        message = f"goal={goal!r}: pass 'rank' or 'best'"
        raise ValueError(message)
