"""Both cores for one sum: ranges of rows on a few threads, each running compiled code without the GIL."""

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from softmargin.data.threads import cores

# Below this many numbers a thread costs more than it brings (measured: 20 microseconds to hand work over).
WORTH_A_THREAD = 200_000
_pool: ThreadPoolExecutor | None = None


def _forget_pool() -> None:
    """Threads do not survive a fork; a child that waited for them would wait for ever."""
    global _pool, _fits
    _pool, _fits = None, _Fits()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def over_ranges(task: Callable[[int, int], Any], rows: int, numbers: int) -> list[Any]:
    """``task(start, stop)`` over ranges that cover ``rows``; ``numbers`` is how many values they hold in all."""
    global _pool  # noqa: PLW0603
    parts = min(cores(), max(1, numbers // WORTH_A_THREAD))
    if parts == 1:
        return [task(0, rows)]
    if _pool is None:
        _pool = ThreadPoolExecutor(cores(), thread_name_prefix="softmargin")
    edges = [rows * part // parts for part in range(parts + 1)]
    others = [_pool.submit(task, *edge) for edge in itertools.pairwise(edges[1:])]
    return [task(0, edges[1]), *(other.result() for other in others)]


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A solver's matrices are small, and its ranges take both cores already.

    More threads of BLAS are no quicker on a calm machine, and wait for each other up to 80 times longer on a busy one.
    The limit is the process's: the first fit under way sets it, and the last one lifts it.
    """
    with _fits.lock:
        if _fits.under_way == 0:
            _fits.keeper.submit(_fits.limit).result()
        _fits.under_way += 1
    try:
        yield
    finally:
        with _fits.lock:
            _fits.under_way -= 1
            if _fits.under_way == 0:
                _fits.keeper.submit(_fits.limits.close).result()


class _Fits:
    """How many fits are under way, and the thread that keeps BLAS to one: only who set a limit may lift it."""

    def __init__(self) -> None:
        self.lock, self.under_way, self.limits = threading.Lock(), 0, ExitStack()
        self.keeper = ThreadPoolExecutor(1, thread_name_prefix="softmargin-blas")

    def limit(self) -> None:
        """In the thread of the keeper."""
        self.limits.enter_context(_blas().limit(limits=1))


_fits = _Fits()
