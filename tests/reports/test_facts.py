"""What the page states is true: counts, ranges, cycles, and whether the data are those of the certificate."""

import os
import re
from types import SimpleNamespace

import numpy as np
import pytest

from cases import comparisons, stream
from refusal import refused
from softmargin import PreferencePosterior, SoftMarginClassifier, SoftMarginRanker
from softmargin.constraints.graded import Grades
from softmargin.estimators._statements import read_columns
from softmargin.report import subject, write_report
from softmargin.report.draw import round_numbers
from softmargin.report.markup import number
from softmargin.report.verdict import objective
from softmargin.report.weights import distance_of, lengths, places


def words_of(path):
    """The text between the tags of a page."""
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", path.read_text(encoding="utf-8")).split())


@pytest.fixture
def told(tmp_path):
    """Writes a report and gives its words."""

    def made(*given, **more):
        write_report(tmp_path / "report.html", *given, **more)
        return words_of(tmp_path / "report.html")

    return made


def test_grades_imply_the_pairs_of_their_groups(monkeypatch):
    """All pairs of rows of a group with different grades, each once; a sample knows of how many it is."""
    rng = np.random.default_rng(1)
    grades, qid = rng.integers(4, size=40), rng.integers(6, size=40)
    read = read_columns(Grades(grades, qid), 40, bare=True)
    expected = {(a, b) for a in range(40) for b in range(40) if qid[a] == qid[b] and grades[a] > grades[b]}
    listed, total = subject.pairs_of_grades(read)
    assert {*map(tuple, listed.tolist())} == expected
    assert len(listed) == len(expected) == total
    monkeypatch.setattr(subject, "MOST_PAIRS", 30)
    some, total = subject.pairs_of_grades(read)
    assert {*map(tuple, some.tolist())} <= expected
    assert (len(some), total) == (30, len(expected))


def test_the_best_weights_and_places_are_in_their_ranges():
    """Whatever a rough certificate leaves open, the ranges hold the weights and the places of a tight one."""
    for seed in range(5):
        data = comparisons(seed)
        best = SoftMarginRanker(tol=1e-12).fit_pairs(data.X, data.pairs)
        for tol in (0.5, 0.1, 1e-3):
            rough = SoftMarginRanker(tol=tol, solver="dual").fit_pairs(data.X, data.pairs)
            away = distance_of(rough) + distance_of(best)
            assert np.abs(rough.coef_ - best.coef_).max() <= away
            radius = away * lengths(data.X)
            first, last = places(rough.predict(data.X) - radius, rough.predict(data.X) + radius)
            place = np.empty(len(data.X), dtype=int)
            place[best.rank(data.X)] = np.arange(1, len(data.X) + 1)
            assert np.all((first <= place) & (place <= last))


@pytest.mark.nojit
def test_places_of_intervals():
    """Intervals that do not touch have one place each, those that overlap share theirs, and equals are level."""
    first, last = places(np.array([5.0, 3.0, 1.0]), np.array([6.0, 4.0, 2.0]))
    assert (first.tolist(), last.tolist()) == ([1, 2, 3], [1, 2, 3])
    first, last = places(np.array([5.0, 3.0, 1.0]), np.array([6.0, 5.5, 2.0]))
    assert (first.tolist(), last.tolist()) == ([1, 1, 3], [2, 2, 3])
    first, last = places(np.array([1.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0]))
    assert (first.tolist(), last.tolist()) == ([1, 1, 3], [1, 1, 3])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("form", ["max", "sum", "ovr"])
def test_the_objective_is_that_of_the_certificate(loss, form):
    """Worked out from margins alone it agrees, weights included, wherever slack alone tells the loss."""
    for classes in (2, 3):
        data = stream(3, classes=classes)
        for more in ({}, {"penalize_intercept": True}, {"C": None, "lam": 0.05}):
            options = {key: value for key, value in more.items() if value is not None}
            model = SoftMarginClassifier(loss=loss, multiclass=form, **options).fit(data.X, data.label, data.price)
            found = objective(
                subject.subject_of(model, data.X, subject.Given(data.label, sample_weight=data.price), None)
            )
            if found is None:
                assert (loss, classes) == ("squared_hinge", 3)
                assert form != "max"
            else:
                assert found == pytest.approx(model.certificate_.primal, rel=1e-9)


