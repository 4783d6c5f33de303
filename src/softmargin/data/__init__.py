"""Data: what is read and checked; knows nothing of learning."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmargin.data.block import Block, Place
    from softmargin.data.cache import read_cache, write_cache
    from softmargin.data.columns import Columns
    from softmargin.data.items import Comparisons, Items, read_comparisons, read_items
    from softmargin.data.stream import blocks
    from softmargin.data.svmlight import read_svmlight
    from softmargin.data.write import write_svmlight

__all__ = [
    "Block",
    "Columns",
    "Comparisons",
    "Items",
    "Place",
    "blocks",
    "read_cache",
    "read_comparisons",
    "read_items",
    "read_svmlight",
    "write_cache",
    "write_svmlight",
]

# Numba, SciPy and pyarrow take a moment to import; who only wants rows for a kernel does not need a reader of files.
_HOME = {
    "Block": "block",
    "Columns": "columns",
    "Comparisons": "items",
    "Items": "items",
    "Place": "block",
    "blocks": "stream",
    "read_cache": "cache",
    "read_comparisons": "items",
    "read_items": "items",
    "read_svmlight": "svmlight",
    "write_cache": "cache",
    "write_svmlight": "write",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"softmargin.data.{_HOME[name]}"), name)
    message = f"module 'softmargin.data' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
