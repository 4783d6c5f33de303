"""What is asked next: formulas beside sums, no pair twice, nothing that cannot be told apart, and it is worth it."""

import numpy as np
import pytest
from scipy.special import ndtr

from elicitation.answers import Case, case, posterior, same
from refusal import refused
from softmargin import PreferencePosterior
from softmargin.elicitation.questions import _shape
from softmargin.kernels.questions import better_of_two, information, sharpness

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(200)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def bits(p):
    """Entropy of a yes or no."""
    return -(p * np.log2(p) + (1.0 - p) * np.log2(1.0 - p))


@pytest.mark.nojit
@pytest.mark.parametrize("error", [0.0, 0.05, 0.3])
def test_information_beside_quadrature(error):
    """The closed form is within 0.02 bits of the integral, and never negative by more than rounding."""
    for m in (0.0, 0.5, 2.0, 6.0):
        for v in (1e-4, 0.3, 3.0, 50.0):
            p = error + (1.0 - 2.0 * error) * ndtr(m + np.sqrt(v) * NODES)
            p = np.clip(p, 1e-15, 1.0 - 1e-15)
            exact = bits(WEIGHTS @ p) - WEIGHTS @ bits(p)
            assert information(m, v, error, *_shape(error)) == pytest.approx(exact, abs=0.02)


@pytest.mark.nojit
def test_the_better_of_two_beside_quadrature():
    """The expected size of a difference, and an answer that says nothing takes nothing away."""
    for m in (0.0, 0.7, -3.0):
        for v in (0.2, 4.0):
            assert better_of_two(m, v) == pytest.approx(WEIGHTS @ np.abs(m + np.sqrt(v) * NODES), rel=0.01)
            assert sharpness(m, v, 0.5) == 0.0
            assert 0.0 < v * sharpness(m, v, 0.0) < 1.0


@pytest.mark.parametrize("goal", ["rank", "best"])
def test_no_pair_twice(goal):
    """Thirty questions and answers, then ten at once: every pair is new, and nobody is asked about one item."""
    answers, asked = case(21, n=14, d=3), set()
    model, rng = PreferencePosterior(answers.X), np.random.default_rng(0)
    for _ in range(30):
        (pair,) = model.suggest(goal)
        assert pair[0] != pair[1]
        assert not pair.repeat
        assert frozenset(pair) not in asked
        asked.add(frozenset(pair))
        seen = (answers.X[pair[0]] - answers.X[pair[1]]) @ answers.w + rng.normal()
        model.answer(*pair, "left" if seen > 0 else "right")
    several = model.suggest(goal, n=10)
    assert len({frozenset(pair) for pair in several} - asked) == 10
    waiting = model.suggest(goal, n=10, pending=several)
    assert not {frozenset(pair) for pair in waiting} & {frozenset(pair) for pair in several}
    assert model.suggest(goal, n=10) == several


def test_fewer_pairs_than_asked_for():
    """With n above the number of pairs each comes once; when all were answered there are none, or repeats, told so."""
    X = case(22, n=6).X
    model = PreferencePosterior(X)
    everything = model.suggest(n=100)
    assert len(everything) == len({frozenset(pair) for pair in everything}) == 15
    assert len(model.suggest("best", n=14, pending=everything[:10])) == 5
    for pair in everything:
        model.answer(*pair, "equal")
    assert model.suggest() == []
    again = model.suggest(n=100, repeats=True)
    assert len(again) == 15
    assert all(pair.repeat for pair in again)


def test_items_that_cannot_be_told_apart_are_not_compared():
    """Rows with the same features are one kind: never a pair, and a pair of kinds is asked about once."""
    X = np.repeat(case(23, n=4, d=2).X, 3, axis=0)
    model = PreferencePosterior(X)
    pairs = model.suggest(n=100)
    assert len(pairs) == 6
    assert all((X[a] != X[b]).any() for a, b in pairs)
    model.answer(0, 3, "left")
    assert len(model.suggest(n=100)) == 5
    assert PreferencePosterior([[0.0, 1.0], [-0.0, 1.0]]).suggest() == []
    constant = PreferencePosterior(np.ones((5, 2)))
    assert constant.suggest(n=3) == []
    assert constant.expected_tau() == 1.0
    assert constant.should_stop("rank", 0.9)
    assert constant.should_stop("best", 0.9)
    assert constant.ranking().rank.tolist() == [1] * 5


