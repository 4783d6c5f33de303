"""Files that released versions wrote are read for ever, and hold what they held."""

import json
from pathlib import Path

import numpy as np
import pytest

from softmargin import load
from softmargin.models import export

GOLDEN = sorted(Path(__file__).with_name("golden").glob("*.sm"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_an_old_file_is_the_model_that_it_was(path, tmp_path):
    """Weights, classes, features, certificate and, for streams, regret are those that stand beside the file."""
    model, told = load(path), json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    export(model, tmp_path / "model.json")
    found = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    regret = told.pop("regret", None)
    for ours in (found, told):
        del ours["softmargin"]
    for name in ("weights", "intercept"):
        # What is solved for when it is asked comes out of the linear algebra of this machine, all else of the file.
        solved = told["model"] in ("BayesianLinearRegression", "PreferencePosterior")
        ours, theirs = np.array(found.pop(name)), np.array(told.pop(name))
        assert np.allclose(ours, theirs, rtol=1e-9) if solved else np.array_equal(ours, theirs)
    assert found == told
    assert regret is None or str(model.regret_) == regret
    if regret is not None and told["model"] == "SoftMarginClassifier":
        rows = np.eye(model.n_features_in_)
        model.partial_fit(rows, model.classes_[np.arange(len(rows)) % len(model.classes_)])


def test_every_version_of_the_format_is_there():
    """A version without a file of its own would be a promise that nobody checks."""
    assert {path.stem.split("-")[0] for path in GOLDEN} == {"v1"}
