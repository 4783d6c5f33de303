"""Data: what is read and checked; knows nothing of learning."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmargin.data.columns import Columns
    from softmargin.data.items import Comparisons, Items, read_comparisons, read_items
    from softmargin.data.svmlight import read_svmlight

__all__ = ["Columns", "Comparisons", "Items", "read_comparisons", "read_items", "read_svmlight"]

# SciPy and pyarrow take a moment to import; who only wants rows for a kernel does not need a reader of files.
_HOME = {
    "Columns": "softmargin.data.columns",
    "Comparisons": "softmargin.data.items",
    "Items": "softmargin.data.items",
    "read_comparisons": "softmargin.data.items",
    "read_items": "softmargin.data.items",
    "read_svmlight": "softmargin.data.svmlight",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    message = f"module 'softmargin.data' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
