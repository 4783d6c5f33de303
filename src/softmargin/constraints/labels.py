"""Labels -> signs or class numbers."""

from typing import Any

import numpy as np


def classes_of(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different labels, sorted, and the place of each row's label among them."""
    if y.size and y.dtype.kind in "biu":  # two classes need no sorting, which takes as long as a small fit
        first, last = y.min(), y.max()
        numbers = y == last
        if first != last and np.count_nonzero(numbers) + np.count_nonzero(y == first) == y.size:
            return np.array([first, last], dtype=y.dtype), numbers.view(np.int8)
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers


def class_numbers(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The place of each label in ``classes`` (sorted)."""
    if (y.dtype.kind in "biuf") != (classes.dtype.kind in "biuf"):
        places, unknown = np.zeros(y.size, dtype=np.int64), np.ones(y.size, dtype=bool)
    else:
        places = np.searchsorted(classes, y)
        unknown = classes[np.minimum(places, classes.size - 1)] != y
    if unknown.any():
        row = int(np.argmax(unknown))
        message = f"y[{row}] is {_shown(y[row])!r}, which is not among the classes {[_shown(name) for name in classes]}"
        raise ValueError(message)
    return places


def signs_of(numbers: np.ndarray) -> np.ndarray:
    """+1 for the second class and -1 for the first."""
    return np.where(numbers == 1, np.int8(1), np.int8(-1))


def _shown(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
