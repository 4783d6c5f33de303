"""Graded groups and explicit pairs in one fit: one problem of all their pairs, one certificate."""

import numpy as np
import pytest
from scipy import sparse

from graded import Listed, by_pairs, graded, listed, near, proved, settled
from refusal import refused
from softmargin import SoftMarginRanker, verify
from softmargin.constraints import Constraints, Grades, Pairs

GROUPS = pytest.mark.parametrize("groups", ["pairs", "equal"])
LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


def extra(seed, rows, count=15):
    """Random pairs of rows, the first of each is said to be better."""
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(rows, 2, replace=False) for _ in range(count)])


def together(*parts):
    """The pairs of several sources, each with a factor on its prices."""
    return Listed(
        np.concatenate([part.pairs for part, _ in parts]), np.concatenate([part.price * by for part, by in parts])
    )


@GROUPS
@LOSSES
def test_two_sources_are_all_their_pairs(loss, groups):
    """Grades with one price and pairs with another: the objective, weights and certificate of all pairs listed."""
    for seed in range(5):
        X, y, qid = graded(seed)
        pairs = Listed(extra(seed, y.size), np.ones(15))
        told = Constraints([Grades(y, qid, price=0.5), Pairs(pairs.pairs, price=3.0)])
        everything = together((listed(y, qid, groups), 0.5), (pairs, 3.0))
        for items in (X, sparse.csr_matrix(X)):
            model = settled(items, told, C=0.8, groups=groups, loss=loss)
            proved(model, X, everything, 0.8, loss)
            near(model, by_pairs(X, everything, C=0.8, loss=loss))


@LOSSES
def test_weights_and_margins_of_each_source(loss):
    """Group weights, pair weights and pair margins all count, as they do where a source is alone."""
    X, y, qid = graded(6)
    rng = np.random.default_rng(6)
    weight, mine, margin = rng.uniform(0, 2, 6), rng.uniform(0, 3, 15), rng.uniform(0.1, 4, 15)
    pairs, all_pairs = extra(6, y.size), listed(y, qid, weight=weight)
    told = Constraints([Grades(y, qid, weight=weight, price=2.0), Pairs(pairs, weight=mine, margin=margin)])
    model = settled(X, told, C=0.6, loss=loss)
    other = SoftMarginRanker(C=0.6, loss=loss, tol=1e-9).fit_pairs(
        X, np.r_[all_pairs.pairs, pairs], weight=np.r_[2.0 * all_pairs.price, mine],
        margin=np.r_[np.ones(len(all_pairs.pairs)), margin],
    )  # fmt: skip
    near(model, other)
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-7)


@GROUPS
def test_one_source_alone_is_the_plain_fit(groups):
    """Constraints of grades alone are `fit` with `qid`, of pairs alone `fit_pairs`."""
    X, y, qid = graded(7)
    options = {"C": 1.3, "tol": 1e-9, "groups": groups}
    near(settled(X, Constraints([Grades(y, qid)]), **options), settled(X, y, qid, **options))
    pairs = extra(7, y.size)
    near(
        settled(X, Constraints([Pairs(pairs)]), **options),
        SoftMarginRanker(**options).fit_pairs(X, pairs),
    )


