import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import quadratic
from cases import LAYOUTS
from refusal import one_sentence, refused
from softmargin import InfeasibleError, SoftMarginClassifier, SoftMarginRanker, find_conflict


def proved(Z, required, conflict, rows=None):
    """The multipliers are a proof, and without any one of the constraints the others can be satisfied."""
    rows = conflict.rows if rows is None else rows
    multipliers = conflict.multipliers
    assert len(conflict) == len(rows) == len(multipliers) <= Z.shape[1] + 1
    assert len(set(rows.tolist())) == len(rows)
    assert multipliers.min() > 0.0
    assert multipliers.sum() == pytest.approx(1.0)
    size = multipliers @ np.abs(Z[rows])
    assert np.all(np.abs(multipliers @ Z[rows]) <= 1e-11 * size.max())
    assert multipliers @ required[rows] > 0.0
    assert conflict.residual <= 1e-11
    assert not quadratic.satisfiable(Z[rows], required[rows])
    for left_out in range(len(rows)):
        rest = np.delete(rows, left_out)
        assert rest.size == 0 or quadratic.satisfiable(Z[rest], required[rest])


def noisy(rng, *, items, T, d, wrong):
    """Items, and pairs of which a share is the wrong way round."""
    X = rng.normal(size=(items, d))
    pairs = rng.integers(0, items, (T, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    utility = X @ rng.normal(size=d)
    ahead = (utility[pairs[:, 0]] > utility[pairs[:, 1]]) != (rng.random(len(pairs)) < wrong)
    return X, np.where(ahead[:, None], pairs, pairs[:, ::-1])


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.0, 0.1, 0.5]))
def test_a_conflict_is_found_exactly_where_there_is_one(seed, whole, wrong):
    """None where a linear program finds weights; else an irreducible set with a proof.  Ties, equal items and all."""
    rng = np.random.default_rng(seed)
    items, T, d = (int(rng.integers(*ends)) for ends in ((3, 15), (2, 25), (1, 6)))
    X, pairs = noisy(rng, items=items, T=T, d=d, wrong=wrong)
    X = np.rint(X) if whole else X
    if not len(pairs):
        return
    Z, ones = X[pairs[:, 0]] - X[pairs[:, 1]], np.ones(len(pairs))
    conflict = find_conflict(X, pairs)
    assert (conflict is None) == quadratic.satisfiable(Z, ones)
    if conflict is not None:
        proved(Z, ones, conflict)
        assert np.array_equal(conflict.pairs, pairs[conflict.rows])


@given(st.integers(0, 10**6), st.sampled_from(["none", "free", "penalised"]))
def test_labels_without_a_margin_are_refused_with_the_proof(seed, intercept):
    """`InfeasibleError` exactly where a linear program finds no weights; the proof balances a free intercept."""
    rng = np.random.default_rng(seed)
    X, y = np.rint(rng.normal(size=(int(rng.integers(4, 20)), 2)) * 2), None
    y = (X[:, 0] + 0.7 * rng.normal(size=len(X)) > 0).astype(int)
    if len(set(y)) < 2:
        return
    columns = X if intercept == "none" else np.c_[X, np.ones(len(X))]
    Z, ones = np.where(y == 1, 1.0, -1.0)[:, None] * columns, np.ones(len(X))
    options = {"fit_intercept": intercept != "none", "penalize_intercept": intercept == "penalised"}
    model = SoftMarginClassifier(C=np.inf, **options)
    if quadratic.satisfiable(Z, ones):
        assert model.fit(X, y).certificate_.converged
        return
    with pytest.raises(InfeasibleError) as caught:
        model.fit(X, y)
    proved(Z, ones, caught.value.conflict)


