"""A table is read as docs/tables.md says, or refused in one sentence that says where; nothing in between."""

import csv
import gzip
import io
import os
import random
import re
from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

from refusal import complaint, one_sentence
from softmargin import SoftMarginRanker, load, save
from softmargin.data import read_comparisons, read_items
from softmargin.data.delimited import _fast, _Slow, line_of
from softmargin.models import export

FILES = 100_000 if os.environ.get("SOFTMARGIN_SOAK") else 1_000
pytestmark = pytest.mark.nojit
ITEMS = b"id,wins,ground,picture,label\na,3,grass,a.png,Alpha\nb,-4.5e1,clay,,Beta\nc,.25,grass,c.png,Gamma\n"
FRAME = {"id": ["a", "b", "c"], "wins": [3.0, -45.0, 0.25], "ground": ["grass", "clay", "grass"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for files of this module."""
    return tmp_path_factory.mktemp("tables")


def file(folder, data, name="t.csv"):
    """A file with these bytes."""
    path = folder / name
    path.write_bytes(data)
    return path


def refusal(path, call):
    """The one sentence, without the path that it begins with."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert message.startswith(str(path)), message
    told = message.removeprefix(str(path))
    assert one_sentence(told), told
    return told.removeprefix(", ").strip()


def test_items_are_ids_features_and_the_rest(folder):
    """Words become a column each, named column=word; numbers are what float() reads; pictures may be missing."""
    items = read_items(file(folder, ITEMS))
    assert items.ids.tolist() == ["a", "b", "c"]
    assert items.feature_names.tolist() == ["wins", "ground=clay", "ground=grass"]
    assert items.X.tolist() == [[3.0, 0.0, 1.0], [-45.0, 1.0, 0.0], [0.25, 0.0, 1.0]]
    assert items.pictures.tolist() == ["a.png", None, "c.png"]
    assert items.labels.tolist() == ["Alpha", "Beta", "Gamma"]
    named = read_items(file(folder, ITEMS), id="label", label="wins")
    assert named.ids.tolist() == ["Alpha", "Beta", "Gamma"]
    assert named.labels.tolist() == [3.0, -45.0, 0.25]
    assert named.feature_names[:3].tolist() == ["id=a", "id=b", "id=c"]
    assert read_items(file(folder, b"wins\n3\n4\n")).ids.tolist() == ["0", "1"]


def test_every_source_of_a_table_gives_the_same_items(folder):
    """CSV, Parquet, Arrow, and frames of pandas, polars and pyarrow, with categories and whole numbers too."""
    table = pa.table(FRAME)
    feather.write_feather(table, folder / "t.arrow")
    pq.write_table(table, folder / "t.parquet")
    frame = pd.DataFrame(FRAME)
    told = frame.assign(ground=frame.ground.astype("category")).set_index(pd.Index([7, 8, 9], name="row"))
    shuffled = pa.concat_tables([table[:1], table[1:]])
    csv_file = file(folder, b"id,wins,ground\na,3,grass\nb,-45,clay\nc,0.25,grass\n")
    for source in (csv_file, str(csv_file), folder / "t.arrow", folder / "t.parquet", frame, told, table, shuffled,
                   pl.DataFrame(FRAME), table.to_batches()[0]):  # fmt: skip
        items = read_items(source)
        assert items.ids.tolist() == ["a", "b", "c"]
        assert items.X.tolist() == [[3.0, 0.0, 1.0], [-45.0, 1.0, 0.0], [0.25, 0.0, 1.0]]
        assert items.feature_names.tolist() == ["wins", "ground=clay", "ground=grass"]
    whole = read_items(pd.DataFrame({"id": [10, 20], "b": [True, False], "n": np.array([1, 2], dtype=np.uint8)}))
    assert whole.ids.tolist() == ["10", "20"]
    assert whole.X.tolist() == [[1.0, 1.0], [0.0, 2.0]]


def test_what_a_line_may_look_like(folder):
    """BOM, CRLF, blank lines, no newline at the end, quoted commas, quotation marks and newlines: all the same."""
    plain = read_items(file(folder, b"id,wins\na,1\nb,2\n"))
    for text in (b"\xef\xbb\xbfid,wins\na,1\nb,2\n", b"id,wins\r\na,1\r\nb,2\r\n", b"id,wins\na,1\nb,2",
                 b"\n\nid,wins\n\na,1\n\n\nb,2\n\n", b'"id","wins"\n"a","1"\n"b","2"\n', b"id,wins\ra,1\rb,2\r",
                 b'\xef\xbb\xbf"id",wins\r\n\r\na,1\r\nb,"2"'):  # fmt: skip
        items = read_items(file(folder, text))
        assert items.ids.tolist() == plain.ids.tolist()
        assert items.X.tolist() == plain.X.tolist()
    items = read_items(file(folder, 'id,wins\n"a,\n""b""",1\nß,2\n'.encode()))
    assert items.ids.tolist() == ['a,\n"b"', "ß"]


CELL = st.text(st.sampled_from('ab,"\n\r 1.\x00é'), max_size=5)


@given(st.lists(st.lists(CELL, min_size=1, max_size=3), min_size=1, max_size=4), st.binary(max_size=2))
def test_the_fast_reader_and_the_slow_one_agree(rows, end):
    """What is read fast is what Python's reader reads, and what that refuses is not read fast."""
    data = "\n".join(",".join(row) for row in rows).encode() + end

    def outcome(read):
        try:
            found = read()
        except ValueError as error:
            return str(error)
        return None if found is None else {name: pa.array(column.to_pylist()) for name, column in found.items()}

    fast, slow = outcome(lambda: _fast("t", data)), outcome(lambda: _Slow("t", data).read())
    assert fast is None or fast == slow or (isinstance(fast, str) and isinstance(slow, str))


@given(st.lists(st.lists(st.text(max_size=6), min_size=2, max_size=2), min_size=1, max_size=8))
def test_what_python_writes_is_read_as_it_was(rows):
    """Any texts whatever but NUL and surrogates, quoted where they need it, with the line on which each row begins."""
    rows = [[re.sub("[\0\ud800-\udfff\r]", "?", value) for value in row] for row in rows]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([["one", "other"], *rows])
    data = stream.getvalue().encode()
    columns = _Slow("t", data).read()
    assert [list(row) for row in zip(*(column.to_pylist() for column in columns.values()), strict=True)] == rows
    for place in range(len(rows)):
        before = sum(value.count("\n") for row in rows[:place] for value in row)
        assert line_of(data, place) == 2 + place + before


TOKEN = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.text(st.sampled_from("0123456789+-.eEdxpnaif_ "), min_size=1, max_size=6),
)


@given(st.lists(TOKEN, min_size=1, max_size=20))
def test_numbers_are_those_of_float(folder, tokens):
    """To the last bit; whatever is no finite decimal number is refused, or makes the column one of words."""
    path = file(folder, "\n".join(["id,x", *(f"{place},{token}" for place, token in enumerate(tokens))]).encode())
    number = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
    right = [bool(number.fullmatch(token)) for token in tokens]
    if not any(right):
        assert read_items(path).feature_names.tolist() == [f"x={word}" for word in sorted({*tokens})]
    elif not all(right) or not np.isfinite([float(token) for token in tokens]).all():
        told = refusal(path, lambda: read_items(path))
        row = right.index(False) if not all(right) else int(np.argmin(np.isfinite([float(token) for token in tokens])))
        assert told.startswith(f"line {row + 2}, column 'x': {tokens[row]!r}")
    else:
        assert read_items(path).X[:, 0].tobytes() == np.array([float(token) for token in tokens]).tobytes()


FAULTY = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n", "is empty"),
    "only a header": (b"id,wins\n", "has no rows"),
    "only a header, quoted": (b'id,"wins"\n', "has no rows"),
    "two names alike": (b"id,wins,wins\na,1,2\n", "names the column 'wins' twice on line 1"),
    "no name": (b"id,,wins\na,1,2\n", "names no column 2 on line 1"),
    "semicolons": (b"id;wins\na;1\n", "has no comma on line 1, but a semicolon"),
    "tabs": (b"id\twins\na\t1\n", "a tab"),
    "short line": (b"id,wins\na,1\nb\n", "line 3, column 'wins': the value is missing"),
    "long line": (b"id,wins\na,1\nb,2,3\n", "line 3, after column 'wins': '3' is a value too many"),
    "short line after a quoted newline": (b'id,wins\n"a\n\n",1\nb\n', "line 5, column 'wins': the value is missing"),
    "missing number": (b"id,wins\na,1\nb,\n", "line 3, column 'wins': the value is missing"),
    "missing id": (b"id,wins\na,1\n,2\n", "line 3, column 'id': the value is missing"),
    "id twice": (b"id,wins\na,1\nb,2\na,3\n", "line 4, column 'id': 'a' is the id of line 2 too"),
    "not a number": (b"id,wins\na,1\nb,2\nc,x\n", "line 4, column 'wins': 'x' is not a finite decimal number"),
    "not a number first": (b"id,wins\na,x\nb,2\n", "line 2, column 'wins': 'x' is not a finite decimal number"),
    "a number with blanks": (b"id,wins\na,1\nb, 2\n", "line 3, column 'wins': ' 2' is not a finite decimal number"),
    "nan": (b"id,wins\na,1\nb,nan\n", "line 3, column 'wins': 'nan' is not a finite decimal number"),
    "inf": (b"id,wins\na,1\nb,-inf\n", "line 3, column 'wins': '-inf' is not a finite decimal number"),
    "1e400": (b"id,wins\na,1\nb,1e400\n", "line 3, column 'wins': '1e400' is too large for a float64"),
    "hexadecimal": (b"id,wins\na,1\nb,0x1\n", "line 3, column 'wins': '0x1'"),
    "underscore": (b"id,wins\na,1\nb,1_0\n", "line 3, column 'wins': '1_0'"),
    "decimal comma": (b'id,wins\na,1\nb,"1,5"\n', "line 3, column 'wins': '1,5'"),
    "bad UTF-8": (b"id,wins\na,1\nb\xff,2\n", "line 3, character 2: the byte ff is no UTF-8"),
    "NUL": (b"id,wins\na,1\nb,\x002\n", "line 3, character 3: a NUL"),
    "UTF-16": ("id,wins\na,1\n".encode("utf-16"), "is UTF-16"),
    "gzip": (gzip.compress(b"id,wins\na,1\n", mtime=0), "is gzip"),
    "spreadsheet": (b"PK\x03\x04 and so on", "spreadsheet"),
    "quotation mark left open": (b'id,wins\na,1\n"b,2\nc,3\n', "line 3: a quotation mark stands alone"),
    "quotation mark inside": (b'id,wins\n"a"b,1\n', "line 2: a quotation mark stands alone"),
    "only ids": (b"id\na\nb\n", "no column that could be a feature"),
    "names": (b"id,name\n" + b"".join(b"%d,n%d\n" % (k, k) for k in range(1001)), "1001 different words"),
    "features alike": (b"id,a,a=b,c\n1,b=c,c,1\n", "both make a feature 'a=b=c'"),
    "damaged Parquet": (b"PAR1 and so on", "damaged or cut off"),
    "damaged Arrow": (b"ARROW1 and so on", "damaged or cut off"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_table_of_items_is_refused_where_it_is_faulty(folder, fault):
    """File, line, column, token and reason."""
    data, told = FAULTY[fault]
    path = file(folder, data)
    assert told in refusal(path, lambda: read_items(path))


WRONG = {
    "no worse": (b"better,loser\na,b\n", "has no column 'worse'"),
    "unknown id": (b"better,worse\na,b\nb,d\n", "line 3, column 'worse': 'd' is not the id of any of the 3 items"),
    "blank beside an id": (b"better,worse\na, b\n", "line 2, column 'worse': ' b' is not the id"),
    "itself": (b"better,worse\na,b\n\nc,c\n", "line 4, column 'worse': 'c' is compared with itself"),
    "itself, after a quoted newline": (b'better,worse,note\na,b,"x\ny"\nc,c,\n', "line 4, column 'worse'"),
    "missing": (b"better,worse\na,b\n,c\n", "line 3, column 'better': the value is missing"),
    "negative weight": (b"better,worse,weight\na,b,-1\n", "line 2, column 'weight': '-1' is not a weight"),
    "heavy weight": (b"better,worse,weight\na,b,1e26\n", "line 2, column 'weight': '1e26' is not a weight"),
    "no weight": (b"better,worse,weight\na,b,\n", "line 2, column 'weight': the value is missing"),
    "margin": (b"better,worse,margin\na,b,much\n", "line 2, column 'margin': 'much' is not a finite decimal number"),
    "equal": (b"better,worse,equal\na,b,maybe\n", "line 2, column 'equal': 'maybe' is none of"),
    "time": (b"better,worse,time\na,b,2026-01-01\na,c,monday\n", "line 3, column 'time': 'monday' is neither"),
    "time of two kinds": (b"better,worse,time\na,b,12\na,c,2026-01-01\n", "line 3, column 'time': '2026-01-01' is not"),
}  # fmt: skip


@pytest.mark.parametrize("fault", WRONG)
def test_a_faulty_table_of_comparisons_is_refused_where_it_is_faulty(folder, fault):
    """File, line, column, token and reason."""
    data, told = WRONG[fault]
    path, items = file(folder, data), read_items(file(folder, ITEMS, "items.csv"))
    assert told in refusal(path, lambda: read_comparisons(path, items))


def test_comparisons_are_pairs_of_row_numbers_and_the_rest(folder):
    """Weights, margins, judges and times stand beside the pairs; answers "equal" stand apart."""
    text = (
        b"worse,better,weight,margin,judge,equal,time,note\na,b,1,0.5,ann,no,2026-01-01,x\n"
        b"b,c,2.5,1,,TRUE,2026-01-02T01:00:00+01:00,\nc,a,0,2,bob,0,2026-01-03T00:00:00Z,y\n"
    )
    found = read_comparisons(file(folder, text), read_items(file(folder, ITEMS, "items.csv")))
    assert found.pairs.tolist() == [[1, 0], [0, 2]]
    assert found.rows.tolist() == [0, 2]
    assert found.weight.tolist() == [1.0, 0.0]
    assert found.margin.tolist() == [0.5, 2.0]
    assert found.judge.tolist() == ["ann", "bob"]
    assert found.time.tolist() == [datetime.fromisoformat(f"2026-01-0{day}T00:00+00:00").timestamp() for day in (1, 3)]
    assert found.unused == ("note",)
    assert found.equal.pairs.tolist() == [[2, 1]]
    assert found.equal.judge.tolist() == [None]
    assert found.equal.time.tolist() == [datetime.fromisoformat("2026-01-02T00:00+00:00").timestamp()]
    with pytest.raises(ValueError, match="names 'a' twice"):
        read_comparisons(file(folder, b"better,worse\na,b\n"), ["b", "a", "a"])
    bare = read_comparisons(file(folder, b"better,worse\na,b\n"), ["b", "a"])
    assert bare.pairs.tolist() == [[1, 0]]
    assert bare.weight is bare.margin is bare.judge is bare.time is bare.equal is None
    times = {"better": ["a", "a"], "worse": ["b", "c"], "time": [datetime(1970, 1, 2), date(1970, 1, 3)]}  # noqa: DTZ001
    frame = pd.DataFrame({**times, "time": pd.to_datetime(times["time"])})
    assert read_comparisons(frame, "abc").time.tolist() == [86400.0, 172800.0]
    assert read_comparisons(pl.DataFrame({**times, "time": [3, 4]}), "abc").time.tolist() == [3.0, 4.0]


def test_frames_are_refused_by_row(folder):
    """Rows are counted from 0, as those of X are."""
    nan = pa.table({"id": ["a", "b"], "x": [1.0, float("nan")]})
    pq.write_table(nan, folder / "t.parquet")
    path = folder / "t.parquet"
    assert "row 1, column 'x': nan is not a finite number" in refusal(path, lambda: read_items(path))
    for frame, told in (
        (pd.DataFrame({"x": [1.0, np.nan]}), "row 1, column 'x': the value is missing"),
        (pd.DataFrame({"x": [1.0, np.inf]}), "row 1, column 'x': inf is not"),
        (pd.DataFrame({"x": [1, "a"]}), "column 'x': its values are of more than one kind"),
        (pd.DataFrame({"x": [1.0]})[:0], "has no rows"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "two columns have the name 'x'"),
        (pd.DataFrame([[1, 2]]), "column 1 has no name"),
        (pd.DataFrame({"id": [1.5], "x": [1]}), "row 0, column 'id': 1.5 is a double"),
        (pd.DataFrame({"x": [date(2026, 1, 1)]}), "row 0, column 'x'"),
        (pl.DataFrame({"x": [[1], [2]]}), "row 0, column 'x'"),
        (pl.DataFrame({"x": [None, None]}), "row 0, column 'x': the value is missing"),
    ):
        assert told in refusal("the table", lambda frame=frame: read_items(frame))
    for source in ([[1.0]], np.ones((2, 2)), None):
        with pytest.raises(TypeError, match="is no table"):
            read_items(source)
    with pytest.raises(FileNotFoundError):
        read_items(folder / "nothing.csv")


def test_options_that_make_no_sense_are_refused(folder):
    """A column that is not there, two roles for one column, and options of a table that is read like another."""
    path = file(folder, ITEMS)
    for options, told in (({"id": "name"}, "no column 'name', which id= names"),
                          ({"words": "year"}, "no column 'year', which was said to hold words")):  # fmt: skip
        assert told in refusal(path, lambda options=options: read_items(path, **options))
    for options in ({"picture": "id"}, {"columns": read_items(path).columns, "standardise": True}):
        with pytest.raises(ValueError, match=r"role|columns says"):
            read_items(path, **options)


def test_features_are_made_the_same_way_again(folder):
    """Standardised numbers and words of one table, saved with the model, make the features of another table."""
    text = b"id,x,year,k\na,1,2014,5\nb,3,2015,5\nc,8,2014,5\n"
    items = read_items(file(folder, text), standardise=True, words="year")
    assert items.feature_names.tolist() == ["x", "year=2014", "year=2015", "k"]
    assert items.X[:, 0].mean() == pytest.approx(0.0, abs=1e-15)
    assert items.X[:, 0].std() == pytest.approx(1.0)
    assert items.X[:, 3].tolist() == [0.0, 0.0, 0.0]
    save(SoftMarginRanker().fit_pairs(items.frame, [(0, 1)]), folder / "m.sm", columns=items.columns)
    model = load(folder / "m.sm")
    assert model.feature_names_in_.tolist() == items.feature_names.tolist()
    other = file(folder, b"more,k,year,x,id\n1,5,2015,3,z\n", "other.csv")
    found = read_items(other, columns=model.columns_)
    assert found.X.tolist() == items.X[1:2].tolist()
    assert model.predict(found.frame).tolist() == model.predict(items.frame)[1:2].tolist()
    save(model, folder / "n.sm")
    assert load(folder / "n.sm").columns_ == items.columns
    unknown = "line 2, column 'year': '2016' is none of the words that are known: '2014', '2015'"
    for text, told in ((b"id,x,k\na,1,5\n", "has no column 'year'"), (b"id,x,year,k\na,1,2016,5\n", unknown)):
        path = file(folder, text, "other.csv")
        assert told in refusal(path, lambda path=path: read_items(path, columns=model.columns_))
    with pytest.raises(ValueError, match="columns make 4 features and the model has learned 1"):
        save(SoftMarginRanker().fit_pairs(items.X[:, :1], [(0, 1)]), folder / "m.sm", columns=items.columns)
    stale = load(folder / "m.sm").fit_pairs(items.frame.rename_columns([*"abcd"]), [(0, 1)])
    for write in (lambda: save(stale, folder / "m.sm"), lambda: export(stale, folder / "m.json")):
        with pytest.raises(ValueError, match="columns make other features"):
            write()
    with pytest.raises(ValueError, match="columns is a str"):
        save(model, folder / "m.sm", columns="x")


TOKENS = [b"", b",", b'"', b"\n", b"\r", b"\0", b"\xff", b"9", b"e", b"\xc3\xa9"]


def test_whatever_bytes_there_are_a_table_is_read_or_refused(folder):
    """Flipped, cut, doubled and inserted bytes: items and comparisons, or one sentence that begins with the file."""
    draw, read = random.Random(0 if FILES == 1_000 else None), 0  # noqa: S311  no secret
    games = b'better,worse,weight,judge,equal,time\na,b,1,ann,no,1\n"b",c,2.5,,yes,2\n\nc,a,0,"x\ny",0,3\n'
    items, path = read_items(file(folder, ITEMS, "items.csv")), folder / "damaged.csv"
    for number in range(FILES):
        data, at = (ITEMS, games)[number % 2], draw.randrange(len(games))
        for _ in range(draw.choice([1, 1, 1, 3])):
            token = draw.choice([*TOKENS, draw.randbytes(1)])
            data, at = data[:at] + token + data[at + draw.randrange(2) :], draw.randrange(len(data))
        path.write_bytes(data)
        told = complaint(lambda number=number: read_comparisons(path, items) if number % 2 else read_items(path))
        read += told is None
        assert told is None or (told.startswith(str(path)) and one_sentence(told.removeprefix(str(path)))), (data, told)
    assert 0 < read < FILES


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_damaged_columns_are_refused_or_read(folder, kind):
    """Whatever happened to the bytes of a Parquet or Arrow file, there is a table or one sentence."""
    path, rng = folder / f"damaged.{kind}", np.random.default_rng(0)
    table = pa.table({**FRAME, "n": [1, 2, 3]})
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        feather.write_feather(table, path, compression="uncompressed")
    data = path.read_bytes()
    for _ in range(300):
        at = rng.integers(len(data))
        path.write_bytes(data[:at] + (b"" if rng.random() < 0.2 else rng.bytes(1)) + data[at + 1 :])
        told = complaint(lambda: read_items(path))
        assert told is None or told.startswith(str(path))


def test_a_table_that_unfolds_beyond_all_measure_is_refused(folder, monkeypatch):
    """What Parquet says of its rows is looked at before they are read."""
    pq.write_table(pa.table({"x": np.zeros(1_000_000)}), folder / "bomb.parquet")
    assert (folder / "bomb.parquet").stat().st_size < 1e5
    monkeypatch.setattr("softmargin.data.tables.LARGEST_TABLE", 2**20)
    path = folder / "bomb.parquet"
    assert "unfolds into more than" in refusal(path, lambda: read_items(path))
