import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import quadratic as program
from cases import LAYOUTS
from refusal import refused
from softmargin import InfeasibleError, SoftMarginClassifier, SoftMarginRanker

INTERCEPTS = {"none": {"fit_intercept": False}, "free": {}, "penalised": {"penalize_intercept": True}}
HARD = {"C": np.inf, "tol": 1e-9}


def separable(seed, *, T=60, d=4, classes=2, shift=0.3):
    """Rows and the labels of a planted model, each class at least once."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, d))
    return X, np.argmax(X @ rng.normal(size=(d, classes)) + shift * rng.normal(size=classes), axis=1)


def ordered(seed, *, T=60, d=4, items=25):
    """Items, and pairs of them that a planted utility orders."""
    rng = np.random.default_rng(seed)
    X, pairs = rng.normal(size=(items, d)), rng.integers(0, items, (T, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    utility = X @ rng.normal(size=d)
    return X, np.where((utility[pairs[:, 0]] > utility[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])


def best(model, value):
    """Whether a model's certificate is true and tight, given the value of another solver."""
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.solver == "newton"
    assert 0.0 <= certificate.relative_gap <= 1e-9
    assert certificate.primal == pytest.approx(value, rel=1e-7)
    assert certificate.dual <= certificate.primal
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual, abs=1e-8 * certificate.primal)


@pytest.mark.parametrize("solver", ["auto", "newton", "dual"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_labels_against_a_quadratic_program(intercept, solver):
    """The largest margin of labels is that of Clarabel; every row has it, and the duals make the weights."""
    for seed in range(12):
        X, y = separable(seed, d=2 + seed % 5, shift=0.3 * (intercept != "none"))
        sign = np.where(y == 1, 1.0, -1.0)
        Z = sign[:, None] * (X if intercept == "none" else np.c_[X, np.ones(len(X))])
        model = SoftMarginClassifier(solver=solver, **HARD, **INTERCEPTS[intercept])
        if len(set(y)) < 2:
            continue
        value, w = program.hard(Z, np.ones(len(X)), free=int(intercept == "free"))
        best(model.fit(X, y), value)
        found = np.r_[model.coef_[0], model.intercept_] if intercept != "none" else model.coef_[0]
        np.testing.assert_allclose(found, w, rtol=0, atol=1e-3 * np.linalg.norm(w))
        assert (Z @ found).min() >= 1.0 - 1e-12
        assert model.dual_.min() >= 0.0
        assert abs(model.dual_ @ sign) <= 1e-9 * model.dual_.sum() or intercept != "free"
        np.testing.assert_allclose((model.dual_ * sign) @ X, model.coef_[0], atol=1e-4 * np.linalg.norm(w))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_comparisons_against_a_quadratic_program(loss):
    """Pairs with margins of their own, of dense and of sparse items; the loss of slack does not matter without any."""
    for seed in range(12):
        X, pairs = ordered(seed, d=2 + seed % 5)
        required = np.random.default_rng(seed).uniform(0.2, 2.0, len(pairs))
        value, w = program.hard(X[pairs[:, 0]] - X[pairs[:, 1]], required)
        for items in (X, sparse.csr_array(X)):
            model = SoftMarginRanker(loss=loss, **HARD).fit_pairs(items, pairs, margin=required)
            best(model, value)
            np.testing.assert_allclose(model.coef_, w, atol=1e-3 * np.linalg.norm(w))


@pytest.mark.parametrize("form", ["max", "sum", "ovr"])
@pytest.mark.parametrize("free", [False, True], ids=["no intercept", "free intercepts"])
def test_classes_against_a_quadratic_program(free, form):
    """Three classes or four; "max" and "sum" are one problem where there is no slack; "ovr" may have no solution."""
    solved = 0
    for seed in range(12):
        number = 3 + seed % 2
        X, y = separable(seed, T=30, d=2 + seed % (15 if form == "ovr" else 5), classes=number, shift=0.0)
        if len(set(y)) < number:
            continue
        Z = program.class_rows(X, y, number, free=free, ovr=form == "ovr")
        model = SoftMarginClassifier(multiclass=form, fit_intercept=free, **HARD)
        if not program.satisfiable(Z, np.ones(len(Z))):
            with pytest.raises(InfeasibleError):
                model.fit(X, y)
            continue
        value, _ = program.hard(Z, np.ones(len(Z)), free=number * int(free))
        best(model.fit(X, y), value)
        solved += 1
    assert solved >= (2 if form == "ovr" else 8)


def test_a_free_price_frees_from_the_constraint():
    """A pair of weight zero constrains nothing, and a weight that is not zero changes nothing."""
    X, pairs = ordered(1)
    wrong, weight = np.r_[pairs, pairs[:1, ::-1]], np.r_[np.linspace(0.1, 9.0, len(pairs)), 0.0]
    plain = SoftMarginRanker(**HARD).fit_pairs(X, pairs)
    free = SoftMarginRanker(**HARD).fit_pairs(X, wrong, weight=weight)
    np.testing.assert_allclose(free.coef_, plain.coef_, atol=1e-4)
    assert free.dual_[-1] == 0.0
    with pytest.raises(InfeasibleError):
        SoftMarginRanker(**HARD).fit_pairs(X, wrong)


def test_weights_may_scale_margins():
    """`weighting="margin"`: a pair of weight k is to be k ahead, also where k is zero."""
    X, pairs = ordered(2)
    weight = np.random.default_rng(2).integers(0, 4, len(pairs))
    value, w = program.hard(X[pairs[:, 0]] - X[pairs[:, 1]], weight.astype(float))
    model = SoftMarginRanker(weighting="margin", **HARD).fit_pairs(X, pairs, weight=weight)
    best(model, value)
    np.testing.assert_allclose(model.coef_, w, atol=1e-3 * np.linalg.norm(w))


@pytest.mark.nojit
def test_margins_of_zero_both_ways_make_equals():
    """Two pairs that require nothing and contradict each other put their items level, exactly but for rounding."""
    X, pairs = ordered(3, T=20, d=30)
    both, required = np.r_[pairs, [[0, 1], [1, 0]]], np.r_[np.ones(len(pairs)), 0.0, 0.0]
    model = SoftMarginRanker(**HARD).fit_pairs(X, both, margin=required)
    value, _ = program.hard(X[both[:, 0]] - X[both[:, 1]], required)
    best(model, value)
    assert abs((X[0] - X[1]) @ model.coef_) <= 1e-11 * np.linalg.norm(model.coef_) * np.linalg.norm(X[0] - X[1])


def test_nothing_required_is_satisfied_by_nothing():
    """Margins of zero everywhere: the shortest weights are zero."""
    X, pairs = ordered(4)
    model = SoftMarginRanker(**HARD).fit_pairs(X, pairs, margin=0.0)
    assert not model.coef_.any()
    assert model.certificate_.converged


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout):
    """The same margin however the numbers arrive."""
    X, y = separable(5)
    plain, other = (SoftMarginClassifier(**HARD).fit(rows, y) for rows in (X, LAYOUTS[layout](X)))
    assert other.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize("free", [True, False])
def test_units_of_the_features_do_not_matter(free):
    """Columns of 1e-3 and of 1e3 side by side: the margin is that of a quadratic program in even units."""
    X, y = separable(6, T=200, d=6, shift=0.3 * free)
    units = 10.0 ** np.array([-3, 3, 0, -2, 2, 1])
    model = SoftMarginClassifier(fit_intercept=free, **HARD)
    Z = np.where(y == 1, 1.0, -1.0)[:, None] * np.c_[X, np.ones(len(X))][:, : 6 + free]
    model.fit(X * units, y)
    assert model.certificate_.converged
    assert np.min(Z @ np.r_[model.coef_[0] * units, model.intercept_][: 6 + free]) >= 1.0 - 1e-10


def test_more_features_than_rows():
    """Any labels are separable in enough dimensions."""
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 300)), rng.integers(0, 2, 60)
    value, _ = program.hard(np.where(y == 1, 1.0, -1.0)[:, None] * np.c_[X, np.ones(60)], np.ones(60), free=1)
    best(SoftMarginClassifier(**HARD).fit(X, y), value)


