"""Cycles of "a over b": comparisons that no score at all can satisfy, whatever the features."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from softmargin.constraints.pairs import as_pairs, whole_pairs
from softmargin.kernels.cycles import Graph, scan_parts, trace_cycle


class Cycle(NamedTuple):
    """Each item over the next, the last over the first, and the lines of pairs that say so."""

    items: list[int]
    lines: np.ndarray


def find_cycles(pairs: Any) -> list[list[int]]:
    """A shortest cycle of each strongly connected group of items: each over the next, and the last over the first.

    ``pairs[t] = (better, worse)``, whole numbers, not negative, that name any items.  No cycle: some score satisfies
    all comparisons (though perhaps no linear score of the features at hand: see ``find_conflict``).
    """
    pairs = whole_pairs(as_pairs(pairs))
    return [cycle.items for cycle in shortest_cycles(*pairs.T)]


def shortest_cycles(better: np.ndarray, worse: np.ndarray) -> list[Cycle]:
    """As ``find_cycles``, of checked pairs."""
    names, compact = np.unique(np.concatenate([better, worse]), return_inverse=True)
    n = names.size
    edges, lines = np.unique(compact[: better.size] * n + compact[better.size :], return_index=True)
    tails, heads = np.divmod(edges, n)
    group = _strong_parts(n, tails, heads)
    inside = group[tails] == group[heads]
    tails, heads, lines = tails[inside], heads[inside], lines[inside]
    graph = _graph(n, tails, heads)
    best, root = np.full(n, n + 1), np.full(n, -1)
    part, turn = np.where(np.bincount(tails, minlength=n) > 0, group, -1), np.arange(n)
    while (alive := np.flatnonzero(part >= 0)).size:
        order = alive[np.lexsort((turn[alive], part[alive]))]
        scan_parts(graph, part, order, group, best, root)
        left = (part[tails] >= 0) & (part[tails] == part[heads])
        if not left.any():
            break
        again = _strong_parts(n, tails[left], heads[left])
        left &= again[tails] == again[heads]
        part = np.where(np.bincount(tails[left], minlength=n) > 0, again, -1)
        for g in np.unique(group[part >= 0]):
            trace_cycle(graph, root[g], group, np.empty(best[g], dtype=np.int64), turn)
    cycles = []
    for g in np.flatnonzero(root >= 0):
        cycle = np.empty(best[g], dtype=np.int64)
        trace_cycle(graph, root[g], group, cycle, turn)
        first = int(np.argmin(tails[cycle]))
        cycle = np.roll(cycle, -first)
        cycles.append(Cycle(names[tails[cycle]].tolist(), lines[cycle]))
    return sorted(cycles, key=lambda cycle: cycle.items)


def _strong_parts(n: int, tails: np.ndarray, heads: np.ndarray) -> np.ndarray:
    edges = csr_array((np.ones(tails.size, dtype=np.int8), (tails, heads)), shape=(n, n))
    return np.asarray(connected_components(edges, connection="strong")[1], dtype=np.int64)


def _graph(n: int, tails: np.ndarray, heads: np.ndarray) -> Graph:
    """Of edges sorted by tail."""
    backwards = np.argsort(heads, kind="stable")
    starts, back_starts = (np.searchsorted(ends, np.arange(n + 1)) for ends in (tails, heads[backwards]))
    return Graph(starts, heads, back_starts, tails[backwards])
