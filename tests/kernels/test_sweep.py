"""All pairs of graded groups by sorting and sliding, against all pairs written out."""

import numpy as np
import pytest

from softmargin.constraints.graded import graded
from softmargin.kernels.rows import DenseRows
from softmargin.kernels.sweep import Rule
from softmargin.solvers.score_problem import ScoreProblem
from softmargin.solvers.sources import GRAIN_BITS, GradedGroups, PairList, ScoredPairs

pytestmark = pytest.mark.nojit


def groups_of(rng):
    """Grades with ties, of few or many levels, in one to four groups; and how the rows weigh."""
    rows, groups = rng.integers(2, 60), rng.integers(1, 5)
    y = rng.integers(0, rng.integers(1, 8), rows).astype(float) if rng.random() < 0.7 else rng.normal(size=rows)
    qid = rng.integers(0, groups, rows) if rng.random() < 0.8 else None
    weight = rng.uniform(0.0, 3.0, rows) if rng.random() < 0.5 else None
    return y, qid, weight


def scores_of(rng, rows):
    """Scores on any scale, with ties, and some far apart, all on the grain to which groups round them."""
    scores = rng.normal(size=rows) * 10.0 ** rng.uniform(-3, 3)
    if rng.random() < 0.5:
        scores = np.round(scores, 1)
    if rng.random() < 0.3:
        scores += rng.choice([-1e8, 0.0, 1e8], rows)
    return np.rint(scores * 2.0**GRAIN_BITS) / 2.0**GRAIN_BITS


def rule_of(rng):
    """The smoothed hinge at any width, the hinge as it is, and its square."""
    width = 10.0 ** rng.uniform(-4, 2)
    return [Rule(width, 1.0 / width, 1.0), Rule(0.0, 0.0, 1.0), Rule(np.inf, 2.0, 0.0)][rng.integers(3)]


def written_out(y, qid, weight, scores, rule, share):
    """Balance of duals, totals, and the curvature as a matrix: pair by pair."""
    rows = y.size
    together = np.ones((rows, rows), dtype=bool) if qid is None else qid[:, None] == qid
    above = together & (y[:, None] > y)
    if weight is None:
        price = np.ones((rows, rows))
    else:
        price = np.outer(weight, weight) if qid is None else np.sqrt(np.outer(weight, weight))
    price = np.where(above, price, 0.0)
    if share == "equal":
        group = np.zeros(rows, dtype=int) if qid is None else qid
        for g in np.unique(group):
            inside = (group[:, None] == g) & (group == g)
            mass = price[inside].sum() if qid is None else above[inside].sum()  # copies of rows are copies of pairs
            price[inside] /= mass if mass > 0 else 1.0
    short = 1.0 - (scores[:, None] - scores)
    slack = np.where(above, np.maximum(short, 0.0), 0.0)
    free = above & (short > 0.0) & (short < rule.width)
    dual = np.where(free, rule.rate * slack, np.where(slack > 0, rule.most, 0.0))
    loss = slack**2 if rule.width == np.inf else slack
    gain = dual - (slack**2 if rule.width == np.inf else 0.0)
    residual = 0.0 * slack if rule.width == np.inf else slack - dual * slack
    totals = [np.sum(price * part) for part in (loss, gain, residual)]
    pull = (price * dual).sum(axis=1) - (price * dual).sum(axis=0)
    rate = np.where(free, rule.rate * price, 0.0)
    rate = rate + rate.T
    return pull, np.array(totals), np.diag(rate.sum(axis=1)) - rate, int(above.sum())


def read_grades(y, qid=None, weight=None, share="pairs"):
    """As a fit reads them."""
    names, group = (np.zeros(1), None) if qid is None else np.unique(qid, return_inverse=True)
    return graded(y, group, weight, "slack", share, count=names.size)


def near(found, expected, scale=None):
    """Equal to 1e-10 of the largest number."""
    scale = np.abs(expected).max(initial=0.0) if scale is None else scale
    return bool(np.all(np.abs(found - expected) <= 1e-10 * max(scale, 1e-300)))


@pytest.mark.parametrize("seed", range(500))
def test_groups_pull_as_all_their_pairs_do(seed):
    """Value, slope, curvature, gap and number of pairs are those of all pairs: ties, levels, weights, wild scores."""
    rng = np.random.default_rng(seed)
    (y, qid, weight), share = groups_of(rng), rng.choice(["pairs", "equal"])
    scores, rule = scores_of(rng, y.size), rule_of(rng)
    read = read_grades(y, qid, weight, share)
    pull, totals, curvature, count = written_out(y, qid, weight, scores, rule, share)
    assert read.counts.pairs == count
    if read.counts.compared == 0:
        assert not pull.any()
        return
    source, found = GradedGroups(read.rows, read.forest), np.zeros(y.size)
    sums = source.settle(scores, rule, found)
    assert near(found, pull)
    assert near(sums[:3], totals)
    V = rng.normal(size=(y.size, 3))
    bent = np.zeros_like(V)
    bent[source.rows] = source.bend(scores, rule, V[source.rows])
    assert near(bent, curvature @ V)


