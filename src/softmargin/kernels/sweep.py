"""All pairs of graded groups without listing one: sorted scores, a tree over grades, and a window that slides.

A group's rows stand by grade.  A node of its tree cuts a range of grades in two; its pairs are *upper row over lower
row*, and every pair with different grades belongs to exactly one node.  With both halves sorted by score, the pairs of
an upper row that lack something are the lower rows above a bound that falls as the row's score falls: a window with
two pointers, and sums that change only by what enters, what leaves and how far the row has moved.

Of a pair that lacks ``short = required - (score[upper] - score[lower])`` the dual is

    dual = price mass[upper] mass[lower] (rate short where 0 < short < width, most where it is more)

with ``rate width = most = 1`` for the hinge (smoothed; exact as the width shrinks), and rate 2 without a limit for its
square.
Source: Joachims (2006), Airola et al. (2011) and Lee and Lin (2014) sort and count; the dual sums are ours.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from softmargin.kernels.constraints import of

BY_INSERTION = 64  # rows of a group, beyond which NumPy sorts faster (measured)


class Forest(NamedTuple):
    """Graded groups: places ``starts[g]:starts[g + 1]`` hold the rows of group g, lowest grade first.

    Node k covers places ``nodes[k, 0]:nodes[k, 2]``; from ``nodes[k, 1]`` on they are of a higher grade than before.
    Nodes ``roots[g]:roots[g + 1]`` are the tree of group g, each before those inside it.
    """

    starts: np.ndarray
    roots: np.ndarray
    nodes: np.ndarray
    required: np.ndarray  # by group, or one for all
    price: np.ndarray  # by group, or one for all
    mass: np.ndarray  # by place, or one for all


class Sorted(NamedTuple):
    """Places and their scores, by score within each group."""

    places: np.ndarray
    scores: np.ndarray


class Rule(NamedTuple):
    """How a pair's dual follows what the pair lacks: ``rate short`` within ``width``, and ``most`` beyond it."""

    width: float
    rate: float
    most: float


HINGE = Rule(0.0, 0.0, 1.0)  # as it is: whatever lacks something pulls with its price
SQUARED_HINGE = Rule(np.inf, 2.0, 0.0)


class Stage(NamedTuple):
    """Room for one thread: what a node sorts into its halves."""

    places: np.ndarray
    scores: np.ndarray
    spare_places: np.ndarray
    spare_scores: np.ndarray


def forest_of(starts: np.ndarray, levels: np.ndarray, *terms: np.ndarray) -> Forest:
    """Plant it; ``levels`` are the places where a new grade begins, ``terms`` are required, price and mass."""
    first_level = np.searchsorted(levels, starts)
    counts = np.maximum(np.diff(first_level) - 1, 0)
    roots, nodes = np.empty(starts.size, dtype=np.int64), np.empty((int(counts.sum()), 3), dtype=np.int64)
    plant(starts, levels, first_level, roots, nodes)
    return Forest(starts, roots, nodes, *terms)


