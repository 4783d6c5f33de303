"""Rows -> a table of CSV or Parquet that ``read_items`` reads again."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from scipy import sparse

from softmargin.data.atomic import replacing

MOST_COLUMNS = 10_000  # of a table, which has a cell for every zero


def write_table(path: str | PathLike[str], X: Any, y: np.ndarray) -> None:
    """A column ``label``, then one a feature, named 1, 2, ... as the text of svmlight numbers them.

    Parameters
    ----------
    path : str or PathLike
        Ends in .csv or .parquet; a file that is there is replaced once all is written.
    X : rows, dense or sparse.
    y : labels.
    """
    kind = Path(path).suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise ValueError(f"{path}: a table is written as .csv or .parquet")
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(f"{path}: {X.shape[1]} columns are too many for a table, at most {MOST_COLUMNS:,}")
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    columns = {"label": pa.array(y)}
    columns |= {str(place): pa.array(np.ascontiguousarray(column)) for place, column in enumerate(dense.T, 1)}
    table = pa.table(columns)
    with replacing(path) as stream:
        if kind == ".csv":
            pyarrow.csv.write_csv(table, stream)
        else:
            pq.write_table(table, stream)
