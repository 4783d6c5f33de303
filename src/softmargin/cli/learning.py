"""``learn``: one pass over a file of any size, with a checkpoint from time to time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from softmargin.cli.speak import Speaker
from softmargin.data import blocks
from softmargin.data.block import Block
from softmargin.data.threads import cores
from softmargin.estimators.classifier import SoftMarginClassifier
from softmargin.models import load, save

CHECKPOINT_SECONDS = 10.0
BLOCK = 8_000_000  # bytes of text: a few thousand rows, whose checks take longer than to learn from them


@dataclass
class Course:
    """Where a pass stands."""

    model: SoftMarginClassifier
    classes: list[float]
    rows: int = 0

    def learn(self, block: Block, before: int, columns: int, stream: Path) -> None:
        """Meet the rows of a block, but for the first so many, which were met before the checkpoint."""
        X, y = block.matrix(columns), block.y
        if before:
            X, y = X[before:], y[before:]
        try:
            self.model.partial_fit(X, y, classes=self.classes)
        except ValueError as error:
            message = f"{stream}, rows {self.rows + 1:,} to {self.rows + y.size:,}: {error}"
            raise ValueError(message) from error
        self.rows += y.size


def learn(
    speaker: Speaker, stream: Path, files: list[Path], asked: dict[str, Any], classes: list[float],
    *, columns: int | None, checkpoint: Path | None, resume: bool,
) -> None:  # fmt: skip
    """One pass; killed and resumed it ends at the same weights as without, to the last bit."""
    if not files:
        message = "nothing would be kept: name a file with --output or --checkpoint"
        raise ValueError(message)
    if resume and checkpoint is None:
        message = "--resume goes on from a --checkpoint: name it"
        raise ValueError(message)
    course = Course(SoftMarginClassifier(**asked), classes)
    if resume and checkpoint is not None and checkpoint.exists():
        course = resumed(checkpoint, asked, classes)
        columns = course.model.n_features_in_
        speaker.say(f"going on after {course.rows:,} rows")
    first, done, saved, interrupted = course.rows, 0, monotonic(), False
    with told_on_the_way(speaker, stream) as tell:
        try:
            for block in blocks(stream, n_features=columns, size=BLOCK, threads=cores()):
                columns = block.columns if columns is None else columns
                refuse_wider(block, columns, stream)
                if done + block.y.size > first:
                    course.learn(block, max(0, first - done), columns, stream)
                done += block.y.size
                tell(course)
                if checkpoint is not None and monotonic() - saved > CHECKPOINT_SECONDS:
                    save(course.model, checkpoint)
                    saved = monotonic()
        except KeyboardInterrupt:
            interrupted = True
    if course.rows == 0:
        message = f"{stream}: Ctrl-C came before the first rows were learned"
        raise ValueError(message)
    finish(speaker, course, files, interrupted=interrupted)


def refuse_wider(block: Block, columns: int, stream: Path) -> None:
    """A stream has the columns of its first rows, unless somebody says how many there are."""
    if block.columns > columns:
        message = (
            f"{stream}, at most {block.y.size:,} rows before row {block.after.row:,}: index {block.columns} is larger "
            f"than any in the first rows; say how many columns there are with --columns"
        )
        raise ValueError(message)


def resumed(checkpoint: Path, asked: dict[str, Any], classes: list[float]) -> Course:
    """The model of a checkpoint, which was asked for the same."""
    model = load(checkpoint)
    if not isinstance(model, SoftMarginClassifier):
        message = f"{checkpoint} holds no stream of a classifier, but a {type(model).__name__}"
        raise TypeError(message)
    given = model.get_params()
    changed = [name for name, value in asked.items() if given[name] != value]
    if changed:
        message = f"{checkpoint} was begun with other values of {', '.join(changed)}: ask for the same, or begin anew"
        raise ValueError(message)
    return Course(model, classes, int(model.regret_.steps[-1]))


@contextmanager
def told_on_the_way(speaker: Speaker, stream: Path) -> Iterator[Any]:
    """A line that is written over, once a second, where somebody is looking."""
    if speaker.as_json or not speaker.console.is_terminal:
        yield lambda course: None  # noqa: ARG005 nobody looks
        return
    last = monotonic()

    def tell(course: Course) -> None:
        nonlocal last
        if monotonic() - last < 1.0:
            return
        last = monotonic()
        regret = course.model.regret_
        wrong = 100.0 * regret.mistakes[-1] / max(1, course.rows)
        speaker.console.print(f"{stream}: {course.rows:,} rows, {wrong:.2f} % wrong when first met", end="\r")

    yield tell
    speaker.console.print()


def finish(speaker: Speaker, course: Course, files: list[Path], *, interrupted: bool) -> None:
    """Keep the model and say how it went."""
    for file in files:
        save(course.model, file)
    regret = course.model.regret_
    speaker.say(f"{course.rows:,} rows{', interrupted' if interrupted else ''}; {regret}")
    speaker.say(f"kept in {', '.join(map(str, files))}")
    speaker.tell(
        rows=course.rows, interrupted=interrupted, files=[str(file) for file in files],
        progressive_error=regret.progressive_error[-1], paid=regret.paid[-1], regret_at_most=regret.certified[-1],
        parameters=course.model.get_params(),
    )  # fmt: skip


def read_classes(text: str) -> list[float]:
    """Labels with commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        message = f"--classes {text}: pass the labels of the file, numbers with commas, such as -1,1"
        raise ValueError(message) from error
