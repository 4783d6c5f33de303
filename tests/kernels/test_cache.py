"""Compiled code is kept where it can be, and where it cannot, the library works all the same."""

import os
import subprocess
import sys
from pathlib import Path

# A user who may write nowhere: neither beside the code, which root installed, nor at home, which is not there.
NOWHERE = """
import numba.core.caching as caching
for place in (caching.InTreeCacheLocator, caching.UserWideCacheLocator):
    place.from_function = classmethod(lambda *_: None)
import os, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from softmargin import SoftMarginRanker
print(*(str(warning.message) for warning in told if warning.category is RuntimeWarning))
print(SoftMarginRanker(lam=1.0).partial_fit_pairs([[1.0], [0.0]], [(0, 1)]).coef_)
from numba import config
print(config.CACHE_DIR, os.path.isdir(config.CACHE_DIR))
"""


def test_a_user_who_may_write_nowhere_is_told_and_served():
    """One sentence names the variable that helps, the stream is learned, and nothing is left behind."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": ""}
    done = subprocess.run(  # noqa: S603 our own program
        [sys.executable, "-c", NOWHERE], env=environment, capture_output=True, text=True, check=True
    )
    told, weights, folder = done.stdout.splitlines()
    path, made = folder.split()
    assert "NUMBA_CACHE_DIR" in told
    assert weights == "[1.]"
    assert made == "True"
    assert not Path(path).exists()
