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


def write(
    name: str, command: str, packages: Sequence[str], heading: Sequence[str], lines: Sequence[Sequence[str]]
) -> None:
    """Put the table ``name`` in its place on the page, with date, versions and command."""
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    table = [
        f"`{command}`, {dt.datetime.now(tz=dt.UTC):%Y-%m-%d}, Python {platform.python_version()}, {versions}.",
        "",
        "| " + " | ".join(heading) + " |",
        "|" + " --- |" * len(heading),
        *("| " + " | ".join(line) + " |" for line in lines),
    ]
    print("\n".join(table))
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = PAGE.read_text()
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    PAGE.write_text(before + "\n".join([begin, "", *table, "", end]) + after)
