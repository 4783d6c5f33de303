"""The three ways of the notes to say that a constraint matters more: its price, its margin, its copies."""

import numpy as np
import pytest

from cases import close, comparisons, stream
from softmargin import SoftMarginClassifier, SoftMarginRanker

LOSSES = ["hinge", "squared_hinge"]
FORMS = [(2, "max"), (3, "max"), (3, "sum"), (3, "ovr")]


def proved_same(one, other):
    """Whether two models may be one minimum: each is no further from it than its certificate proves."""
    a, b = one.certificate_, other.certificate_
    assert a.converged
    assert b.converged
    assert a.dual <= b.primal * (1 + 1e-12)
    assert b.dual <= a.primal * (1 + 1e-12)
    apart = np.linalg.norm(one.coef_ - other.coef_)
    return apart <= (a.distance + b.distance) * (1 + 1e-9)


def classifier(**options):
    """A batch classifier, tight enough to tell two problems apart."""
    return SoftMarginClassifier(**{"C": 0.05, "tol": 1e-4, "random_state": 0, **options})


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("classes", "form"), FORMS)
def test_a_slack_weight_of_k_is_k_copies(classes, form, loss):
    """In batch, price k and k copies of a row are one problem."""
    case = stream(1, classes=classes)
    k = np.random.default_rng(0).integers(1, 5, 70)
    options = {"loss": loss, "multiclass": form}
    weighted = classifier(**options).fit(case.X, case.label, sample_weight=k)
    copied = classifier(**options).fit(np.repeat(case.X, k, axis=0), np.repeat(case.label, k))
    told = classifier(weighting="replicate", **options).fit(case.X, case.label, sample_weight=k)
    plain = classifier(**options).fit(case.X, case.label)
    assert proved_same(weighted, copied)
    assert proved_same(told, copied)
    assert np.linalg.norm(plain.coef_ - copied.coef_) > plain.certificate_.distance + copied.certificate_.distance


@pytest.mark.parametrize("loss", LOSSES)
def test_a_slack_weight_of_k_is_k_copies_of_a_comparison(loss):
    """In batch, price k and k copies of a pair are one problem."""
    case = comparisons(2)
    k = np.random.default_rng(0).integers(1, 5, 70)
    options = {"C": 0.05, "loss": loss, "random_state": 0}
    weighted = SoftMarginRanker(**options).fit_pairs(case.X, case.pairs, weight=k)
    copied = SoftMarginRanker(**options).fit_pairs(case.X, np.repeat(case.pairs, k, axis=0))
    told = SoftMarginRanker(weighting="replicate", **options).fit_pairs(case.X, case.pairs, weight=k)
    assert proved_same(weighted, copied)
    assert proved_same(told, copied)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("classes", "form"), FORMS)
def test_a_row_of_weight_zero_is_no_row(classes, form, loss):
    """In batch, a row that costs nothing, or has no copies, might as well not be there."""
    case = stream(3, classes=classes)
    weight = np.ones(70)
    weight[20:40] = 0.0
    options, there = {"loss": loss, "multiclass": form}, weight > 0
    less = classifier(**options).fit(case.X[there], case.label[there])
    assert proved_same(classifier(**options).fit(case.X, case.label, sample_weight=weight), less)
    again = classifier(weighting="replicate", **options).fit(case.X, case.label, sample_weight=weight)
    assert proved_same(again, less)


def test_weights_of_classes_are_prices():
    """`class_weight` multiplies the price of each row of the class; "balanced" by T over K times its count."""
    case = stream(4)
    factors = {0: 3.0, 1: 0.5}
    price = case.price * np.where(case.label == 0, 3.0, 0.5)
    by_class = classifier(class_weight=factors).fit(case.X, case.label, sample_weight=case.price)
    assert proved_same(by_class, classifier().fit(case.X, case.label, sample_weight=price))
    count = np.bincount(case.label)
    balanced = classifier(class_weight="balanced").fit(case.X, case.label)
    by_hand = classifier().fit(case.X, case.label, sample_weight=70 / (2 * count[case.label]))
    assert proved_same(balanced, by_hand)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_margin_of_k_for_all_scales_the_weights(loss):
    """If every constraint requires k, the hinge's weights at price C are k times those at C/k; the square's at C."""
    case, k = comparisons(5), 2.5
    C = 0.05
    options = {"loss": loss, "random_state": 0, "tol": 1e-4}
    wide = SoftMarginRanker(C=C, **options).fit_pairs(case.X, case.pairs, margin=k)
    told = SoftMarginRanker(C=C, weighting="margin", **options).fit_pairs(case.X, case.pairs, weight=k)
    one = SoftMarginRanker(C=C / k if loss == "hinge" else C, **options).fit_pairs(case.X, case.pairs)
    assert proved_same(wide, told)
    reach = wide.certificate_.distance + k * one.certificate_.distance
    assert np.linalg.norm(wide.coef_ - k * one.coef_) <= reach
    assert np.linalg.norm(one.coef_) > 10 * one.certificate_.distance


