"""What a model is made of, as JSON and arrays, and back: a short list of kinds, and no way to name any other.

A JSON object stands for what JSON has no word for: ``{"array": 0}``, ``{"tuple": [...]}``, ``{"record": ["Certificate",
{...}]}``.  Records are those that the caller lists, each field of a type that it lists too: a file chooses among them
and cannot bring its own.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from softmargin.models.container import KINDS

LARGEST_TEXTS = 2**24  # characters of an array of texts, whose every entry takes the place of the longest
ODD = {"inf": float("inf"), "-inf": -float("inf"), "nan": float("nan")}
PLAIN = (str, bool, int, float, type(None))


class Record(NamedTuple):
    """A type of our own: what its fields may be, and how to make one of them."""

    kind: type
    fields: Mapping[str, Any]  # a type, or a tuple of them, that ``is_a`` takes
    make: Callable[..., Any] | None = None  # from the fields as keywords; None: the type itself


class UnknownValueError(ValueError):
    """A value that no model file can hold, or that none should: the message is the rest of a sentence."""


Records = Mapping[str, Record]


def is_a(value: Any, wanted: Any) -> bool:
    """``isinstance``, but True is no number, and a whole number is one."""
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    if isinstance(value, bool):
        return bool in wanted
    return isinstance(value, wanted) or (isinstance(value, int) and float in wanted)


class Packer:
    """To JSON; ``arrays`` are those met on the way, which a header names by number."""

    def __init__(self, records: Records) -> None:
        self.titles = {record.kind: (title, record) for title, record in records.items()}
        self.arrays: list[np.ndarray] = []
        self.ways: dict[type, Callable[[Any, str], Any]] = {
            list: self._list,
            tuple: lambda value, name: {"tuple": self._list(value, name)},
            dict: self._dict,
            np.ndarray: self._array,
            np.random.RandomState: lambda value, name: {"random_state": self.pack(_state_of(value), name)},
        }

    def pack(self, value: Any, name: str) -> Any:
        """The value as JSON; ``name`` is what a refusal calls it."""
        if isinstance(value, np.generic):
            value = value.item()
        kind = type(value)
        if kind is float and not np.isfinite(value):
            return {"float": repr(value)}
        if kind in PLAIN:
            return value
        if kind in self.titles:
            title, record = self.titles[kind]
            return {"record": [title, {field: self.pack(getattr(value, field), field) for field in record.fields}]}
        if kind not in self.ways:
            what = "a function" if callable(value) else f"a {kind.__name__}"
            message = f"{name} is {what}, which a model file cannot hold"
            raise UnknownValueError(message)
        return self.ways[kind](value, name)

    def _list(self, value: Any, name: str) -> list[Any]:
        return [self.pack(part, name) for part in value]

    def _dict(self, value: dict[Any, Any], name: str) -> Any:
        called = {key: key if isinstance(key, str) else name for key in value}
        return {"dict": [[self.pack(key, name), self.pack(part, called[key])] for key, part in value.items()]}

    def _array(self, value: np.ndarray, name: str) -> Any:
        if f"{value.dtype.kind}{value.dtype.itemsize}" in KINDS:
            self.arrays.append(value)
            return {"array": len(self.arrays) - 1}
        if value.dtype.kind not in "UO" or value.ndim != 1:
            message = f"{name} is an array of {value.dtype}, which a model file cannot hold"
            raise UnknownValueError(message)
        entries = value.tolist()
        if not all(type(entry) is str for entry in entries):
            return {"objects": self._list(entries, name)}
        parts = [entry.encode(errors="surrogatepass") for entry in entries]
        width = value.dtype.itemsize // 4 if value.dtype.kind == "U" else 0
        if width * value.size > LARGEST_TEXTS:
            message = f"{name} has texts that take more than {LARGEST_TEXTS} characters, which no set of names does"
            raise UnknownValueError(message)
        self.arrays.append(np.frombuffer(b"".join(parts), dtype=np.uint8))
        self.arrays.append(np.cumsum([len(part) for part in parts], dtype=np.int64))
        return {"texts": [len(self.arrays) - 2, len(self.arrays) - 1, width]}


class Unpacker:
    """Back from JSON; ``UnknownValueError`` for whatever ``Packer`` never makes."""

    def __init__(self, records: Records, arrays: list[np.ndarray]) -> None:
        self.records, self.arrays = records, arrays
        self.ways: dict[str, Callable[[Any], Any]] = {
            "float": lambda held: ODD[held],
            "tuple": lambda held: tuple(self._list(held)),
            "dict": self._dict,
            "array": self._entry,
            "texts": self._texts,
            "objects": self._objects,
            "random_state": lambda held: _generator(self.unpack(held)),
            "record": self._record,
        }

    def unpack(self, value: Any) -> Any:
        """The value that ``pack`` was given."""
        if isinstance(value, PLAIN):
            return value
        if isinstance(value, list):
            return self._list(value)
        try:
            ((tag, held),) = value.items()
            return self.ways[tag](held)
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            if isinstance(error, UnknownValueError):
                raise
            message = "holds a value that no model has"
            raise UnknownValueError(message) from None

    def _list(self, held: Any) -> list[Any]:
        if not isinstance(held, list):
            raise TypeError
        return [self.unpack(part) for part in held]

    def _dict(self, held: Any) -> dict[Any, Any]:
        found = {}
        for pair in held:
            key, value = self._list(pair)
            found[key] = value
        if len(found) < len(held) or not all(isinstance(key, PLAIN) for key in found):
            raise ValueError
        return found

    def _entry(self, number: Any) -> np.ndarray:
        if type(number) is not int or number < 0:
            raise TypeError
        return self.arrays[number]

    def _objects(self, held: Any) -> np.ndarray:
        parts = self._list(held)
        found = np.empty(len(parts), dtype=object)
        for place, part in enumerate(parts):
            found[place] = part
        return found

    def _texts(self, held: Any) -> np.ndarray:
        letters, ends, width = self._entry(held[0]), self._entry(held[1]), held[2]
        starts = np.append(0, ends[:-1])
        fine = letters.dtype == np.uint8 and ends.dtype == np.int64 and letters.ndim == ends.ndim == 1
        fine = fine and bool((starts <= ends).all()) and letters.size == (ends[-1] if ends.size else 0)
        if not fine or type(width) is not int or not 0 <= width * ends.size <= LARGEST_TEXTS:
            raise ValueError
        data, found = letters.tobytes(), np.empty(ends.size, dtype=object)
        for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            found[place] = data[start:end].decode(errors="surrogatepass")
        if width and max(map(len, found), default=0) > width:
            raise ValueError
        return found.astype(f"<U{width}") if width else found

    def _record(self, held: Any) -> Any:
        title, parts = held
        if title not in self.records:
            message = f"holds a {title!r}, which no model of its class has"
            raise UnknownValueError(message)
        record = self.records[title]
        if parts.keys() != record.fields.keys():
            message = f"holds a {title} whose fields are not those of a {title}"
            raise UnknownValueError(message)
        fields = {name: self.unpack(part) for name, part in parts.items()}
        for name, part in fields.items():
            if not is_a(part, record.fields[name]):
                message = f"holds a {title} whose {name} is a {type(part).__name__}"
                raise UnknownValueError(message)
            if record.fields[name] is float:
                fields[name] = float(part)
        return (record.make or record.kind)(**fields)


def _state_of(generator: np.random.RandomState) -> Any:
    return generator.get_state(legacy=False)


def _generator(state: Any) -> np.random.RandomState:
    """A generator that goes on where the other one stopped."""
    inner = state["state"]
    key, place = inner["key"], inner["pos"]
    if key.dtype != np.uint32 or key.shape != (624,) or type(place) is not int or not 0 <= place <= 624:
        raise ValueError
    found = np.random.RandomState()
    found.set_state(state)
    return found
