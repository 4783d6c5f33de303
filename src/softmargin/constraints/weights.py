"""The three ways of the notes to say that one constraint matters more than another."""

from typing import Any, NamedTuple

import numpy as np

WEIGHTINGS = ("slack", "margin", "replicate")
MOST_COPIES = 2**31
# Of a weight or a margin, and of lam or 1/lam: weights 1/lam * price * row, and margins, are then numbers all the way.
LARGEST = 1e25


class Importance(NamedTuple):
    """What each constraint requires, what the slack of one copy costs, and how many copies there are."""

    required: np.ndarray
    price: np.ndarray
    copies: np.ndarray | None  # None: one each

    @property
    def total(self) -> int:
        """How many constraints there are, copies counted."""
        return int(self.price.size if self.copies is None else self.copies.sum())

    def refuse_nothing(self, name: str) -> None:
        """A batch whose constraints have no weight at all is a mistake; in a stream they may come alone."""
        if not self.whole_price.any():
            message = f"{name} is zero everywhere: there is nothing to learn from"
            raise ValueError(message)

    @property
    def whole_price(self) -> np.ndarray:
        """The price of all copies together: what a batch solver needs to know."""
        return self.price if self.copies is None else self.price * self.copies

    def order(self) -> np.ndarray:
        """Constraint numbers in the order given, each as often as it has copies."""
        numbers = np.arange(self.price.size, dtype=np.uint64)
        return numbers if self.copies is None else np.repeat(numbers, self.copies)


def importance(
    count: int,
    weight: Any = None,
    weighting: str = "slack",
    margin: Any = 1.0,
    name: str = "sample_weight",
) -> Importance:
    """Read ``weight`` the way ``weighting`` says.

    "slack" scales the price, "margin" scales the required margin, "replicate" repeats the constraint.
    """
    if weighting not in WEIGHTINGS:
        message = f"weighting={weighting!r}: pass one of {', '.join(WEIGHTINGS)}"
        raise ValueError(message)
    required = numbers_of(margin, count, "margin")
    if weight is None:
        return Importance(required, np.ones(count), None)
    weight = numbers_of(weight, count, name)
    if weighting == "slack":
        return Importance(required, weight, None)
    if weighting == "margin":
        return Importance(required * weight, np.ones(count), None)
    refuse_parts(weight, name)
    return Importance(required, np.ones(count), weight.astype(np.int64))


def refuse_parts(weight: np.ndarray, name: str) -> None:
    """A copy is a whole one."""
    uneven = (np.rint(weight) != weight) | (weight > MOST_COPIES)
    if np.any(uneven):
        row = int(np.argmax(uneven))
        message = (
            f"{name}[{row}] is {weight[row]:g}, and weighting='replicate' repeats a constraint a whole number of "
            "times; pass weighting='slack' to scale its price instead"
        )
        raise ValueError(message)


def is_number(value: Any) -> bool:
    """A real number; True and False are none."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def numbers_of(values: Any, count: int, name: str) -> np.ndarray:
    """One finite number, not negative, for each constraint."""
    try:
        values = np.array(values, dtype=np.float64)  # ours: read-only numbers would compile all kernels again
    except (TypeError, ValueError) as error:
        message = f"{name} does not hold numbers; it takes one for each of the {count} constraints"
        raise ValueError(message) from error
    if values.ndim == 0:
        values = np.full(count, float(values))
    if values.shape != (count,):
        message = f"{name} has shape {values.shape}; it takes one number for each of the {count} constraints"
        raise ValueError(message)
    bad = ~((values >= 0) & (values <= LARGEST))
    if bad.any():
        row = int(np.argmax(bad))
        message = f"{name}[{row}] is {values[row]}; it must be a finite number, not negative and at most {LARGEST}"
        raise ValueError(message)
    return values
