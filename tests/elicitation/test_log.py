"""The posterior is a function of the answers that stand: no order, no history, no trace of what was undone."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicitation.answers import case, posterior, same, told
from refusal import refused
from softmargin import PreferencePosterior, SoftMarginRanker

CASES = [case(1), case(2, judges=("eve", "adam", 7, None)), case(3, d=12, T=60), case(4, d=1, T=5, width=0.0)]
CASES.append(case(8, d=120, T=50, scale=0.2, judges=("eve", "adam")))


@pytest.mark.parametrize("which", range(len(CASES)))
def test_order_changes_nothing(which):
    """Any order of the same answers gives the same bits."""
    answers, rng = CASES[which], np.random.default_rng(which)
    straight = posterior(answers)
    for _ in range(3):
        assert same(posterior(answers, rng.permutation(len(answers.lines))), straight)


@pytest.mark.parametrize("which", range(len(CASES)))
def test_undo_is_a_fit_from_scratch(which):
    """Answers that were undone leave no trace, whatever was asked in between."""
    answers, rng = CASES[which], np.random.default_rng(which)
    gone = set(rng.choice(len(answers.lines), len(answers.lines) // 3, replace=False).tolist())
    model = PreferencePosterior(answers.X)
    numbers = []
    for t, line in enumerate(answers.lines):
        numbers.append(model.answer(*line))
        if t % 7 == 0:
            model.suggest()
    for t in gone:
        model.undo(numbers[t])
        if t % 2:
            told(model)
    assert same(model, posterior(answers, [t for t in range(len(answers.lines)) if t not in gone]))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from(("left", "right", "equal", "undo")))))
def test_any_walk_of_answers_and_undos(walk):
    """Whatever is answered and undone, the state is that of the answers that stand."""
    X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [0.3, 0.3]])
    model, standing = PreferencePosterior(X), {}
    for a, step, verdict in walk:
        if verdict == "undo":
            if standing:
                number = sorted(standing)[a % len(standing)]
                model.undo(number)
                del standing[number]
            continue
        line = a, (a + step) % 4, verdict
        standing[model.answer(*line)] = line
    fresh = PreferencePosterior(X)
    for line in standing.values():
        fresh.answer(*line)
    assert np.array_equal(model.mean_, fresh.mean_)
    assert np.array_equal(model.precision_, fresh.precision_)
    assert model.suggest(n=9) == fresh.suggest(n=9)
    assert np.isfinite(model.mean_).all()


@pytest.mark.nojit
def test_without_a_judge_sides_do_not_matter():
    """A over b is the same from the left and from the right, and "equal" is in either order."""
    X = case(5).X
    one, other = PreferencePosterior(X), PreferencePosterior(X)
    for a, b, here, there in ((0, 1, "left", "right"), (2, 3, "right", "left"), (4, 5, "equal", "equal")):
        one.answer(a, b, here)
        other.answer(b, a, there)
    assert np.array_equal(one.mean_, other.mean_)
    assert np.array_equal(one.precision_, other.precision_)


def test_undo_refuses_what_is_not_there():
    """Undoing twice, or a number that was never given, is refused in one sentence and changes nothing."""
    model = posterior(CASES[0])
    model.undo(3)
    before = told(model)
    for number, why in ((3, "undone before"), (40, "no answer"), (-1, "no answer"), (1.0, "no answer"), (True, "no")):
        refused(lambda number=number: model.undo(number), "i=", why)
    refused(lambda: model.surprise(3), "undone before")
    assert all(np.array_equal(a, b) for a, b in zip(told(model), before, strict=True))


def test_the_same_comparisons_as_the_ranker():
    """Pairs go in as ``fit_pairs`` takes them and come out again, and both models put them in one order."""
    answers = case(6, d=2, T=60, width=0.0)
    decided = [(a, b) if said == "left" else (b, a) for a, b, said, _ in answers.lines]
    model = PreferencePosterior(answers.X)
    assert model.answer_pairs(decided) == list(range(60))
    assert sorted(map(tuple, model.pairs_.tolist())) == sorted(decided)
    assert np.array_equal(model.mean_, posterior(answers).mean_)
    ranker = SoftMarginRanker().fit_pairs(answers.X, model.pairs_)
    assert np.corrcoef(ranker.predict(answers.X), model.ranking().utility)[0, 1] > 0.95
    before = model.mean_
    refused(lambda: model.answer_pairs([(0, 1), (2, 12)]), r"pairs\[1\]", "12 rows")
    refused(lambda: model.answer_pairs([(0, 0)]), r"pairs\[0\]", "itself")
    refused(lambda: model.answer_pairs([(0, 1)], judge=2.5), "judge=2.5")
    assert np.array_equal(model.mean_, before)
    assert model.answer_pairs([]) == []


def test_copies_go_their_own_way():
    """A deep copy and a pickle have the state, and what is said to them is not said to the first."""
    model = posterior(CASES[1])
    before = model.mean_
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301 our own bytes
        assert same(other, model)
        other.answer(0, 1, "left")
        assert not np.array_equal(other.mean_, before)
    assert np.array_equal(model.mean_, before)
    question = model.suggest(repeats=True)[0]
    assert pickle.loads(pickle.dumps(question)).repeat is question.repeat  # noqa: S301 our own bytes


def test_items_are_copied():
    """Who changes X afterwards changes nothing."""
    answers = case(7)
    X = answers.X.copy()
    model = PreferencePosterior(X)
    X[:] = 0.0
    for line in answers.lines:
        model.answer(*line)
    assert same(model, posterior(answers))
