"""What must change nothing in a fit of graded groups, and what must change it in a known way."""

import numpy as np
import pytest
from scipy import sparse

from cases import LAYOUTS
from graded import by_pairs, graded, listed, near, proved, settled
from softmargin import SoftMarginRanker, verify

GROUPS = pytest.mark.parametrize("groups", ["pairs", "equal"])
LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


@GROUPS
def test_the_order_of_rows_changes_nothing(groups):
    """Rows of a group together, or all groups mixed: the same weights, and each row has its own balance."""
    for seed in range(4):
        X, y, qid = graded(seed, kind="real")
        model = settled(X, y, qid, groups=groups)
        for order in (np.argsort(qid, kind="stable"), np.arange(y.size)[::-1], np.argsort(y)):
            other = settled(X[order], y[order], qid[order], groups=groups)
            near(model, other)
            apart = np.linalg.norm(X.T @ model.dual_ - X[order].T @ other.dual_)
            assert apart <= 3 * np.sqrt(2) * (np.sqrt(model.certificate_.gap) + np.sqrt(other.certificate_.gap)) + 1e-9


@pytest.mark.parametrize(
    "named",
    [
        lambda qid: np.array([f"query {group}" for group in qid]),
        lambda qid: qid.astype(np.float64) / 3.0,
        lambda qid: (qid * 1_000_003 - 10**15).astype(np.int64),
        lambda qid: qid.astype(np.uint8),
        lambda qid: -qid,
        lambda qid: qid.tolist(),
        lambda qid: [f"{group}" for group in qid],
    ],
    ids=["text", "fractions", "large", "bytes", "backwards", "list", "list of text"],
)
def test_names_of_groups_do_not_matter(named):
    """Texts, fractions, large numbers: a group is the rows with the same name."""
    X, y, qid = graded(1)
    near(settled(X, y, qid), settled(X, y, named(qid)))


@GROUPS
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_x_do_not_matter(layout, groups):
    """Dense or sparse, strided or read-only, with stored zeros or unsorted columns: the same problem."""
    X, y, qid = graded(2)
    model = settled(LAYOUTS[layout](X), y, qid, groups=groups)
    proved(model, X, listed(y, qid, groups), 2.0)
    near(model, settled(X, y, qid, groups=groups))


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.int8, bool])
def test_kinds_of_numbers_do_not_matter(kind):
    """Numbers that both kinds can hold give the same fit, dense and sparse."""
    X, y, qid = graded(3)
    X = np.rint(2 * X) if kind is not bool else X > 0
    model = settled(X.astype(np.float64), y, qid)
    near(model, settled(X.astype(kind), y, qid))
    near(model, settled(sparse.csr_array(X.astype(kind)), y, qid))


@GROUPS
@pytest.mark.parametrize(
    "turned",
    [
        lambda y: 10 * y - 3,
        np.exp,
        lambda y: y.astype(np.float32),
        lambda y: y.astype(np.int8),
        lambda y: 1e300 * (y - 1),
        lambda y: y + 2.0**40,
        lambda y: np.asarray(y, dtype=object),
    ],
    ids=["affine", "exp", "float32", "int8", "huge", "shifted", "object"],
)
def test_only_the_order_of_grades_matters(turned, groups):
    """Grades after a rising function imply the same pairs."""
    X, y, qid = graded(4)
    near(settled(X, y, qid, groups=groups), settled(X, turned(y), qid, groups=groups))


def test_whole_grades_that_float64_would_tie_are_told_apart():
    """2**60 and 2**60 + 1 are two grades."""
    X, y, qid = graded(4)
    near(settled(X, y, qid), settled(X, 2**60 + y.astype(np.int64), qid))


