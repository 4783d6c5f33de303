"""Files larger than memory, some rows at a time."""

from collections.abc import Iterator
from os import PathLike

from softmargin.data.block import Block, Place
from softmargin.data.cache import cache_blocks, is_cache
from softmargin.data.svmlight import STREAM_WINDOW, text_blocks


def blocks(
    path: str | PathLike[str],
    *,
    n_features: int | None = None,
    start: Place | None = None,
    size: int = STREAM_WINDOW,
    threads: int = 1,
) -> Iterator[Block]:
    """The rows of a file in order, some at a time, in memory that does not grow with the file.

    The rows of a group are in one block.  While one block is used the next is read, by as many ``threads``.

    Parameters
    ----------
    path : str or PathLike
        What ``read_svmlight`` reads, which refuses the same files with the same sentences; or a block cache.
    n_features : int, optional
        The largest index that is allowed.
    start : Place, optional
        ``block.after`` of an earlier run: its successor comes first, with the rows that it had then.
        Groups before this place are not known, and are not looked for.
    size : int
        Bytes of text in a block; twice, four times... where a line or a group is longer.
        The blocks of a cache are as they were written.
    threads : int
        1 leaves the other cores to who uses the blocks.

    Yields
    ------
    Block
        ``block.rows()`` for a kernel, ``block.matrix()`` for an estimator, ``y``, ``qid`` and ``after``.
    """
    if is_cache(path):
        yield from cache_blocks(path, n_features=n_features, start=start, threads=threads)
    else:
        yield from text_blocks(path, n_features=n_features, start=start, size=size, threads=threads)
