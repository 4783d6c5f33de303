"""What a report is about: the model, its data, and the margin and slack of every constraint."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from softmargin.constraints.graded import Constraints, Grades, Pairs
from softmargin.constraints.pairs import as_pairs, pair_rows
from softmargin.constraints.weights import importance
from softmargin.diagnostics.posed import checked_matrix, holds_pairs, refuse
from softmargin.estimators._statements import Columns, read_columns, refuse_bare_source
from softmargin.estimators.classifier import SoftMarginClassifier
from softmargin.kernels.rows import DenseRows
from softmargin.report.markup import Html, joined, named

MOST_PAIRS = 200_000  # of those that grades imply; of more, a sample is drawn


@dataclass(frozen=True)
class Subject:
    """A model with the data that it is judged on."""

    model: Any
    X: Any  # checked, float64, dense or sparse
    y: Any
    kind: str  # "labels", "pairs", "grades" or "sources"
    features: list[str]
    items: Sequence[Any] | None  # names of the rows of X
    score: np.ndarray  # of every row: its utility, or its class as predicted
    told: "Told"

    def item(self, row: int) -> Html:
        """The name of a row of X."""
        return named(f"row {row}" if self.items is None else self.items[row])

    def constraint(self, place: int) -> Html:
        """What was said, by its place among those told."""
        pairs = self.told.pairs
        if pairs is not None:
            better, worse = pairs[place].tolist()
            return joined(self.item(better), " over ", self.item(worse))
        return joined(self.item(place), " is ", named(self.y[place]))


@dataclass(frozen=True)
class Told:
    """Constraints: all of them or, where ``total`` is more than are here, a sample."""

    what: str  # "row" or "pair"
    total: int
    margins: np.ndarray
    slack: np.ndarray
    price: np.ndarray | None  # of each, without C; None where they are not known here
    pairs: np.ndarray | None = None

    @property
    def whole(self) -> bool:
        """Whether all are here."""
        return self.total == self.margins.size

    @property
    def cost(self) -> np.ndarray:
        """What each pays for its slack, without C: the slack itself where prices are 1 or not known."""
        return self.slack if self.price is None else self.price * self.slack

    @property
    def uneven(self) -> bool:
        """Whether some cost more than others."""
        return self.price is not None and bool(np.any(self.price != 1.0))


class Given(NamedTuple):
    """What a model was fitted on beside X, as the methods of the model take it."""

    y: Any
    qid: Any = None
    pairs: Any = None
    sample_weight: Any = None
    weight: Any = None
    margin: Any = None


def subject_of(model: Any, X: Any, given: Given, names: Any = None) -> Subject:
    """Everything checked; a wrong argument is refused in one sentence."""
    matrix = checked_matrix(model, X)
    items = read_names(names, matrix.shape[0])
    y = given.y
    if given.pairs is not None:
        if y is not None:
            message = "y and pairs both say what the model was told: pass one of them, and None for y beside pairs"
            raise ValueError(message)
        y = as_pairs(given.pairs)
    score = model.predict(X)
    if isinstance(model, SoftMarginClassifier):
        told, kind = told_by_labels(model, X, given), "labels"
        y = np.asarray(y).ravel()
    else:
        told, kind = told_to_ranker(model, score, y, given)
    if not np.isfinite(told.margins).all():
        message = "the margins of the model on X are not finite: its weights or X are too large"
        raise ValueError(message)
    return Subject(model, matrix, y, kind, feature_names(model, matrix.shape[1]), items, score, told)


def told_by_labels(model: SoftMarginClassifier, X: Any, given: Given) -> Told:
    """One constraint a row, or as many as there are wrong classes."""
    refuse(given._asdict(), ("qid", "pairs", "weight", "margin"), "goes with a ranker, and model is a classifier")
    margins, slack = model.margins(X, given.y), model.slack(X, given.y, given.sample_weight)
    matter = importance(margins.size, given.sample_weight, model.weighting)
    price = matter.whole_price.astype(np.float64) if model.class_weight is None else None
    return Told("row", margins.size, margins, slack, price)


def told_to_ranker(model: Any, score: np.ndarray, y: Any, given: Given) -> tuple[Told, str]:
    """Pairs, and what kind of statements they come from."""
    more = given._asdict()
    listed, total, kind = statements(y, given.qid, score.size)
    if total == 0:
        message = "y has no two different grades within a group: there is nothing to report on"
        raise ValueError(message)
    margins = score[listed[:, 0]] - score[listed[:, 1]]
    required, price = np.ones(margins.size), None
    if kind == "pairs":
        refuse(more, ("sample_weight",), "goes with grades, and y holds pairs, which take weight and margin")
        wanted = 1.0 if given.margin is None else given.margin
        matter = importance(margins.size, given.weight, model.weighting, wanted, "weight")
        required, price = matter.required, matter.whole_price.astype(np.float64)
    else:
        refuse(more, ("weight", "margin"), "goes with pairs (two columns), and y holds grades")
        if kind == "grades" and given.sample_weight is None and model.groups == "pairs":
            price = np.ones(margins.size)
    return Told("pair", total, margins, np.maximum(0.0, required - margins), price, listed), kind


def read_names(names: Any, rows: int) -> list[str] | None:
    """One name a row of X."""
    if names is None:
        return None
    if isinstance(names, str) or len(names) != rows:
        message = f"names holds {len(names)} names and X has {rows} rows; pass one name a row"
        raise ValueError(message)
    return [str(name) for name in names]


def feature_names(model: Any, width: int) -> list[str]:
    """As the table or the frame had them."""
    columns = getattr(model, "columns_", None)
    if columns is not None:
        return list(columns.names)
    return [str(name) for name in getattr(model, "feature_names_in_", [f"x{place}" for place in range(width)])]


# ----------------------------------------------------------------------------------- what a ranker was told


def statements(y: Any, qid: Any, rows: int) -> tuple[np.ndarray, int, str]:
    """Pairs ``(better, worse)``, how many there are in all, and what kind of statements they come from."""
    refuse_bare_source(y)
    if holds_pairs(y):
        if qid is not None:
            message = "qid goes with grades, and y holds pairs"
            raise ValueError(message)
        listed, total = pairs_of(y, rows), len(y)
        return listed, total, "pairs"
    if not isinstance(y, Constraints):
        listed, total = pairs_of_grades(read_columns(Grades(y, qid), rows, bare=True))
        return listed, total, "grades"
    found = [
        pairs_of_grades(read_columns(source, rows)) if isinstance(source, Grades) else pairs_of_source(source, rows)
        for source in y
    ]
    total = sum(count for _, count in found)
    if any(len(listed) < count for listed, count in found):  # a sample of one wants a sample of all
        rng = np.random.default_rng(0)
        kept = [min(len(listed), 1 + MOST_PAIRS * count // total) for listed, count in found]
        lists = [listed[rng.permutation(len(listed))[:many]] for (listed, _), many in zip(found, kept, strict=True)]
        return np.concatenate(lists), total, "sources"
    return np.concatenate([listed for listed, _ in found]), total, "sources"


def pairs_of_source(source: Pairs, rows: int) -> tuple[np.ndarray, int]:
    """All of them, checked."""
    listed = pairs_of(source.pairs, rows)
    return listed, len(listed)


def pairs_of(pairs: Any, rows: int) -> np.ndarray:
    """Checked."""
    held = pair_rows(DenseRows(np.zeros((rows, 0))), pairs, rows)
    return np.column_stack([held.better, held.worse]).astype(np.int64)


def pairs_of_grades(read: Columns) -> tuple[np.ndarray, int]:
    """The pairs that grades imply, or a sample of them, and how many there are."""
    rows = np.flatnonzero(~np.isnan(read.y)) if read.y.dtype.kind == "f" else np.arange(read.y.size)
    group = np.zeros(rows.size, dtype=np.int64) if read.group is None else read.group[rows]
    order = np.lexsort((read.y[rows], group))
    rows, group, grade = rows[order], group[order], read.y[rows][order].astype(np.float64)
    # In this order the worse rows of a pair are those of the group before the first of the same grade.
    start = np.searchsorted(group, group)
    new = np.ones(rows.size, dtype=bool)
    new[1:] = (group[1:] != group[:-1]) | (grade[1:] != grade[:-1])
    level = np.maximum.accumulate(np.where(new, np.arange(rows.size), 0))
    below = level - start
    total = int(below.sum())
    last = np.cumsum(below)
    if total <= MOST_PAIRS:
        chosen = np.arange(total)
    else:
        chosen = np.sort(np.random.default_rng(0).integers(total, size=MOST_PAIRS))
    better = np.searchsorted(last, chosen, side="right")
    worse = start[better] + chosen - (last[better] - below[better])
    return np.column_stack([rows[better], rows[worse]]).astype(np.int64), total
