"""How a command speaks: to people in lines and tables, to machines in one JSON object, of bad input in a sentence."""

import functools
import json
import math
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

BAD_INPUT, INTERRUPTED = 2, 130


class Speaker:
    """Gathers what a command has to say; ``json`` is said at the end, lines as they come."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json, self.told = as_json, dict[str, Any]()
        self.console = Console(highlight=False, soft_wrap=True)

    def tell(self, **facts: Any) -> None:
        """For machines."""
        self.told.update(facts)

    def say(self, line: Any = "") -> None:
        """For people."""
        if not self.as_json:
            self.console.print(str(line), markup=False)

    def table(self, title: str, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
        """For people; columns of numbers stand to the right."""
        if self.as_json:
            return
        lines = [[shown(cell) for cell in row] for row in rows]
        table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
        for place, name in enumerate(names):
            numbers = all(_is_number(line[place]) for line in lines)
            table.add_column(name, justify="right" if numbers else "left", overflow="fold")
        for line in lines:
            table.add_row(*map(_plain, line))
        self.console.print(table)

    def finish(self) -> None:
        """The end of a command."""
        if self.as_json:
            sys.stdout.write(json.dumps(plain(self.told), allow_nan=False) + "\n")


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)


def shown(cell: Any) -> str:
    """A cell of a table: four digits of a number."""
    if isinstance(cell, float | np.floating):
        return f"{cell:.4g}"
    return str(cell)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def plain(value: Any) -> Any:
    """What JSON has words for; a number that is none becomes null."""
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def refusing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Bad input ends a command with one sentence on the error stream and exit code 2; nothing was written."""

    @functools.wraps(command)
    def careful(*given: Any, **named: Any) -> Any:
        try:
            return command(*given, **named)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            _end(f"{where}{error.strerror or error}")
        except (ValueError, TypeError, OverflowError, MemoryError) as error:
            _end(str(error))
        except KeyboardInterrupt:
            _end("interrupted", INTERRUPTED)

    return careful


def _end(sentence: str, code: int = BAD_INPUT) -> None:
    sys.stderr.write(f"softmargin: {' '.join(sentence.split())}\n")
    raise SystemExit(code)
