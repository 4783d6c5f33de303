"""Graded groups -> comparisons: within a group, every row is better than every row with a lower grade."""

from typing import Any, NamedTuple

import numpy as np

MOST_PAIRS = 50_000_000


class GroupPairs(NamedTuple):
    """All comparisons that grades imply, and the product of their rows' weights."""

    pairs: np.ndarray
    weight: np.ndarray | None


def pairs_of_groups(grades: np.ndarray, groups: np.ndarray | None, weight: Any) -> GroupPairs:
    """List the pairs, better row first, group by group.

    A pair of rows with weights u and v weighs u v: that is what u copies of one and v copies of the other imply.
    """
    groups = np.zeros(grades.size, dtype=np.int64) if groups is None else np.unique(groups, return_inverse=True)[1]
    by_group = np.argsort(groups, kind="stable")
    edges = np.flatnonzero(np.diff(groups[by_group])) + 1
    members = np.split(by_group, edges)
    implied = sum(rows.size**2 for rows in members) // 2
    if implied > MOST_PAIRS:
        message = (
            f"y and qid imply up to {implied:.2g} pairs, and this version lists them: at most {MOST_PAIRS:.2g}; "
            "use smaller groups, or fit_pairs on a sample of the pairs"
        )
        raise ValueError(message)
    found = []
    for rows in members:
        better, worse = np.nonzero(grades[rows][:, None] > grades[rows][None, :])
        found.append(np.column_stack([rows[better], rows[worse]]))
    pairs = np.concatenate(found)
    return GroupPairs(pairs, None if weight is None else weight[pairs[:, 0]] * weight[pairs[:, 1]])
