"""Refuse what no linter refuses: long files, long functions, tests that do not run, traces of one machine."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE_LINES = 400
FUNCTION_LINES = 60

CODE = ("src", "tests", "benchmarks")
TEXT = (*CODE, "scripts", "docs", "examples", ".ci", "*")  # "*": the files of the root itself

# A test that may fail, or may not run, is a promise to nobody.
EXCUSE = re.compile(r"\b(xfail|skip|skipif|skipTest|importorskip|expected_failed_checks)\b\s*[(=]")
# What is true on one machine only: home folders, scratch folders, where packages were fetched from.
MACHINE = re.compile(
    r"(?<![\w.:/-])/(home|root|Users|work|tmp|opt|mnt)/|pypi[.]org|python[h]osted[.]org"
    r"|(index-url|find-links|trusted-host)[ =]|://localhost:\d+/simple"
)


def files(root: Path, places: tuple[str, ...], pattern: str) -> Iterator[Path]:
    """Files that are ours: not the caches that tools leave beside the sources."""
    for place in places:
        found = root.glob("*") if place == "*" else (root / place).rglob(pattern)
        yield from (path for path in sorted(found) if path.is_file() and "__pycache__" not in path.parts)


def lines(path: Path) -> list[str]:
    """The text by lines; a file that is not text has none."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []


def long_functions(source: str) -> Iterator[tuple[int, str]]:
    """Docstring and decorators count: a reader has to scroll over them too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            length = (node.end_lineno or first) - first + 1
            if length > FUNCTION_LINES:
                yield first, f"{node.name} has {length} lines, at most {FUNCTION_LINES}"


def matches(path: Path, pattern: re.Pattern[str], why: str) -> Iterator[tuple[int, str]]:
    """Each line where the pattern is found."""
    for number, line in enumerate(lines(path), 1):
        if found := pattern.search(line):
            yield number, f"`{found.group().strip()}`: {why}"


def complaints(root: Path) -> Iterator[str]:
    """One line a fault, in the form that editors can jump to."""
    for path in files(root, CODE, "*.py"):
        if (length := len(lines(path))) > FILE_LINES:
            yield f"{path.relative_to(root)}:1: {length} lines, at most {FILE_LINES}"
    for path in files(root, ("src",), "*.py"):
        for number, what in long_functions(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root)}:{number}: {what}"
    for path in files(root, ("tests",), "*.py"):
        for number, what in matches(path, EXCUSE, "every test runs, and passes"):
            yield f"{path.relative_to(root)}:{number}: {what}"
    for path in files(root, TEXT, "*"):
        for number, what in matches(path, MACHINE, "true on one machine only"):
            yield f"{path.relative_to(root)}:{number}: {what}"


if __name__ == "__main__":
    faults = list(complaints(ROOT))
    print("\n".join(faults) or "sizes: nothing to say")
    sys.exit(bool(faults))
