"""Data that the benchmarks share; every generator takes a seed, and files come from the folder SOFTMARGIN_DATA."""

import gzip
import os
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

FILES = Path(os.environ.get("SOFTMARGIN_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


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


def badly_scaled(rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The same, with columns of sizes from 1e-3 to 1e3."""
    X, y = tall_noisy(rows, columns, seed=seed)
    return X * np.logspace(-3, 3, columns), y


def duplicated(rows: int, columns: int, copies: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Every row many times, with the same label most of the time."""
    X, y = tall_noisy(rows, columns, seed=seed)
    rng = np.random.default_rng(seed + 1)
    order = rng.permutation(np.repeat(np.arange(rows), copies))
    return X[order], np.where(rng.random(order.size) < 0.05, -y[order], y[order])


def a9a() -> tuple[sparse.csr_matrix, np.ndarray]:
    """UCI Adult: 32,561 x 123, binary features."""
    return _svmlight("svm_a9a/a9a.gz", 123)


def agaricus() -> tuple[sparse.csr_matrix, np.ndarray]:
    """Mushrooms: 6,513 x 127, binary features; separable."""
    return _svmlight("svm_agaricus/agaricus.train.gz", 127)


def higgs() -> tuple[np.ndarray, np.ndarray]:
    """7,000 x 28, dense, hard for a linear model."""
    table = np.loadtxt(FILES / "svm_higgs7k/binary.train.tsv.gz")
    return np.ascontiguousarray(table[:, 1:]), np.where(table[:, 0] > 0, 1, -1)


def satimage() -> tuple[np.ndarray, np.ndarray]:
    """Satellite images: 6,435 x 36, 6 classes, divided by 255."""
    table = np.loadtxt(FILES / "multi_satimage/satimage.dat.gz", delimiter=",", comments="@")
    return np.ascontiguousarray(table[:, :-1]) / 255.0, table[:, -1].astype(int)


def mnist() -> tuple[np.ndarray, np.ndarray]:
    """Digits: 5,000 x 784, 10 classes, divided by 255."""
    table = np.loadtxt(FILES / "multi_mnist5k/mnist_5k.csv.gz", delimiter=",")
    return np.ascontiguousarray(table[:, :-1]) / 255.0, table[:, -1].astype(int)


@cache
def _svmlight(path: str, columns: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    X, y = load_svmlight_file(BytesIO(gzip.decompress((FILES / path).read_bytes())), n_features=columns)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # most peers take no others
    return X, np.where(y > 0, 1, -1)
