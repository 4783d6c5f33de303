"""How the features of a model are made of a table, as a model file holds it."""

from math import isfinite
from typing import Any

from softmargin.data.columns import Column, Columns
from softmargin.models.values import Record, UnknownValueError


def column_of(name: str, words: tuple[Any, ...] | None, middle: float, spread: float) -> Column:
    """A column that any table can be asked for."""
    texts = words is None or (len(words) > 0 and all(isinstance(word, str) for word in words))
    if not texts or not isfinite(middle) or not 0.0 < spread < float("inf"):
        message = "holds a column that makes no features"
        raise UnknownValueError(message)
    return Column(name, words, middle, spread)


def columns_of(columns: tuple[Any, ...]) -> Columns:
    """Columns and nothing else."""
    if not all(isinstance(column, Column) for column in columns):
        message = "holds columns of which some are none"
        raise UnknownValueError(message)
    return Columns(columns)


COLUMNS = {
    "Column": Record(Column, {"name": str, "words": (tuple, type(None)), "middle": float, "spread": float}, column_of),
    "Columns": Record(Columns, {"columns": tuple}, columns_of),
}


def check_columns(columns: Any, model: Any) -> None:
    """They make as many features as the model has weights for."""
    if columns is None:
        return
    if not isinstance(columns, Columns):
        message = f"columns is a {type(columns).__name__}, and not what read_items made"
        raise UnknownValueError(message)
    width, made = getattr(model, "n_features_in_", None), len(columns.names)
    if width != made:
        message = f"its columns make {made} features and the model has learned {width or 'none'}"
        raise UnknownValueError(message)
    names = getattr(model, "feature_names_in_", None)
    if names is not None and list(names) != columns.names:
        message = "its columns make other features than those that the model has learned"
        raise UnknownValueError(message)
