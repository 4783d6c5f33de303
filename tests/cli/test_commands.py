"""The command line, as somebody types it: what it prints, what it leaves behind, and how it says no."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from softmargin import SoftMarginClassifier, SoftMarginRanker, load, save
from softmargin.cli.app import app
from softmargin.data import read_svmlight, write_svmlight

RUN = CliRunner()


def typed(*words):
    """A command in this process: exit code, what it printed, and what it complained of."""
    result = RUN.invoke(app, [str(word) for word in words])
    return result.exit_code, result.stdout, result.stderr


def told(*words):
    """A command that goes well, in JSON."""
    code, out, err = typed(*words, "--json")
    assert code == 0, err
    assert len(out.splitlines()) == 1
    return json.loads(out)


@pytest.fixture
def labels(tmp_path):
    """A file of labels, and what is in it."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(300, 4)), 3)
    y = np.where(X @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)
    path = tmp_path / "labels.svm"
    write_svmlight(path, X, y)
    return path, X, y


@pytest.fixture
def tables(tmp_path):
    """Items, and comparisons with a contradiction, an item nobody compared and a feature that says nothing."""
    items, games = tmp_path / "items.csv", tmp_path / "games.csv"
    items.write_text("id,power,flat,kind\na,3,1,x\nb,2,1,y\nc,1,1,x\nd,0,1,y\n")
    games.write_text("better,worse\na,b\nb,c\na,c\nc,b\n")
    return items, games


def test_a_fit_is_the_one_of_the_library(labels, tmp_path):
    """Same weights, same certificate, in words and for machines; what is kept can be loaded."""
    path, X, y = labels
    found = told("fit", path, "-o", tmp_path / "m.sm", "--C", "3")
    model = SoftMarginClassifier(C=3.0).fit(X, y)
    assert np.array_equal(load(tmp_path / "m.sm").predict(X), model.predict(X))
    assert found["certificate"]["primal"] == pytest.approx(model.certificate_.primal, rel=1e-4)
    assert found["certificate"]["converged"] is True
    assert found["rows"] == 300
    code, out, _ = typed("fit", path, "-o", tmp_path / "m.sm", "--C", "3")
    assert code == 0
    assert "optimal to" in out


def test_predictions_are_lines_in_the_order_of_rows(labels, tmp_path):
    """On the screen, in a file and in JSON, the same; the score is told where there are labels."""
    path, X, _ = labels
    typed("fit", path, "-o", tmp_path / "m.sm")
    expected = load(tmp_path / "m.sm").predict(X)
    _, out, _ = typed("predict", tmp_path / "m.sm", path)
    assert np.array_equal(np.array(out.split(), dtype=float), expected)
    typed("predict", tmp_path / "m.sm", path, "-o", tmp_path / "p.txt")
    assert np.array_equal(np.loadtxt(tmp_path / "p.txt"), expected)
    found = told("predict", tmp_path / "m.sm", path)
    assert found["predictions"] == expected.tolist()
    assert found["score"] > 0.9
    scores = told("predict", tmp_path / "m.sm", path, "--scores")["predictions"]
    assert np.array_equal(np.sign(scores), expected)


def test_rows_with_groups_are_ranked(tmp_path):
    """A file with qid makes a ranker, and its groups are told."""
    rng = np.random.default_rng(1)
    X, qid = rng.normal(size=(120, 3)), np.repeat(np.arange(12), 10)
    y = np.digitize(X[:, 0], [-0.5, 0.5]).astype(float)
    write_svmlight(tmp_path / "r.svm", X, y, qid)
    found = told("fit", tmp_path / "r.svm", "-o", tmp_path / "r.sm", "--C", "0.1", "--groups", "equal")
    assert found["kind"] == "ranker"
    assert found["groups"]["compared"] == 12
    kept = load(tmp_path / "r.sm")
    assert isinstance(kept, SoftMarginRanker)
    assert kept.groups == "equal"
    assert told("predict", tmp_path / "r.sm", tmp_path / "r.svm")["score"] == pytest.approx(kept.score(X, y, qid))


def test_a_cache_is_the_text_it_was_made_of(labels, tmp_path):
    """`convert` to a cache and back: the same rows, and the same fit."""
    path, X, y = labels
    told("convert", path, tmp_path / "c.smc")
    told("convert", tmp_path / "c.smc", tmp_path / "back.svm")
    again, labels_again, _ = read_svmlight(tmp_path / "back.svm")
    assert np.array_equal(again.toarray(), X)
    assert np.array_equal(labels_again, y)
    one, two = (told("fit", source, "-o", tmp_path / "m.sm") for source in (path, tmp_path / "c.smc"))
    assert one["certificate"]["primal"] == two["certificate"]["primal"]