@GROUPS
def test_a_group_may_be_moved(groups):
    """All rows of a group plus one vector, another one for each group: no difference changes, so no weight does."""
    for seed in range(4):
        X, y, qid = graded(seed)
        by = np.random.default_rng(seed).normal(size=(qid.max() + 1, X.shape[1]))
        for far in (1.0, 1e3):
            moved = X + far * by[qid]
            model, other = settled(X, y, qid, groups=groups), settled(moved, y, qid, groups=groups)
            assert np.linalg.norm(model.coef_ - other.coef_) <= 1e-9 * far + 2 * (
                model.certificate_.distance + other.certificate_.distance
            )
            proved(other, moved, listed(y, qid, groups), 2.0)


@GROUPS
@LOSSES
def test_everything_turned_round_turns_the_weights_round(loss, groups):
    """Grades negated, or rows negated, negate the weights; both leave them."""
    X, y, qid = graded(5, kind="real")
    model = settled(X, y, qid, groups=groups, loss=loss)
    for sign, other in (
        (-1, settled(X, -y, qid, groups=groups, loss=loss)),
        (-1, settled(-X, y, qid, groups=groups, loss=loss)),
        (1, settled(-X, -y, qid, groups=groups, loss=loss)),
    ):
        apart = model.certificate_.distance + other.certificate_.distance
        assert np.linalg.norm(model.coef_ - sign * other.coef_) <= apart + 1e-12


@GROUPS
def test_groups_that_compare_nothing_change_nothing(groups):
    """Single rows and level groups, however extreme, leave the weights, have balance 0, and are counted."""
    X, y, qid = graded(6)
    extra = np.array([[1e4, 0, 0, 0], [0, -1e4, 0, 0], [1, 1, 1, 1], [3, 3, 3, 3.0]])
    more = np.r_[X, extra], np.r_[y, 99.0, -99.0, 5.0, 5.0], np.r_[qid, 1001, 1002, 1003, 1003]
    model, other = settled(X, y, qid, groups=groups), settled(*more, groups=groups)
    near(model, other)
    assert not other.dual_[-4:].any()
    assert not other.dual_[np.isin(more[2], [1, 3])].any()
    seen, now = model.groups_, other.groups_
    assert (seen.compared, seen.single, seen.level, seen.empty) == (4, 1, 1, 0)
    assert (now.compared, now.single, now.level, now.empty) == (4, 3, 2, 0)
    assert now.pairs == seen.pairs == len(listed(y, qid).pairs)
    assert "4" in str(now)
    assert "\n" not in str(now)


@GROUPS
@LOSSES
def test_a_weight_prices_a_group(loss, groups):
    """One weight a group, in the order of sorted names, or the same one on each row: the price of all its pairs."""
    X, y, qid = graded(7)
    weight = np.array([0.3, 5.0, 2.0, 1.0, 0.0, 1.7])
    options = {"groups": groups, "loss": loss}
    model = settled(X, y, qid, weight, **options)
    pairs = listed(y, qid, groups, weight)
    proved(model, X, pairs, 2.0, loss)
    near(model, by_pairs(X, pairs, C=2.0, loss=loss))
    near(model, settled(X, y, qid, weight[qid], **options))
    names = np.array(["f", "b", "a", "e", "c", "d"])
    near(model, settled(X, y, names[qid], weight[np.argsort(names)], **options))
    assert verify(model, X, y, qid=qid, sample_weight=weight).gap == pytest.approx(
        model.certificate_.gap, rel=1e-3, abs=1e-12
    )


@GROUPS
def test_weight_zero_is_a_group_left_out(groups):
    """A group of weight 0 has no say, and its rows no balance."""
    X, y, qid = graded(8)
    weight = np.where(np.arange(6) == 4, 0.0, 1.0)
    model, left = settled(X, y, qid, weight, groups=groups), qid != 4
    near(model, settled(X[left], y[left], qid[left], groups=groups))
    assert not model.dual_[~left].any()


@GROUPS
def test_weight_two_is_the_group_twice(groups):
    """Weight 2, or the same rows once more as a group of another name, or twice the price where all have it."""
    X, y, qid = graded(9)
    weight = np.where(np.arange(6) == 2, 2.0, 1.0)
    again = qid == 2
    model = settled(X, y, qid, weight, groups=groups)
    near(model, settled(np.r_[X, X[again]], np.r_[y, y[again]], np.r_[qid, np.full(again.sum(), 77)], groups=groups))
    near(settled(X, y, qid, np.full(6, 2.0), groups=groups), settled(X, y, qid, groups=groups, C=4.0))


