"""The log of answers, and the one form in which a fit sees it, whatever the order in which they came."""

import zlib
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from softmargin.kernels.probit import BETTER, EQUAL
from softmargin.kernels.propagation import Answers

VERDICTS = ("left", "right", "equal")
BIAS_SD = 1.0  # of a judge's pull to the left, before any answer
Judge = str | int | None


class Answer(NamedTuple):
    """What was said once: ``left`` and ``right`` are row numbers, ``number`` is what ``undo`` takes."""

    number: int
    left: int
    right: int
    verdict: str
    judge: Judge


@dataclass
class Log:
    """Answers that stand, by number; a number is never used twice."""

    standing: dict[int, Answer] = field(default_factory=dict)
    next_number: int = 0

    def add(self, left: int, right: int, verdict: str, judge: Judge) -> int:
        """The number of the new answer."""
        number = self.next_number
        self.standing[number] = Answer(number, left, right, verdict, judge)
        self.next_number += 1
        return number

    def judges(self) -> list[Judge]:
        """Who said something that stands: nobody in particular first, then numbers, then names."""
        return sorted({answer.judge for answer in self.standing.values()}, key=_place)


@dataclass(frozen=True)
class Summary:
    """The log without its order: different answers, sorted, with how often each was given."""

    better: np.ndarray  # of "equal" the lower row number
    worse: np.ndarray
    kind: np.ndarray
    side: np.ndarray  # 1 where the better one was on the left, -1 on the right, 0 where the judge is not named
    judge: np.ndarray  # place among ``judges``
    times: np.ndarray
    judges: list[Judge]
    group: np.ndarray  # of each standing answer, in the order of numbers

    @property
    def seed(self) -> int:
        """A number that is the same for the same answers."""
        parts = self.better, self.worse, self.kind, self.side, self.judge, self.times
        return zlib.crc32(b"".join(part.tobytes() for part in parts))

    def answers(self, items: np.ndarray) -> Answers:
        """The rows that a fit takes: differences of items, then one column for each judge with a name."""
        named = [judge for judge in self.judges if judge is not None]
        width, first = items.shape[1], len(self.judges) - len(named)
        rows = np.zeros((self.times.size, width + len(named)))
        rows[:, :width] = items[self.better] - items[self.worse]
        told = np.flatnonzero(self.side)
        rows[told, width + self.judge[told] - first] = BIAS_SD * self.side[told]
        return Answers(rows, self.kind, self.times.astype(np.float64), self.judge)


def summary_of(log: Log) -> Summary:
    """Sorted and counted: the same for every order of the same answers."""
    judges = log.judges()
    place = {judge: k for k, judge in enumerate(judges)}
    told = [_line(answer, place[answer.judge]) for answer in log.standing.values()]
    judge, better, worse, kind, side = np.array(told, dtype=np.int64).reshape(-1, 5).T
    items = 1 + max(better.max(initial=0), worse.max(initial=0))
    code = (((judge * items + better) * items + worse) * 2 + kind) * 3 + side + 1  # sorted by judge, then by pair
    _, first, group, times = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
    judge, better, worse, kind, side = (
        np.ascontiguousarray(part[first]) for part in (judge, better, worse, kind, side)
    )
    return Summary(better, worse, kind, side, judge, times, judges, group)


def _line(answer: Answer, judge: int) -> tuple[int, int, int, int, int]:
    """An answer as numbers; without a judge it does not matter on which side the better one was."""
    first, second, kind, side = answer.left, answer.right, BETTER, 1
    if answer.verdict == "equal":
        kind = EQUAL
    if answer.verdict == "right" or (kind == EQUAL and first > second):
        first, second, side = second, first, -1
    return judge, first, second, kind, side if answer.judge is not None else 0


def _place(judge: Judge) -> tuple[int, int, str]:
    if judge is None:
        return 0, 0, ""
    return (1, judge, "") if isinstance(judge, int) else (2, 0, judge)
