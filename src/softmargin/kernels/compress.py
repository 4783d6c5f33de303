"""From dense rows to what is not zero in them."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def count_stored(X, indptr):
    """OUT ``indptr``: where each row begins among the numbers that are not zero."""
    for t in range(X.shape[0]):
        count = 0
        for j in range(X.shape[1]):
            count += X[t, j] != 0.0
        indptr[t + 1] = indptr[t] + np.uint64(count)


@njit(cache=True, nogil=True, error_model="numpy")
def store(X, indptr, data, indices):
    """OUT ``data, indices``: the numbers that are not zero, and their columns."""
    for t in range(X.shape[0]):
        place = indptr[t]
        for j in range(X.shape[1]):
            if X[t, j] != 0.0:
                data[place], indices[place] = X[t, j], j
                place += np.uint64(1)