@pytest.mark.parametrize("solver", ["auto", "newton", "dual"])
def test_a_source_that_compares_nothing_is_no_hindrance(solver):
    """Level grades beside pairs, in a source of their own: the fit is that of the pairs, with slack and without."""
    X, y, qid = graded(13)
    utility = X @ np.arange(1.0, 5.0)
    pairs = extra(13, y.size)
    pairs = np.where((utility[pairs[:, 0]] > utility[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])
    pairs = pairs[np.abs(utility[pairs[:, 0]] - utility[pairs[:, 1]]) > 0]
    told = Constraints([Grades(np.ones(y.size), qid), Pairs(pairs)])
    near(settled(X, told, solver=solver, tol=1e-7), SoftMarginRanker(C=2.0, tol=1e-9).fit_pairs(X, pairs))
    hard = SoftMarginRanker(C=np.inf, solver=solver, tol=1e-7).fit(X, told)
    near(hard, SoftMarginRanker(C=np.inf, tol=1e-9).fit_pairs(X, pairs))


@GROUPS
def test_the_order_of_sources_changes_nothing(groups):
    """Pairs first or grades first; one source of grades or one a group; one source of pairs or two."""
    X, y, qid = graded(8)
    pairs, options = extra(8, y.size), {"C": 1.3, "tol": 1e-9, "groups": groups}
    one_by_one = [Grades(np.where(qid == group, y, np.nan), qid) for group in np.unique(qid)]
    first, *others = (
        settled(X, Constraints(parts), **options)
        for parts in (
            [Grades(y, qid), Pairs(pairs)],
            [Pairs(pairs), Grades(y, qid)],
            [Pairs(pairs[:4]), Grades(y, qid), Pairs(pairs[4:])],
            [*one_by_one, Pairs(pairs)],
        )
    )
    for other in others:
        near(first, other)


def test_rows_without_a_grade_are_in_no_group():
    """NaN is no grade: such rows are compared by explicit pairs alone."""
    X, y, qid = graded(9)
    missing = np.arange(y.size) % 3 == 0
    y[missing] = np.nan
    pairs = Listed(extra(9, y.size), np.ones(15))
    model = settled(X, Constraints([Grades(y, qid), Pairs(pairs.pairs)]), C=0.9)
    near(model, by_pairs(X, together((listed(y, qid), 1.0), (pairs, 1.0)), C=0.9))
    alone = settled(X, Constraints([Grades(y, qid)]), C=0.9)
    near(alone, settled(X[~missing], y[~missing], qid[~missing], C=0.9))
    assert not alone.dual_[missing].any()


@GROUPS
def test_balances_and_verify(groups):
    """`X.T @ dual_` is within the gap of the weights, and `verify` finds the same certificate."""
    for seed in range(4):
        X, y, qid = graded(seed)
        told = Constraints([Grades(y, qid, price=0.4), Pairs(extra(seed, y.size), price=2.5)])
        model = SoftMarginRanker(C=2.0, groups=groups, tol=1e-6).fit(X, told)
        proof = model.certificate_
        assert model.dual_.shape == y.shape
        assert 0.5 * np.sum((X.T @ model.dual_ - model.coef_) ** 2) <= proof.gap * (1 + 1e-6) + 1e-12 * proof.primal
        found = verify(model, X, told)
        assert found.primal == pytest.approx(proof.primal, rel=1e-10)
        assert found.dual <= proof.primal * (1 + 1e-12)
        assert found.relative_gap <= proof.relative_gap * (1 + 1e-3) + 1e-9


@GROUPS
def test_sizes_are_groups_that_stand_one_after_another(groups):
    """Sizes in the place of `qid`, 0 among them, are the same groups; those of no row, or of no grade, are empty."""
    X, y, qid = graded(10)
    order = np.argsort(qid, kind="stable")
    X, y, qid, options = X[order], y[order], qid[order], {"C": 1.3, "tol": 1e-9, "groups": groups}
    y[qid == 5] = np.nan
    sizes = [7, 0, 1, 5, 4, 0, 9, 6]
    model = settled(X, Constraints([Grades(y, sizes=sizes)]), **options)
    near(model, settled(X, Constraints([Grades(y, qid)]), **options))
    counts = model.groups_
    assert (counts.compared, counts.single, counts.level, counts.empty) == (3, 1, 1, 3)
    assert counts.pairs == len(listed(y[qid < 5], qid[qid < 5]).pairs)


X, y, qid = graded(11)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Constraints([]), []),
        (lambda: Constraints([Grades(y[:-1], qid)]), [r"\b(y|qid)\b"]),
        (lambda: Constraints([Grades(y, qid[:-1])]), ["qid"]),
        (lambda: Constraints([Grades(np.where(qid == 0, np.inf, y), qid)]), [r"y\[\d+\]", "inf"]),
        (lambda: Constraints([Grades(y, qid), Pairs([[0, 999]])]), [r"pairs\[0\]", "999"]),
        (lambda: Constraints([Grades(y, qid), Pairs([[3, 3]])]), [r"pairs\[0\]", "itself"]),
        (lambda: Constraints([Grades(y, qid), Pairs([[0, 1]], weight=[-1.0])]), [r"weight\[0\]", "-1"]),
        (lambda: Constraints([Grades(y, qid), Pairs([[0, 1]], margin=[np.nan])]), [r"margin\[0\]", "nan"]),
        (lambda: Constraints([Grades(y, qid, price=-1.0)]), ["price", "-1"]),
        (lambda: Constraints([Grades(y, qid, price=0.0)]), ["price", "0"]),
        (lambda: Constraints([Grades(y, qid, sizes=[y.size])]), ["qid", "sizes"]),
        (lambda: Constraints([Grades(y, sizes=[y.size, 1])]), ["sizes"]),
        (lambda: Constraints([Grades(y, sizes=[y.size + 1, -1])]), ["sizes"]),
        (lambda: Constraints([Grades(y, sizes=[0.5, y.size - 0.5])]), ["sizes"]),
        (lambda: Constraints([Grades(y, qid), Pairs([[0, 1]], price=np.nan)]), ["price", "nan"]),
        (lambda: Constraints([Grades(y, qid, price="much")]), ["price", "much"]),
        (lambda: Constraints([Grades(y, qid, weight=[1.0, 2.0])]), ["weight"]),
        (lambda: Constraints([Grades(np.full(y.size, np.nan), qid)]), []),
        (lambda: Constraints([y]), []),
    ],
    ids=[
        "nothing", "short y", "short qid", "infinite grade", "no such row", "itself", "negative weight", "NaN margin",
        "negative price", "no price", "sizes and groups", "large sizes", "negative size", "half a row",
        "NaN price", "text price", "short weight", "no grade at all", "no source",
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(make, named):
    """One sentence that names argument and row, when the source is made or in `fit`, and the model is as it was."""
    model = SoftMarginRanker().fit(X, y, qid)
    before = model.coef_.copy()
    refused(lambda: model.fit(X, make()), *named)
    assert np.array_equal(model.coef_, before)


def test_grades_are_given_once():
    """With Constraints as y, `qid` and `sample_weight` have their place inside, and are refused outside."""
    X, y, qid = graded(12)
    told = Constraints([Grades(y, qid)])
    refused(lambda: SoftMarginRanker().fit(X, told, qid), "qid")
    refused(lambda: SoftMarginRanker().fit(X, told, sample_weight=np.ones(6)), "sample_weight")