@pytest.mark.parametrize("goal", ["rank", "best"])
def test_many_items_are_sampled(goal):
    """3,000 items, 4.5 million pairs: distinct questions, the same ones each time, many of them when many are asked."""
    answers = case(24, n=3000, d=5, T=50, scale=0.5)
    model = posterior(answers)
    assert model.suggest(goal, n=5) == posterior(answers, range(49, -1, -1)).suggest(goal, n=5)
    pairs = model.suggest(goal, n=300)
    assert len({frozenset(pair) for pair in pairs}) == 300


def test_both_sides_are_used():
    """A question that is worth asking is asked with either item on the left."""
    X = np.random.default_rng(25).normal(size=(40, 3))
    lower_first = [a < b for a, b in PreferencePosterior(X).suggest(n=100)]
    assert 25 < sum(lower_first) < 75


def play(X, w, ask, answers, seed):
    """A judge without errors of hand answers ``answers`` questions; the posterior after them."""
    model, rng = PreferencePosterior(X), np.random.default_rng(seed)
    for _ in range(answers):
        a, b = ask(model, rng)
        model.answer(a, b, "left" if (X[a] - X[b]) @ w + rng.normal() > 0 else "right")
    return model


def test_questions_are_better_than_chance():
    """After 25 answers rankings and choices are nearer to the truth than after 25 random ones, over ten judges."""
    n, d, tau, regret = 40, 5, [], []
    left, right = np.triu_indices(n, 1)

    def at_random(_, rng):
        return rng.choice(n, 2, replace=False).tolist()

    rules = (at_random, lambda model, _: model.suggest("rank")[0], lambda model, _: model.suggest("best")[0])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, w = 1.5 * rng.normal(size=(n, d)), rng.normal(size=d)
        truth = X @ w
        for rule in rules:
            utility = play(X, w, rule, 25, seed).ranking().utility
            tau.append(np.mean(np.sign(utility[left] - utility[right]) == np.sign(truth[left] - truth[right])))
            regret.append((truth.max() - truth[utility.argmax()]) / (truth.max() - truth.min()))
    tau, regret = np.reshape(tau, (10, 3)).mean(axis=0), np.reshape(regret, (10, 3)).mean(axis=0)
    assert tau[1] > tau[0] + 0.02
    assert regret[2] < regret[0]


def test_one_feature_two_items():
    """The smallest problem: one pair, and after one answer nothing is left to ask."""
    model = PreferencePosterior([[0.0], [1.0]])
    assert {frozenset(pair) for pair in model.suggest(n=4)} == {frozenset((0, 1))}
    model.answer(1, 0, "left")
    assert model.mean_[0] > 0
    assert model.suggest("best") == []
    assert model.ranking().order.tolist() == [1, 0]
    both = posterior(Case(np.array([[0.0], [1.0]]), None, [(1, 0, "left", None)]))
    assert same_ranking(both, model)


def same_ranking(one, other):
    """Whether ranks and means are the same."""
    return np.array_equal(one.ranking().rank, other.ranking().rank) and np.array_equal(one.mean_, other.mean_)


def test_questions_refuse_what_makes_no_sense():
    """A goal, a number or a pending pair that is none is refused in one sentence, and the state stays."""
    model = posterior(case(26))
    other = posterior(case(26))
    for arguments, pattern in (
        ({"goal": "worst"}, "goal="), ({"n": 0}, "n=0"), ({"n": 1.5}, "n=1.5"), ({"n": True}, "n=True"),
        ({"pending": [(0, 99)]}, "b=99"), ({"pending": [3]}, "pending"), ({"pending": [(1, 1)]}, "same row"),
    ):  # fmt: skip
        refused(lambda arguments=arguments: model.suggest(**arguments), pattern)
    for goal, target in (("rank", 1.5), ("rank", "high"), ("worst", 0.5), ("best", float("nan"))):
        refused(lambda goal=goal, target=target: model.should_stop(goal, target), "goal=|target=")
    assert same(model, other)
