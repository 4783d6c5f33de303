"""Timing, and tables that go into docs/benchmarks.md, each between its own two marks."""

import datetime as dt
import platform
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def best_of(times: int, task: Callable[[], object]) -> float:
    """Seconds of the fastest run: the machine is noisy, and noise only adds."""
    task()
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def measured(command: str, packages: Sequence[str]) -> str:
    """The line above a table: command, date and versions."""
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    return f"`{command}`, {dt.datetime.now(tz=dt.UTC):%Y-%m-%d}, Python {platform.python_version()}, {versions}."


def table(heading: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """In Markdown."""
    return [
        "| " + " | ".join(heading) + " |",
        "|" + " --- |" * len(heading),
        *("| " + " | ".join(line) + " |" for line in lines),
    ]


def put(name: str, lines: Sequence[str], page: Path = PAGE) -> None:
    """Lines between the marks ``name`` of the page, in the place of what is there."""
    print("\n".join(lines))
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = page.read_text()
    if begin not in text or end not in text:
        raise ValueError(f"{page} has no {begin} ... {end}")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(before + "\n".join([begin, "", *lines, "", end]) + after)


def write(
    name: str, command: str, packages: Sequence[str], heading: Sequence[str], lines: Sequence[Sequence[str]]
) -> None:
    """Put the table ``name`` in its place on the page, with date, versions and command."""
    put(name, [measured(command, packages), "", *table(heading, lines)])
