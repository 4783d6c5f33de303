"""A guard that never refuses guards nothing: each is shown what it must catch.

The faults are spelt in two pieces, or the guard would find them here.
"""

import pytest

from check_sizes import complaints
from numba_cache import cache_dir


@pytest.fixture
def repository(tmp_path):
    """An empty repository to put faults in."""

    def write(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("src/softmargin/long.py", "\n" * 401, "401 lines"),
        ("tests/deep/test_long.py", "\n" * 401, "401 lines"),
        ("src/softmargin/f.py", "@decorated\ndef f():\n" + "    pass\n" * 59, "f has 61 lines"),
        ("src/softmargin/f.py", "class A:\n    def f(self):\n" + "        pass\n" * 60, "f has 61 lines"),
        ("tests/test_a.py", "@pytest.mark.xf" + "ail(reason='later')", "every test runs"),
        ("tests/test_a.py", "np = pytest.import" + "orskip('pandas')", "every test runs"),
        ("docs/a.md", "see /ho" + "me/somebody/notes", "one machine"),
        ("README.md", "pip install --index" + "-url somewhere", "one machine"),
    ],
)
def test_faults_are_found(repository, path, text, why):
    """Each fault is one line that names the file and the reason."""
    (complaint,) = complaints(repository(path, text))
    assert complaint.startswith(f"{path}:")
    assert why in complaint


def test_what_is_allowed_passes(repository):
    """The limits themselves are allowed, and so are relative paths and links."""
    repository("src/softmargin/f.py", "def f():\n" + "    pass\n" * 59 + "\n" * 340)
    root = repository("docs/a.md", "see ../home/a.md, or https://example.org/home/a, and skip the rest")
    assert list(complaints(root)) == []


def test_every_kernel_source_changes_the_cache_folder(repository):
    """An edit, a new file and a moved line between two files all count."""
    seen = {cache_dir(repository("src/softmargin/kernels/rows.py", "a = 1\n"))}
    seen.add(cache_dir(repository("src/softmargin/kernels/rows.py", "a = 2\n")))
    seen.add(cache_dir(repository("src/softmargin/kernels/deep/more.py", "")))
    seen.add(cache_dir(repository("src/softmargin/kernels/deep/more.py", "a = 2\n")))
    seen.add(cache_dir(repository("src/softmargin/kernels/rows.py", "")))
    assert len(seen) == 5
    assert cache_dir(repository("src/softmargin/solvers/other.py", "b = 1\n")) in seen
