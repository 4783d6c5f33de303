"""Data: what is read and checked; knows nothing of learning."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmargin.data.block import Block, Place
    from softmargin.data.cache import read_cache, write_cache
    from softmargin.data.stream import blocks
    from softmargin.data.svmlight import read_svmlight
    from softmargin.data.write import write_svmlight

__all__ = ["Block", "Place", "blocks", "read_cache", "read_svmlight", "write_cache", "write_svmlight"]

_HOMES = {"Block": "block", "Place": "block", "blocks": "stream", "read_cache": "cache", "read_svmlight": "svmlight"}
_HOMES |= {"write_cache": "cache", "write_svmlight": "write"}


def __getattr__(name: str) -> Any:
    # Numba and SciPy take a moment to import; who only wants the name of this package does not need a reader of files.
    if name in _HOMES:
        return getattr(import_module(f"softmargin.data.{_HOMES[name]}"), name)
    message = f"module 'softmargin.data' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
