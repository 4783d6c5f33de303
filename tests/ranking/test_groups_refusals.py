"""Bad grades, groups and weights are refused in one sentence, and the model is as it was."""

import numpy as np
import pytest
from scipy import sparse

from graded import graded
from refusal import refused
from softmargin import SoftMarginRanker

X, y, qid = graded(1)
N, G = y.size, 6


def bad(values, place, value):
    """The same values with another one in a place."""
    values = np.array(values, dtype=object if isinstance(value, str) else np.float64)
    values[place] = value
    return values


BAD = {
    "NaN in X": ((bad(X, (4, 1), np.nan), y, qid), {}, [r"\bX\b", "NaN", "row 4", "column 1"]),
    "inf in sparse X": ((sparse.csr_matrix(bad(X, (7, 2), np.inf)), y, qid), {}, [r"\bX\b", "row 7", "column 2"]),
    "NaN grade": ((X, bad(y, 3, np.nan), qid), {}, [r"y\[3\]", "(?i)nan"]),
    "infinite grade": ((X, bad(y, 5, -np.inf), qid), {}, [r"y\[5\]", "inf"]),
    "NaN grade in one group": ((X, bad(y, 3, np.nan)), {}, [r"y\[3\]", "(?i)nan"]),
    "text grade": ((X, bad(y, 3, "good"), qid), {}, [r"\by\b"]),
    "no grades": ((X, None, qid), {}, [r"\by\b"]),
    "short grades": ((X, y[:-1], qid), {}, [r"\by\b", str(N - 1), str(N)]),
    "grades a matrix": ((X, np.c_[y, y], qid), {}, [r"\by\b"]),
    "NaN group": ((X, y, bad(qid, 8, np.nan)), {}, [r"qid\[8\]", "(?i)nan"]),
    "short groups": ((X, y, qid[:-1]), {}, ["qid", str(N - 1)]),
    "groups a matrix": ((X, y, np.c_[qid, qid]), {}, ["qid"]),
    "sizes for groups": ((X, y, [7, 1, 5, 4, 9, 6]), {}, ["qid", "6"]),
    "groups of mixed kinds": ((X, y, [None, *map(str, qid[1:])]), {}, ["qid"]),
    "short weights": ((X, y, qid), {"sample_weight": np.ones(G - 1)}, ["sample_weight", str(G), str(N)]),
    "weights a matrix": ((X, y, qid), {"sample_weight": np.ones((G, 1))}, ["sample_weight"]),
    "negative group weight": ((X, y, qid), {"sample_weight": bad(np.ones(G), 2, -1)}, [r"sample_weight\[2\]", "-1"]),
    "NaN group weight": ((X, y, qid), {"sample_weight": bad(np.ones(G), 2, np.nan)}, [r"sample_weight\[2\]"]),
    "infinite row weight": ((X, y, qid), {"sample_weight": bad(np.ones(N), 11, np.inf)}, [r"sample_weight\[11\]"]),
    "huge group weight": ((X, y, qid), {"sample_weight": bad(np.ones(G), 2, 1e26)}, [r"sample_weight\[2\]"]),
    "no weight at all": ((X, y, qid), {"sample_weight": np.zeros(G)}, ["sample_weight", "zero"]),
    "text weights": ((X, y, qid), {"sample_weight": ["much"] * G}, ["sample_weight"]),
    "level grades": ((X, np.ones(N), qid), {}, [r"\by\b", "compare"]),
    "single rows": ((X, y, np.arange(N)), {}, [r"\by\b", "compare"]),
    "one row": ((X[:1], y[:1], qid[:1]), {}, [r"\by\b", "compare"]),
    "no rows": ((X[:0], y[:0], qid[:0]), {}, [r"\bX\b|0 sample"]),
}


@pytest.mark.parametrize("groups", ["pairs", "equal"])
@pytest.mark.parametrize("name", BAD)
def test_fit_refuses_and_stays_as_it_was(name, groups):
    """The sentence names argument and row; weights, balances, certificate and counts are those of the fit before."""
    arguments, more, named = BAD[name]
    model = SoftMarginRanker(groups=groups).fit(X, y, qid)
    before = {key: getattr(model, key) for key in ("certificate_", "groups_", "n_features_in_")}
    coef, dual = model.coef_.copy(), model.dual_.copy()
    refused(lambda: model.fit(*arguments, **more), *named)
    assert np.array_equal(model.coef_, coef)
    assert np.array_equal(model.dual_, dual)
    assert before == {key: getattr(model, key) for key in before}


@pytest.mark.parametrize("name", BAD)
def test_a_first_fit_that_is_refused_leaves_an_unfitted_model(name):
    """Nothing is learned, not even the number of columns, and the next fit is as if it were the first."""
    arguments, more, named = BAD[name]
    model = SoftMarginRanker()
    refused(lambda: model.fit(*arguments, **more), *named)
    assert not model.__sklearn_is_fitted__()
    assert vars(model) == vars(SoftMarginRanker())
    wide = np.c_[X, X]
    assert np.array_equal(model.fit(wide, y, qid).coef_, SoftMarginRanker().fit(wide, y, qid).coef_)


@pytest.mark.parametrize("value", ["mean", None, 1, True, "Pairs", ["pairs"]])
def test_groups_is_one_of_two_words(value):
    """Anything but "pairs" and "equal" is refused when it is used, by name."""
    refused(lambda: SoftMarginRanker(groups=value).fit(X, y, qid), "groups", "pairs", "equal")


def test_numbers_that_overflow_are_refused_or_solved_never_half():
    """Finite rows whose products are not: one sentence, or finite weights with a certificate that is a number."""
    for scale in (1e100, 1e155, 1e200, 1e300):
        for rows in (slice(None), slice(0, 1)):
            Z = X.copy()
            Z[rows] *= scale
            model = SoftMarginRanker()
            try:
                model.fit(Z, y, qid)
            except ValueError as error:
                assert "X" in str(error)  # noqa: PT017 it may be refused, or not
            else:
                assert np.isfinite(model.coef_).all()
                assert np.isfinite(model.certificate_.gap)
