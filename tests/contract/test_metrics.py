"""Metrics of a ranking are those of scikit-learn, of SciPy and of all pairs counted one by one."""

import doctest
import subprocess
import sys
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score, ndcg_score

from refusal import refused
from softmargin import SoftMarginRanker, metrics
from softmargin.metrics import kendall_tau_b, mean_average_precision, ndcg, pair_accuracy

METRICS = [pair_accuracy, kendall_tau_b, ndcg, mean_average_precision]
GAIN = {"linear": lambda y: y, "exponential": lambda y: 2.0**y - 1.0}
SEEDS = range(12)


def ranked(seed, rows=60, groups=7):
    """Grades, scores with ties, infinities and numbers far apart, and groups whose rows lie between each other's."""
    rng = np.random.default_rng(seed)
    score = np.round(rng.normal(size=rows), 1 if seed % 2 else 0)
    score[rng.integers(0, rows, 6)] = [1e308, -1e308, 5e-324, -0.0, np.inf, -np.inf]
    return rng.integers(0, 1 + seed % 5, rows), score, rng.integers(0, groups, rows)


def tame(seed, rows=60):
    """The same without infinities, which scikit-learn refuses, and with more than one row in each group."""
    y, score, group = ranked(seed, rows)
    return y, np.clip(score, -1e300, 1e300), np.r_[0:7, 0:7, group[14:]]


def by_group(value, y, score, group):
    """The values of the groups that have one."""
    found = [value(y[group == one], score[group == one]) for one in np.unique(group)]
    return [each for each in found if each is not None]


def pairs_one_by_one(y, score):
    """All pairs of different grades, of them right and tied, and all pairs of different scores."""
    pairs = [(a, b) for a, b in product(range(y.size), repeat=2) if y[a] > y[b]]
    right = sum(score[a] > score[b] for a, b in pairs)
    tied = sum(score[a] == score[b] for a, b in pairs)
    return len(pairs), right, tied, sum(score[a] > score[b] for a, b in product(range(y.size), repeat=2))