def test_margin_and_weight_multiply():
    """With weighting="margin", `weight` scales the `margin` given beside it."""
    case = comparisons(6)
    options = {"lam": 0.2, "schedule": "sqrt"}
    both = SoftMarginRanker(weighting="margin", **options)
    both.partial_fit_pairs(case.X, case.pairs, weight=case.price, margin=case.required)
    one = SoftMarginRanker(**options).partial_fit_pairs(case.X, case.pairs, margin=case.price * case.required)
    assert close(both.coef_, one.coef_, 1e-12)


def implied(y, qid):
    """All pairs that grades imply."""
    return np.argwhere((qid[:, None] == qid) & (y[:, None] > y))


def test_weights_say_how_much_groups_matter():
    """With `qid` a pair costs its group's weight, given by group or by row; of different ones the geometric mean."""
    rng = np.random.default_rng(7)
    X, y, qid = rng.normal(size=(30, 4)), rng.integers(0, 3, 30), rng.integers(0, 4, 30)
    pairs, model = implied(y, qid), SoftMarginRanker(C=0.05)
    by_group, by_row = rng.uniform(0.5, 2, 4), rng.uniform(0.5, 2, 30)
    for weight, price in (
        (by_group, by_group[qid[pairs[:, 0]]]),
        (by_group[qid], by_group[qid[pairs[:, 0]]]),
        (by_row, np.sqrt(by_row[pairs].prod(axis=1))),
    ):
        by_pairs = SoftMarginRanker(C=0.05).fit_pairs(X, pairs, weight=price)
        assert proved_same(model.fit(X, y, qid=qid, sample_weight=weight), by_pairs)


def test_without_groups_weights_are_copies_of_rows():
    """Rows u and v times make u v pairs, so their pair has the product; and no weights are one of each."""
    rng = np.random.default_rng(8)
    X, y, weight = rng.normal(size=(30, 4)), rng.integers(0, 3, 30), rng.integers(0, 4, 30)
    pairs, model = implied(y, np.zeros(30)), SoftMarginRanker(C=0.01)
    by_pairs = SoftMarginRanker(C=0.01).fit_pairs(X, pairs, weight=weight[pairs].prod(axis=1))
    assert proved_same(model.fit(X, y, sample_weight=weight), by_pairs)
    assert proved_same(model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)), by_pairs)
    assert proved_same(model.fit(X, y), SoftMarginRanker(C=0.01).fit_pairs(X, pairs))


# ------------------------------------------------------------------------------- how a stream differs


@pytest.mark.parametrize(("classes", "form"), FORMS)
@pytest.mark.parametrize("average", [False, "mean", "weighted"])
def test_in_a_stream_copies_are_met_one_after_the_other(average, classes, form):
    """`replicate` in a stream is the row given k times, k steps; zero copies are no step at all."""
    case = stream(8, classes=classes)
    k = np.random.default_rng(1).integers(0, 4, 70)
    options = {"lam": 0.2, "average": average, "multiclass": form, "weighting": "replicate"}
    told = SoftMarginClassifier(**options).partial_fit(case.X, case.label, classes=range(classes), sample_weight=k)
    copies = np.repeat(case.X, k, axis=0), np.repeat(case.label, k)
    given = SoftMarginClassifier(**options).partial_fit(*copies, classes=range(classes))
    assert np.array_equal(told.coef_, given.coef_)
    assert np.array_equal(told.regret_.paid, given.regret_.paid)
    assert told.regret_.steps[-1] == k.sum()