@given(st.integers(0, 10**6), st.booleans())
def test_margins_of_zero_take_part_in_conflicts(seed, whole):
    """Pairs that require 0, 1 or 2: `InfeasibleError` exactly where a linear program finds no weights, irreducible."""
    rng = np.random.default_rng(seed)
    items, T, d = (int(rng.integers(*ends)) for ends in ((3, 20), (2, 25), (1, 6)))
    X, pairs = noisy(rng, items=items, T=T, d=d, wrong=0.2)
    X, required = np.rint(2 * X) if whole else X, rng.integers(0, 3, len(pairs)).astype(float)
    if not required.any():
        return
    Z, model = X[pairs[:, 0]] - X[pairs[:, 1]], SoftMarginRanker(C=np.inf)
    if quadratic.satisfiable(Z, required):
        assert model.fit_pairs(X, pairs, margin=required).certificate_.converged
        return
    with pytest.raises(InfeasibleError) as caught:
        model.fit_pairs(X, pairs, margin=required)
    proved(Z, required, caught.value.conflict)


@pytest.mark.parametrize("form", ["max", "sum", "ovr"])
@pytest.mark.parametrize("free", [False, True])
def test_classes_without_a_margin_name_the_class(free, form):
    """Each row of the conflict comes with the label of the class it is too close to ("ovr": whose score is wrong)."""
    names = np.array(["apple", "fig", "pear"])
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
        with pytest.raises(InfeasibleError) as caught:
            SoftMarginClassifier(C=np.inf, multiclass=form, fit_intercept=free).fit(X, names[y])
        conflict = caught.value.conflict
        wrong = np.array([names.tolist().index(name) for name in conflict.classes])
        Z = []
        for t, k in zip(conflict.rows, wrong, strict=True):
            feels = np.zeros(3)
            if form == "ovr":
                feels[k] = 1.0 if y[t] == k else -1.0
            else:
                feels[[y[t], k]] = 1.0, -1.0
            Z.append(np.r_[np.outer(feels, X[t]).ravel(), feels if free else []])
        proved(np.array(Z), np.ones(len(Z)), conflict, np.arange(len(Z)))
        assert f"against class {conflict.classes[0]}" in str(conflict)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout):
    """A conflict is a conflict however the numbers arrive."""
    X, pairs = noisy(np.random.default_rng(1), items=40, T=100, d=4, wrong=0.1)
    proved(X[pairs[:, 0]] - X[pairs[:, 1]], np.ones(len(pairs)), find_conflict(LAYOUTS[layout](X), pairs))


@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_units_of_the_features_do_not_matter(wrong):
    """Columns of 1e-3 beside columns of 1e3."""
    for seed in range(5):
        X, pairs = noisy(np.random.default_rng(seed), items=500, T=600, d=8, wrong=wrong)
        units = 10.0 ** np.linspace(-3, 3, 8)
        conflict = find_conflict(X * units, pairs)
        assert (conflict is None) == (wrong == 0.0)
        if conflict is not None:
            proved(X[pairs[:, 0]] - X[pairs[:, 1]], np.ones(len(pairs)), conflict)


def test_three_of_ten_thousand():
    """A conflict of three pairs is found among 10,000 that agree with each other, and it holds one of the three."""
    rng = np.random.default_rng(2)
    X, pairs = noisy(rng, items=2000, T=9997, d=20, wrong=0.0)
    ahead = rng.normal(size=(3, 20))
    ahead[2] = -(ahead[0] + 2.0 * ahead[1])
    start, n = rng.normal(size=(3, 20)), len(X)
    X = np.r_[X, start + ahead, start]
    pairs = np.r_[pairs, np.c_[n + np.arange(3), n + 3 + np.arange(3)]]
    conflict = find_conflict(X, pairs)
    proved(X[pairs[:, 0]] - X[pairs[:, 1]], np.ones(len(pairs)), conflict)
    assert conflict.rows.max() >= len(pairs) - 3
    assert conflict.cycle is None
    assert find_conflict(X, pairs[:-3]) is None


def test_more_features_than_pairs():
    """Pairs of items in many dimensions are satisfiable, until two of them contradict each other."""
    rng = np.random.default_rng(3)
    X, pairs = rng.normal(size=(200, 500)), rng.permutation(200).reshape(-1, 2)
    assert find_conflict(X, pairs) is None
    conflict = find_conflict(X, np.r_[pairs, pairs[5:6, ::-1]])
    assert conflict.rows.tolist() == [5, 100]
    np.testing.assert_allclose(conflict.multipliers, [0.5, 0.5])
    wide = sparse.random_array((300, 20_000), density=0.002, rng=rng, format="csr")
    assert find_conflict(wide, np.arange(300).reshape(-1, 2)) is None


