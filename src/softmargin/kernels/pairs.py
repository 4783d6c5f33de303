"""Counts pairs of rows without listing them: a merge sort meets every pair that is the wrong way round."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def count_pairs(starts, grade, score, counts):
    """OUT ``counts[g]``: pairs of group g; of these tied in grade, in score, in both; and the wrong way round.

    Group g is ``starts[g]:starts[g + 1]``, its rows sorted by grade and, within a grade, by score.
    OUT ``score``: sorted within each group.
    """
    spare = np.empty_like(score)
    for g in range(starts.shape[0] - 1):
        first, last = starts[g], starts[g + 1]
        same_grade, same, of_grade, of_both = 0, 0, 0, 0
        for i in range(first + 1, last):
            of_both = of_both + 1 if grade[i] == grade[i - 1] and score[i] == score[i - 1] else 0
            of_grade = of_grade + 1 if grade[i] == grade[i - 1] else 0
            same_grade, same = same_grade + of_grade, same + of_both
        wrong = sort_and_count(score, spare, first, last)
        same_score, of_score = 0, 0
        for i in range(first + 1, last):
            of_score = of_score + 1 if score[i] == score[i - 1] else 0
            same_score += of_score
        size = last - first
        counts[g, 0], counts[g, 1], counts[g, 2] = size * (size - 1) // 2, same_grade, same_score
        counts[g, 3], counts[g, 4] = same, wrong


@njit(cache=True, nogil=True, error_model="numpy")
def sort_and_count(values, spare, first, last):
    """OUT ``values[first:last]``: sorted; returns how many pairs had the larger value first."""
    wrong, width = 0, 1
    while width < last - first:
        for low in range(first, last - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, last)
            if values[middle - 1] <= values[middle]:
                continue
            left, right = low, middle
            for place in range(low, high):
                if right == high or (left < middle and values[left] <= values[right]):
                    spare[place] = values[left]
                    left += 1
                else:
                    spare[place] = values[right]
                    right += 1
                    wrong += middle - left
            values[low:high] = spare[low:high]
        width *= 2
    return wrong
