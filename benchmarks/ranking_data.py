"""Data of the ranking benchmark: graded groups, and comparisons of two items; files come from SOFTMARGIN_DATA."""

import csv
import gzip
from collections.abc import Iterator
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
from data import FILES
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from softmargin.data import read_svmlight


class Graded(NamedTuple):
    """Rows with a grade each, in groups, and how NDCG pays for a grade."""

    X: Any
    y: np.ndarray
    qid: np.ndarray
    gain: str = "exponential"

    def take(self, rows: np.ndarray) -> "Graded":
        """Some of the rows."""
        return Graded(self.X[rows], self.y[rows], self.qid[rows], self.gain)

    def halves(self, share: float, seed: int = 0) -> tuple["Graded", "Graded"]:
        """Whole groups: this share of them second, the others first."""
        groups = np.random.default_rng(seed).permutation(np.unique(self.qid))
        second = np.isin(self.qid, groups[: round(share * groups.size)])
        return self.take(np.flatnonzero(~second)), self.take(np.flatnonzero(second))


class Compared(NamedTuple):
    """Items with features, comparisons ``pairs[t] = (better, worse)`` of them, and who or what each is about.

    ``fold`` says with which comparisons one is held out; models are learned within each ``model``, and ``unit`` is
    what could have been drawn otherwise: intervals are of samples of units.
    """

    name: str
    X: Any
    pairs: np.ndarray
    unit: np.ndarray
    fold: np.ndarray
    model: np.ndarray
    items: np.ndarray | None = None  # of each row of X, where an item is met in training and again when held out

    def splits(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Comparisons to learn from, and those held out meanwhile."""
        for model in np.unique(self.model):
            mine = self.model == model
            for fold in np.unique(self.fold[mine]):
                yield np.flatnonzero(mine & (self.fold != fold)), np.flatnonzero(mine & (self.fold == fold))


# ------------------------------------------------------------------------------------ graded groups


def one_group(rows: int, columns: int = 50, grades: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Dense normal rows, graded in equal parts by a noisy utility; all of one group."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(size=(rows, columns))
    utility = X @ rng.normal(size=columns)
    utility += 0.5 * np.sqrt(columns) * rng.normal(size=rows)
    return X, np.searchsorted(np.quantile(utility, np.arange(1, grades) / grades), utility)


def ltr_lightgbm() -> tuple[Graded, Graded]:
    """LightGBM's example: 201 groups and 50 to test, 300 sparse columns, grades 0 to 4."""
    parts = []
    for part in ("train", "test"):
        X, y, _ = read_svmlight(FILES / f"ltr_lightgbm/rank.{part}.gz", n_features=300)
        sizes = np.loadtxt(FILES / f"ltr_lightgbm/rank.{part}.query", dtype=int)
        parts.append(Graded(X, y.astype(int), np.repeat(np.arange(sizes.size), sizes)))
    return parts[0], parts[1]


def ltr_catboost() -> tuple[Graded, Graded]:
    """CatBoost's querywise test data: 91 groups and 26 to test, 50 columns, real grades from 0 to 0.61.

    Columns are divided by their spread in training, and constant ones dropped.
    """
    tables = [
        np.genfromtxt(FILES / f"ltr_catboost_querywise/{part}.tsv.gz", delimiter="\t", dtype=str)
        for part in ("train", "test")
    ]
    features = [table[:, 5:].astype(float) for table in tables]
    centre, spread = features[0].mean(axis=0), features[0].std(axis=0)
    kept = spread > 0
    train, test = (
        Graded((X[:, kept] - centre[kept]) / spread[kept], table[:, 2].astype(float), table[:, 1], "linear")
        for X, table in zip(features, tables, strict=True)
    )
    return train, test


# --------------------------------------------------------------------------------------- comparisons


def train_trips() -> Compared:
    """2,929 choices of one of two train trips by 235 people, five folds of people; a trip is met once."""
    lines = _lines("pairs_train_trips/train_trips.csv.gz")
    trips = np.array([
        [float(line[name + side]) for name in ("price", "time", "change", "comfort")]
        for line in lines
        for side in ("1", "2")
    ])  # fmt: skip
    first = np.arange(len(lines)) * 2
    chosen = np.array([line["choice"] == "choice2" for line in lines], dtype=int)
    person = _numbered(line["id"] for line in lines)
    return Compared(
        "train trips, other people", trips / trips.std(axis=0), np.column_stack([first + chosen, first + 1 - chosen]),
        person, _folds_of(person, 5), np.zeros_like(person),
    )  # fmt: skip


def recipes() -> Compared:
    """Which dish 40 people prefer: a model a person, five folds of the comparisons; "indifferent" is left out."""
    items = _lines("pairs_recipes/items.csv.gz")
    kinds = np.array([[float(item["category"]) == kind for kind in range(1, 6)] for item in items], dtype=float)
    names = [name for name in items[0] if name not in ("item_id", "name", "category")]
    numbers = np.array([[float(item[name]) for name in names] for item in items])
    spread = numbers.std(axis=0)
    X = np.column_stack([kinds, (numbers / np.where(spread > 0, spread, 1.0))[:, spread > 0]])
    place = {item["item_id"]: row for row, item in enumerate(items)}
    answers = [line for line in _lines("pairs_recipes/pairs_users_0_39.csv.gz") if line["label"] != "0"]
    pairs = np.array([
        [place[line[side]] for side in (("left", "right") if line["label"] == "1" else ("right", "left"))]
        for line in answers
    ])  # fmt: skip
    person = _numbered(line["user"] for line in answers)
    fold = np.random.default_rng(0).permutation(len(pairs)) % 5
    return Compared("recipes, a model a person", X, pairs, person, fold, person, np.arange(len(items)))


def arguments(*, other_debates: bool) -> Compared:
    """Which of two arguments of a side of a debate is more convincing: 9,301 pairs of 853 arguments, by their texts.

    Held out are whole debates (each of 13 once), or a fifth of all comparisons, whose arguments are then known.
    """
    lines = _lines("pairs_ukp_convarg/arguments.csv.gz")
    place = {(line["topic"], line["side"], line["id"]): row for row, line in enumerate(lines)}
    answers = _lines("pairs_ukp_convarg/pairs.csv.gz")
    pairs = np.array([
        [
            place[line["topic"], line["side"], line[which]]
            for which in (("id1", "id2") if line["label"] == "a1" else ("id2", "id1"))
        ]
        for line in answers
    ])  # fmt: skip
    debate = _numbered(line["topic"] for line in answers)
    X, one = _texts([line["text"] for line in lines]), np.zeros_like(debate)
    if other_debates:
        return Compared("arguments, other debates", X, pairs, debate, debate, one)
    fold = np.random.default_rng(0).permutation(len(pairs)) % 5
    return Compared("arguments, same debates", X, pairs, debate, fold, one, np.arange(len(lines)))


def _texts(texts: list[str]) -> sparse.csr_matrix:
    """Hashed words and pairs of words, tf-idf, and three columns for how long a text is."""
    counts = HashingVectorizer(n_features=2**14, ngram_range=(1, 2), alternate_sign=False, norm=None).transform(texts)
    words = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    length = np.log1p(np.array([[len(t), len(t.split()), t.count(".") + t.count("!") + t.count("?")] for t in texts]))
    X = sparse.csr_matrix(sparse.hstack([words, length / length.std(axis=0)]))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _lines(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(gzip.decompress((FILES / path).read_bytes()).decode())))


def _numbered(names: Any) -> np.ndarray:
    return np.unique(np.array(list(names)), return_inverse=True)[1]


def _folds_of(unit: np.ndarray, folds: int, seed: int = 0) -> np.ndarray:
    """A fold for each unit as a whole."""
    return (np.random.default_rng(seed).permutation(int(unit.max()) + 1) % folds)[unit]