@GROUPS
def test_rows_of_a_group_that_weigh_differently_share_in_each_pair(groups):
    """A pair has the geometric mean of its rows' weights; an equal group divides by how many pairs it has."""
    X, y, qid = graded(16)
    weight = np.random.default_rng(0).uniform(0, 3, y.size)
    weight[:4] = 0.0
    pairs = listed(y, qid)
    price, group = np.sqrt(weight[pairs.pairs].prod(axis=1)), qid[pairs.pairs[:, 0]]
    if groups == "equal":
        price = price / np.bincount(group)[group]
    pairs = pairs._replace(price=price)
    for loss in ("hinge", "squared_hinge"):
        model = settled(X, y, qid, weight, loss=loss, groups=groups)
        proved(model, X, pairs, 2.0, loss)
        near(model, by_pairs(X, pairs, C=2.0, loss=loss))


@GROUPS
def test_nearly_equal_weights_are_nearly_the_group_s(groups):
    """Weights by row that differ by a rounding make the objective of weights by group, to a rounding."""
    X, y, qid = graded(17)
    weight = 10.0 ** np.searchsorted(np.unique(qid), qid)
    other = weight * np.where(np.arange(y.size) == 3, 1 + 1e-12, 1.0)
    one, two = (SoftMarginRanker(C=0.01, groups=groups, tol=1e-8).fit(X, y, qid, each) for each in (weight, other))
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-7)


def test_pairs_of_a_heavy_and_a_light_row_count():
    """Weights of 1e8 and 1e-8 make pairs of weight 1, whatever else is in the group."""
    model = SoftMarginRanker(tol=1e-9).fit([[1.0], [2.0], [0.0]], [1, 1, 0], sample_weight=[1e8, 1e8, 1e-8])
    same = SoftMarginRanker(tol=1e-9).fit_pairs([[1.0], [2.0], [0.0]], [(0, 2), (1, 2)])
    assert model.certificate_.primal == pytest.approx(same.certificate_.primal, rel=1e-8)
    by_lam = SoftMarginRanker(lam=0.5, tol=1e-9).fit([[1.0], [2.0], [0.0]], [1, 1, 0], sample_weight=[1e8, 1e8, 1e-8])
    assert by_lam.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-8)


def test_rows_of_one_group_may_weigh_differently_where_no_groups_are_named():
    """Without `qid` a pair weighs the product of its rows' weights."""
    X, y, _ = graded(10)
    weight = np.random.default_rng(0).uniform(0, 3, y.size)
    weight[5] = 0.0
    pairs = listed(y, np.zeros(y.size))
    pairs = pairs._replace(price=weight[pairs.pairs].prod(axis=1))
    for loss in ("hinge", "squared_hinge"):
        model = settled(X, y, sample_weight=weight, loss=loss)
        proved(model, X, pairs, 2.0, loss)
        near(model, by_pairs(X, pairs, C=2.0, loss=loss))


def test_equal_groups_are_means():
    """One group with C is the sum of its pairs with C by their number; all its rows twice change nothing."""
    X, y, _ = graded(11)
    count = len(listed(y, np.zeros(y.size)).pairs)
    near(settled(X, y, groups="equal", C=50.0), settled(X, y, groups="pairs", C=50.0 / count))
    near(
        settled(X, y, groups="equal", C=50.0),
        settled(np.r_[X, X], np.r_[y, y], np.zeros(2 * y.size, int), groups="equal", C=50.0),
    )


@GROUPS
def test_lam_is_one_over_c_times_the_weight_of_all_constraints(groups):
    """`lam` and `C = 1/(lam T)` are one problem, where T is what all pairs weigh, as for listed pairs."""
    X, y, qid = graded(12)
    weight = np.arange(1.0, 7.0)
    model = settled(X, y, qid, weight, C=1.0, lam=0.02, groups=groups)
    near(model, by_pairs(X, listed(y, qid, groups, weight), lam=0.02))


