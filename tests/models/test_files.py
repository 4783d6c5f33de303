"""A model that was saved and loaded is the same model, to the last bit of what it predicts and what it learns next."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import softmargin
from cases import comparisons, stream
from refusal import refused
from saved import believed, classifiers, equal, learned, preferences, rankers, regressions, streams
from softmargin import SoftMarginClassifier, SoftMarginRanker, find_conflict, load, save, verify

X = np.random.default_rng(9).normal(size=(40, 6))


def again(model, folder):
    """The model after a trip through a file."""
    save(model, folder / "model.sm")
    return load(folder / "model.sm")


@pytest.mark.parametrize("models", [classifiers, rankers])
def test_a_loaded_model_is_the_saved_one(models, tmp_path):
    """Every parameter and everything learned is there again, of the same type and to the last bit."""
    for name, model in models():
        twin = again(model, tmp_path)
        assert type(twin) is type(model)
        assert equal(learned(twin), learned(model)), name
        assert equal(learned(again(twin, tmp_path)), learned(model)), name
        if name != "nothing learned":
            rows = X[:, : model.n_features_in_]
            assert equal(twin.predict(rows), model.predict(rows)), name
            assert str(getattr(twin, "certificate_", "")) == str(getattr(model, "certificate_", "")), name


def test_a_loaded_stream_goes_on_as_if_nothing_had_happened(tmp_path):
    """Weights, intercepts and certified regret are equal to the last bit after the next calls, and after more."""
    for name, model, go_on in streams():
        twin = again(model, tmp_path)
        for _ in range(2):
            go_on(model)
            go_on(twin)
            assert twin.coef_.tobytes() == model.coef_.tobytes(), name
            assert equal(learned(twin), learned(model)), name
            assert str(twin.regret_) == str(model.regret_)


@pytest.mark.parametrize("models", [regressions, preferences])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # few rows: what is told is told twice
def test_a_loaded_belief_is_the_saved_one_and_goes_on(models, tmp_path):
    """Means, precisions, predictions, answers and questions are equal to the last bit, now and after more of them."""
    for name, model, go_on in models():
        twin = again(model, tmp_path)
        assert type(twin) is type(model)
        for _ in range(3):
            assert equal(believed(twin), believed(model)), name
            go_on(model)
            go_on(twin)
        assert equal(believed(again(twin, tmp_path)), believed(model)), name


def test_a_long_stream_keeps_its_thinned_trace(tmp_path):
    """The course of a stream of thousands of rows, recorded at every second or fourth step by then, goes on."""
    data = stream(6, T=900)
    model = SoftMarginClassifier(lam=0.01)
    for _ in range(3):
        model.partial_fit(data.X, data.label, classes=[0, 1])
    twin = again(model, tmp_path)
    assert twin.partial_fit(data.X, data.label).regret_.steps.tolist() == (
        model.partial_fit(data.X, data.label).regret_.steps.tolist()
    )


def test_columns_are_known_by_name_after_loading(tmp_path):
    """A frame whose columns have other names, or another order, is refused by name, as before."""
    frame = pd.DataFrame(X[:, :3], columns=["höhe", "wins, home", "x=1"])
    model = again(SoftMarginClassifier().fit(frame, X[:, 0] > 0), tmp_path)
    assert model.feature_names_in_.tolist() == ["höhe", "wins, home", "x=1"]
    assert model.predict(frame).shape == (40,)
    with pytest.raises(ValueError, match="höhe"):
        model.predict(frame.rename(columns={"höhe": "hohe"}))
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[["x=1", "höhe", "wins, home"]])


def test_a_loaded_model_can_do_all_that_the_saved_one_can(tmp_path):
    """It is verified, explained, cloned, fitted anew and put into a pipeline."""
    told = comparisons(3)
    model = SoftMarginRanker(tol=1e-8).fit_pairs(told.X, told.pairs)
    twin = again(model, tmp_path)
    assert verify(twin, told.X, told.pairs).converged
    assert str(twin.explain(told.X, 0, 1)) == str(model.explain(told.X, 0, 1))
    assert clone(twin).get_params() == model.get_params()
    assert find_conflict(told.X, told.pairs[:2]) is None
    assert twin.fit(told.X, np.arange(len(told.X))).groups_.compared == 1
    classifier = again(SoftMarginClassifier().fit(X, X[:, 0] > 0), tmp_path)
    assert make_pipeline(StandardScaler(), classifier).fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0) > 0.9


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    """Functions, other classes, subclasses, pipelines and attributes of other people, each in one sentence."""
    path = tmp_path / "model.sm"

    class Mine(SoftMarginRanker):
        pass

    online = SoftMarginClassifier(solver="online", schedule=lambda t: 1.0 / t, max_passes=2, tol=1.0)
    online.fit(X, X[:, 0] > 0)
    stranger = SoftMarginRanker()
    stranger.note = "from Tuesday"
    refused(lambda: save(online, path), "schedule is a function", "strong")
    refused(lambda: save(online.set_params(schedule="strong"), path), "schedule is a function")
    refused(lambda: save(Mine(), path), "Mine", "SoftMarginRanker")
    refused(lambda: save(make_pipeline(StandardScaler(), SoftMarginClassifier()), path), "Pipeline")
    refused(lambda: save("model", path), "str")
    refused(lambda: save(stranger, path), "note")
    refused(lambda: save(SoftMarginRanker(random_state=np.random.default_rng(1)), path), "random_state is a Generator")
    refused(lambda: save(SoftMarginRanker(C=[object()]), path), "C is a object")
    assert not any(tmp_path.iterdir())


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    """Whatever fails on the way, the file from before is there, and nothing else is."""
    path = tmp_path / "model.sm"
    save(SoftMarginRanker(C=2.0), path)
    before = path.read_bytes()

    def fails(*_):
        raise OSError(28, "no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with pytest.raises(OSError, match="no space"):
            save(SoftMarginRanker(C=3.0), path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]
    with pytest.raises(OSError, match="nowhere"):
        save(SoftMarginRanker(), tmp_path / "nowhere" / "model.sm")
    link = tmp_path / "link.sm"
    link.symlink_to(path)
    save(SoftMarginRanker(C=4.0), link)
    assert link.is_symlink()
    assert load(path).C == 4.0


def test_the_package_offers_both_at_once():
    """`softmargin.load` and `softmargin.save` are there, and neither is imported before it is asked for."""
    assert {"load", "save"} <= {*dir(softmargin)}
    code = (
        "import sys, softmargin; assert not any('models' in name for name in sys.modules); softmargin.load; "
        "assert 'pyarrow' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  our own code