@pytest.mark.parametrize("seed", range(20))
def test_listed_pairs_pull_as_their_groups_do(seed):
    """Two roads: the pairs of groups, listed, and as a list of their own."""
    rng = np.random.default_rng(seed)
    y, qid, weight = groups_of(rng)
    read = read_grades(y, qid, weight)
    if read.counts.compared == 0:
        y = np.arange(y.size, dtype=float)
        read = read_grades(y)
    groups, scores, rule = GradedGroups(read.rows, read.forest), scores_of(rng, y.size), rule_of(rng)
    pairs = ScoredPairs(PairList(*(np.asarray(part) for part in groups.listed())))
    both = [np.zeros(y.size), np.zeros(y.size)]
    sums = [source.settle(scores, rule, pull) for source, pull in zip((groups, pairs), both, strict=True)]
    assert near(both[0], both[1])
    assert near(sums[0][:3], sums[1][:3])
    v = rng.normal(size=(y.size, 2))
    bent = [np.zeros_like(v), np.zeros_like(v)]
    for source, out in zip((groups, pairs), bent, strict=True):
        out[source.rows] = source.bend(scores, rule, v[source.rows])
    assert near(bent[0], bent[1])


@pytest.mark.parametrize("rule", [Rule(0.4, 2.5, 1.0), Rule(np.inf, 2.0, 0.0)])
def test_curvature_is_the_slope_of_the_pull(rule):
    """Finite differences: where no pair enters or leaves, pulls change by the curvature times the change of scores."""
    rng = np.random.default_rng(0)
    y, scores, change = rng.integers(0, 4, 40), rng.normal(size=40), 1e-7 * rng.normal(size=40)
    read = read_grades(y)
    source, here, there = GradedGroups(read.rows, read.forest), np.zeros(40), np.zeros(40)
    source.settle(scores, rule, here)
    bent = np.zeros(40)
    bent[source.rows] = source.bend(scores, rule, change[source.rows, None])[:, 0]
    source.settle(scores + change, rule, there)
    assert np.allclose(here - there, bent, rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize(("levels", "groups"), [(5, 1), (2, 30), (10_000, 1), (3, 2000)])
def test_a_sample_bends_as_all_rows_do(levels, groups):
    """The curvature of a sample is that of all pairs roughly, and rare grades are in it."""
    rng = np.random.default_rng(1)
    rows, width = 20_000, 3
    X, qid = rng.normal(size=(rows, width)), rng.integers(0, groups, rows)
    y = np.minimum(rng.integers(0, levels, rows), rng.integers(0, levels, rows))
    read, rule, scores = read_grades(y, qid), Rule(1.0, 1.0, 1.0), X @ np.ones(width)
    full = GradedGroups(read.rows, read.forest)
    sample = full.thinned(4000)
    assert sample.rows.size <= 4400
    exact, about = (X[s.rows].T @ s.bend(scores, rule, X[s.rows]) for s in (full, sample))
    assert np.linalg.norm(about - exact) <= 0.25 * np.linalg.norm(exact)


def test_stiff_duals_are_the_same_from_both_sides():
    """However stiff, each pair pulls its two rows by one and the same dual: the balance of a group is zero."""
    rng = np.random.default_rng(5)
    for required in (1.0, 0.7, 1e-9, 3e7):
        y, scores = rng.integers(0, 3, 30), required * np.round(3.0 * rng.normal(size=30), 1)
        read = read_grades(y)
        source = GradedGroups(read.rows, read.forest._replace(required=np.array([required])))
        for stiffness in (1e6, 1e10, 1e14):
            pull, rule = np.zeros(30), Rule(required / stiffness, stiffness / required, 1.0)
            source.settle(scores + 1e-14 * required * rng.normal(size=30), rule, pull)
            assert abs(pull.sum()) <= 1e-12 * np.abs(pull).sum()


def test_the_gap_is_primal_minus_dual():
    """A sum of terms that are never negative equals the difference of the two objectives, at any weights."""
    rng = np.random.default_rng(3)
    X, y, qid = rng.normal(size=(50, 4)), rng.integers(0, 4, 50), rng.integers(0, 3, 50)
    read = read_grades(y, qid, share="equal")
    for squared in (False, True):
        problem = ScoreProblem(DenseRows(X), 4, [GradedGroups(read.rows, read.forest).times(3.0)], squared)
        for stiffness in (0.3, 2.0, 1e3):
            pull, gap = problem.proved(rng.normal(size=4), stiffness)
            assert gap.gap == pytest.approx(gap.primal - gap.dual, rel=1e-12, abs=1e-12)
            assert gap.gap >= 0.0
            assert abs(pull.sum()) <= 1e-12 * np.abs(pull).sum()
