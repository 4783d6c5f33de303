"""Shortest cycles of a directed graph: breadth-first searches that stop where they cannot be shorter any more."""

from typing import NamedTuple

import numpy as np
from numba import njit


class Graph(NamedTuple):
    """Edges from every node, and into every node; ``heads[starts[a]:starts[a + 1]]`` are those that a points to."""

    starts: np.ndarray
    heads: np.ndarray
    back_starts: np.ndarray
    tails: np.ndarray


@njit(cache=True, error_model="numpy")
def shorter_than(graph, root, part, best, stamp, closing, seen, queue, depth):
    """The length of the shortest cycle through ``root`` inside its part, or ``best``; and how many edges were met."""
    own, met = part[root], 0
    for e in range(graph.back_starts[root], graph.back_starts[root + 1]):
        closing[graph.tails[e]] = stamp
        met += 1
    queue[0], depth[root], seen[root] = root, 0, stamp
    first, last = 0, 1
    while first < last:
        node = queue[first]
        first += 1
        length = depth[node] + 2
        if length >= best:
            break
        for e in range(graph.starts[node], graph.starts[node + 1]):
            head = graph.heads[e]
            met += 1
            if part[head] != own or seen[head] == stamp:
                continue
            if closing[head] == stamp:
                return length, met
            seen[head], depth[head], queue[last] = stamp, depth[node] + 1, head
            last += 1
    return best, met


@njit(cache=True, error_model="numpy")
def scan_parts(graph, part, order, group, best, root):
    """OUT ``best, root``: of each group, the shortest cycle so far; ``part``: -1 where no shorter cycle can pass.

    A node whose search is done is taken out.  Once a part has paid for as many edges as it has, it is left alone:
    without those nodes it may have come apart.
    """
    n, stamp, at = part.shape[0], 0, 0
    closing, seen = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    queue, depth = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    while at < order.shape[0]:
        own, end, edges, met = part[order[at]], at, 0, 0
        while end < order.shape[0] and part[order[end]] == own:
            edges += graph.starts[order[end] + 1] - graph.starts[order[end]]
            end += 1
        g = group[order[at]]
        for place in range(at, end):
            node = order[place]
            if end - at == 1 or best[g] == 2:
                part[node] = -1
                continue
            if met > edges:
                break
            stamp += 1
            length, cost = shorter_than(graph, node, part, best[g], stamp, closing, seen, queue, depth)
            if length < best[g]:
                best[g], root[g] = length, node
            met += cost
            part[node] = -1
        at = end


@njit(cache=True, error_model="numpy")
def trace_cycle(graph, root, group, edges, turn):
    """OUT ``edges``: numbers of the edges of a shortest cycle through ``root``; ``edges`` is as long as it is.

    OUT ``turn``: when whose search should be made.  A group comes apart soonest without the nodes of a cycle, or
    without those close to each other; which of the two is sooner depends on the graph, so they take turns.
    """
    n = group.shape[0]
    via, come_from = np.full(n, -1), np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    queue[0], first, last = root, 0, 1
    turn[root] = 0
    while first < last:
        node = queue[first]
        first += 1
        for e in range(graph.starts[node], graph.starts[node + 1]):
            head = graph.heads[e]
            if group[head] != group[root] or via[head] >= 0:
                continue
            via[head], come_from[head] = e, node
            if head == root:
                for place in range(edges.shape[0] - 1, -1, -1):
                    edges[place] = via[head]
                    turn[head] = min(turn[head], 2 * place)
                    head = come_from[head]
                return
            queue[last], turn[head] = head, 2 * last + 1
            last += 1
