"""Exported numbers are those of the model, and a program that was compiled from them decides as the model does."""

import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from cases import comparisons, stream
from refusal import refused
from softmargin import BayesianLinearRegression, SoftMarginClassifier, SoftMarginRanker, load, save
from softmargin.data import read_items
from softmargin.models import export

# The machine that runs the tests may have none; then the first tests, which read the header, have to do.
COMPILERS = [path for path in map(shutil.which, ("cc", "clang", "tcc")) if path]
ODD = ["wins", "höhe", "a b", "a-b", 'quote"\\', "*/ #error", "??/", "int", "3rd"]


def models():
    """Name, model and rows: one score, several, a value, and a utility; with odd names."""
    two, several, told = stream(1, T=60), stream(2, T=60, classes=3), comparisons(3, d=9)
    labels = np.array(["no", 'ye"s'])
    yield "two", SoftMarginClassifier(tol=1e-8).fit(two.X, labels[two.label]), two.X
    yield "several", SoftMarginClassifier(penalize_intercept=True).fit(several.X, several.label), several.X
    yield "regression", BayesianLinearRegression().fit(two.X, 3.0 * two.label), two.X
    frame = pd.DataFrame(told.X, columns=ODD)
    yield "ranker", SoftMarginRanker().fit_pairs(frame, told.pairs), frame


def scores_of(model, X):
    """What the model says, one line a row."""
    found = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return found.reshape(len(X), -1)


def in_order(told, X):
    """The same scores, each sum taken from the first feature to the last, as the C function takes it."""
    found = np.zeros((len(X), len(told["weights"])))
    for k, (weights, intercept) in enumerate(zip(told["weights"], told["intercept"], strict=True)):
        for j, weight in enumerate(weights):
            found[:, k] += weight * ((X[:, j] - told["middle"][j]) / told["spread"][j])
        found[:, k] += intercept
    return found


def exported(model, folder):
    """The JSON object and the header."""
    export(model, folder / "model.json")
    export(model, folder / "model.h", format="c")
    return json.loads((folder / "model.json").read_text(encoding="utf-8")), (folder / "model.h").read_text("ascii")


def table(header, name):
    """The numbers of one array of a header."""
    body = re.search(rf"{name}\[\d+\] = {{\n(.*?)}};", header, re.DOTALL)[1]
    return [float(line.strip(" ,")) for line in body.splitlines()]


def test_both_formats_hold_every_bit_of_the_model(tmp_path):
    """Weights, intercepts and classes are equal to the last bit, and the scores worked out from them as good."""
    for name, model, X in models():
        told, header = exported(model, tmp_path)
        weights, intercept = np.atleast_2d(model.coef_), np.atleast_1d(getattr(model, "intercept_", 0.0))
        assert np.array(told["weights"]).tobytes() == np.ascontiguousarray(weights).tobytes(), name
        assert told["intercept"] == intercept.tolist() == table(header, "intercept")
        assert table(header, "weights") == weights.ravel().tolist()
        assert told.get("classes") == (model.classes_.tolist() if hasattr(model, "classes_") else None)
        assert told["features"] == (ODD if name == "ranker" else [f"x{j}" for j in range(X.shape[1])])
        assert told.get("certificate", "none") == str(getattr(model, "certificate_", "none"))
        rows = np.asarray(X)
        size = np.abs(rows) @ np.abs(weights).T + np.abs(intercept)
        assert np.all(np.abs(in_order(told, rows) - scores_of(model, X)) <= 1e-15 * rows.shape[1] * size)


MAIN = """\
#include <stdio.h>
#include "model.h"
int main(void) {
    double x[SOFTMARGIN_FEATURES], out[SOFTMARGIN_SCORES];
    for (;;) {
        int j;
        for (j = 0; j < SOFTMARGIN_FEATURES; ++j) if (scanf("%la", &x[j]) != 1) return 0;
        CALL
        for (j = 0; j < SOFTMARGIN_SCORES; ++j) printf("%a ", out[j]);
        printf("%d\\n", PREDICT);
    }
}
"""


