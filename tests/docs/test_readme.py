"""Every block of Python on a page is run, in order, and prints what the page says it prints."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/online.md",
    "docs/certificate.md",
    "docs/conflicts.md",
    "docs/files.md",
    "docs/metrics.md",
    "docs/ranking.md",
    "docs/report.md",
    "docs/models.md",
    "docs/tables.md",
    "docs/regression.md",
    "docs/questions.md",
]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d*)?(?:e[-+]?\d+)?")
# What differs from run to run: the solver chosen, seconds, passes, and how small a gap (with an exponent) or a distance
# (behind <=) became.
OF_THE_RUN = re.compile(r"\b(?:dual|newton)(?=, )|\d[\d.,]*(?= s\b| passes)|\d[\d.]*e[-+]\d+|(?<=<= )[\d.]+")


def told(text):
    """The words of an output without its numbers, and the numbers."""
    text = OF_THE_RUN.sub("~", text)
    return NUMBER.sub("#", text).split(), [float(number.replace(",", "")) for number in NUMBER.findall(text)]


@pytest.mark.parametrize("page", PAGES)
def test_the_page_runs_as_printed(page):
    """Words are compared exactly, numbers to one percent: another processor adds in another order."""
    names, text = {}, (ROOT / page).read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) == text.count("```python\n") > 0
    for block in blocks:
        printed = StringIO()
        with redirect_stdout(printed):
            lines_before = "\n" * text.count("\n", 0, block.start("code"))  # so that a traceback names the line
            exec(compile(lines_before + block["code"], page, "exec"), names)  # noqa: S102  the pages are ours
        words, numbers = told(printed.getvalue())
        words_of_page, numbers_of_page = told(block["output"] or "")
        assert words == words_of_page
        assert numbers == pytest.approx(numbers_of_page, rel=0.01, abs=0.01)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
)
def test_what_a_page_names_is_there(page):
    """Links to files, and paths of files in commands, lead somewhere; `make` is given targets that it knows."""
    text, targets = (ROOT / page).read_text(encoding="utf-8"), (ROOT / "Makefile").read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", text)
    paths = re.findall(r"\b(?:src|tests|docs|scripts|benchmarks)/[\w./-]*\w", re.sub(r"\]\([^)]*\)", "]", text))
    made = re.findall(r"`make (\w+)", text)
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert [target for target in made if not re.search(rf"^{target}:", targets, re.MULTILINE)] == []
