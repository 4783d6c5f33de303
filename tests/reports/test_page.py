"""The page is one well-formed file that asks nothing of anybody, whatever is in the data and whichever the model."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import softmargin
from cases import comparisons, stream
from saved import classifiers, rankers
from softmargin import SoftMarginClassifier, SoftMarginRanker
from softmargin.constraints import Constraints, Grades, Pairs
from softmargin.report import write_report

KNOWN = frozenset(
    re.findall(
        r"\w+",
        """html head meta title style body header main nav section h1 h2 h3 p a ul ol li dl div dt dd span strong small
        bdi br table caption thead tbody tr th td figure figcaption details summary svg desc rect line text circle path
        polygon polyline""",
    )
)
HOSTILE = (
    "<script>alert(1)</script>",
    '"onload="alert(1)',
    "'onclick='alert(1)",
    "</title></style><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "&lt;b&gt; &amp;",
    "\u202egnp.exe \x00\x1b[31m \ud800",
    "",
    "x" * 5000,
)


class Page(HTMLParser):
    """A page, read strictly."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.source = path.read_text(encoding="utf-8")
        self.open, self.ids, self.links, self.heads, self.texts, self.metas = [], [], [], [], [], []
        self.pictures = 0
        self.feed(self.source)
        self.close()
        assert self.open == []
        assert len(set(self.ids)) == len(self.ids)
        assert set(self.links) <= {f"#{name}" for name in self.ids}

    def handle_starttag(self, tag, attrs):
        """Elements and attributes that are known, each attribute once."""
        names = [name for name, _ in attrs]
        given = dict(attrs)
        assert tag in KNOWN
        assert len(set(names)) == len(names)
        assert not [name for name in names if name.startswith("on") or name in ("src", "style", "srcset", "xlink:href")]
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        if tag == "meta":
            self.metas.append(given)
        if tag == "svg":
            self.pictures += 1
            assert given["role"] == "img"
            assert given["aria-label"]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        """What was opened last is closed first."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Text; that of style is no word."""
        if self.open[-1:] == ["h2"]:
            self.heads.append(data)
        if self.open[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def text(self):
        """All words."""
        return " ".join(" ".join(self.texts).split())


@pytest.fixture
def page(tmp_path):
    """Writes a report and reads it."""

    def made(*given, **more):
        write_report(tmp_path / "report.html", *given, **more)
        return Page(tmp_path / "report.html")

    return made


FIT = ["Verdict", "The data", "Margins"]
END = ["Configuration", "Versions"]


def test_every_classifier_has_its_sections(page):
    """Every solver, form of several classes, kind of label and option; the hard margin and streams that were kept."""
    two, several = stream(1), stream(2, classes=3)
    for name, model in classifiers():
        if name == "nothing learned":
            continue
        data = two if len(model.classes_) == 2 else several
        X, y = data.X, model.classes_[data.label]
        if name == "hard":
            X, y = np.array([[0.0, 1.0], [2.0, 3.0]]), ["no", "yes"]
        found = page(model, X, y)
        regret = ["Regret"] if "online" in name else []
        assert found.heads == [*FIT, "Slack by row", "Weights", *regret, *END], name
        assert str(model.points(X, y).outside) in found.text


def test_every_ranker_has_its_sections(page):
    """Pairs have conflicts and grades have none; a stream has regret; several sources are told together."""
    told = comparisons(3)
    grades, qid = np.arange(len(told.X)) % 4, np.arange(len(told.X)) // 9
    both = Constraints([Grades(grades, qid), Pairs(told.pairs, price=2.0)])
    for name, model in rankers():
        if name == "nothing learned":
            continue
        given = (told.pairs, None) if name == "pairs" else (both, None) if name == "sources" else (grades, qid)
        found = page(model, told.X, given[0], qid=given[1])
        conflicts = ["Conflicts and cycles"] if name == "pairs" else []
        regret = ["Regret"] if name in ("online grades", "groups met") else []
        assert found.heads == [*FIT, "Slack by pair", "Weights", "Ranking", *conflicts, *regret, *END], name
        assert bool(re.search("Optimal, with|NOT converged", found.text)) == hasattr(model, "certificate_"), name


def test_frames_sparse_rows_and_hard_margins_are_read(page):
    """A page about sparse rows says what one about the same dense rows says; names come from the frame."""
    told = comparisons(4)
    order = np.argsort(told.X[:, 0])[::-1]
    pairs = np.column_stack([order[:-1], order[1:]])[np.diff(-told.X[order, 0]) > 0]
    hard = page(SoftMarginRanker(C=np.inf).fit_pairs(told.X, pairs), told.X, pairs)
    assert "hard margin" in hard.text
    assert "which is the proof" in hard.text
    frame = pd.DataFrame(told.X, columns=list("abcdef"))
    soft = SoftMarginRanker().fit_pairs(frame, told.pairs)
    largest = "abcdef"[int(np.argmax(np.abs(soft.coef_)))]
    assert f"range of the best {largest} " in page(soft, frame, told.pairs).text
    plain = SoftMarginRanker().fit_pairs(told.X, told.pairs)
    texts = [page(plain, X, told.pairs).text for X in (told.X, sparse.csr_array(told.X))]
    assert texts[0].split("Weights")[-1] == texts[1].split("Weights")[-1]


def test_nothing_in_the_data_can_leave_its_place(page):
    """Names of features, items and classes, and the title, are text whatever they hold; the parser finds no other."""
    data = stream(7, T=90, d=len(HOSTILE), classes=3)
    names = [f"{k}{name}".replace("\ud800", "") for k, name in enumerate(HOSTILE)]  # which no frame can hold
    frame = pd.DataFrame(data.X, columns=names)
    labels = np.array(names, dtype=object)[data.label]
    found = page(SoftMarginClassifier().fit(frame, labels), frame, labels, title="<script>alert(2)</script>")
    assert "<script" not in found.source
    assert "0<script>alert(1)</script>" in found.text
    assert "<script>alert(2)</script>" in found.text
    told = comparisons(8, items=len(HOSTILE))
    pairs = np.vstack([told.pairs, told.pairs[:, ::-1]])
    found = page(SoftMarginRanker().fit_pairs(told.X, pairs), told.X, pairs, names=HOSTILE)
    assert found.pictures > 5
    assert "<script>alert(1)</script> over" in found.text
    assert not re.search("[\x00-\x08\x0e-\x1f\u202e]", found.source)
    assert len(found.source) < 200_000


def test_the_page_asks_for_nothing(page):
    """A policy forbids all requests and scripts, there is no address in the file, and no machine's memory address."""
    data = stream(1)
    model = SoftMarginClassifier(solver="online", schedule=lambda t: 1.0 / t, lam=0.1, max_passes=2, tol=1.0)
    found = page(model.fit(data.X, data.label), data.X, data.label)
    assert {"http-equiv", "content"} <= set(found.metas[1])
    assert found.metas[1]["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert not re.search(r"https?:|url\(|@import|0x[0-9a-f]{6}", found.source)
    for needed in ("prefers-color-scheme:dark", "@media print", "max-width:30rem"):
        assert needed in found.source


@pytest.mark.nojit
def test_texts_become_html_in_one_place():
    """Outside markup.py nothing calls html.escape, and Html is made of constants only."""
    for path in (Path(softmargin.__file__).parent / "report").glob("*.py"):
        if path.name == "markup.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Html":
                assert all(isinstance(given, ast.Constant) for given in node.args), path
            assert getattr(node, "attr", "") != "escape"


def test_a_large_page_is_small(page):
    """A hundred thousand rows, a million implied pairs, long lists: less than 500 kB, and it says what is left out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 60))
    y = (X[:, 0] + rng.normal(size=100_000) > 0).astype(int)
    model = SoftMarginClassifier(lam=1e-3).partial_fit(X, y, classes=[0, 1])
    found = page(model, X, y)
    assert len(found.source) < 500_000
    assert "30 of 60 weights" in found.text
    ranker = SoftMarginRanker(lam=1e-3).partial_fit(X[:2000], y[:2000])
    graded = page(ranker, X, y)
    assert len(graded.source) < 500_000
    assert "200,000 pairs drawn at random from" in graded.text
    assert "50 of 100,000 items" in graded.text
