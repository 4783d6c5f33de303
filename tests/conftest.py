"""What holds for every test: fresh kernels, and how hard Hypothesis tries."""

import os

from hypothesis import settings

from numba_cache import cache_dir

# Numba reads this once, when it is first imported: no import above may bring it in.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_dir()))

# SciPy reads this once too; without it scikit-learn leaves out its check of arrays that are not NumPy's.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# No deadline: the first example may compile a kernel. Same examples every time, except in a soak.
settings.register_profile("check", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("soak", deadline=None, max_examples=2000)
settings.load_profile("soak" if os.environ.get("SOFTMARGIN_SOAK") else "check")
