"""What a stream learns is what the notes' own algorithms learn, line by line in NumPy (`twins.py`)."""

import numpy as np
import pytest

import twins
from cases import close, comparisons, stream
from softmargin import SoftMarginClassifier, SoftMarginRanker


def waning(t):
    """A step size of one's own."""
    return 1.3 / (t + 4.0) ** 0.6


def pausing(t):
    """A step size that is sometimes zero."""
    return 0.0 if t % 3 == 0 else 0.4


# Parameters of ours, and the step size they stand for at our lam.
SCHEDULES = {
    "strong": ({"schedule": "strong"}, lambda lam: lambda t: 1.0 / (lam * t)),
    "sqrt": ({"schedule": "sqrt"}, lambda _lam: lambda t: 1.0 / np.sqrt(t)),
    "sqrt, step0": ({"schedule": "sqrt", "step0": 0.37}, lambda _lam: lambda t: 0.37 / np.sqrt(t)),
    "sqrt, overshooting": ({"schedule": "sqrt", "step0": 9.0}, lambda _lam: lambda t: 9.0 / np.sqrt(t)),
    "constant": ({"schedule": "constant", "step0": 0.21}, lambda _lam: lambda _t: 0.21),
    "constant, overshooting": ({"schedule": "constant", "step0": 4.7}, lambda _lam: lambda _t: 4.7),
    "callable": ({"schedule": waning}, lambda _lam: waning),
    "callable with pauses": ({"schedule": pausing}, lambda _lam: pausing),
}
EVERY_SCHEDULE = pytest.mark.parametrize("schedule", SCHEDULES)
LAM = 0.31
NO_INTERCEPT = {"average": False, "fit_intercept": False}


def classifier(lam, schedule, **options):
    """An online classifier without intercept, at the last weights."""
    return SoftMarginClassifier(lam=lam, **SCHEDULES[schedule][0], **{**NO_INTERCEPT, **options})


def importance(case, way):
    """Price and required margin of each row, and the sample weights that ask for them."""
    ones = np.ones(len(case.price))
    return {
        "plain": (ones, ones, None),
        "slack": (case.price, ones, case.price),
        "margin": (ones, case.required, case.required),
    }[way]


@EVERY_SCHEDULE
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_ranking_of_wu(seed, schedule):
    """`partial_fit_pairs` is the pseudo-code of Wu 1.4 at lam = λ/T, with any prices and margins."""
    case, T = comparisons(seed), 70
    path = twins.wu_ranking(
        case.better, case.worse, LAM * T, SCHEDULES[schedule][1](LAM), case.price, case.required
    )  # fmt: skip
    model = SoftMarginRanker(lam=LAM, average=False, **SCHEDULES[schedule][0])
    model.partial_fit_pairs(case.X, case.pairs, weight=case.price, margin=case.required)
    assert close(model.coef_, path[-1])


@EVERY_SCHEDULE
@pytest.mark.parametrize("seed", [21, 22])
def test_ranking_of_holladay(seed, schedule):
    """`partial_fit_pairs` is the outline of Holladay 3, whose λ has absorbed T; weights may scale margins too."""
    case = comparisons(seed, T=90, d=4)
    alpha, ones = SCHEDULES[schedule][1](LAM), np.ones(90)
    path = twins.holladay_ranking(case.better, case.worse, LAM, alpha, ones, 0.7 * case.required)
    model = SoftMarginRanker(lam=LAM, average=False, weighting="margin", **SCHEDULES[schedule][0])
    model.partial_fit_pairs(case.X, case.pairs, weight=case.required, margin=0.7)
    assert close(model.coef_, path[-1])


@EVERY_SCHEDULE
@pytest.mark.parametrize("way", ["plain", "slack", "margin"])
def test_binary_of_wu(way, schedule):
    """`partial_fit` with two classes is the pseudo-code of Wu 2 at lam = λ/T."""
    case = stream(31, T=80)
    price, required, weight = importance(case, way)
    path = twins.wu_binary(case.X, case.sign, LAM * 80, SCHEDULES[schedule][1](LAM), price, required)
    model = classifier(LAM, schedule, weighting="margin" if way == "margin" else "slack")
    model.partial_fit(case.X, case.label, classes=[0, 1], sample_weight=weight)
    assert close(model.coef_, path[-1:])
    assert model.intercept_ == [0.0]


@EVERY_SCHEDULE
@pytest.mark.parametrize("way", ["plain", "slack", "margin"])
def test_binary_of_doersch_holladay_and_kraut(way, schedule):
    """The notes that write λ |w|² without a half are ours at lam = 2λ."""
    case = stream(41, T=80)
    price, required, weight = importance(case, way)
    path = twins.doersch_binary(case.X, case.sign, LAM / 2, SCHEDULES[schedule][1](LAM), price, required)
    model = classifier(LAM, schedule, weighting="margin" if way == "margin" else "slack")
    model.partial_fit(case.X, case.label, classes=[0, 1], sample_weight=weight)
    assert close(model.coef_, path[-1:])


