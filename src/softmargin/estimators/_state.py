"""What a call has learned when it fails: nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from softmargin.solvers.interrupts import held_interrupts


@contextmanager
def all_or_nothing(model: Any) -> Iterator[None]:
    """Whatever goes wrong inside leaves the estimator as it was; Ctrl-C is for solvers (``held_interrupts``)."""
    with held_interrupts():
        before = dict(model.__dict__)
        try:
            yield
        except BaseException:
            model.__dict__.clear()
            model.__dict__.update(before)
            raise
