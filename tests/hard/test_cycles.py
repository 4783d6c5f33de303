import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from refusal import refused
from softmargin import find_cycles


def lengths_of_shortest(pairs):
    """How long a shortest cycle of each strongly connected group is, from all distances."""
    n = pairs.max() + 1
    over = np.zeros((n, n))
    over[pairs[:, 0], pairs[:, 1]] = 1.0
    round_trip = np.where(over.T > 0, shortest_path(over, unweighted=True) + 1.0, np.inf)
    group = connected_components(csr_array(over), connection="strong")[1]
    sizes = [(g, np.sum(group == g)) for g in np.unique(group)]
    return sorted(round_trip[np.ix_(group == g, group == g)].min() for g, size in sizes if size > 1)


def are_cycles(cycles, pairs):
    """Each item is over the next, and the last over the first; no item comes twice, nor do two cycles share one."""
    said = set(map(tuple, np.asarray(pairs).tolist()))
    for cycle in cycles:
        assert all(step in said for step in zip(cycle, cycle[1:] + cycle[:1], strict=True))
    items = [item for cycle in cycles for item in cycle]
    assert len(set(items)) == len(items)


@given(st.integers(0, 10**6))
def test_shortest_cycles_against_all_distances(seed):
    """One cycle a strongly connected group, as short as any in it."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, rng.integers(2, 16), (rng.integers(1, 40), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if len(pairs):
        cycles = find_cycles(pairs)
        are_cycles(cycles, pairs)
        assert sorted(map(len, cycles)) == lengths_of_shortest(pairs)


def test_pairs_that_agree_have_no_cycle():
    """Comparisons by any score."""
    rng = np.random.default_rng(1)
    score, pairs = rng.normal(size=5000), rng.integers(0, 5000, (100_000, 2))
    pairs = pairs[score[pairs[:, 0]] > score[pairs[:, 1]]]
    assert find_cycles(pairs) == []
    best, worst = int(np.argmax(score)), int(np.argmin(score))
    cycles = find_cycles(np.r_[pairs, [[worst, best]]])
    are_cycles(cycles, np.r_[pairs, [[worst, best]]])
    assert len(cycles) == 1


@pytest.mark.nojit
def test_two_answers_and_any_names():
    """A cycle of two; items may have any numbers; cycles begin at their smallest item."""
    assert find_cycles([(7, 10**15), (10**15, 7), (3, 7)]) == [[7, 10**15]]
    assert find_cycles([(2, 0), (0, 1), (1, 2), (5, 4), (4, 5), (2, 4)]) == [[0, 1, 2], [4, 5]]
    assert find_cycles([(1.0, 2.0), (2.0, 1.0)]) == [[1, 2]]


LARGE = np.arange(100_000)
GRID = np.arange(100 * 100).reshape(100, 100)
DOWN, RIGHT = (np.c_[GRID.ravel(), np.roll(GRID, 1, axis).ravel()] for axis in (0, 1))
GRAPHS = {
    "ring": (np.c_[LARGE, np.roll(LARGE, -1)], 100_000),
    "ring with shortcuts": (np.r_[np.c_[LARGE, np.roll(LARGE, -1)], np.c_[LARGE, np.roll(LARGE, -2)]], 50_000),
    "torus": (np.r_[DOWN, RIGHT], 100),
    "crowd": (np.random.default_rng(2).integers(0, 1000, (100_000, 2)), 2),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("shuffled", [False, True])
def test_large_graphs_take_bounded_time(shuffled, name):
    """Exactly shortest also where cycles are long, whatever the order of the items."""
    pairs, length = GRAPHS[name]
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if shuffled:
        pairs = np.random.default_rng(3).permutation(pairs.max() + 1)[pairs]
    cycles = find_cycles(pairs)
    are_cycles(cycles, pairs)
    assert [len(cycle) for cycle in cycles] == [length]


@pytest.mark.parametrize(
    ("pairs", "named"),
    [
        ([(0, 1), (2, 2)], [r"pairs\[1\]", "itself"]),
        ([(0, -1)], [r"pairs\[0\]"]),
        ([(0, 0.5)], ["pairs", "whole"]),
        ([(0, np.nan)], ["pairs"]),
        ([(0, 1, 2)], ["pairs", "shape"]),
        ([], ["pairs"]),
        ([("a", "b")], ["pairs"]),
        (None, ["pairs"]),
    ],
)
def test_bad_pairs_are_refused(pairs, named):
    """In one sentence that names the line."""
    refused(lambda: find_cycles(pairs), *named)