@pytest.mark.parametrize("lam", [1e-4, 0.03, 0.1, 1 / 3, 1.0, 7.0])
@pytest.mark.parametrize("seed", [51, 52])
def test_pegasos_of_zisserman(seed, lam):
    """The default schedule is Pegasos, eta = 1/(λ t), whatever λ."""
    case = stream(seed, T=150)
    ones = np.ones(150)
    path = twins.pegasos(case.X, case.sign, lam, lambda t: 1 / (lam * t), ones, ones)
    model = SoftMarginClassifier(lam=lam, **NO_INTERCEPT).partial_fit(case.X, case.label, classes=[0, 1])
    assert close(model.coef_, path[-1:])


CLASSES = {"max": twins.kraut_max, "sum": twins.kraut_sum, "ovr": twins.one_against_rest}


@EVERY_SCHEDULE
@pytest.mark.parametrize("form", CLASSES)
@pytest.mark.parametrize(("way", "classes"), [("plain", 3), ("slack", 5), ("margin", 4)])
def test_classes_of_kraut(way, classes, form, schedule):
    """One weight vector a class: "max" moves the argmax class only, "sum" each violated one, "ovr" K binary runs."""
    case = stream(60 + classes, T=90, classes=classes)
    price, required, weight = importance(case, way)
    alpha = SCHEDULES[schedule][1](LAM)
    path = CLASSES[form](case.X, case.label, classes, LAM / 2, alpha, price, required)
    model = classifier(LAM, schedule, multiclass=form, weighting="margin" if way == "margin" else "slack")
    model.partial_fit(case.X, case.label, classes=range(classes), sample_weight=weight)
    assert close(model.coef_, path[-1])


@pytest.mark.parametrize("form", CLASSES)
def test_two_classes_are_one_binary_problem_in_every_form(form):
    """`multiclass` changes nothing for two classes."""
    case = stream(71)
    models = [
        SoftMarginClassifier(lam=LAM, multiclass=name).partial_fit(case.X, case.label, classes=[0, 1])
        for name in ("max", form)
    ]
    assert np.array_equal(models[0].coef_, models[1].coef_)


@pytest.mark.parametrize("average", ["mean", "weighted", True, "last", False])
@EVERY_SCHEDULE
def test_averages(schedule, average):
    """The weights are the last, the mean, or the mean with step t counted t times, of the weights after each step."""
    alpha, ones = SCHEDULES[schedule][1](LAM), np.ones(70)
    case = stream(81)
    path = twins.pegasos(case.X, case.sign, LAM, alpha, case.price, ones)
    model = classifier(LAM, schedule, average=average)
    model.partial_fit(case.X, case.label, classes=[0, 1], sample_weight=case.price)
    assert close(model.coef_[0], twins.averaged(path, average))

    case = comparisons(82)
    path = twins.holladay_ranking(case.better, case.worse, LAM, alpha, ones, case.required)
    ranker = SoftMarginRanker(lam=LAM, average=average, **SCHEDULES[schedule][0])
    ranker.partial_fit_pairs(case.X, case.pairs, margin=case.required)
    assert close(ranker.coef_, twins.averaged(path, average))


@pytest.mark.parametrize("average", ["mean", "weighted"])
@pytest.mark.parametrize("form", CLASSES)
@pytest.mark.parametrize("schedule", ["strong", "sqrt", "constant, overshooting"])
def test_averages_of_classes(schedule, form, average):
    """Averages of several classes are taken class by class."""
    case, ones = stream(83, classes=4), np.ones(70)
    path = CLASSES[form](case.X, case.label, 4, LAM / 2, SCHEDULES[schedule][1](LAM), ones, ones)
    model = classifier(LAM, schedule, multiclass=form, average=average)
    model.partial_fit(case.X, case.label, classes=range(4))
    assert close(model.coef_, twins.averaged(path, average))


@pytest.mark.parametrize("average", [False, "mean", "weighted"])
@pytest.mark.parametrize("schedule", ["strong", "constant", "constant, overshooting"])
def test_long_streams_stay_exact(schedule, average):
    """After thousands of steps, when all shrinkings multiply to less than the smallest double, nothing is lost."""
    case, ones = stream(91, T=4000), np.ones(4000)
    path = twins.pegasos(case.X, case.sign, LAM, SCHEDULES[schedule][1](LAM), ones, ones)
    model = classifier(LAM, schedule, average=average).partial_fit(case.X, case.label, classes=[0, 1])
    assert close(model.coef_[0], twins.averaged(path, average))