def test_ten_thousand_rows():
    """10,000 rows of 50 features are certified to 1e-9."""
    rng = np.random.default_rng(8)
    w = rng.normal(size=50) / np.sqrt(50)
    X = rng.normal(size=(10_000, 50))
    y = X @ w > 0.1
    model = SoftMarginClassifier(**HARD).fit(X + np.outer(np.where(y, 0.01, -0.01), w), y)
    assert model.certificate_.converged
    assert model.certificate_.passes < 300


@pytest.mark.parametrize("margin", [1e-4, 1e-7, 1e-10, 1e-13])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_margin_too_thin_for_float64_is_never_claimed_wide(margin):
    """The planted weights bound the objective from above: what is proved below, and what is claimed, agree with it."""
    rng = np.random.default_rng(9)
    w = rng.normal(size=5)
    w /= np.linalg.norm(w)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 5))
    X += np.outer(np.where(y == 1, margin, -margin) * (1 + rng.random(300)) - X @ w, w)
    model = SoftMarginClassifier(C=np.inf, fit_intercept=False, tol=1e-6)
    try:
        model.fit(X, y)
    except InfeasibleError as error:
        assert error.conflict.residual >= 0.1 * margin  # noqa: PT017  only there where there is an error
        return
    certificate = model.certificate_
    assert certificate.dual <= 0.5 / margin**2 * 1.01
    assert np.isinf(certificate.primal) or np.min(np.where(y == 1, 1.0, -1.0) * (X @ model.coef_[0])) >= 0.99


def test_what_makes_no_sense_is_refused():
    """Passes of an algorithm that learns from slack, and a second price of slack."""
    X, y = separable(10)
    refused(lambda: SoftMarginClassifier(C=np.inf, solver="online").fit(X, y), "C=inf", "online")
    refused(lambda: SoftMarginRanker(C=np.inf, solver="online").fit_pairs(X, [(0, 1)]), "C=inf", "online")
    refused(lambda: SoftMarginClassifier(C=np.inf, lam=0.1).fit(X, y), "lam", "C=inf")


def test_who_is_not_given_the_passes_is_told():
    """One pass is too few for a proof, and a warning says so."""
    X, y = separable(11)
    model = SoftMarginClassifier(C=np.inf, max_passes=1)
    with pytest.warns(ConvergenceWarning, match="NOT converged"):
        model.fit(X, y)
    assert not model.certificate_.converged
