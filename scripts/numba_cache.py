"""Name the folder of compiled kernels after the sources they were compiled from.

Numba checks only the file that holds a cached function. An edit in another file that was compiled into
it (an overload in kernels/rows.py) would go unnoticed and yesterday's machine code would run.
"""

from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def cache_dir(root: Path = ROOT) -> Path:
    """`.numba_cache/<hash>`, where every edit in any kernel gives another hash."""
    digest = sha256()
    for path in sorted((root / "src/softmargin/kernels").glob("**/*.py")):
        source = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(source)}\n".encode())
        digest.update(source)
    return root / ".numba_cache" / digest.hexdigest()


if __name__ == "__main__":
    print(cache_dir())
