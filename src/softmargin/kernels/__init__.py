"""Compiled inner loops.  NumPy and Numba only; arrays and numbers in, arrays filled; no classes, no data files."""

import atexit
import shutil
import tempfile
import warnings

from numba import config, njit


def _keep_compiled_code() -> None:
    """Numba refuses to define a cached kernel where it may write neither beside the code nor at home.

    So it is with a service that has no home, on code that another user installed.  Such a process compiles for itself.
    """
    try:
        njit(cache=True)(_keep_compiled_code)  # looks for a folder, and compiles nothing
    except RuntimeError:
        folder = tempfile.mkdtemp(prefix="softmargin-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        config.CACHE_DIR = folder  # type: ignore[attr-defined]  # Numba makes its settings as it is imported
        message = "no folder can be written to for compiled code, so each process compiles anew: set NUMBA_CACHE_DIR"
        warnings.warn(message, RuntimeWarning, stacklevel=2)


_keep_compiled_code()