def test_other_data_are_told_from_those_of_the_certificate(told):
    """On rows that the model did not learn from, the page warns; on its own rows it does not."""
    data = stream(3)
    model = SoftMarginClassifier().fit(data.X, data.label)
    assert "the objective is the same" in told(model, data.X, data.label)
    assert "not the constraints of the certificate" in told(model, data.X[:50], data.label[:50])
    weighted = SoftMarginClassifier().fit(data.X, data.label, sample_weight=data.price)
    assert "not the constraints of the certificate" in told(weighted, data.X, data.label)
    found = told(weighted, data.X, data.label, sample_weight=data.price)
    assert "the objective is the same" in found
    assert "each times its price" in found
    data = comparisons(3)
    for weighting in ("slack", "margin", "replicate"):
        weight = np.ceil(data.price)
        ranker = SoftMarginRanker(weighting=weighting).fit_pairs(data.X, data.pairs, weight, data.required)
        found = told(ranker, data.X, data.pairs, weight=weight, margin=data.required)
        assert "the objective is the same" in found
    grades = np.arange(25) % 3
    assert "the objective is the same" in told(SoftMarginRanker().fit(data.X, grades), data.X, grades)


def test_the_verdict_is_that_of_the_certificate(told):
    """Optimal only where the solver converged; otherwise why it stopped, and what would help."""
    data = stream(3)
    assert "Optimal, with proof" in told(SoftMarginClassifier().fit(data.X, data.label), data.X, data.label)
    model = SoftMarginClassifier(tol=1e-14, max_passes=1, solver="dual")
    with pytest.warns(match="max_passes"):
        model.fit(data.X, data.label)
    found = told(model, data.X, data.label)
    assert "NOT converged" in found
    assert "Optimal" not in found
    stream_model = SoftMarginClassifier(lam=0.1).partial_fit(data.X, data.label, classes=[0, 1])
    assert "A stream under way" in told(stream_model, data.X, data.label)


def test_cycles_and_conflicts_are_told_by_name(told):
    """Three answers in a circle, one pair answered both ways, and a conflict that only a feature could explain."""
    X, names = np.array([[3.0], [2.0], [1.0], [2.5]]), ["mill", "barn", "hut", "farm"]
    pairs = [(0, 1), (1, 2), (2, 0), (3, 0), (0, 3)]
    found = told(SoftMarginRanker().fit_pairs(X, pairs), X, pairs, names=names)
    assert "1 pair of items was answered both ways" in found
    for said in ("mill over farm (pair 4)", "farm over mill (pair 3)", "1 group of items contradicts itself"):
        assert said in found
    assert "A cycle of 2 items" in found
    ring = [(0, 1), (1, 2), (2, 0)]
    assert "A cycle of 3 items" in told(SoftMarginRanker().fit_pairs(X, ring), X, ring, names=names)
    odd = [(0, 1), (2, 3)]  # more is better, and less is
    found = told(SoftMarginRanker().fit_pairs(X, odd), X, pairs=odd, y=None, names=names)
    assert "No cycle" in found
    assert "no linear score of these features can satisfy together" in found
    assert "mill over barn" in found


def test_features_that_say_nothing_or_too_much_are_named(told):
    """A constant column, and one in other units."""
    data = stream(5)
    X = np.hstack([data.X, np.full((len(data.X), 1), 7.0), 1e6 * data.X[:, :1]])
    found = told(SoftMarginClassifier(lam=0.1).partial_fit(X, data.label, classes=[0, 1]), X, data.label)
    assert "1 feature constant, and says nothing: x6" in found
    assert "Badly scaled features, the farthest first feature mean, and from where to where spread x7" in found