def run(compiler, folder, model, X):
    """Scores and class numbers of a program made from the header, warnings being errors."""
    several = len(np.atleast_2d(model.coef_)) > 1
    call = "softmargin_scores(x, out);" if several else "out[0] = softmargin_score(x);"
    predict = "softmargin_predict(x)" if hasattr(model, "classes_") else "0"
    (folder / "main.c").write_text(MAIN.replace("CALL", call).replace("PREDICT", predict))
    strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run([compiler, *strict, "-o", folder / "main", folder / "main.c"], check=True)  # noqa: S603  our own
    told = "\n".join(" ".join(float(value).hex() for value in row) for row in np.asarray(X))
    out = subprocess.run([folder / "main"], input=told, capture_output=True, text=True, check=True)  # noqa: S603  our own
    lines = [line.split() for line in out.stdout.splitlines()]
    scores = np.array([[float.fromhex(value) for value in line[:-1]] for line in lines])
    return scores, np.array([int(line[-1]) for line in lines])


def test_every_compiler_there_is_agrees_with_the_model(tmp_path):
    """Scores are those of the same sums in the same order to the last bit, and so the classes are the model's."""
    for compiler in COMPILERS:
        for _, model, X in models():
            told, _ = exported(model, tmp_path)
            scores, classes = run(compiler, tmp_path, model, X)
            assert scores.tobytes() == in_order(told, np.asarray(X)).tobytes()
            if hasattr(model, "classes_"):
                assert np.array_equal(model.classes_[classes], model.predict(X))


def test_sums_without_rounding_are_equal_to_the_last_bit(tmp_path):
    """Where no order of a sum rounds, the program and the model have the same score, bit for bit."""
    model = SoftMarginRanker().fit_pairs(np.eye(4), [(0, 1)])
    model._weights = np.array([0.5, -3.0, 2.0**-20, 1024.0]), np.zeros(1)
    X = np.random.default_rng(1).integers(-1000, 1000, (50, 4)).astype(float)
    for compiler in COMPILERS:
        exported(model, tmp_path)
        assert run(compiler, tmp_path, model, X)[0].ravel().tobytes() == model.predict(X).tobytes()


def test_features_of_a_table_are_standardised_by_the_program(tmp_path):
    """A model with columns takes the raw numbers of the table: mean and spread are in the export."""
    (tmp_path / "t.csv").write_text("id,x,y,z\na,1,4,p\nb,2,-1,q\nc,7,2.5,p\n")
    items, raw = read_items(tmp_path / "t.csv", standardise=True), read_items(tmp_path / "t.csv").X
    save(SoftMarginRanker().fit_pairs(items.frame, [(0, 1), (2, 1)]), tmp_path / "m.sm", columns=items.columns)
    model = load(tmp_path / "m.sm")
    told, header = exported(model, tmp_path)
    assert told["features"] == ["x", "y", "z=p", "z=q"]
    assert table(header, "middle") == told["middle"] == [10 / 3, 5.5 / 3, 0.0, 0.0]
    assert in_order(told, raw).ravel() == pytest.approx(model.predict(items.frame))
    for compiler in COMPILERS:
        assert run(compiler, tmp_path, model, raw)[0].tobytes() == in_order(told, raw).tobytes()


def test_names_become_identifiers_and_strings(tmp_path):
    """No name of a feature, a class or a model can end a comment or a string, or be a word of C; none occurs twice."""
    model = next(model for name, model, _ in models() if name == "ranker")
    export(model, tmp_path / "m.h", format="c", name="3 my-model */")
    header = (tmp_path / "m.h").read_text("ascii")
    assert "static inline double m3_my_model____score(const double *x) {" in header
    places = re.search(r"enum { (.*) };", header)[1].split(", ")
    assert len({place.split(" = ")[0] for place in places}) == 9
    assert all(re.fullmatch(r"M3_MY_MODEL____X_[A-Z0-9_]+ = \d", place) for place in places)
    assert header.count("*/") == header.count("/*")
    assert "#error" not in header


def test_what_cannot_be_exported_is_refused(tmp_path):
    """Unknown formats, other people's models, and models that have learned nothing; and no file is left behind."""
    path = tmp_path / "m.h"
    refused(lambda: export(SoftMarginRanker(), path, format="onnx"), "onnx", "json, c")
    refused(lambda: export("model", path), "str")
    refused(lambda: export(SoftMarginRanker(), path), "learned nothing")
    broken = SoftMarginRanker().fit_pairs(np.eye(2), [(0, 1)])
    broken._weights = np.array([np.nan, 1.0]), np.zeros(1)
    refused(lambda: export(broken, path), "not finite")
    assert not any(tmp_path.iterdir())
