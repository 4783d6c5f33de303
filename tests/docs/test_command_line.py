"""The transcripts of docs/command-line.md: each command is typed again, and prints what the page says."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from softmargin.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
BLOCK = re.compile(r"^```(?:(?P<kind>csv|svm) (?P<name>\S+)|console)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
# What differs from run to run, or is no concern of the page: solver, seconds, passes, small gaps and distances, sizes.
OF_THE_RUN = re.compile(r"\d[\d.]*e[-+]\d+|(?<=<= )[\d.]+|\b(?:dual|newton)(?=, )|\d[\d.,]*(?= s;| passes| bytes)")


def words(text):
    """The words of an output without what differs from run to run."""
    return OF_THE_RUN.sub("~", text).split()


def near(found, page):
    """Equal, or numbers that are nearly so."""
    try:
        return float(found.strip(";,%")) == pytest.approx(float(page.strip(";,%")), rel=0.01, abs=0.01)
    except ValueError:
        return found == page


def test_the_transcripts_are_true(tmp_path, monkeypatch):
    """Files are those of the page; what a command prints begins with what the page shows."""
    monkeypatch.chdir(tmp_path)
    typed = 0
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        if block["name"]:
            Path(block["name"]).write_text(block["text"], encoding="utf-8")
            continue
        for line, shown in re.findall(r"^\$ softmargin (.*)\n((?:(?!\$ ).*\n)*)", block["text"], re.MULTILINE):
            result = CliRunner().invoke(app, line.split())
            assert (result.exit_code == 2) == shown.startswith("softmargin: "), result.output
            found, page = words(result.output), words(shown)
            assert len(found) >= len(page), result.output
            assert all(map(near, found, page)), f"{line}\n{result.output}"
            typed += 1
    assert typed >= 8