def test_a_fit_leaves_its_arguments():
    """X, y, qid and weights are read and never written."""
    X, y, qid = graded(13)
    weight = np.arange(6.0)
    given = [each.copy() for each in (X, y, qid, weight)]
    settled(X, y, qid, weight)
    assert all(np.array_equal(now, was) for now, was in zip((X, y, qid, weight), given, strict=True))


@GROUPS
def test_the_same_fit_twice_gives_the_same_bits(groups):
    """Weights, balances and certificate; and nothing of an earlier fit is left."""
    X, y, qid = graded(14)
    one, other = (SoftMarginRanker(groups=groups) for _ in range(2))
    one.fit(X, y, qid)
    other.fit(*graded(15)).fit(X, y, qid)
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.dual_, other.dual_)
    assert one.certificate_.gap == other.certificate_.gap
    assert one.groups_ == other.groups_


def test_one_pair_has_the_answer_of_a_textbook():
    """Two rows apart by v: w = min(C, 1/|v|^2) v, the balance of the better row is that factor."""
    v = np.array([3.0, -4.0])
    for C in (0.001, 0.01, 0.04, 1.0, 100.0):
        model = settled(np.array([v + 7.0, [7.0, 7.0]]), [1, 0], C=C)
        factor = min(C, 1 / 25)
        assert np.linalg.norm(model.coef_ - factor * v) <= model.certificate_.distance * (1 + 1e-9) + 1e-15
        np.testing.assert_allclose(model.coef_, factor * v, rtol=1e-4)
        np.testing.assert_allclose(model.dual_, [factor, -factor], rtol=1e-4)


def test_rows_all_alike_teach_nothing_and_are_certified():
    """Different grades of equal rows: w = 0 is best, its objective C times the number of pairs."""
    y = np.array([0, 1, 2, 2, 5])
    model = settled(np.ones((5, 3)), y)
    assert not model.coef_.any()
    assert model.certificate_.converged
    assert model.certificate_.primal == pytest.approx(2.0 * 9)


@pytest.mark.parametrize("offset", [3e7, 1.7e9])
def test_columns_far_from_zero_are_differences_all_the_same(offset):
    """A time in seconds is as good as one from noon: same weights, same proof, though there are millions of pairs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = (X[:, 0] + rng.normal(size=4000) > 0).astype(int)
    far = np.rint(X * 2.0**20) / 2.0**20 + offset  # the same differences, to the last bit
    near_by, away = (SoftMarginRanker(C=1e-5, tol=1e-5).fit(each, y) for each in (far - offset, far))
    assert away.certificate_.converged
    assert away.certificate_.primal == pytest.approx(near_by.certificate_.primal, rel=1e-5)
    assert verify(away, far, y).primal == pytest.approx(near_by.certificate_.primal, rel=1e-5)


def test_a_weighted_score_is_that_of_all_pairs():
    """`score` with weights: by group, by row, and copies of rows where there are no groups; ties count half."""
    X, y, qid = graded(3)
    X = np.round(X, 1)
    model = SoftMarginRanker(C=0.1).fit(X, y, qid)
    utility, rng = model.predict(X), np.random.default_rng(0)
    for by_qid, weight in (
        (qid, rng.uniform(size=y.size)),
        (qid, rng.uniform(size=6)),
        (None, rng.integers(0, 4, y.size)),
    ):
        pairs = listed(y, np.zeros(y.size) if by_qid is None else qid).pairs
        each = weight[qid] if weight.size == 6 else weight
        price = each[pairs].prod(axis=1) if by_qid is None else np.sqrt(each[pairs].prod(axis=1))
        ahead = utility[pairs[:, 0]] - utility[pairs[:, 1]]
        share = np.average((ahead > 0) + 0.5 * (ahead == 0), weights=price)
        assert model.score(X, y, by_qid, sample_weight=weight) == pytest.approx(share, rel=1e-12)
