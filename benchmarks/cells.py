"""What bench_solvers.py measures, kept in a file so that tables and plot can be made again without a new run."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

TOL = 1e-6  # what softmargin has to prove in every cell


@dataclass
class Run:
    """One solver's answer to one cell."""

    solver: str
    setting: str
    seconds: float
    gap: float  # certified for softmargin, measured with softmargin's best dual value for a peer
    ours: float = np.nan  # seconds to prove the same gap, in turns with the peer; inf: not proved, nan: not tried
    warned: bool = False


@dataclass
class Cell:
    """One problem at one price of slack, and who solved it how well."""

    problem: str
    form: str  # of several classes, "" for two
    C: float
    shape: tuple[int, int]
    ours: dict[str, Run] = field(default_factory=dict)  # by solver, at TOL
    curve: list[Run] = field(default_factory=list)  # auto at other tolerances
    peers: list[Run] = field(default_factory=list)
    lower: float = -np.inf  # no weights have a lower objective
    resolution: float = 0.0  # gaps below are not told apart

    @property
    def name(self) -> str:
        """As people say it."""
        return f"{self.problem} {self.form}".strip()

    def __str__(self) -> str:
        """With its C."""
        return f"{self.name}, C = {self.C:g}"


@dataclass
class Results:
    """All cells, and the line that says when and with what they were measured."""

    heading: str
    cells: list[Cell]

    def save(self, path: Path) -> None:
        """As JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, path: Path) -> "Results":
        """What ``save`` wrote."""
        stored = json.loads(path.read_text())
        return cls(stored["heading"], [_cell(cell) for cell in stored["cells"]])

    def update(self, cells: list[Cell]) -> None:
        """New cells take the place of old ones of the same name."""
        new = {str(cell): cell for cell in cells}
        kept = [new.pop(str(cell), cell) for cell in self.cells]
        self.cells = [*kept, *new.values()]


def _cell(stored: dict[str, Any]) -> Cell:
    runs = {
        "ours": {name: Run(**run) for name, run in stored["ours"].items()},
        "curve": [Run(**run) for run in stored["curve"]],
        "peers": [Run(**run) for run in stored["peers"]],
    }
    return Cell(**{**stored, **runs, "shape": tuple(stored["shape"])})