@njit(cache=True, nogil=True, error_model="numpy")
def plant(starts, levels, first_level, roots, nodes):
    """OUT ``roots, nodes``: a tree for each group, cut where the halves are most alike in size.

    ``levels[first_level[g]:first_level[g + 1]]`` are the places where a new grade begins in group g.
    """
    waiting = np.empty((levels.shape[0] + 1, 2), dtype=np.int64)  # ranges of levels
    k = 0
    for g in range(starts.shape[0] - 1):
        roots[g] = k
        waiting[0, 0], waiting[0, 1], depth = first_level[g], first_level[g + 1], 1
        while depth > 0:
            depth -= 1
            low, high = waiting[depth]
            if high - low < 2:
                continue
            start = levels[low]
            stop = levels[high] if high < first_level[g + 1] else starts[g + 1]
            cut = low + 1 + np.searchsorted(levels[low + 1 : high - 1], (start + stop) // 2)
            if cut > low + 1 and (start + stop) // 2 - levels[cut - 1] < levels[cut] - (start + stop) // 2:
                cut -= 1
            nodes[k, 0], nodes[k, 1], nodes[k, 2] = start, levels[cut], stop
            waiting[depth, 0], waiting[depth, 1] = cut, high
            waiting[depth + 1, 0], waiting[depth + 1, 1] = low, cut
            depth += 2
            k += 1
    roots[starts.shape[0] - 1] = k


@njit(cache=True, nogil=True, error_model="numpy")
def mass_of_pairs(forest, total):
    """OUT ``total``: += the pairs of each group, each as heavy as the product of its rows; nothing cancels."""
    mass, one = forest.mass, forest.mass.shape[0] == 1
    for g in range(forest.starts.shape[0] - 1):
        for k in range(forest.roots[g], forest.roots[g + 1]):
            low, middle, high = forest.nodes[k]
            if one:
                total[g] += mass[0] * mass[0] * (high - middle) * (middle - low)
            else:
                total[g] += mass[middle:high].sum() * mass[low:middle].sum()


@njit(cache=True, nogil=True, error_model="numpy")
def list_pairs(forest, upper, lower, group):
    """OUT ``upper, lower, group``: the places of every pair, and its group; for solvers that cannot do without."""
    t = 0
    for g in range(forest.starts.shape[0] - 1):
        for k in range(forest.roots[g], forest.roots[g + 1]):
            low, middle, high = forest.nodes[k]
            for i in range(middle, high):
                for j in range(low, middle):
                    upper[t], lower[t], group[t] = i, j, g
                    t += 1


@njit(cache=True, nogil=True, error_model="numpy")
def sort_small(starts, scores, by_score, groups):
    """OUT ``by_score``: sorted in a range of groups where they are small, from the order they were in before."""
    for g in range(*groups):
        start, stop = starts[g], starts[g + 1]
        if stop - start > BY_INSERTION:
            continue
        for i in range(start, stop):
            place = by_score.places[i]
            score, j = scores[place], i
            while j > start and by_score.scores[j - 1] > score:
                by_score.places[j], by_score.scores[j] = by_score.places[j - 1], by_score.scores[j - 1]
                j -= 1
            by_score.places[j], by_score.scores[j] = place, score


@njit(cache=True, nogil=True, error_model="numpy")
def bring_in(by_score, start, stop, offset, stage):
    """OUT ``stage``: the sorted places of a group, at the beginning of the room."""
    for i in range(start, stop):
        stage.places[i - offset], stage.scores[i - offset] = by_score.places[i], by_score.scores[i]


@njit(cache=True, nogil=True, error_model="numpy")
def halve(stage, start, middle, stop, offset):
    """OUT ``stage``: the sorted places of a node, those of its lower grades first; each half stays sorted."""
    low, high = start - offset, 0
    for i in range(start - offset, stop - offset):
        place, score = stage.places[i], stage.scores[i]
        if place < middle:
            stage.places[low], stage.scores[low] = place, score
            low += 1
        else:
            stage.spare_places[high], stage.spare_scores[high] = place, score
            high += 1
    for i in range(high):
        stage.places[low + i], stage.scores[low + i] = stage.spare_places[i], stage.spare_scores[i]


@njit(cache=True, nogil=True, error_model="numpy")
def pull_of(forest, by_score, rule, upper, groups, stage, pull):
    """OUT ``pull``: += the duals of the pairs that each place is in, as the upper row or as the lower one.

    ``groups`` are the first and the end of a range.  Returns the sums over these pairs of the loss, the dual's gain and
    the residual (see ``kernels.sums.gap_terms``).
    """
    totals = np.zeros(3)
    for g in range(*groups):
        start, stop = forest.starts[g], forest.starts[g + 1]
        bring_in(by_score, start, stop, start, stage)
        for k in range(forest.roots[g], forest.roots[g + 1]):
            low, middle, high = forest.nodes[k]
            halve(stage, low, middle, high, start)
            ends = low - start, middle - start, high - start
            slide(stage, ends, upper, rule, (of(forest.required, g), of(forest.price, g)), forest.mass, pull, totals)
    return totals


@njit(cache=True, nogil=True, error_model="numpy")
def slide(stage, ends, upper, rule, terms, mass, pull, totals):
    """OUT ``pull, totals``: those of one node.

    Upper rows are met from the highest score down and lower rows from the lowest up, so that what their pairs lack
    only grows.  What leaves the window is taken off again at its widest, and an empty window is zero: no sum keeps the
    rounding of larger numbers than a window can hold.
    """
    places, scores = stage.places, stage.scores
    (width, rate, most), (required, price) = rule, terms
    one, squared = mass.shape[0] == 1, width == np.inf
    i, stop, step, sign, j, end = way(ends, upper)
    # Of the pairs of the present row: those inside the window, and those that have reached their most.
    inside, short, short2, beyond, far_short, previous, oldest = 0.0, 0.0, 0.0, 0.0, 0.0, sign * scores[i], j
    loss, gain, residual = 0.0, 0.0, 0.0
    while i != stop:
        here = sign * scores[i]
        moved, previous = here - previous, here
        short2 += moved * (2.0 * short + moved * inside)
        short += moved * inside
        far_short += moved * beyond
        while oldest != j:
            lacks = required - (sign * scores[oldest] - here)
            if lacks < width:
                break
            other = mass[0] if one else mass[places[oldest]]
            inside, beyond = inside - other, beyond + other
            short, far_short = short - other * lacks, far_short + other * lacks
            short2 -= other * lacks * lacks
            oldest += step
        if oldest == j:
            inside, short, short2 = 0.0, 0.0, 0.0
        while j != end:
            lacks = required - (sign * scores[j] - here)
            if not lacks > 0.0:
                break
            other = mass[0] if one else mass[places[j]]
            if lacks < width:
                inside += other
                short += other * lacks
                short2 += other * lacks * lacks
            else:  # then so is all that came before
                beyond += other
                far_short += other * lacks
                oldest += step
            j += step
        own = price * (mass[0] if one else mass[places[i]])
        held = beyond * most + rate * short
        pull[places[i]] += own * held
        loss += own * (short2 if squared else short + far_short)
        gain += own * (required * held - (short2 if squared else 0.0))
        residual += 0.0 if squared else own * max(0.0, short - rate * short2)
        i += step
    totals[0] += loss
    totals[1] += gain
    totals[2] += residual


@njit(cache=True, nogil=True, error_model="numpy")
def way(ends, upper):
    """Where the rows of one side begin and end, the step between them, its sign, and the same of their partners."""
    low, middle, high = ends
    if upper:
        return high - 1, middle - 1, -1, -1.0, middle - 1, low - 1
    return low, middle, 1, 1.0, middle, high


@njit(cache=True, nogil=True, error_model="numpy")
def bend_of(forest, by_score, rule, upper, groups, stage, V, out):
    """OUT ``out``: ``+= H V`` by place, H the slope of the pulls in the scores: a graph of the free pairs.

    Row i of H V is the sum over its free pairs of ``rate (V_i - V_j)``; this adds the pairs that i is the upper row
    of, or the lower one.
    """
    total = np.zeros(V.shape[1])
    for g in range(*groups):
        start, stop = forest.starts[g], forest.starts[g + 1]
        bring_in(by_score, start, stop, start, stage)
        for k in range(forest.roots[g], forest.roots[g + 1]):
            low, middle, high = forest.nodes[k]
            halve(stage, low, middle, high, start)
            ends, terms = (low - start, middle - start, high - start), (of(forest.required, g), of(forest.price, g))
            slide_vectors(stage, ends, upper, rule, terms, forest.mass, V, total, out)


@njit(cache=True, nogil=True, error_model="numpy")
def slide_vectors(stage, ends, upper, rule, terms, mass, V, total, out):
    """OUT ``out``: that of one node; ``total`` is the sum of the window's lines of V, mass times each."""
    places, scores = stage.places, stage.scores
    (width, rate, _), (required, price) = rule, terms
    one = mass.shape[0] == 1
    i, stop, step, sign, j, end = way(ends, upper)
    inside, oldest = 0.0, j
    total[:] = 0.0
    while i != stop:
        here = sign * scores[i]
        while oldest != j and not required - (sign * scores[oldest] - here) < width:
            other = mass[0] if one else mass[places[oldest]]
            inside -= other
            for c in range(total.shape[0]):
                total[c] -= other * V[places[oldest], c]
            oldest += step
        if oldest == j:
            inside = 0.0
            total[:] = 0.0
        while j != end:
            lacks = required - (sign * scores[j] - here)
            if not lacks > 0.0:
                break
            if lacks < width:
                other = mass[0] if one else mass[places[j]]
                inside += other
                for c in range(total.shape[0]):
                    total[c] += other * V[places[j], c]
            else:
                oldest += step
            j += step
        if oldest != j:
            own = rate * price * (mass[0] if one else mass[places[i]])
            for c in range(total.shape[0]):
                out[places[i], c] += own * (inside * V[places[i], c] - total[c])
        i += step