@pytest.mark.nojit
def test_a_cycle_is_told_from_a_missing_feature():
    """The sentence and the object say whether any score could satisfy the pairs."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    cycle = find_conflict(X, [(0, 1), (1, 2), (2, 3), (2, 0)])
    assert cycle.contradicts
    assert cycle.cycle == [0, 1, 2]
    assert cycle.rows.tolist() == [0, 1, 3]
    assert "no score at all" in str(cycle)
    missing = find_conflict(X, [(2, 0), (3, 1)])
    assert not missing.contradicts
    assert missing.cycle is None
    assert "no linear score" in str(missing)
    assert str(missing).count("\n") == 2
    for pairs, told in (([(0, 1), (1, 0)], "cycle"), ([(2, 0), (3, 1)], "feature is missing")):
        with pytest.raises(InfeasibleError, match=told) as caught:
            SoftMarginRanker(C=np.inf).fit_pairs(X, pairs)
        assert one_sentence(str(caught.value))
        assert "C=inf" in str(caught.value)


@pytest.mark.nojit
def test_equal_items_are_a_conflict_of_one():
    """An item over one with the same features: one pair, no partner."""
    conflict = find_conflict([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]], [(0, 2), (0, 1)])
    assert conflict.rows.tolist() == [1]
    assert conflict.multipliers.tolist() == [1.0]
    assert conflict.cycle is None


@pytest.mark.parametrize("labels", [[0, 1, 1, 0], ["a", "b", "c", "b"]])
def test_one_row_with_two_labels_is_told_from_a_missing_feature(labels):
    """Rows 1 and 3 are equal and have two labels: that is the conflict, whatever else there is."""
    X = np.array([[0.0, 1.0], [3.0, 0.0], [1.0, 1.0], [3.0, 0.0]])
    for rows in (X, sparse.csr_matrix(X)):
        y = [labels[0], labels[1], labels[2], labels[0]]
        with pytest.raises(InfeasibleError, match="two labels") as caught:
            SoftMarginClassifier(C=np.inf).fit(rows, y)
        assert caught.value.conflict.rows.tolist() == [1, 3]
        assert caught.value.conflict.contradicts


def test_a_refused_fit_leaves_the_model_as_it_was():
    """The weights of the `fit` before stay, and the error crosses processes."""
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    model = SoftMarginClassifier(C=np.inf).fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="label is wrong") as caught:
        model.fit(X, [1, 0, 1])
    assert np.array_equal(model.coef_, before)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  ours
    assert str(again) == str(caught.value)
    assert np.array_equal(again.conflict.rows, caught.value.conflict.rows)


@pytest.mark.parametrize(
    ("X", "pairs", "named"),
    [
        ([[1.0], [np.nan]], [(0, 1)], [r"\bX\b", "NaN", "row 1"]),
        ([[1.0], [2.0]], [(0, 2)], [r"pairs\[0\]", "outside X", "2 rows"]),
        ([[1.0], [2.0]], [(0, 1), (1, 1)], [r"pairs\[1\]", "itself"]),
        ([[1.0], [2.0]], [(1, 0), (0.5, 1)], [r"pairs\[1\] = \(0.5, 1.0\)", "whole"]),
        ([[1.0], [2.0]], [(1, 0), (np.nan, 1)], [r"pairs\[1\]", "whole"]),
        ([[1.0], [2.0]], [(True, False)], ["pairs", "True"]),
        ([[1.0], [2.0]], [], ["pairs"]),
        ([1.0, 2.0], [(0, 1)], [r"\bX\b|2D"]),
    ],
)
def test_bad_input_is_refused(X, pairs, named):
    """In one sentence that names the argument and the row."""
    refused(lambda: find_conflict(X, pairs), *named)
