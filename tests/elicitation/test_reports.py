"""What is told: rankings, weights, judges, surprise, and when to stop; and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import ndtr

from elicitation.answers import Case, case, posterior, same, told
from refusal import one_sentence, refused
from softmargin import PreferencePosterior


def test_expected_tau_and_probability_beside_draws():
    """Over weights drawn from the Gaussian: tau, the chance of a pair, and the regret are what is told."""
    model = posterior(case(31, n=15, d=4, T=40))
    rng = np.random.default_rng(0)
    w = rng.multivariate_normal(model.mean_, np.linalg.inv(model.precision_), size=20_000)
    X = case(31, n=15, d=4, T=40).X
    utility, mine = X @ w.T, X @ model.mean_
    left, right = np.triu_indices(15, 1)
    right_way = np.sign(utility[left] - utility[right]) == np.sign(mine[left] - mine[right])[:, None]
    assert model.expected_tau() == pytest.approx(2.0 * right_way.mean() - 1.0, abs=0.005)
    assert model.probability(2, 7) == pytest.approx((utility[2] > utility[7]).mean(), abs=0.015)
    best = utility.max(axis=0)
    regret = (best - utility[mine.argmax()]).mean() / (best - utility.min(axis=0)).mean()
    assert model.expected_regret() == pytest.approx(regret, abs=0.01)
    ranks = 1 + (utility[None] > utility[:, None]).sum(axis=1)
    ranking = model.ranking(level=0.8)
    inside = ((ranking.low[:, None] <= ranks) & (ranks <= ranking.high[:, None])).mean(axis=1)
    assert (inside >= 0.78).all()
    assert (ranking.high - ranking.low <= 14).all()


@pytest.mark.parametrize("seed", range(3))
def test_intervals_hold_the_truth(seed):
    """Over 30 judges, weights and ranks lie in their intervals about as often as these say."""
    weights, ranks = [], []
    for k in range(30):
        answers = case(1000 * seed + k, n=15, d=3, T=30)
        model = posterior(answers)
        told_weights, ranking = model.weights(0.8), model.ranking(0.8)
        weights.append((told_weights.low <= answers.w) & (answers.w <= told_weights.high))
        truth = answers.X @ answers.w
        rank = 1 + (truth[None] > truth[:, None]).sum(axis=1)
        ranks.append((ranking.low <= rank) & (rank <= ranking.high))
    assert 0.68 <= np.mean(weights) <= 0.92
    assert np.mean(ranks) >= 0.75


def test_a_ranking_reads_well():
    """Best first, ranks within their intervals, wider intervals for higher levels, equal items equal ranks."""
    answers = case(32, n=13)
    X = np.vstack([answers.X, answers.X[4]])
    model = posterior(Case(X, answers.w, answers.lines))
    ranking, wide = model.ranking(0.5), model.ranking(0.99)
    assert (np.diff(ranking.utility[ranking.order]) <= 1e-12).all()
    assert ((ranking.low <= ranking.rank) & (ranking.rank <= ranking.high)).all()
    assert ((wide.low <= ranking.low) & (ranking.high <= wide.high)).all()
    assert ranking.rank[4] == ranking.rank[13]
    text = str(ranking).splitlines()
    assert len(text) == 12
    assert "50% of cases" in text[0]
    assert text[1].split()[0] == "1"
    assert text[-1] == "4 more items"


def test_weights_have_names_and_signs():
    """Names come from the frame; intervals are mean and standard deviation at the level."""
    answers = case(33)
    frame = pd.DataFrame(answers.X, columns=["slope", "height", "grip"])
    model = posterior(Case(frame, answers.w, answers.lines))
    assert same(model, posterior(answers))
    weights = model.weights(0.9)
    assert weights.names.tolist() == model.feature_names_in_.tolist() == ["slope", "height", "grip"]
    assert np.allclose(ndtr((weights.high - weights.mean) / weights.sd), 0.95)
    assert np.allclose(weights.sd**2, np.diag(np.linalg.inv(model.precision_)))
    assert np.allclose(weights.mean, model.mean_)
    assert "slope" in str(weights)
    assert "90% of cases" in str(weights)


def test_sparse_items_are_dense_ones():
    """CSR in, the same bits out."""
    answers = case(34)
    assert same(posterior(Case(sparse.csr_array(answers.X), answers.w, answers.lines)), posterior(answers))


def test_judges_are_found_out():
    """Among good judges: who answers at random, who answers backwards, and who always says "left"."""
    rng = np.random.default_rng(35)
    X, w = rng.normal(size=(30, 4)), rng.normal(size=4)
    model = PreferencePosterior(X)
    for t in range(360):
        a, b = rng.choice(30, 2, replace=False).tolist()
        judge = ("good", "fine", "random", "reversed", "lefty", "true")[t % 6]
        left = (X[a] - X[b]) @ w + rng.normal() > 0
        if judge == "random":
            left = rng.random() < 0.5
        elif judge == "reversed":
            left = not left
        elif judge == "lefty":
            left = True
        model.answer(a, b, "left" if left else "right", judge)
    found = {one.judge: one for one in model.judges_}
    assert found["random"].error > 0.25
    assert found["reversed"].error > 0.6
    assert found["lefty"].bias > 3.0 * found["lefty"].bias_sd
    for good in ("good", "fine", "true"):
        assert found[good].error < 0.15
        assert abs(found[good].bias) < 3.0 * found[good].bias_sd
        assert found[good].surprise < found["random"].surprise
    assert sum(one.answers for one in found.values()) == 360
    assert np.corrcoef(X @ w, model.ranking().utility)[0, 1] > 0.95


def test_a_wrong_answer_is_a_surprise():
    """One answer against 60 others stands out, alone above 3 bits; the same answers without it have none."""
    answers = case(36, n=12, d=2, T=60, scale=2.0, width=0.0, error=0.0)
    model = posterior(answers)
    order = model.ranking().order
    number = model.answer(order[-1], order[0], "left")
    bits = model.surprise()
    assert bits.size == 61
    assert bits.argmax() == 60
    assert model.surprise(number) == bits[60] > 3.0
    assert (bits >= 0.0).all()


def test_when_to_stop():
    """Not at the beginning; after many answers; and targets are compared with what is told."""
    answers = case(37, n=8, d=2, T=300, scale=2.0)
    start, end = PreferencePosterior(answers.X), posterior(answers)
    for goal in ("rank", "best"):
        assert start.should_stop(goal, 0.9) is False
        assert end.should_stop(goal, 0.9) is True
        assert end.should_stop(goal) is end.should_stop(goal, {"rank": 0.9, "best": 0.95}[goal])
    tau = end.expected_tau()
    assert end.should_stop("rank", tau)
    assert not end.should_stop("rank", min(1.0, tau + 1e-6))


AWKWARD = {
    "all equal": [(a, b, "equal", None) for a in range(6) for b in range(a)],
    "a cycle": [(0, 1, "left", "x"), (1, 2, "left", "x"), (2, 0, "left", "x")] * 20,
    "all left": [(a, (a + 1) % 6, "left", 3) for a in range(6)] * 50,
    "one pair": [(0, 1, "left", None)] * 3000,
    "equal and not": [(0, 1, "equal", None), (0, 1, "left", None), (0, 1, "right", None)] * 100,
}
ITEMS = {
    "plain": np.random.default_rng(38).normal(size=(6, 3)),
    "one feature": np.arange(6.0)[:, None],
    "a constant feature": np.column_stack((np.arange(6.0), np.ones(6))),
    "duplicates": np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [2.0, 2.0], [2.0, 2.0]]),
    "huge": 1e6 * np.random.default_rng(39).normal(size=(6, 3)),
    "tiny": 1e-9 * np.random.default_rng(40).normal(size=(6, 3)),
    "mixed scales": np.random.default_rng(41).normal(size=(6, 3)) * [1e-8, 1.0, 1e8],
    "far away": 1e7 + np.random.default_rng(42).normal(size=(6, 3)),
}


FAR = ("huge", "mixed scales")  # without noise worth speaking of, contradictions may not come to rest, and say so


@pytest.mark.filterwarnings("ignore:after 100 sweeps")
@pytest.mark.parametrize("items", FAR)
@pytest.mark.parametrize("lines", AWKWARD)
def test_awkward_answers_about_items_far_apart(items, lines):
    """A million times the noise: the same laws, but for a warning that a fit has not come to rest."""
    test_awkward_answers_about_awkward_items(items, lines)


@pytest.mark.parametrize("items", [name for name in ITEMS if name not in FAR])
@pytest.mark.parametrize("lines", AWKWARD)
def test_awkward_answers_about_awkward_items(items, lines):
    """Everything told is finite, the precision is positive definite, and order changes nothing."""
    answers = Case(ITEMS[items], None, AWKWARD[lines])
    for error in (0.0, 0.05, 0.5):
        model = posterior(answers, judge_error=error)
        for part in told(model):
            assert np.isfinite(part).all()
        root = 1.0 / np.sqrt(np.diag(model.precision_))
        assert np.linalg.eigvalsh(model.precision_ * np.outer(root, root)).min() > -1e-12
        assert np.isfinite(model.surprise()).all()
        backwards = posterior(answers, range(len(answers.lines) - 1, -1, -1), judge_error=error)
        assert np.array_equal(model.mean_, backwards.mean_)


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (([[1.0, 2.0]],), "1 row"),
        (([1.0, 2.0],), "2D"),
        (([[1.0], [np.nan]],), "NaN at row 1, column 0"),
        (([[1.0], [np.inf]],), "inf"),
        (([["a"], ["b"]],), "numbers"),
        ((np.zeros((3, 0)),), "0 feature"),
        ((np.zeros((3, 6000)),), "6000 columns"),
        ((1e60 * np.eye(3),), "row 1, column 0.*scale the features"),
        ((np.eye(3), 1e-20), "raise prior_precision"),
        ((np.eye(3), 0.0), "prior_precision"),
        ((np.eye(3), -1.0), "prior_precision"),
        ((np.eye(3), np.nan), "prior_precision"),
        ((np.eye(3), [1.0, 2.0]), "prior_precision"),
        ((np.eye(3), "flat"), "prior_precision"),
        ((np.eye(3), True), "prior_precision"),
        ((np.eye(3), 1.0, 0.6), "judge_error=0.6"),
        ((np.eye(3), 1.0, -0.1), "judge_error"),
        ((np.eye(3), 1.0, np.nan), "judge_error"),
        ((np.eye(3), 1.0, 0.05, "yes"), "ties='yes'"),
    ],
)
def test_items_and_options_that_make_no_sense(arguments, pattern):
    """One sentence names the argument and, where there is one, the row."""
    refused(lambda: PreferencePosterior(*arguments), pattern)


def test_answers_that_make_no_sense():
    """Unknown rows, verdicts and judges are refused in one sentence, and nothing was said."""
    answers = case(44)
    model = posterior(answers)
    before = told(model)
    for line, pattern in (
        ((0, 12, "left"), "b=12 is no row of X"), ((-1, 2, "left"), "a=-1"), ((0, 0, "left"), "same row"),
        ((0, 1.0, "left"), "b=1.0"), ((0, True, "left"), "b=True"), ((0, "1", "left"), "b='1'"),
        ((0, 1, "up"), "verdict='up'"), ((0, 1, None), "verdict=None"), ((0, 1, 1), "verdict=1"),
        ((0, 1, "left", 1.5), "judge=1.5"), ((0, 1, "left", ("a",)), "judge"), ((0, 1, "left", True), "judge=True"),
    ):  # fmt: skip
        refused(lambda line=line: model.answer(*line), pattern)
    for call in (model.ranking, model.weights):
        for level in (0.0, 1.0, -1.0, np.nan, "most", True):
            refused(lambda call=call, level=level: call(level), "level=")
    refused(lambda: model.probability(0, 12), "b=12")
    refused(lambda: model.answer_probability(0, 0), "same row")
    assert all(np.array_equal(a, b) for a, b in zip(told(model), before, strict=True))
    refused(lambda: PreferencePosterior(answers.X, ties=False).answer(0, 1, "equal"), "ties=False")
    assert one_sentence(repr(model))
