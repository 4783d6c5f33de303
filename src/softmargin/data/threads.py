"""Work for several threads, whose results come in the order of the work."""

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
_NO_MORE = object()


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(task: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """``task`` of each item, as many at once as there are threads, and one more waits to be fetched.

    The threads make the items too, one at a time, so that nothing is left to who uses the results.
    Where an item or a task ends with an exception, the results of those before come first.
    """
    source, numbers, turn = iter(items), itertools.count(), Lock()

    def step() -> tuple[int, Any, Exception | None]:
        with turn:
            number = next(numbers)
            try:
                item = next(source)
            except StopIteration:
                return number, _NO_MORE, None
            except Exception as error:  # noqa: BLE001  raised when its turn has come
                return number, None, error
        try:
            return number, task(item), None
        except Exception as error:  # noqa: BLE001  the same
            return number, None, error

    pool = ThreadPoolExecutor(threads, thread_name_prefix="softmargin-files")
    ready: dict[int, tuple[Any, Exception | None]] = {}
    try:
        pending = deque(pool.submit(step) for _ in range(threads + 1))
        for number in itertools.count():
            while number not in ready:  # who began first may have taken the lock second
                other, result, error = pending.popleft().result()
                ready[other] = result, error
            result, error = ready.pop(number)
            if error is not None:
                raise error
            if result is _NO_MORE:
                return
            pending.append(pool.submit(step))
            yield result
            del result  # it is the user's now
    finally:
        pool.shutdown(cancel_futures=True)
