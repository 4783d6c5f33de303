"""Work for several threads, whose results come in the order of the work."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(task: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """``task`` of each item, as many at once as there are threads, and one more waits to be fetched.

    Where the items end with an exception, the results of those before come first.
    """
    failed: Exception | None = None
    with ThreadPoolExecutor(threads, thread_name_prefix="softmargin-files") as pool:
        pending: deque[Future[R]] = deque()
        source = iter(items)
        while True:
            try:
                pending.append(pool.submit(task, next(source)))
            except StopIteration:
                break
            except Exception as error:  # noqa: BLE001  raised below
                failed = error
                break
            if len(pending) > threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    if failed is not None:
        raise failed