def test_in_a_stream_a_price_is_one_step():
    """Unlike copies, price k in a stream is one step, k times as long; so the two ways part there."""
    x = np.array([[1.0, -2.0]])
    options = {"lam": 0.5, "schedule": "constant", "step0": 0.1, "average": False, "fit_intercept": False}
    told = {"classes": [0, 1], "sample_weight": [3]}
    priced = SoftMarginClassifier(**options).partial_fit(x, [1], **told)
    copied = SoftMarginClassifier(weighting="replicate", **options).partial_fit(x, [1], **told)
    assert close(priced.coef_, 0.3 * x, 1e-15)
    # Margins 0, 0.5 and 0.975: violated three times, each time after the weights of the last have shrunk.
    assert close(copied.coef_, 0.1 * x * (1 + 0.95 + 0.95**2), 1e-15)
    assert priced.regret_.steps.tolist() == [1.0]
    assert copied.regret_.steps[-1] == 3


def test_in_a_stream_a_price_of_zero_still_takes_its_turn():
    """A row of price zero moves nothing but time: the weights shrink, and t counts it."""
    case = stream(9)
    options = {"lam": 0.3, "average": False, "fit_intercept": False}
    model = SoftMarginClassifier(**options).partial_fit(case.X, case.label, classes=[0, 1])
    before = model.coef_.copy()
    model.partial_fit(case.X[:1], case.label[:1], sample_weight=[0.0])
    assert close(model.coef_, before * (1 - 1 / 71), 1e-14)
    assert model.regret_.steps[-1] == 71


@pytest.mark.parametrize("weighting", ["slack", "margin", "replicate"])
def test_in_a_stream_weights_of_zero_may_come_alone(weighting):
    """Weighted rows one at a time are the weighted rows at once, also where the weight of a whole call is zero."""
    case, pairs, k = stream(14), comparisons(14), np.random.default_rng(2).integers(0, 3, 70)
    options = {"lam": 0.2, "weighting": weighting}
    whole = SoftMarginClassifier(**options).partial_fit(case.X, case.label, classes=[0, 1], sample_weight=k)
    single = SoftMarginClassifier(**options)
    for t in range(70):
        row = slice(t, t + 1)
        single.partial_fit(case.X[row], case.label[row], classes=[0, 1], sample_weight=k[row])
    assert close(single.coef_, whole.coef_, 1e-12)
    assert close(single.regret_.paid, whole.regret_.paid, 1e-12)
    whole = SoftMarginRanker(**options).partial_fit_pairs(pairs.X, pairs.pairs, weight=k)
    single = SoftMarginRanker(**options)
    for t in range(70):
        single.partial_fit_pairs(pairs.X, pairs.pairs[t : t + 1], weight=k[t : t + 1])
    assert close(single.coef_, whole.coef_, 1e-12)


# ------------------------------------------------------------------------------- what cannot be repeated


@pytest.mark.parametrize("weight", [2.5, 0.1, 1e10])
def test_fractions_cannot_be_replicated(weight):
    """`replicate` refuses what is not a sensible whole number, says which row, and names the way out."""
    case = stream(10, T=5)
    weights = [1, 2, weight, 1, 1]
    model = SoftMarginClassifier(lam=0.1, weighting="replicate")
    for refused in (
        lambda: model.fit(case.X, case.label, sample_weight=weights),
        lambda: model.partial_fit(case.X, case.label, classes=[0, 1], sample_weight=weights),
    ):
        with pytest.raises(ValueError, match=r"sample_weight\[2\] .*replicate.*slack"):
            refused()
    pairs = comparisons(11, T=5)
    with pytest.raises(ValueError, match=r"\bweight\[2\] .*replicate.*slack"):
        SoftMarginRanker(weighting="replicate").fit_pairs(pairs.X, pairs.pairs, weight=weights)


@pytest.mark.parametrize("weighting", ["slack", "replicate"])
@pytest.mark.parametrize("options", [{"C": 2.0}, {"lam": 0.1}], ids=["C", "lam"])
def test_weights_that_are_all_zero_are_refused(options, weighting):
    """Where nothing counts there is nothing to learn: a sentence, not weights of zero or a division by zero."""
    case, pairs = stream(12, T=8), comparisons(12, T=8)
    options = {"weighting": weighting, **options}
    with pytest.raises(ValueError, match=r"sample_weight.*zero"):
        SoftMarginClassifier(**options).fit(case.X, case.label, sample_weight=np.zeros(8))
    with pytest.raises(ValueError, match=r"sample_weight.*zero"):
        SoftMarginRanker(**options).fit(case.X, case.label, sample_weight=np.zeros(8))
    with pytest.raises(ValueError, match=r"\bweight.*zero"):
        SoftMarginRanker(**options).fit_pairs(pairs.X, pairs.pairs, weight=np.zeros(8))
