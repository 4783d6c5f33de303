"""Data: what is read and checked; knows nothing of learning."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmargin.data.svmlight import read_svmlight

__all__ = ["read_svmlight"]


def __getattr__(name: str) -> Any:
    # SciPy takes a moment to import; who only wants rows for a kernel does not need a reader of files.
    if name == "read_svmlight":
        from softmargin.data.svmlight import read_svmlight

        return read_svmlight
    message = f"module 'softmargin.data' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