def test_a_margin_that_is_met_exactly_is_not_violated():
    """Violated means w.z < required, strictly: at equality the weights only shrink."""
    X = np.array([[2.0, 0.0], [1.0, 0.0], [0.5, 0.0]])
    model = SoftMarginClassifier(lam=0.5, schedule="constant", step0=1.0, **NO_INTERCEPT)
    model.partial_fit(X[:1], [1], classes=[0, 1])
    assert model.coef_.tolist() == [[2.0, 0.0]]
    model.partial_fit(X[2:], [1])  # margin 0.5 * 2 = 1, exactly what is required
    assert model.coef_.tolist() == [[1.0, 0.0]]
    model.partial_fit(X[1:2], [1])  # margin 1 again
    assert model.coef_.tolist() == [[0.5, 0.0]]
    model.partial_fit(X[1:2], [1])  # margin 0.5: violated, judged before the shrinking
    assert model.coef_.tolist() == [[1.25, 0.0]]
    assert model.regret_.violated[-1] == 2


def test_equal_rivals_share_nothing():
    """In "max" form one rival pays even if several are equally close."""
    X, y = np.array([[1.0, 2.0]]), [2]
    model = SoftMarginClassifier(lam=1.0, multiclass="max", **NO_INTERCEPT).partial_fit(X, y, classes=range(4))
    moved = np.flatnonzero(np.abs(model.coef_).sum(axis=1))
    assert len(moved) == 2
    assert 2 in moved
    assert np.allclose(model.coef_.sum(axis=0), 0.0)


@pytest.mark.parametrize("form", CLASSES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("schedule", ["strong", "sqrt", "callable"])
def test_the_dummy_feature(schedule, classes, form):
    """`penalize_intercept=True` is a column of ones, shrunk like any weight: the bias of Doersch's note."""
    case = stream(101, classes=classes)
    lifted = np.c_[case.X, np.ones(len(case.X))]
    told = {"classes": range(classes), "sample_weight": case.price}
    ours = classifier(LAM, schedule, fit_intercept=True, penalize_intercept=True, multiclass=form, average=True)
    ours.partial_fit(case.X, case.label, **told)
    theirs = classifier(LAM, schedule, multiclass=form, average=True).partial_fit(lifted, case.label, **told)
    assert close(np.c_[ours.coef_, ours.intercept_], theirs.coef_)
    assert close(ours.decision_function(case.X), theirs.decision_function(lifted))
    assert close(ours.regret_.paid, theirs.regret_.paid)
    assert close(ours.regret_.certified, theirs.regret_.certified)


@pytest.mark.parametrize("way", ["slack", "margin", "replicate"])
def test_weights_of_classes_scale_the_price(way):
    """`class_weight` is a factor on the price of a class's slack, whatever `sample_weight` means."""
    case, factors = stream(111), {0: 0.4, 1: 2.5}
    copies = np.random.default_rng(1).integers(0, 4, len(case.X))
    weight = copies if way == "replicate" else case.price
    numbers = np.repeat(np.arange(len(case.X)), copies if way == "replicate" else 1)
    price = np.where(case.label == 1, 2.5, 0.4) * (case.price if way == "slack" else 1.0)
    required = case.price if way == "margin" else np.ones(len(case.X))
    path = twins.pegasos(
        case.X[numbers], case.sign[numbers], LAM, lambda t: 1 / (LAM * t), price[numbers], required[numbers]
    )  # fmt: skip
    model = classifier(LAM, "strong", class_weight=factors, weighting=way)
    model.partial_fit(case.X, case.label, classes=[0, 1], sample_weight=weight)
    assert close(model.coef_, path[-1:])


@pytest.mark.nojit
@pytest.mark.parametrize("average", [False, "mean", "weighted"])
@pytest.mark.parametrize("schedule", ["strong", "sqrt", "constant, overshooting"])
def test_compiled_and_interpreted_kernels_are_the_notes(schedule, average):
    """The same few rows, pairs and classes give the notes' weights with and without compiled kernels."""
    alpha, ones = SCHEDULES[schedule][1](LAM), np.ones(25)
    case, pairs, many = stream(121, T=25), comparisons(122, T=25), stream(123, T=25, classes=3)
    path = twins.pegasos(case.X, case.sign, LAM, alpha, ones, ones)
    binary = classifier(LAM, schedule, average=average).partial_fit(case.X, case.label, classes=[0, 1])
    assert close(binary.coef_[0], twins.averaged(path, average))
    path = twins.holladay_ranking(pairs.better, pairs.worse, LAM, alpha, pairs.price, ones)
    ranker = SoftMarginRanker(lam=LAM, average=average, **SCHEDULES[schedule][0])
    ranker.partial_fit_pairs(pairs.X, pairs.pairs, weight=pairs.price)
    assert close(ranker.coef_, twins.averaged(path, average))
    for form, twin in CLASSES.items():
        path = twin(many.X, many.label, 3, LAM / 2, alpha, ones, ones)
        model = classifier(LAM, schedule, multiclass=form, average=average)
        model.partial_fit(many.X, many.label, classes=range(3))
        assert close(model.coef_, twins.averaged(path, average))
