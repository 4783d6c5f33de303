"""The files of the LIBLINEAR set, and what Python and the command line make of them: the same."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from softmargin import SoftMarginClassifier, load
from softmargin.cli.app import app
from softmargin.data import read_svmlight

GOOD = "1 1:1\n-1 1:-1\n"
# text, and whether it is read
FILES = {
    "empty": ("", False),
    "label only": ("1\n-1\n", False),
    "a label without values": (GOOD + "1\n", True),
    "no newline at the end": (GOOD[:-1], True),
    "CRLF": (GOOD.replace("\n", "\r\n"), True),
    "NUL": ("1 1:1\0\n" + GOOD, False),
    "BOM": ("\ufeff" + GOOD, True),
    "index 0": ("1 0:1\n" + GOOD, False),
    "index -1": ("1 -1:1\n" + GOOD, False),
    "index 2^31": (f"1 {2**31}:1\n" + GOOD, False),
    "index 2^32 + 1": (f"1 {2**32 + 1}:1\n" + GOOD, False),
    "index 2^63": (f"1 {2**63}:1\n" + GOOD, False),
    "unsorted": ("1 2:1 1:1\n" + GOOD, False),
    "duplicate": ("1 1:1 1:2\n" + GOOD, False),
    "no value": ("1 1:\n" + GOOD, False),
    "no index": ("1 :1\n" + GOOD, False),
    "garbage": ("garbage\n" + GOOD, False),
    "hexadecimal": ("1 1:0x1\n" + GOOD, False),
    "underscore": ("1 1:1_000\n" + GOOD, False),
    "nan": ("1 1:nan\n" + GOOD, False),
    "inf": ("1 1:inf\n" + GOOD, False),
    "1e400": ("1 1:1e400\n" + GOOD, False),
    "label nan": ("nan 1:1\n" + GOOD, False),
    "label 1e300": ("1e300 1:1\n" + GOOD, False),  # read, but no class
}


@pytest.mark.parametrize("case", FILES)
def test_python_and_the_command_line_agree(case, tmp_path):
    """What is read is fitted on the same rows; what is refused is refused with the same sentence, and keeps nothing."""
    text, fine = FILES[case]
    path, out = tmp_path / "data.svm", tmp_path / "m.sm"
    path.write_bytes(text.encode())
    result = CliRunner().invoke(app, ["fit", str(path), "-o", str(out), "--kind", "classifier", "--json"])
    if fine:
        X, y, _ = read_svmlight(path)
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout)["rows"] == len(y)
        assert np.array_equal(load(out).classes_, np.unique(y))
        assert load(out).n_features_in_ == X.shape[1]
        return
    assert result.exit_code == 2
    assert not out.exists()
    assert result.stderr == f"softmargin: {complaint(path)}\n"


def complaint(path):
    """What Python says of the file, or of a fit on it."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 the sentence is compared
        SoftMarginClassifier().fit(*read_svmlight(path)[:2])
    return " ".join(str(caught.value).split())
