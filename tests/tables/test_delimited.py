"""CSV and TSV: whole files, or errors that name the line and the next step."""

from __future__ import annotations

import gzip
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from isentropic._core.errors import FileFormatError, InvalidInputError, TableWarning
from isentropic.datasets import load
from isentropic.tables.readers.layout import Layout
from isentropic.tables.readers.table_files import read_file

CSV = "a,b,kind\n1,x,p\n2,y,q\n4,x,p\n"


def sheet(folder, rows):
    """An Excel file of cells: numbers where the text is one."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([float(cell) if cell[:1].isdigit() else cell or None for cell in row])
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def test_every_suffix_gives_the_same_table(write):
    plain = load(write("t.csv", CSV), "kind")
    for name, text in (
        ("t.csv.gz", CSV),
        ("t.tsv", CSV.replace(",", "\t")),
        ("T.TSV.gz", CSV.replace(",", "\t")),
    ):
        table = load(write(name, text), "kind")
        assert_array_equal(table.X, plain.X)
        assert table.feature_names == ("a", "b=x", "b=y")
        assert table.labels.tolist() == ["p", "q", "p"]
        assert table.name.lower() == "t"


def test_a_path_may_be_text(write):
    assert load(str(write("t.csv", CSV)), "kind").name == "t"


def test_quotes_spaces_blank_lines_and_a_mark_in_front(write):
    text = '\ufeffa, b\n\n1, "x, y"\n2,"z\nz"\n\n'
    table = load(write("t.csv", text), scaling="none")
    assert table.feature_names == ("a", "b=x, y", "b=z\nz")


def test_the_letters_of_row_names_are_kept(write):
    assert load(write("t.csv", "id,a\n007,1\n1e5,2\n"), index="id").row_names == ("007", "1e5")


def test_a_name_that_is_empty_gets_its_number(write):
    assert load(write("t.csv", ",a\n5,1\n6,2\n")).feature_names == ("Unnamed: 0", "a")


@pytest.mark.parametrize("mark", ["", "NA", "NaN", "nan", "null", "?", "#N/A"])
def test_missing_marks(write, mark):
    with pytest.raises(InvalidInputError, match="2 missing values: 'a' 1, 'b' 1"):
        load(write("t.csv", f"a,b,c\n1,x,5\n{mark},{mark},3\n3,y,2\n4,y,0\n"))


def test_none_is_a_category(write):
    assert load(write("t.csv", "a\nNone\nx\n")).feature_names == ("a=None", "a=x")


@pytest.mark.parametrize("text", ["inf", "-inf", "Infinity", "1e999"])
def test_infinities_in_a_file(write, text):
    with pytest.raises(InvalidInputError, match="1 infinite value: 'a' 1"):
        load(write("t.csv", f"a,b\n1,2\n{text},3\n"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b\n1,2\n3\n4,5\n", "Expected 2 fields in line 3, saw 1"),
        ("a,b\n1,2\n3,4,5\n", "Expected 2 fields in line 3, saw 3"),
        ("a,b\n1,2,3\n4,5,6\n", "a line with more fields"),
        ("a,b\n1,2,3\n4,5\n", "a line with more fields"),
        ('a,b\n1,"x\n2,y\n', "EOF inside string"),
    ],
)
def test_ragged_lines_are_refused(write, text, line):
    for name in ("t.csv", "t.csv.gz"):
        with pytest.raises(FileFormatError, match=f"as many fields in every line.*{line}.*Correct the line"):
            load(write(name, text), missing="mean")


def test_empty_last_fields_are_missing_not_ragged(write):
    with pytest.raises(InvalidInputError, match="1 missing value: 'b' 1"):
        load(write("t.csv", "a,b\n1,2\n3,\n"))


def test_duplicate_names(write):
    with pytest.raises(
        InvalidInputError, match=r"t.csv must have column names that differ, got 'a' more than once"
    ):
        load(write("t.csv", "a,b,a\n1,2,3\n"))


# ---- names in the first row --------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "5.1,3.5,setosa\n4.9,3.0,setosa\n4.7,3.2,other\n",
        "1e3,1e2,1e1\n1,2,5\n7,8,1\n",
        "5.1,3.5\n4.9,3.0\n",
        "7\n6\n9\n",
        "1,2,3\n4,5,6\n7,8,9\n",  # every row rises by equal steps, so the first is none of its own
        "1,1,2\n4,7,6\n7,8,9\n",
        "5.1,,3.5\n4.9,2,3.0\n1,2,3\n",
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_first_row_of_data_is_read_as_data(write, tmp_path, text, suffix):
    rows = [line.split(",") for line in text.split()]
    path = write("t.csv", text) if suffix == "csv" else sheet(tmp_path, rows)
    with pytest.warns(TableWarning, match=r"first row of t\.(csv|xlsx) holds data.*'x0', 'x1'.*header=True"):
        frame = read_file(path, None, frozenset()).frame
    assert list(frame.columns) == [f"x{j}" for j in range(len(rows[0]))]
    assert frame.astype(object).where(frame.notna(), None).values.tolist() == [
        [None if cell == "" else float(cell) if cell[0].isdigit() else cell for cell in row] for row in rows
    ]


@pytest.mark.parametrize(
    "names",
    ["1990,1991,1992", "1990,2000,2005", "0,1,2", "1,2,3", "400,410,420", "country,1990,1985", ",0,1"],
)
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_years_and_evenly_spaced_numbers_are_names(write, tmp_path, names, suffix):
    rows = [names.split(","), ["7", "3.5", "2.5"], ["8", "1", "9"], ["6", "0.5", "4"]]
    text = "\n".join(map(",".join, rows))
    path = write("t.csv", text) if suffix == "csv" else sheet(tmp_path, rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read_file(path, None, frozenset()).frame
    assert list(frame.columns) == [name or "Unnamed: 0" for name in rows[0]]
    assert frame.astype(float).values.tolist() == [[float(cell) for cell in row] for row in rows[1:]]
    (said,) = [str(one.message) for one in caught]
    assert "numbers for names of columns" in said
    assert "header=False" in said


def test_years_beside_words_are_names_without_a_notice(write):
    path = write("t.csv", "country,1990,1991,1993\nA,1,3,2\nB,4,5,1\nC,2,2,2\n")
    assert list(read_file(path, None, frozenset()).frame.columns) == ["country", "1990", "1991", "1993"]


@pytest.mark.parametrize("names", ["1990,1991", "a,b"])
def test_the_caller_says_whether_there_are_names(write, names):
    path = write("t.csv", f"{names}\n1,2\n3,4\n5,7\n")
    assert load(path, header=True).feature_names == tuple(names.split(","))
    assert read_file(path, None, frozenset(), Layout(header=False)).frame.shape == (4, 2)


# ---- separators --------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_another_separator_is_found_and_said(write, separator):
    path = write("t.csv", "a,b\n1,2\n3,5\n".replace(",", separator))
    with pytest.warns(TableWarning, match="separated by .*, 2 in each line, and is read so. separator=','"):
        assert load(path).feature_names == ("a", "b")
    assert load(path, separator=separator).feature_names == ("a", "b")
    assert load(path, separator="tab" if separator == "\t" else separator).feature_names == ("a", "b")


def test_the_separator_that_cuts_all_lines_into_more_fields(write):
    """A comma in a name and in the numbers below it: by semicolons there are three columns."""
    path = write("t.csv", "name;size, m;weight\nA;1,5;70\nB;2,5;71\n")
    with pytest.warns(TableWarning, match="separated by ';', 3 in each line"):
        frame = read_file(path, None, frozenset()).frame
    assert list(frame.columns) == ["name", "size, m", "weight"]


def test_separators_that_cannot_be_told(write):
    path = write("t.csv", "a;b\n1\n2\n")
    with pytest.raises(
        FileFormatError, match=r"separated by ',', got ';' in its first line. .*separator=';', or"
    ):
        load(path)
    assert load(path, separator=",").feature_names == ("a;b",)


def test_numbers_with_spaces_between_them_are_said_to_be_one_column(write):
    path = write("t.csv", "a b c\n0.1 2 3\n-4 5e3  6\n")
    with pytest.warns(TableWarning, match="read as one column of text, though each line holds 3 numbers"):
        assert len(load(path).feature_names) == 2  # levels
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(write("u.csv", "full name\nAnna 2\nBen 3\n"))


def test_text_with_other_separators_stays_text(write):
    frame = read_file(write("t.csv", "a,tags\n1,x|y\n2,z\n3,x;y;z\n"), None, frozenset()).frame
    assert frame["tags"].tolist() == ["x|y", "z", "x;y;z"]


@pytest.mark.parametrize(
    "options", [{"separator": ";;"}, {"separator": '"'}, {"separator": 3}, {"header": 1}]
)
def test_choices_of_layout_are_checked(write, options):
    with pytest.raises(InvalidInputError, match=f"{next(iter(options))} must be"):
        load(write("t.csv", "a,b\n1,2\n"), **options)


def test_layout_is_a_matter_of_text(tmp_path):
    for source in ("builtin:iris", pd.DataFrame({"a": [1.0, 2.0]}), sparse.eye_array(4, format="csr")):
        with pytest.raises(InvalidInputError, match="separator must be None for"):
            load(source, separator=";")
    np.save(tmp_path / "t.npy", np.eye(3))
    with pytest.raises(InvalidInputError, match=r"header must be None for a .npy file"):
        load(tmp_path / "t.npy", header=False)


@pytest.mark.parametrize(("encoding", "said"), [("cp1252", "Windows-1252"), ("utf-16", "UTF-16")])
@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_other_encodings_are_read_and_said(write, encoding, said, suffix):
    path = write(f"t.{suffix}", "größe,b\n1,café – 5 €\n2,x\n".encode(encoding))
    with pytest.warns(TableWarning, match=f"t.{suffix} is read as {said} text. Save it as UTF-8 if"):
        frame = read_file(path, None, frozenset()).frame
    assert list(frame.columns) == ["größe", "b"]
    assert frame["b"].tolist() == ["café – 5 €", "x"]


def test_damaged_utf8_is_refused(write):
    for damaged in (b"a,b\n1,caf\xc3\xa9\n2,\xe9\n", b"a,b\n1,\x81\n2,x\n"):
        with pytest.raises(FileFormatError, match=r"must be UTF-8 text, got byte 0x(e9|81)"):
            load(write("t.csv", damaged))


def test_binary_data(write):
    with pytest.raises(FileFormatError, match="must be text, got binary data"):
        load(write("t.csv", b"\x89PNG\r\n\x1a\n\0\0\0\r"))


def test_nothing(write):
    with pytest.raises(FileFormatError, match="got an empty file"):
        load(write("t.csv", ""))
    with pytest.raises(FileFormatError, match="names of columns in the first line"):
        load(write("t.csv", "\n\n"))
    with pytest.raises(InvalidInputError, match="t must have at least one row"):
        load(write("t.csv", "a,b\n"))


@pytest.mark.parametrize("n_bytes", [5, 300, 2000])
def test_a_gz_that_is_cut_off(write, tmp_path, n_bytes):
    rng = np.random.default_rng(0)
    text = pd.DataFrame(rng.normal(size=(500, 3))).to_csv(index=False)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode())[:n_bytes])
    with pytest.raises(
        FileFormatError, match="must be a whole gzip file, got one that is cut off or damaged"
    ):
        load(tmp_path / "t.csv.gz")


def test_a_gz_that_is_none(tmp_path):
    (tmp_path / "t.csv.gz").write_text(CSV)
    with pytest.raises(FileFormatError, match="cut off or damaged"):
        load(tmp_path / "t.csv.gz")


def test_a_long_file_is_read_to_its_end(write):
    n = 300_000  # several of pandas' blocks
    text = "a,b\n" + "".join(f"{i % 7},{2 * i}\n" for i in range(n - 1)) + "0.5,-1\n"
    table = load(write("t.csv", text), scaling="none")
    assert len(table.X) == n
    assert_array_equal(table.X[-1], [0.5, -1])


def test_mixed_types_deep_in_a_file(write):
    text = "a\n" + "1\n" * 300_000 + "x\n"
    with pytest.warns(TableWarning, match="'a' looks numeric but is read as 2 levels"):
        assert load(write("t.csv", text), nominal="coded", scaling="none").X[-1, 0] == 1


def test_a_blank_line_of_one_column_is_a_missing_value(write):
    path = write("t.csv", "a\n1\n\n2\n")
    with pytest.raises(InvalidInputError, match="1 missing value"):
        load(path)
    with pytest.warns(TableWarning, match="1 row of 3"):
        table = load(path, missing="drop", scaling="none")
    assert_array_equal(table.X, [[1], [2]])
    assert table.row_names == ("0", "2")
    assert_array_equal(load(write("t.csv", "\n\na\n1\n2\n"), scaling="none").X, [[1], [2]])  # before the name


def test_lines_of_nothing_before_the_names(write):
    for before in ("\n", ",\n", "\n,,\n \n"):
        table = load(write("t.csv", before + "a,b\n1,2\n\n3,5\n"), scaling="none")
        assert table.feature_names == ("a", "b")
        assert_array_equal(table.X, [[1, 2], [3, 5]])


def test_names_of_rows_whose_hashes_meet_are_read_one_by_one(write, monkeypatch):
    """The words of Aa and BB share a hash: a table of words would take the square of their number."""
    names = ["".join(pair) for pair in product(("Aa", "BB"), repeat=15)]
    path = write("t.csv", "name,a\n" + "".join(f"{name},{i % 7}\n" for i, name in enumerate(names)))
    read_csv, given = pd.read_csv, []

    def noted(*args, **options):
        given.append(options)
        return read_csv(*args, **options)

    monkeypatch.setattr(pd, "read_csv", noted)
    assert load(path, index="name").row_names == tuple(names)
    assert "dtype" not in given[0]
