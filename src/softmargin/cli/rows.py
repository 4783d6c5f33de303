"""A file of rows -> what a model is fitted on, whatever the format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softmargin.data import read_cache, read_items, read_svmlight
from softmargin.data.cache import is_cache
from softmargin.data.columns import Columns

TABLES = {".csv", ".parquet", ".arrow", ".feather"}


@dataclass(frozen=True)
class Rows:
    """Rows with their labels, groups and names."""

    X: Any
    y: np.ndarray | None
    qid: np.ndarray | None = None
    ids: np.ndarray | None = None
    columns: Columns | None = None

    def numbers(self) -> Any:
        """X without the names that a table gives it."""
        return np.column_stack([column.to_numpy() for column in self.X.columns]) if self.ids is not None else self.X


def is_table(path: Path) -> bool:
    """Whether a file has named columns."""
    return path.suffix.lower() in TABLES


def read_rows(
    path: Path,
    *,
    label: str | None = None,
    standardise: bool = False,
    columns: Columns | None = None,
    n_features: int | None = None,
) -> Rows:
    """Rows of a table, of text in the format of svmlight, or of a block cache."""
    if is_table(path):
        items = read_items(path, label=label, standardise=standardise, columns=columns)
        return Rows(items.frame, items.labels, None, items.ids, items.columns)
    for option, given in (("--label", label), ("--standardise", standardise or None)):
        if given is not None:
            message = f"{option} goes with a table, and {path} is none: labels come first on its lines"
            raise ValueError(message)
    X, y, qid = (read_cache if is_cache(path) else read_svmlight)(path, n_features=n_features)
    return Rows(X, y, qid)


def rows_for(model: Any, path: Path) -> Rows:
    """Rows with the columns that a model knows."""
    columns = getattr(model, "columns_", None)
    if is_table(path) and columns is None:
        message = f"the model was not fitted on a table, so it does not know what the columns of {path} are"
        raise ValueError(message)
    return read_rows(path, columns=columns if is_table(path) else None, n_features=model.n_features_in_)
