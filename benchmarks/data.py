"""Data that the benchmarks share; every generator takes a seed."""

import numpy as np
from scipy import sparse


def text_like(rows: int, columns: int, words: int, seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Sparse rows of length 1 with Zipf-like columns, and labels from random weights with noise."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / (np.arange(columns) + 10.0)
    drawn = rng.choice(columns, size=rows * words, p=frequency / frequency.sum())
    values = np.abs(rng.normal(size=rows * words)) + 0.1
    X = sparse.csr_matrix((values, (np.repeat(np.arange(rows), words), drawn)), shape=(rows, columns))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()), np.diff(X.indptr))
    score = X @ rng.normal(size=columns)
    return X, np.where(score + 0.3 * score.std() * rng.normal(size=rows) > 0, 1, -1)


def tall_noisy(rows: int, columns: int, flipped: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Dense normal rows, labels from random weights, a share of them flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = np.where(X @ rng.normal(size=columns) > 0, 1, -1)
    return X, np.where(rng.random(rows) < flipped, -y, y)
