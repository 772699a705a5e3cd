"""One frame in many dialects is one table; titles, two-line names, empty rows and totals are found."""

from __future__ import annotations

import io
import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from isentropic._core.errors import FileFormatError, InvalidInputError, TableWarning
from isentropic.datasets import load
from isentropic.tables.readers.table_files import read_file

RNG = np.random.default_rng(7)
FRAME = pd.DataFrame(
    {
        "größe": RNG.normal(170, 9, 30).round(1),
        "visits": RNG.integers(0, 9, 30),
        "town": [("Köln", "Ulm", "Bonn")[i % 3] for i in range(30)],
        "price": RNG.uniform(1, 9_000, 30).round(2),
    }
)


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


def german(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def priced(style: str) -> pd.DataFrame:
    return FRAME.assign(price=FRAME["price"].map(style.format))


def text(sep=",", **options) -> str:
    return FRAME.to_csv(index=False, sep=sep, **options)


DIALECTS = {
    "t.csv": lambda: text().encode(),
    "semicolons.csv": lambda: text(";").encode(),
    "pipes.csv": lambda: text("|").encode(),
    "tabs.csv": lambda: text("\t").encode(),
    "t.tsv": lambda: text("\t").encode(),
    "windows.csv": lambda: text().encode("cp1252"),
    "utf16.csv": lambda: text("\t").encode("utf-16"),
    "marked.csv": lambda: text().encode("utf-8-sig"),
    "german.csv": lambda: FRAME.assign(price=FRAME["price"].map(german)).to_csv(
        index=False, sep=";", decimal=","
    ).encode("cp1252"),
    "english.csv": lambda: priced("{:,.2f}").to_csv(index=False).encode(),
    "dollars.csv": lambda: priced("${:,.2f}").to_csv(index=False).encode(),
    "commas.txt": lambda: text().encode(),
    "tabs.txt": lambda: text("\t").encode(),
    "spaces.txt": lambda: text(" ").encode(),
    "aligned.dat": lambda: FRAME.to_string(index=False).encode(),
    "rows.txt": lambda: FRAME.to_string(index=True).encode(),  # names lack that of the first column
    "commented.dat": lambda: b"# taken in May\n# by hand\n" + text(" ").encode(),
    "titled.csv": lambda: b"Visits in May\n\nof three towns\n" + text().encode(),
    "wide_title.csv": lambda: b"Visits in May,,,\n,,,\n" + text().encode(),
    "empty_rows.csv": lambda: (text() + ",,,\n,,,\n").encode(),
    "put_together.csv": lambda: (text() + FRAME[:0].to_csv(index=False)).encode(),
    "records.json": lambda: FRAME.to_json(orient="records").encode(),
    "columns.json": lambda: FRAME.to_json(orient="columns").encode(),
    "lists.json": lambda: json.dumps(FRAME.to_dict("list")).encode(),
    "split.json": lambda: FRAME.to_json(orient="split").encode(),
    "wrapped.json": lambda: json.dumps({"data": FRAME.to_dict("records"), "page": 1}).encode(),
    "lines.json": lambda: FRAME.to_json(orient="records", lines=True).encode(),
    "t.zip": lambda: zipped(t__csv=text().encode()),
    "beside.zip": lambda: zipped(t__json=FRAME.to_json(orient="records").encode(), README__md=b"hello"),
}  # fmt: skip


def loaded(path, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = load(path, **{"scaling": "none", **options})
    return table, [str(one.message) for one in caught]


@pytest.mark.parametrize("name", DIALECTS)
def test_one_frame_in_every_dialect_is_one_table(write, name):
    plain = load(FRAME, scaling="none")
    table, said = loaded(write(name, DIALECTS[name]()))
    assert table.feature_names == plain.feature_names
    assert_array_equal(table.X, plain.X)
    is_plain = name in ("t.csv", "t.tsv", "marked.csv", "commas.txt") or name.endswith(".json")
    assert is_plain or said  # what is not the plain reading is said


@pytest.mark.parametrize("depth", [2, 3])
def test_the_comparison_notices_a_lost_row(write, depth):
    table, _ = loaded(write("t.csv", "\n".join(text().splitlines()[:-depth])))
    assert len(table.X) == len(FRAME) - depth


# ---- above the values --------------------------------------------------------------------------


def test_titles_are_left_out_and_said(write):
    path = write("t.csv", "Report of May\nAll towns\nname,a,b\nx,1,2\ny,3,5\n")
    with pytest.warns(
        TableWarning, match="2 lines above the names .*: 'Report of May', 'All towns'. header="
    ):
        frame = read_file(path, None, frozenset()).frame
    assert frame.to_dict("list") == {"name": ["x", "y"], "a": [1, 3], "b": [2, 5]}


def test_the_caller_says_how_many_lines_to_skip(write):
    path = write("t.csv", "a,b\nc,d\n1,2\n3,5\n")
    assert load(path, skip_lines=1).feature_names == ("c", "d")
    path = write("u.csv", "some, thing\nelse\na,b\n1,2\n3,5\n")
    assert load(path, skip_lines=2).feature_names == ("a", "b")
    with pytest.raises(InvalidInputError, match="skip_lines must be an integer of at least 0"):
        load(path, skip_lines=-1)
    with pytest.raises(InvalidInputError, match="skip_lines must be None for a source that is no text file"):
        load(FRAME, skip_lines=1)


@pytest.mark.parametrize(
    "content", ["a\n1,2\n3,4\n", "a,b\n1,2,3\n4,5,6\n", "a,b\n1,2\n3\n4,5\n", "a b\n1,2\nx\n"]
)
def test_uneven_lines_that_are_no_titles_are_refused(write, content):
    with pytest.raises(FileFormatError):
        load(write("t.csv", content))


def pivot() -> pd.DataFrame:
    rows = [(city, year, x) for city in "ABCDE" for year in (2019, 2020) for x in RNG.normal(size=4).round(3)]
    long = pd.DataFrame(rows, columns=["city", "year", "x"])
    return long.pivot_table(index="city", columns="year", values="x", aggfunc=["mean", "max"])


@pytest.mark.parametrize("top", ["measure", "year"])
def test_the_names_of_a_pivot_are_joined(write, top):
    wide = pivot() if top == "measure" else pivot().swaplevel(axis=1).sort_index(axis=1)
    path = write("t.csv", wide.to_csv())
    with pytest.warns(TableWarning, match="names of columns in 3 lines; they are joined"):
        frame = read_file(path, None, frozenset()).frame
    assert list(frame.columns) == ["city", *(f"{a} / {b}" for a, b in wide.columns)]
    assert_array_equal(frame.iloc[:, 1:], wide.to_numpy())


def test_empty_fields_stand_for_the_name_to_their_left_and_units_are_joined(write):
    path = write("t.csv", "town,2019,,2020,\n,mean,sum,mean,sum\nA,1,2,3,4\nB,2,2,5,4\nC,0,1,9,9\n")
    with pytest.warns(TableWarning, match="'2019 / mean', '2019 / sum', '2020 / mean', '2020 / sum'"):
        assert read_file(path, None, frozenset()).frame.shape == (3, 5)
    path = write("u.csv", "town,height,weight\n,cm,kg\nA,1,2\nB,2,2\nC,0,1\n")
    with pytest.warns(TableWarning, match="'town', 'height / cm', 'weight / kg'"):
        assert read_file(path, None, frozenset()).frame["weight / kg"].tolist() == [2, 2, 1]


def test_a_first_row_without_values_is_no_second_line_of_names(write):
    frame = read_file(write("t.csv", "town,a,b\nA,-,-\nB,2,2\nC,0,1\nD,3,3\n"), None, frozenset()).frame
    assert list(frame.columns) == ["town", "a", "b"]
    assert len(frame) == 4


@pytest.mark.parametrize("kind", ["titled", "pivot", "again"])
def test_sheets_are_read_as_text_is(tmp_path, kind):
    openpyxl = pytest.importorskip("openpyxl")
    rows = {
        "titled": [["Report of May"], ["name", "a", "b"], ["x", 1, 2], ["y", 3, 5], ["z", 4, 4]],
        "pivot": [[None, 2019, None], ["name", "mean", "sum"], ["x", 1, 2], ["y", 3, 5], ["z", 4, 4]],
        "again": [["name", "a", "b"], ["x", 1, 2], ["name", "a", "b"], ["y", 3, 5], ["z", 4, 4]],
    }[kind]
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.warns(TableWarning, match=r"above the names|they are joined|names of its columns again"):
        frame = read_file(tmp_path / "t.xlsx", None, frozenset()).frame
    names = ["name", "2019 / mean", "2019 / sum"] if kind == "pivot" else ["name", "a", "b"]
    assert list(frame.columns) == names
    assert frame.iloc[:, 1:].to_numpy().tolist() == [[1, 2], [3, 5], [4, 4]]
    below = loaded(tmp_path / "t.xlsx", skip_lines=len(rows) - 2, header=False)[0]
    assert len(below.X) == 2


# ---- rows that are none ------------------------------------------------------------------------


def test_empty_rows_are_left_out_and_said(write):
    path = write("t.csv", "a,b\n1,2\n,\n3,5\n,\n")
    with pytest.warns(TableWarning, match="t has 2 empty rows of 4, left out"):
        table = load(path, scaling="none")
    assert_array_equal(table.X, [[1, 2], [3, 5]])
    with pytest.raises(InvalidInputError, match="missing value"):  # a frame has its rows on purpose
        load(pd.DataFrame({"a": [1.0, np.nan], "b": [2.0, np.nan]}))


@pytest.mark.parametrize(
    ("last", "what"), [("Total,15,$90.50", "sum"), ("Grand total:,15,", "sum"), ("Mean,5,$30.1667", "mean")]
)
def test_a_total_in_the_last_row_is_left_out_and_said(write, last, what):
    path = write("t.csv", f"town,n,price\nA,4,$10.50\nB,5,$30\nC,6,$50\n{last}\n")
    table, said = loaded(path, index="town")
    assert f" is the {what} of the rows above in " in said[0]
    assert len(table.X) == 3


@pytest.mark.parametrize("last", ["Total,16,90", "Totnes,15,90", "D,15,90"])
def test_a_row_that_is_no_total_is_kept(write, last):
    path = write("t.csv", f"town,n,price\nA,4,10\nB,5,30\nC,6,50\n{last}\n")
    assert len(load(path, index="town").X) == 4


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.json", b"[1, 2]", "a list of flat records, or lists by the names of columns, got a list of int"),
        ("t.json", b'{"a": 1, "b": 2}', "got a record of 'a', 'b'"),
        ("t.json", b'[{"a": [1]}]', "flat records, got a list or record in 'a'"),
        ("t.json", b'[{"a": 1, "a": 2}]', "each key once in a record, got 'a' twice"),
        ("t.json", b'[{"a": 1}', "must hold a JSON document"),
        ("t.json", b"[" * 100_000, "must hold a JSON document"),
        ("t.zip", zipped(a__csv=b"a\n1\n", b__csv=b"a\n1\n"), "one table in it, got 'a.csv', 'b.csv'"),
        ("t.zip", zipped(), "got an empty one"),
        ("t.zip", b"a,b\n1,2\n", "must be a ZIP archive"),
    ],
)
def test_what_is_no_table_is_refused_with_a_next_step(write, name, content, said):
    with pytest.raises(FileFormatError) as caught:
        load(write(name, content))
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")