def test_every_format_holds_the_same_rows(labels, tmp_path):
    """Text to CSV, Parquet and a cache, and from each of them on: the same numbers at the end."""
    path, X, y = labels
    for way in (["a.csv"], ["a.parquet"], ["b.csv", "b.smc"], ["c.parquet", "c.smc", "d.smc", "c.csv"]):
        source = path
        for name in [*way, "end.svm"]:
            told("convert", source, tmp_path / name)
            source = tmp_path / name
        again, labels_again, _ = read_svmlight(source)
        assert np.array_equal(again.toarray(), X)
        assert np.array_equal(labels_again, y)
    write_svmlight(tmp_path / "r.svm", X[:4], y[:4], [1, 1, 2, 2])
    code, _, err = typed("convert", tmp_path / "r.svm", tmp_path / "r.csv")
    assert code == 2
    assert "qid" in err


def test_check_names_what_is_wrong(tables):
    """Contradictions, cycles, items nobody compared and features that say nothing, by name."""
    items, games = tables
    found = told("check", games, "--items", items)["check"]
    assert found["contradictions"] == [["b", "c"]]
    assert found["cycles"] == [["b", "c"]]
    assert found["never"] == ["d"]
    assert found["constant"] == ["flat"]
    assert found["clean"] is False
    _, out, _ = typed("check", games)
    assert "said both ways: b and c" in out
    games.write_text("better,worse\na,b\nb,c\n")
    assert told("check", games)["check"]["clean"] is True


def test_rank_says_the_verdict_and_keeps_the_model(tables, tmp_path):
    """The ranking is that of the kept model, best first, every rank inside its interval; the verdict comes before."""
    items, games = tables
    found = told("rank", items, games, "-o", tmp_path / "r.sm")
    names = [line["id"] for line in found["ranking"]]
    assert names[0] == "a"
    assert sorted(names) == ["a", "b", "c", "d"]
    assert all(1 <= line["low"] <= line["high"] <= 4 for line in found["ranking"])
    assert {line["feature"] for line in found["weights"]} == {"power", "flat", "kind=x", "kind=y"}
    utility = told("predict", tmp_path / "r.sm", items)["predictions"]
    assert utility == pytest.approx([line["utility"] for line in sorted(found["ranking"], key=lambda one: one["id"])])
    _, out, _ = typed("rank", items, games)
    assert out.index("said both ways") < out.index("optimal to") < out.index("ranking")


def test_what_is_exported_is_what_was_learned(labels, tmp_path):
    """JSON holds the weights."""
    path, _, _ = labels
    typed("fit", path, "-o", tmp_path / "m.sm")
    told("export", tmp_path / "m.sm", tmp_path / "m.json")
    assert "weights" in (tmp_path / "m.json").read_text()
    told("export", tmp_path / "m.sm", tmp_path / "m.h", "--format", "c")
    assert "double" in (tmp_path / "m.h").read_text()


def test_a_report_is_a_page_about_the_model(labels, tables, tmp_path):
    """One file for a classifier, and for a ranking with its answers."""
    path, _, _ = labels
    typed("fit", path, "-o", tmp_path / "m.sm")
    told("report", tmp_path / "m.sm", path, "-o", tmp_path / "m.html")
    assert "<html" in (tmp_path / "m.html").read_text()
    items, games = tables
    typed("rank", items, games, "-o", tmp_path / "r.sm")
    told("report", tmp_path / "r.sm", items, "--comparisons", games, "-o", tmp_path / "r.html", "--title", "Walls")
    assert "Walls" in (tmp_path / "r.html").read_text()


