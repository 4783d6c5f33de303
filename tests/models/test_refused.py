"""A file that is not, to the last byte, what `save` wrote is refused in one sentence; none executes, none crashes."""

import io
import json
import os
import pickle
import random
import struct
import sys
import threading
import tracemalloc
import warnings
import zipfile
from hashlib import sha256

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from cases import comparisons, stream
from refusal import one_sentence
from softmargin import (
    BayesianLinearRegression,
    PreferencePosterior,
    SoftMarginClassifier,
    SoftMarginRanker,
    load,
    save,
)

FILES = 100_000 if os.environ.get("SOFTMARGIN_SOAK") else 1_000
HEAD = struct.Struct("<12sIQ")
START = HEAD.size + 32
WATCHED = {"thread": None}
SEEN = []
RUNS = {"exec", "compile", "pickle", "marshal", "import", "subprocess", "os.system"}


def watch(event, _):
    """Everything that an interpreter does to run code that came from elsewhere."""
    if WATCHED["thread"] == threading.get_ident() and {event, event.split(".")[0]} & RUNS:
        SEEN.append(event)


sys.addaudithook(watch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for files of this module."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def written(folder):
    """The bytes of some model files, of a few thousand bytes each."""
    two, several, told = stream(1, T=12, d=3), stream(2, T=20, d=3, classes=3), comparisons(3, T=9, d=3, items=6)
    names = np.array(["a", "b", "c"])
    posterior = PreferencePosterior(told.X)
    posterior.answer(0, 1, "left", judge="ann")
    posterior.answer(1, 2, "equal")
    models = [
        SoftMarginClassifier(random_state=np.random.RandomState(1)).fit(two.X, two.label),
        SoftMarginClassifier(lam=0.1, class_weight={"a": 2.0}).partial_fit(
            several.X, names[several.label], classes=names
        ),
        SoftMarginRanker().fit_pairs(told.X, told.pairs),
        SoftMarginRanker(C=np.inf),
        BayesianLinearRegression().partial_fit(two.X, two.label).partial_fit(two.X[:1], [1.0]),
        BayesianLinearRegression(likelihood="student_t").partial_fit(csr_matrix(two.X), two.label),
        posterior,
    ]
    path, found = folder / "written.sm", []
    for model in models:
        save(model, path)
        found.append(path.read_bytes())
        load(path)  # all that is imported on the way is there before anybody watches
    return found


def parts(data):
    """The header of a file as text, and its arrays as bytes."""
    _, _, length = HEAD.unpack(data[: HEAD.size])
    return data[START : START + length], data[START + length :]


def sealed(text, arrays=b"", version=1, magic=b"\x93SOFTMARGIN\n", length=None):
    """A file with this header and these bytes, and with the hash that belongs to them."""
    head = HEAD.pack(magic, version, len(text) if length is None else length)
    return head + sha256(head + text + arrays).digest() + text + arrays


def verdict(path, data):
    """What `load` says to these bytes: its one sentence, or the model that it makes of them."""
    path.write_bytes(data)
    SEEN.clear()
    WATCHED["thread"] = threading.get_ident()
    try:
        found = load(path)
    except ValueError as error:
        found = str(error)
        assert found.startswith(f"{path} ")
        assert one_sentence(found.removeprefix(str(path))), found
    finally:
        WATCHED["thread"] = None
    assert SEEN == []
    return found


def damaged(data, draw):
    """The same bytes with some that are wrong, missing, doubled or strange; never the same."""
    kind, at = draw.randrange(6), draw.randrange(len(data))
    size = draw.choice([1, 1, 2, 8, 60])
    if kind == 0:
        return data[:at] + bytes([data[at] ^ (1 << draw.randrange(8))]) + data[at + 1 :]
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + draw.randbytes(size) + data[at:]
    if kind == 3:
        return data[:at] + data[at + size :]
    if kind == 4:
        return data + draw.randbytes(size)
    return data[:at] + bytes([255 - byte for byte in data[at : at + size]]) + data[at + size :]


X = np.ones((2, 3))
USES = (
    repr,
    lambda model: model.predict(X),
    lambda model: model.partial_fit(X, ["a", "b"]),
    lambda model: model.partial_fit(X, [1.0, 2.0]),
    lambda model: model.mean_,
    lambda model: model.answer(0, 1, "left"),
    lambda model: model.suggest(),
)
ODD = [None, True, -1, 0, 1, 2**31, 2**62, 10**400, 1e308, "", "x", "__class__", [], [[]], {}, {"array": 0},
       {"array": 99}, {"array": -1}, {"tuple": [1]}, {"dict": []}, {"dict": [[[], 1]]}, {"float": "nan"},
       {"float": "2"}, {"texts": [0, 1, 5]}, {"objects": [[1], {}]}, {"record": ["Plan", {}]},
       {"record": ["os.system", {"command": "true"}]}, {"random_state": 0}]  # fmt: skip


def bent(data, draw):
    """The file with one value of its header replaced by a strange one or by another of its own, and the right hash."""
    text, arrays = parts(data)
    header = json.loads(text)
    places = []

    def look(value):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            places.append((value, key))
            if isinstance(part, (dict, list)):
                look(part)

    look(header)
    inside, key = draw.choice(places)
    other, name = draw.choice(places)
    inside[key] = draw.choice([draw.choice(ODD), other[name]])
    try:
        text = json.dumps(header).encode()
    except ValueError:  # a value that now holds itself
        return bent(data, draw)
    if draw.random() < 0.3 and arrays:
        at = draw.randrange(len(arrays))
        arrays = arrays[:at] + draw.randbytes(min(8, len(arrays) - at)) + arrays[at + 8 :]
    return sealed(text, arrays)


def test_the_watch_is_awake():
    """What it would have to see in a file, it sees."""
    SEEN.clear()
    WATCHED["thread"] = threading.get_ident()
    compile("1", "file", "eval")
    pickle.loads(pickle.dumps(Bomb))  # noqa: S301  our own
    WATCHED["thread"] = None
    assert {"compile", "pickle.find_class"} <= {*SEEN}


def test_no_damaged_file_is_loaded(written, folder):
    """Flipped, cut, inserted, deleted and appended bytes: each file is refused, and nothing is run on the way."""
    draw = random.Random(0 if FILES == 1_000 else None)  # noqa: S311  no secret
    for _ in range(FILES):
        data = damaged(draw.choice(written), draw)
        found = verdict(folder / "damaged.sm", data)
        assert isinstance(found, str) or data in written


def test_a_file_that_was_cut_off_anywhere_is_refused(written, folder):
    """At every byte."""
    data = min(written, key=len)
    for end in range(len(data)):
        assert isinstance(verdict(folder / "cut.sm", data[:end]), str)


def test_a_forged_file_with_the_right_hash_is_refused_or_harmless(written, folder):
    """Whatever stands in the header, there is one sentence, or a model that answers or refuses like any other."""
    draw, loaded = random.Random(1 if FILES == 1_000 else None), 0  # noqa: S311  no secret
    for _ in range(FILES):
        found = verdict(folder / "forged.sm", bent(draw.choice(written), draw))
        if isinstance(found, str):
            continue
        loaded += 1
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            for use in USES:
                try:
                    use(found)
                except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                    continue
    assert FILES / 50 < loaded < FILES


HUGE = {"kind": "f8", "shape": [2**31, 2**31], "order": "C", "begin": 0, "end": 2**65}
NOTHING = {"arrays": [], "class": "SoftMarginRanker", "softmargin": "1", "columns": None, "state": {}}
LIES = {
    "nothing at all": (b"", "empty"),
    "a header of 2^60 bytes": (sealed(b"{}", length=2**60), "at most"),
    "a header beyond the end": (sealed(b"{}", length=1000), "cut off"),
    "another version": (sealed(b"{}", version=2), "version 2"),
    "version 0": (sealed(b"{}", version=0), "version 0"),
    "another beginning": (sealed(b"{}", magic=b"\x93SOFTMARGIX\n"), "no model file"),
    "no JSON": (sealed(b"{"), "JSON"),
    "not UTF-8": (sealed(b"\xff{}"), "JSON"),
    "a list": (sealed(b"[]"), "JSON object"),
    "NaN": (sealed(b'{"class": NaN}'), "NaN"),
    "a key twice": (sealed(b'{"class": 1, "class": 2}'), "twice"),
    "100,000 brackets": (sealed(b"[" * 100_000), "nested"),
    "a number of 10,000 digits": (sealed(b'{"class": ' + b"1" * 10_000 + b"}"), "JSON"),
    "no arrays": (sealed(b'{"class": "SoftMarginRanker"}'), "arrays"),
    "100,000 arrays": (sealed(json.dumps({"arrays": [0] * 100_000}).encode()), "arrays"),
    "an array of 2^65 bytes": (sealed(json.dumps({"arrays": [HUGE]}).encode()), "array 0"),
    "an array of objects": (sealed(json.dumps({"arrays": [{**HUGE, "kind": "O8"}]}).encode()), "array 0"),
    "bytes of no array": (sealed(b'{"arrays": []}', b"1234"), "4 bytes more"),
    "an unknown class": (sealed(json.dumps({**NOTHING, "class": "os.system"}).encode()), "os.system"),
    "no state": (sealed(b'{"arrays": [], "class": "SoftMarginRanker", "softmargin": "1"}'), "state"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_told_by_name(folder, lie):
    """Sizes, versions, names and shapes that are not so are refused for what they are, before memory is taken."""
    data, told = LIES[lie]
    verdict(folder / "lie.sm", data)  # a module may be imported for it, once
    tracemalloc.start()
    found = verdict(folder / "lie.sm", data)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(found, str)
    assert told in found
    assert most < 20e6


def test_arrays_lie_one_after_the_other(written, folder):
    """Two arrays in the same place, a gap, or one that goes beyond the end: each is refused."""
    text, arrays = parts(written[0])
    for change in ({"begin": 8}, {"end": 2**40}, {"begin": -8}, {"shape": [2**40]}, {"order": "K"}, {"more": 1}):
        header = json.loads(text)
        header["arrays"][0].update(change)
        assert "array 0" in verdict(folder / "lie.sm", sealed(json.dumps(header).encode(), arrays))


def test_rows_that_wait_cannot_lead_beyond_their_numbers(written, folder):
    """Ends of sparse rows that are negative, too large, or fall where a difference wraps around: each is refused."""
    text, arrays = parts(written[5])
    line = next(line for line in json.loads(text)["arrays"] if (line["kind"], line["shape"]) == ("i4", [13]))
    ends = np.frombuffer(arrays[line["begin"] : line["end"]], dtype=np.int32)
    for place, value in ((5, -1), (12, -2024978739), (11, 10**9), (5, 1191746134), (0, 1)):
        forged = ends.copy()
        forged[place] = value
        forged[6] = -2109681052 if value == 1191746134 else forged[6]
        data = arrays[: line["begin"]] + forged.tobytes() + arrays[line["end"] :]
        assert "do not belong to one regression" in verdict(folder / "ends.sm", sealed(text, data))


def test_other_parameters_than_those_of_the_class_are_refused_by_name(written, folder):
    """One that this softmargin does not have, and one that is missing."""
    text, _ = parts(written[3])
    more = text.replace(b'["C", ', b'["kernel", "rbf"], ["C", ')
    less = text.replace(b'["tol", 0.0001], ', b"")
    assert "no parameter 'kernel'" in verdict(folder / "other.sm", sealed(more))
    assert "a parameter 'tol'" in verdict(folder / "other.sm", sealed(less))


class Bomb:
    """A pickle of it would write a file."""

    def __reduce__(self):
        """What the pickle would run."""
        return open, ("executed", "w")


def test_other_formats_are_not_opened(folder, monkeypatch):
    """Pickles, alone, after our own first bytes or in an array of objects, and archives: refused, and nothing runs."""
    monkeypatch.chdir(folder)
    bomb, archive, zipped = pickle.dumps(Bomb()), io.BytesIO(), io.BytesIO()
    np.savez(archive, bomb=np.array([Bomb()], dtype=object))
    with zipfile.ZipFile(zipped, "w") as file:
        file.writestr("../executed", "x")
    for data in (bomb, archive.getvalue(), zipped.getvalue(), sealed(bomb), sealed(b'{"arrays": []}', bomb)):
        for wrapped in (data, b"\x93SOFTMARGIN\n" + data, b"\x93NUMPY" + data):
            assert isinstance(verdict(folder / "bomb.sm", wrapped), str)
    assert not (folder / "executed").exists()


def test_only_files_are_opened(folder):
    """A folder or a pipe is refused at once; what is not there is not there."""
    os.mkfifo(folder / "pipe")
    for path in (folder, folder / "pipe"):
        with pytest.raises(ValueError, match="is not a file"):
            load(path)
    with pytest.raises(FileNotFoundError):
        load(folder / "nothing.sm")