def test_what_is_believed_stands_beside_what_is_proved(told):
    """Intervals of a posterior are shown for weights and places; one of other features or items is refused."""
    data = comparisons(6)
    ranker = SoftMarginRanker().fit_pairs(data.X, data.pairs)
    middle, rank = np.arange(6.0), np.arange(1, 26)
    posterior = SimpleNamespace(
        weights=lambda level: SimpleNamespace(mean=middle, low=middle - level, high=middle + level),
        ranking=lambda level: SimpleNamespace(rank=rank, low=rank, high=rank + int(level)),
    )
    found = told(ranker, data.X, data.pairs, posterior=posterior)
    assert "believed, 95%" in found
    assert "4.05 to 5.95" in found
    assert "believed place, 95%" in found
    real = PreferencePosterior(data.X)
    real.answer_pairs(data.pairs)
    row = real.weights(0.95)
    found = told(ranker, data.X, data.pairs, posterior=real)
    assert all(f"{number(low)} to {number(high)}" in found for low, high in zip(row.low, row.high, strict=True))
    posterior.weights = lambda _: SimpleNamespace(mean=middle[:5], low=middle, high=middle)
    refused(lambda: told(ranker, data.X, data.pairs, posterior=posterior), "posterior", "5 features", "6")


def test_parameters_that_were_changed_are_marked(told):
    """Each with its value and its default."""
    data = stream(1)
    found = told(SoftMarginClassifier(C=0.25, loss="squared_hinge").fit(data.X, data.label), data.X, data.label)
    assert "C 0.25 1 " in found
    assert "loss &#x27;squared_hinge&#x27; &#x27;hinge&#x27;" in found


def test_what_does_not_fit_together_is_refused_and_nothing_written(tmp_path):
    """One sentence names the argument, and the folder stays empty."""
    data, labels = comparisons(2), stream(2)
    ranker = SoftMarginRanker().fit_pairs(data.X, data.pairs)
    classifier = SoftMarginClassifier().fit(labels.X, labels.label)
    path = tmp_path / "report.html"
    refused(lambda: write_report(path, ranker, data.X, data.pairs, names=["one"]), "names holds 1", "25 rows")
    refused(lambda: write_report(path, ranker, data.X, data.pairs, pairs=data.pairs), "y and pairs")
    refused(lambda: write_report(path, ranker, data.X, data.pairs, sample_weight=data.price), "sample_weight")
    refused(lambda: write_report(path, ranker, data.X, data.pairs, weight=data.price[:3]), "weight")
    refused(lambda: write_report(path, ranker, data.X, data.pairs, qid=np.zeros(25)), "qid")
    refused(lambda: write_report(path, ranker, data.X, np.ones(25)), "no two different grades")
    refused(lambda: write_report(path, ranker, data.X[:3], data.pairs), "outside X")
    refused(lambda: write_report(path, classifier, labels.X, pairs=data.pairs), "classifier")
    refused(lambda: write_report(path, classifier, labels.X[:, :3], labels.label), "features")
    refused(lambda: write_report(path, classifier, labels.X, labels.label[:-1]), "y")
    refused(lambda: write_report(path, classifier, labels.X, labels.label, posterior=ranker), "posterior")
    assert [*tmp_path.iterdir()] == []


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """Where the disk fails, the page from before is there, and nothing else."""
    data = stream(2)
    model, path = SoftMarginClassifier().fit(data.X, data.label), tmp_path / "report.html"
    write_report(path, model, data.X, data.label)
    before = path.read_bytes()

    def fails(*_):
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="no space"):
        write_report(path, model, data.X, data.label, title="Another")
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.nojit
def test_numbers_for_people():
    """Four digits, thousands apart, powers of ten, true minus signs; infinity and nothing as they are."""
    cases = {1234567: "1,234,567", -0.0: "0", 0.00001: "10⁻⁵", -2.5e-8: "\u22122.5\u00d710⁻⁸", 12345.6: "12,346",
             1e300: "10³⁰⁰", np.inf: "∞", -np.inf: "\u2212∞", 0.12345: "0.1235", np.float32(0.5): "0.5"}  # fmt: skip
    for value, said in cases.items():
        assert number(value) == said
    assert number(np.nan) == "nan"


@pytest.mark.nojit
def test_ticks_are_round_few_and_inside():
    """At most one more than asked for, all within the ends, at one distance."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        low = rng.normal() * 10.0 ** rng.integers(-8, 8)
        high = low + 10.0 ** rng.uniform(-6, 6)
        ticks = np.array(round_numbers(low, high, 5))
        slack = 1e-6 * (high - low)
        assert 1 <= len(ticks) <= 7
        assert ticks.min() >= low - slack
        assert ticks.max() <= high + slack