def test_values_are_regressed_where_somebody_says_so(tmp_path):
    """Numbers with fractions are refused as labels, and --kind regression takes them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 2))
    write_svmlight(tmp_path / "v.svm", X, X @ [1.0, 2.0] + 0.1 * rng.normal(size=100))
    code, _, err = typed("fit", tmp_path / "v.svm", "-o", tmp_path / "m.sm")
    assert code == 2
    assert "--kind regression" in err
    found = told("fit", tmp_path / "v.svm", "-o", tmp_path / "m.sm", "--kind", "regression")
    assert found["mean"][:2] == pytest.approx([1.0, 2.0], abs=0.1)
    assert told("predict", tmp_path / "m.sm", tmp_path / "v.svm")["score"] > 0.9


REFUSED = {
    "no such file": (("fit", "{}/nothing.svm", "-o", "{}/m.sm"), "No such file"),
    "a bad line": (("fit", "{}/bad.svm", "-o", "{}/m.sm"), "line 2, column 3"),
    "no price": (("fit", "{}/good.svm", "-o", "{}/m.sm", "--C", "-1"), "C=-1"),
    "no kind": (("fit", "{}/good.svm", "-o", "{}/m.sm", "--kind", "tree"), "--kind tree"),
    "no groups": (("fit", "{}/good.svm", "-o", "{}/m.sm", "--groups", "equal"), "--groups equal"),
    "no hinge": (("fit", "{}/good.svm", "-o", "{}/m.sm", "--kind", "regression", "--C", "3"), "--C 3"),
    "no page": (("report", "{}/good.svm", "{}/good.svm", "-o", "{}/m.sm"), "good.svm"),
    "no model": (("predict", "{}/good.svm", "{}/good.svm"), "good.svm"),
    "no column": (("check", "{}/items.csv"), "better"),
    "nothing kept": (("learn", "{}/good.svm"), "--output"),
    "resume from nowhere": (("learn", "{}/good.svm", "-o", "{}/m.sm", "--resume"), "--checkpoint"),
    "no classes": (("learn", "{}/good.svm", "-o", "{}/m.sm", "--classes", "a,b"), "--classes"),
    "another class": (("learn", "{}/good.svm", "-o", "{}/m.sm", "--classes", "3,4"), "good.svm"),
    "no demo": (("demo", "chess"), "chess"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_sentence_and_exit_code_2(case, tmp_path):
    """The sentence is on the error stream, nothing is on the other one, and no model is left behind."""
    (tmp_path / "good.svm").write_text("1 1:1\n-1 1:-1\n")
    (tmp_path / "bad.svm").write_text("1 1:1\n1 x:1\n")
    (tmp_path / "items.csv").write_text("id,power\na,1\n")
    words, part = REFUSED[case]
    code, _, err = typed(*(word.replace("{}", str(tmp_path)) for word in words))
    assert code == 2
    assert part in err
    assert len(err.splitlines()) == 1
    assert err.startswith("softmargin: ")
    assert not (tmp_path / "m.sm").exists()


def test_every_command_has_help_with_an_example():
    """From --help alone: what it does, each option, and a line to begin with."""
    for command in ("fit", "predict", "check", "rank", "learn", "convert", "export", "report", "demo"):
        code, out, _ = typed(command, "--help")
        assert code == 0
        assert f"Example: softmargin {command}" in out


# ------------------------------------------------------------------------------- streams


def stream_file(path, rows):
    """A file that takes a moment to learn."""
    rng = np.random.default_rng(2)
    X = np.round(rng.normal(size=(rows, 20)), 4)
    write_svmlight(path, X, np.where(X[:, 0] + rng.normal(size=rows) > 0, 1.0, -1.0))
    return path


def test_learn_is_one_pass_of_partial_fit(tmp_path):
    """The kept model is that of `partial_fit` over the rows, to the last bit, and its regret is told."""
    path = stream_file(tmp_path / "s.svm", 2000)
    found = told("learn", path, "--lam", "0.001", "-o", tmp_path / "m.sm")
    X, y, _ = read_svmlight(path)
    model = SoftMarginClassifier(lam=0.001).partial_fit(X, y, classes=[-1.0, 1.0])
    assert load(tmp_path / "m.sm").coef_.tobytes() == model.coef_.tobytes()
    assert found["rows"] == 2000
    assert found["regret_at_most"] == pytest.approx(model.regret_.certified[-1])
    assert found["progressive_error"] == pytest.approx(model.regret_.progressive_error[-1])


def test_killed_and_resumed_it_ends_at_the_same_bits(tmp_path):
    """From a checkpoint anywhere in the file, whatever the sizes of blocks: the weights of an uninterrupted run."""
    path = stream_file(tmp_path / "s.svm", 3000)
    told("learn", path, "--lam", "0.01", "-o", tmp_path / "whole.sm")
    whole = load(tmp_path / "whole.sm")
    X, y, _ = read_svmlight(path)
    for rows in (1, 777, 2999):
        begun = SoftMarginClassifier(lam=0.01).partial_fit(X[:rows], y[:rows], classes=[-1.0, 1.0])
        save(begun, tmp_path / "c.sm")
        found = told("learn", path, "--lam", "0.01", "--checkpoint", tmp_path / "c.sm", "--resume")
        assert found["rows"] == 3000
        assert load(tmp_path / "c.sm").coef_.tobytes() == whole.coef_.tobytes()
    code, _, err = typed("learn", path, "--lam", "0.5", "--checkpoint", tmp_path / "c.sm", "--resume")
    assert code == 2
    assert "lam" in err


def test_kill_9_leaves_a_whole_checkpoint(tmp_path):
    """Killed while it writes checkpoints all the time, it leaves one that loads, and goes on to the same weights."""
    path = stream_file(tmp_path / "s.svm", 60_000)
    code = (
        "from softmargin.cli import learning\nlearning.CHECKPOINT_SECONDS = 0.0\n"
        "learning.BLOCK = 20_000\n"
        "from softmargin.cli.app import main\nmain()\n"
    )
    words = [sys.executable, "-c", code, "learn", str(path), "--lam", "0.001", "--checkpoint", str(tmp_path / "c.sm")]
    with subprocess.Popen(  # noqa: S603 our own interpreter
        words, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 60.0
        while not (tmp_path / "c.sm").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
        process.wait(30)
    assert (tmp_path / "c.sm").exists()
    assert len(list(tmp_path.iterdir())) <= 3  # at most one unfinished file beside it
    told("learn", path, "--lam", "0.001", "--checkpoint", tmp_path / "c.sm", "--resume")
    told("learn", path, "--lam", "0.001", "-o", tmp_path / "whole.sm")
    assert load(tmp_path / "c.sm").coef_.tobytes() == load(tmp_path / "whole.sm").coef_.tobytes()