@pytest.mark.nojit
@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_are_those_counted_one_by_one(seed):
    """Pair accuracy and tau-b are their definitions, over the pairs of each group, with ties as documented."""
    y, score, group = ranked(seed)
    counts = by_group(pairs_one_by_one, y, score, group)
    counts = np.array([each for each in counts if each[0]]).reshape(-1, 4)
    pairs, right, tied, untied = counts.T
    mean = np.mean((right + tied / 2) / pairs) if pairs.size else np.nan
    share = (right + tied / 2).sum() / pairs.sum() if pairs.size else np.nan
    tau = np.mean((2 * right + tied - pairs) / np.sqrt(pairs * np.maximum(untied, 1))) if pairs.size else np.nan
    assert pair_accuracy(y, score, group) == pytest.approx(mean, rel=1e-14, nan_ok=True)
    assert pair_accuracy(y, score, group, average="pairs") == pytest.approx(share, rel=1e-14, nan_ok=True)
    assert kendall_tau_b(y, score, group) == pytest.approx(tau, rel=1e-13, abs=1e-15, nan_ok=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_tau_is_that_of_scipy(seed):
    """With one group and with several tau-b is SciPy's, wherever SciPy has one."""
    y, score, group = ranked(seed + seed // 5 + 1)

    def theirs(y, score):
        return kendalltau(y, score).statistic if np.ptp(y) > 0 else None

    one, several = theirs(y, score), by_group(theirs, y, score, group)
    assert kendall_tau_b(y, score) == pytest.approx(np.nan if one is None else one, abs=1e-13, nan_ok=True)
    assert kendall_tau_b(y, score, group) == pytest.approx(np.mean(several or [np.nan]), abs=1e-13, nan_ok=True)


@pytest.mark.nojit
@pytest.mark.parametrize(("seed", "k", "gain"), [*product(SEEDS, [None, 1, 3, 100], GAIN)])
def test_ndcg_is_that_of_scikit_learn(seed, k, gain):
    """NDCG is scikit-learn's of the named gain, ties and groups without gain (``blank=0``) included."""
    y, score, group = tame(seed)
    theirs = by_group(lambda y, score: ndcg_score([GAIN[gain](y)], [score], k=k), y, score, group)
    assert ndcg(y, score, group, k=k, gain=gain, blank=0.0) == pytest.approx(np.mean(theirs), abs=1e-13)


@pytest.mark.nojit
@pytest.mark.parametrize("seed", SEEDS)
def test_average_precision_is_that_of_scikit_learn(seed):
    """Average precision is scikit-learn's, ties included; groups without a relevant row are left out or ``blank``."""
    y, score, group = tame(seed)
    theirs = by_group(lambda y, s: average_precision_score(y >= 2, s) if (y >= 2).any() else None, y, score, group)
    ours = mean_average_precision(y, score, group, relevant=2)
    assert ours == pytest.approx(np.mean(theirs or [np.nan]), abs=1e-13, nan_ok=True)
    blank = theirs + [0.25] * (7 - len(theirs))
    assert mean_average_precision(y, score, group, relevant=2, blank=0.25) == pytest.approx(np.mean(blank), abs=1e-13)


@pytest.mark.nojit
def test_ties_share_their_places():
    """NDCG with ties is the mean of NDCG over all orders that the tied rows can have, at every k."""
    y, score = np.array([3.0, 0.0, 1.0, 2.0, 0.5]), np.array([0.0, 1.0, 1.0, 1.0, -1.0])
    orders = [score + np.r_[0.0, np.array(place) / 10, 0.0] for place in permutations(range(3))]
    for k in range(1, 7):
        assert ndcg(y, score, k=k) == pytest.approx(np.mean([ndcg(y, order, k=k) for order in orders]))


@pytest.mark.nojit
def test_groups_without_a_value_are_left_out():
    """Groups of one, of one grade, or without gain change no mean unless ``blank`` counts them."""
    y, score, qid = [1, 0, 0, 0, 2, 0], [0.2, 0.7, 0.1, 0.3, 0.5, 0.6], ["b", "b", "a", "a", "c", "d"]
    assert pair_accuracy(y, score, qid) == 0.0
    assert kendall_tau_b(y, score, qid) == -1.0
    assert ndcg(y, score, qid) == pytest.approx((1 / np.log2(3) + 1) / 2)
    assert ndcg(y, score, qid, blank=1.0) == pytest.approx((1 / np.log2(3) + 3) / 4)
    assert mean_average_precision(y, score, qid) == pytest.approx((0.5 + 1) / 2)
    assert mean_average_precision(y, score, qid, blank=0.0) == pytest.approx((0.5 + 1) / 4)


@pytest.mark.nojit
@pytest.mark.parametrize("metric", METRICS)
def test_nothing_to_judge_is_nan(metric):
    """No rows, or no group that has a value, give NaN and no warning."""
    assert np.isnan(metric([], []))
    assert np.isnan(metric([], [], []))
    assert np.isnan(metric([0, 0, 0], [1.0, 2.0, 3.0], [5, 5, 6]))


@pytest.mark.nojit
def test_scores_that_are_all_equal_order_nothing():
    """One score for all is right by half: pair accuracy 1/2, tau 0, and the mean of NDCG over all orders."""
    y, score = [3, 1, 2, 1], [7.0] * 4
    assert pair_accuracy(y, score) == 0.5
    assert kendall_tau_b(y, score) == 0.0
    assert ndcg(y, score) == pytest.approx(np.mean([ndcg(y, order) for order in permutations(range(4))]))
    assert mean_average_precision(y, score, relevant=2) == 0.5


@pytest.mark.parametrize(("seed", "metric"), [*product(SEEDS, METRICS)])
def test_only_the_order_matters(seed, metric):
    """Rows in another order, scores on another scale, groups of other names and other containers: the same value."""
    y, score, group = tame(seed)
    plain, turn = metric(y, score, group), np.random.default_rng(seed).permutation(y.size)
    scale = np.unique(score, return_inverse=True)[1]
    names = np.array([f"query {9 - one}" for one in group])
    frame = pd.DataFrame({"y": y, "score": scale, "qid": names})[::-1]
    for same in (
        metric(y[turn], score[turn], group[turn]),
        metric(list(y), list(scale - 7), list(names)),
        metric(y.astype(np.float32), scale * 1e300, group * 0.5),
        metric(frame["y"], frame["score"], frame["qid"]),
    ):
        assert same == pytest.approx(plain, rel=1e-12, abs=1e-14, nan_ok=True)


@pytest.mark.parametrize("rows", [1, 2, 3, 17, 1000])
def test_the_best_order_is_exactly_the_best(rows):
    """Scores in the order of the grades have 1, reversed ones 0 or -1, and no NDCG is above 1."""
    y = np.random.default_rng(rows).permutation(rows) / 3
    if rows > 1:
        assert (pair_accuracy(y, y), kendall_tau_b(y, y), pair_accuracy(y, -y), kendall_tau_b(y, -y)) == (1, 1, 0, -1)
        assert all(1.0 - 1e-14 <= ndcg(grade, grade, gain=gain) <= 1.0 for grade in (y, y // 2 + 1) for gain in GAIN)
    assert mean_average_precision(y + 1, y) == 1.0


@pytest.mark.nojit
def test_grades_of_any_size():
    """Gains beyond float64 leave NDCG a number, and whole numbers that float64 would tie are told apart."""
    assert ndcg([2000, 1999, 0], [1.0, 2.0, 0.0]) == pytest.approx(ndcg([200, 199, 0], [1.0, 2.0, 0.0]))
    assert ndcg([1.7e308] * 3 + [0], range(4), gain="linear") == pytest.approx(ndcg([1, 1, 1, 0], range(4)))
    assert ndcg([1e308, 3.0], [0.0, 1.0], k=1) == 0.0
    small = ndcg([1e-12, 3e-12], [1.0, 0.0])
    assert small == pytest.approx(ndcg([1, 3], [1.0, 0.0], gain="linear"), rel=1e-9)
    assert pair_accuracy([2**62 + 1, 2**62], [2**62 + 1, 2**62]) == 1.0


ONES = [1.0, 0.0, 2.0]
REFUSED = {
    "score too short": ((ONES, ONES[:2]), {}, ["score has 2 values", "y has 3"]),
    "qid too long": ((ONES, ONES, [1, 1, 2, 2]), {}, ["qid has 4 values", "y has 3"]),
    "y NaN": (([1.0, np.nan, 2.0], ONES), {}, [r"y\[1\] is nan"]),
    "y infinite": (([1.0, 0.0, np.inf], ONES), {}, [r"y\[2\] is inf"]),
    "score NaN": ((ONES, [np.nan, 1.0, 2.0]), {}, [r"score\[0\] is nan"]),
    "qid NaN": ((ONES, ONES, [0.0, np.nan, 1.0]), {}, [r"qid\[1\] is nan"]),
    "qid NaN among objects": ((ONES, ONES, np.array([0, 1, np.nan], dtype=object)), {}, [r"qid\[2\] is nan"]),
    "qid NaT": ((ONES, ONES, np.array(["2020", "NaT", "2021"], dtype="M8[D]")), {}, [r"qid\[1\] is NaT"]),
    "qid missing": ((ONES, ONES, pd.array([1, None, 2], dtype="Int64")), {}, [r"qid\[1\] is nan"]),
    "y None inside": (([1.0, None, 2.0], ONES), {}, [r"y\[1\] is nan"]),
    "qid mixed": ((ONES, ONES, [0, None, "a"]), {}, ["qid", "NoneType, int, str"]),
    "y text": ((["1", "2", "3"], ONES), {}, ["y holds", "grade"]),
    "score text": ((ONES, np.array(["a", 1, 2], dtype=object)), {}, ["score holds object"]),
    "y complex": (([1j, 2, 3], ONES), {}, ["y holds complex128"]),
    "y a matrix": ((np.ones((3, 1)), ONES), {}, [r"y has shape \(3, 1\)"]),
    "y ragged": (([[1], [1, 2], [3]], ONES), {}, ["y is not a column"]),
    "score a number": ((ONES, 1.0), {}, [r"score has shape \(\)"]),
    "y None": ((None, ONES), {}, [r"y has shape \(\)"]),
}
REFUSED_OPTIONS = [
    (ndcg, {"k": 0}, "k=0"),
    (ndcg, {"k": 2.0}, "k=2.0"),
    (ndcg, {"k": True}, "k=True"),
    (ndcg, {"gain": "square"}, "gain='square'.*exponential, linear"),
    (ndcg, {"blank": 2}, "blank=2"),
    (mean_average_precision, {"blank": np.nan}, "blank=nan"),
    (mean_average_precision, {"relevant": "1"}, "relevant='1'"),
    (mean_average_precision, {"relevant": np.nan}, "relevant=nan"),
    (pair_accuracy, {"average": "rows"}, "average='rows'.*groups, pairs"),
]


@pytest.mark.nojit
@pytest.mark.parametrize(("what", "metric"), [*product(REFUSED, METRICS)])
def test_bad_rows_are_refused(what, metric):
    """Every metric refuses them in one sentence, which names the argument and the row."""
    arguments, options, named = REFUSED[what]
    refused(lambda: metric(*arguments, **options), *named)


@pytest.mark.nojit
@pytest.mark.parametrize(("metric", "options", "named"), REFUSED_OPTIONS)
def test_bad_options_are_refused(metric, options, named):
    """An option that is unknown or out of range is refused in one sentence, which names it and what it may be."""
    refused(lambda: metric(ONES, ONES, **options), named)


@pytest.mark.nojit
@pytest.mark.parametrize("gain", GAIN)
def test_a_negative_gain_is_refused(gain):
    """NDCG names the row with the negative grade; the other metrics take it."""
    refused(lambda: ndcg([1, 0, -2], ONES, gain=gain), r"y\[2\] is -2", "negative gain")
    assert pair_accuracy([1, 0, -2], [1, 0, -2]) == kendall_tau_b([1, 0, -2], [1, 0, -2]) == 1.0
    assert mean_average_precision([1, 0, -2], [1, 0, -2], relevant=0) == 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_ranker_scores_by_all_its_pairs(seed):
    """``SoftMarginRanker.score`` is, to the last bit, the share of all pairs listed one by one."""
    y, _, group = ranked(seed + 1)
    X = np.round(np.random.default_rng(seed).normal(size=(y.size, 2)))
    model = SoftMarginRanker().fit_pairs(X, [(0, int(np.argmax((X[0] != X).any(axis=1))))])
    utility = model.predict(X)
    for qid in (None, group):
        together = np.ones((y.size, y.size), dtype=bool) if qid is None else group[:, None] == group
        better, worse = np.nonzero(together & (y[:, None] > y))
        ahead = utility[better] - utility[worse]
        expected = np.mean((ahead > 0) + 0.5 * (ahead == 0)) if ahead.size else np.nan
        np.testing.assert_equal(model.score(X, y, qid), expected)


def test_a_million_rows():
    """More rows than pairs could be listed for: the ranker scores them, and counts agree with what was planted."""
    rng, rows = np.random.default_rng(0), 1_000_000
    y = rng.permutation(rows)
    model = SoftMarginRanker().fit_pairs([[1.0], [0.0]], [(0, 1)])
    X = np.where(y < rows // 2, y, -y)[:, None].astype(np.float64)  # the upper half comes last, reversed
    half = rows // 2
    assert model.score(X, y) == (half * (half - 1) // 2) / (rows * (rows - 1) // 2)


@pytest.mark.nojit
def test_examples_of_the_docstring():
    """What the module's docstring prints is what is computed."""
    result = doctest.testmod(metrics)
    assert result.attempted > 0 == result.failed


def test_metrics_are_quick_to_import():
    """``softmargin.metrics`` needs no import of its own, and brings in neither scikit-learn nor scipy.stats."""
    code = "import sys, softmargin as s; s.metrics.ndcg([1], [1]); print({'sklearn', 'scipy.stats'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 ours
    assert done.stdout == "set()\n"
