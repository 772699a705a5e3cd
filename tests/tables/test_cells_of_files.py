"""Cells that formats hold and tables do not: read as they were written, or refused with the next step."""

from __future__ import annotations

import io
import json
import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from isentropic import config_context
from isentropic._core.errors import FileFormatError, InvalidInputError, MemoryBudgetError, TableWarning
from isentropic.datasets import load
from isentropic.tables.readers.table_files import read_file

pa = pytest.importorskip("pyarrow")
openpyxl = pytest.importorskip("openpyxl")
from pyarrow import feather, parquet  # noqa: E402

A = np.arange(12) * 1.5 % 7


def notices(function, *arguments, **options):
    """What a call returns, and what it says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = function(*arguments, **options)
    return found, [str(one.message) for one in caught if issubclass(one.category, TableWarning)]


# ---- columns of lists --------------------------------------------------------------------------

NESTED = {
    "lists": [[1.0, 2.0]] * 12,
    "empty lists": [[]] * 12,
    "records": [{"x": 1}] * 12,
    "lists of lists": [[[1], [2]]] * 12,
    "holes": [None, [1.0]] * 6,
}


@pytest.mark.parametrize("cells", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow", "frame"])
def test_a_column_of_lists_is_named_and_can_be_left_out(tmp_path, name, cells):
    table, path = pa.table({"a": A, "b": A[::-1], "v": cells}), tmp_path / name
    if name == "frame":
        path = table.to_pandas()
    else:
        (parquet.write_table if name == "t.parquet" else feather.write_feather)(table, path)
    with pytest.raises(InvalidInputError, match=r"column 'v' .*got (lists|records)\. Write .*drop=\['v'\]"):
        load(path)
    assert load(path, drop="v").feature_names == ("a", "b")
    fitted = load(path, drop="v").preparation
    assert load(path, preparation=fitted).feature_names == ("a", "b")


# ---- dates of any year -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:dates count as features")
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Paris"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_moments_are_days_however_far(tmp_path, name, unit, zone):
    counts = np.array([2**62, -(2**62), 0, 86_400, 1, None] * 2, dtype=object)
    if name == "t.parquet" and unit == "s":
        counts = np.array([None if n is None else n // 2**14 for n in counts])  # it is kept in milliseconds
    moments = pa.array(counts.tolist(), pa.int64()).cast(pa.timestamp(unit, zone))
    table = pa.table({"a": A, "v": moments})
    (parquet.write_table if name == "t.parquet" else feather.write_feather)(table, tmp_path / name)
    per_day = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}[unit]
    expected = [np.nan if n is None else n / per_day for n in counts]
    found = load(tmp_path / name, scaling="none", missing="keep").X[:, 1]
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.filterwarnings("ignore:dates count as features")
@pytest.mark.parametrize("days", [3_000_000, -800_000, 2**30])
def test_dates_beyond_the_year_9999(tmp_path, days):
    table = pa.table({"a": A, "v": pa.array([days, 0, 5] * 4, pa.int32()).cast(pa.date32())})
    feather.write_feather(table, tmp_path / "t.feather")
    assert load(tmp_path / "t.feather", scaling="none").X[:, 1].tolist() == [days, 0, 5] * 4


@pytest.mark.filterwarnings("ignore:dates count as features")
@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns", "M", "Y"])
@pytest.mark.parametrize("count", [5, 10**7, 10**12, -(10**12)])
def test_dates_of_structured_arrays(tmp_path, unit, count):
    X = np.zeros(12, dtype=[("a", ">f8"), ("v", f"<M8[{unit}]")])
    X["a"], X["v"] = A, np.array([count, 0, 1] * 4).astype(f"M8[{unit}]")
    np.save(tmp_path / "t.npy", X)
    seconds = {"W": 604_800, "D": 86_400, "h": 3600, "m": 60, "M": 2_629_746, "Y": 31_556_952}.get(unit, 1)
    if abs(count) * seconds > 2**63:
        with pytest.raises(
            InvalidInputError, match=r"dates that fit 64 bits of seconds, got .*Write the years"
        ):
            load(tmp_path / "t.npy")
        return
    in_days = seconds / 86_400 / {"ms": 1e3, "us": 1e6, "ns": 1e9}.get(unit, 1)
    found = load(tmp_path / "t.npy", scaling="none")
    np.testing.assert_allclose(found.X[0], [A[0], count * in_days], rtol=0.02 if unit in "MY" else 1e-12)


# ---- numbers and text that cannot be used ------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"metric": "cosine"}, {"metric": "cosine", "rank": 3}, {"rank": 3}])
@pytest.mark.parametrize("size", [1e150, 1e200, -1e300])
def test_sparse_values_whose_squares_overflow(tmp_path, size, options):
    matrix = sparse.random(20, 10, 0.3, random_state=0, format="csr")
    matrix.data[3] = size
    sparse.save_npz(tmp_path / "t.npz", matrix)
    for source in (matrix, tmp_path / "t.npz"):
        with pytest.raises(InvalidInputError, match=r"must be of magnitude below 1e\+150, got .*Rescale it"):
            load(source, **options)


@pytest.mark.parametrize("record", [{"a": "x\ud800"}, {"b\udc00": 1.0}, {"a": "\udfff\ud800"}])
def test_halves_of_characters_in_json_lines(tmp_path, record):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, [{"a": "y"}] * 4 + [record])))
    with pytest.raises(FileFormatError, match=r"must hold whole characters, got half .* in line 5.*UTF-8"):
        load(path)
    path.write_text('{"a": "\\ud83d\\ude00"}\n{"a": "y"}\n')
    assert read_file(path, None, frozenset()).frame["a"].tolist() == ["\U0001f600", "y"]


@pytest.mark.parametrize("code", [0xD800, 0xDFFF, 0x110000, 0xFFFFFFFF])
def test_characters_that_are_none_in_arrays(tmp_path, code):
    X = np.array([("x", 1.0)] * 12, dtype=[("t", "U2"), ("a", "f8")])
    X["t"][:1].view(np.uint32)[0] = code
    np.save(tmp_path / "t.npy", X)
    with pytest.raises(FileFormatError, match="must hold text, got characters that do not exist"):
        load(tmp_path / "t.npy")


def test_sparse_keys_of_json_lines_are_asked_for_before_they_take_memory(tmp_path):
    """Cells that no record has take room, too."""
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps({f"k{i}": i}) for i in range(3_000)))
    with (
        config_context(memory_limit=2**25),
        pytest.raises(MemoryBudgetError, match=r"reading t\.jsonl needs"),
    ):
        load(path)


# ---- workbooks ---------------------------------------------------------------------------------


def book(path, rows, *merged, change=None):
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for cells in merged:
        made.active.merge_cells(cells)
    file = io.BytesIO()
    made.save(file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(path, "w") as new:
        for item in old.namelist():
            text = old.read(item)
            new.writestr(item, change(text) if change and item.endswith("sheet1.xml") else text)
    return path


ROWS = [["a", "b"], [1, 2.5], [3, 4.5], [5, 1.5]]


@pytest.mark.parametrize("number", [1_048_577, 10**9, 10**18])
def test_a_row_beyond_the_sheet_is_refused_at_once(tmp_path, number):
    path = book(tmp_path / "t.xlsx", ROWS, change=lambda xml: re.sub(
        rb'<row r="4"(.*?)A4(.*?)B4', rf'<row r="{number}"\1A{number}\2B{number}'.encode(), xml
    ))  # fmt: skip
    with pytest.raises(FileFormatError, match=f"up to 1,048,576 rows .*got row {number:,} after row 3"):
        load(path)


@pytest.mark.parametrize(("old", "new"), [(b'r="B3"', b'r="A3"'), (b'<row r="4"', b'<row r="3"')])
def test_rows_and_cells_that_come_twice_are_refused(tmp_path, old, new):
    path = book(tmp_path / "t.xlsx", ROWS, change=lambda xml: xml.replace(old, new))
    with pytest.raises(FileFormatError, match="must have rows and cells in their order"):
        load(path)


def test_merged_headers_are_joined_with_the_names_below(tmp_path):
    rows = [["id", "2020", None, "2021", None], [None, "height", "width", "height", "width"],
            ["x", 1, 2.5, 3, 4.5], ["y", 5, 6.5, 7, 8.5]]  # fmt: skip
    path = book(tmp_path / "t.xlsx", rows, "A1:A2", "B1:C1", "D1:E1")
    raw, said = notices(read_file, path, None, frozenset())
    names = ["id", "2020 height", "2020 width", "2021 height", "2021 width"]
    assert list(raw.frame.columns) == names
    assert raw.frame.values.tolist() == rows[2:]
    assert "names of columns in 2 rows, merged; they are joined: 'id', '2020 height'" in said[0]


def test_a_header_merged_over_values_is_refused(tmp_path):
    path = book(tmp_path / "t.xlsx", [["id", "size", None], ["x", 1, 2.5], ["y", 5, 6.5]], "B1:C1")
    with pytest.raises(
        FileFormatError, match=r"'size' merged over 2 columns in row 1.*Unmerge the cell and name"
    ):
        load(path)


def test_a_title_over_all_columns_is_left_out(tmp_path):
    path = book(tmp_path / "t.xlsx", [["Our flats", None], *ROWS], "A1:B1")
    raw, said = notices(read_file, path, None, frozenset())
    assert list(raw.frame.columns) == ["a", "b"]
    assert raw.frame.values.tolist() == ROWS[1:]
    assert "begins with 1 title over all columns, left out: 'Our flats'" in said[0]


def test_merged_values_are_those_of_each_row(tmp_path):
    rows = [["group", "a"], ["x", 1], [None, 2], [None, 4], ["y", 8]]
    raw, said = notices(read_file, book(tmp_path / "t.xlsx", rows, "A2:A4"), None, frozenset())
    assert raw.frame["group"].tolist() == ["x", "x", "x", "y"]
    assert "1 merged cell among its values" in said[0]


def test_merged_cells_that_overlap_many_times_are_refused(tmp_path):
    bomb = b"<mergeCells>" + b'<mergeCell ref="A1:XFD1048576"/>' * 40 + b"</mergeCells>"
    path = book(
        tmp_path / "t.xlsx", ROWS, change=lambda xml: xml.replace(b"</sheetData>", b"</sheetData>" + bomb)
    )
    with pytest.raises(FileFormatError, match="merged cells that do not overlap"):
        load(path)


@pytest.mark.parametrize("value", [1234567890123456, 2**53 + 1, 12345678901234567890, -(10**20) - 1])
def test_whole_numbers_of_more_digits_than_excel_keeps_are_named(tmp_path, value):
    """Those that another program has written in full stay exact."""
    rows = [["a", "key"], *([i % 4, 777 + i] for i in range(12))]
    exact = [value + i for i in range(12)]

    def change(xml):
        return re.sub(rb"<v>(7[78]\d)</v>", lambda found: b"<v>%d</v>" % exact[int(found[1]) - 777], xml)

    raw, said = notices(read_file, book(tmp_path / "t.xlsx", rows, change=change), None, frozenset())
    assert raw.frame["key"].tolist() == exact
    assert "whole numbers of more than 15 digits: 'key'. Excel keeps 15" in said[0]


def test_large_floats_are_named_too(tmp_path):
    rows = [["a", "key"], *([i % 4, 1.2345678901234567e19 + 4096 * i] for i in range(12))]
    assert "more than 15 digits: 'key'" in notices(load, book(tmp_path / "t.xlsx", rows))[1][0]


@pytest.mark.parametrize("name", ["t.xlsx", "t.csv"])
def test_long_numbers_as_text_name_the_rows(tmp_path, name):
    words = [str(12345678901234567890 + i) for i in range(12)]
    if name == "t.csv":
        pd.DataFrame({"a": A, "account": words}).to_csv(tmp_path / name, index=False)
    else:
        book(
            tmp_path / name, [["a", "account"], *([float(a), word] for a, word in zip(A, words, strict=True))]
        )
    table, _ = notices(load, tmp_path / name, index="account" if name == "t.csv" else None)
    assert table.row_names == tuple(words)
    assert table.feature_names == ("a",)


def test_formulas_without_values_are_counted(tmp_path):
    path = book(tmp_path / "t.xlsx", [["a", "b"], *([i, f"=A{i}"] for i in range(2, 6))])
    raw, said = notices(read_file, path, None, frozenset())
    assert raw.frame["b"].isna().all()
    assert "4 formulas saved without a value; they count as missing. Open the file in Excel" in said[0]


# ---- percent, money, thousands -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "numbers"),
    [(["12%", "3.5%", "-1%"], [12, 3.5, -1]), (["$5", "$1,234.50", "($3)"], [5, 1234.5, -3]),
     (["5 €", "6,5 €", "1.234.567 €"], [5, 6.5, 1234567]),
     (["1,234", "999", "12,345.6"], [1234, 999, 12345.6]),
     (["1 234", "999"], [1234, 999]), (["1'000", "12"], [1000, 12]), (["3 rooms", "4 rooms"], [3, 4])],
)  # fmt: skip
def test_amounts_written_as_text_are_numbers_and_named(tmp_path, words, numbers):
    frame = pd.DataFrame({"a": np.arange(24) % 5, "p": (words * 12)[:24]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        table, said = notices(load, source, scaling="none")
        assert table.X[: len(numbers), 1].tolist() == numbers
        (one,) = [text for text in said if "'p'" in text]
        assert one.startswith("amounts written as text are read as numbers: 'p' (")
        levels, said = notices(load, source, levels="p")
        assert len(levels.feature_names) == 1 + len(words)
        assert said == []


def test_amounts_of_two_currencies_stay_levels_and_are_named():
    table, (said,) = notices(load, pd.DataFrame({"a": np.arange(24) % 5, "p": ["EUR 5", "7 USD"] * 12}))
    assert len(table.feature_names) == 3
    assert "column 'p' holds amounts written as text, as " in said
    assert "write them in one unit" in said


def test_many_amounts_are_numbers_and_no_names_of_rows():
    frame = pd.DataFrame({"a": np.arange(200) % 5, "p": [f"{i / 7:.2f}%" for i in range(200)]})
    table, _ = notices(load, frame, scaling="none")
    assert table.feature_names == ("a", "p")
    assert table.X[7, 1] == 1.0


@pytest.mark.parametrize("words", [["A", "B"], ["x%", "y%"], ["10-20", "20-30"], ["kr", "$"], ["12A", "13A"]])
def test_other_words_are_no_amounts(words):
    assert notices(load, pd.DataFrame({"a": np.arange(24) % 5, "p": words * 12}))[1] == []


# ---- what other doors let in -------------------------------------------------------------------


def test_columns_of_arrow_types_in_pandas():
    """Lists are refused by name; dates of any year and whole numbers beside holes are exact."""
    far, huge = pa.array([2**60, 0] * 6, pa.timestamp("s")), pa.array([2**63 - 1, None] * 6)
    frame = pd.DataFrame(
        {"a": A, "far": pd.arrays.ArrowExtensionArray(far)}, index=[f"r{i}" for i in range(12)]
    )
    table, _ = notices(load, frame, scaling="none")
    assert table.X[:2, 1].tolist() == [2**60 / 86_400, 0.0]
    assert table.row_names[1] == "r1"
    assert load(frame, index="far").row_names[1].startswith("1970-01-01")
    said = notices(load, frame.assign(far=pd.arrays.ArrowExtensionArray(huge)), missing="median")[1]
    assert any("whole numbers beyond 2^53 are rounded" in text for text in said)
    with pytest.raises(InvalidInputError, match=r"column 'far' .*got lists"):
        load(frame.assign(far=pd.arrays.ArrowExtensionArray(pa.array([[1, 2]] * 12))))


def test_new_rows_of_complex_numbers_are_not_cut_to_their_real_parts():
    fitted = load(pd.DataFrame({"a": A, "b": A[::-1]})).preparation
    with pytest.raises(InvalidInputError, match="column 'b' must be numbers, got '1j'"):
        load(pd.DataFrame({"a": A, "b": np.full(12, 1j)}), preparation=fitted)


@pytest.mark.parametrize("word", ["Feb 30 2020", "32 Jan 2020"])
def test_days_that_no_month_has(word):
    frame = pd.DataFrame({"a": A, "b": ["Mar 1 2020"] * 11 + [word]})
    with pytest.raises(
        InvalidInputError, match=r"column 'b' must be dates as YYYY-MM-DD, got '(Feb 30|32 Jan) 2020'"
    ):
        load(frame)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_an_index_that_is_named_like_a_column(tmp_path, name):
    write = parquet.write_table if name == "t.parquet" else feather.write_feather
    write(pa.Table.from_pandas(pd.DataFrame({"a": A, "b": A[::-1]}).rename_axis("a")), tmp_path / name)
    if name == "t.parquet":  # Feather keeps no index that is counted
        with pytest.raises(InvalidInputError, match="must have column names that differ, got 'a'"):
            load(tmp_path / name)
    parts = pd.MultiIndex.from_product([["x", "y"], range(6)], names=["group", "step"])
    write(pa.Table.from_pandas(pd.DataFrame({"a": A}, index=parts)), tmp_path / name)
    frame = read_file(tmp_path / name, None, frozenset()).frame
    assert set(frame.columns) == {"group", "step", "a"}
    assert frame["group"].tolist() == ["x"] * 6 + ["y"] * 6


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_line_that_says_the_separator(tmp_path, line):
    path = tmp_path / "t.csv"
    path.write_text(f"{line}\na;b\n1;2\n3;5\n")
    assert load(path).feature_names == ("a", "b")


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([1.7e308, 1.7e308, 1.6e308], {"missing": "median"}),
        ([1.7976931348623157e308] * 3, {"missing": "mean"}),
    ],
)
def test_middles_and_means_of_the_largest_numbers_are_finite(values, options):
    frame = pd.DataFrame({"a": [*(values * 4)[:11], None], "b": A})
    assert np.isfinite(notices(load, frame, scaling="none", **options)[0].X).all()


def test_values_that_overflow_once_they_are_scaled_are_refused():
    frame = pd.DataFrame({"a": [*np.arange(11) * 5e-324, 1e300], "b": A})
    with pytest.raises(InvalidInputError, match="must span a finite range once they are scaled"):
        load(frame, scaling="robust")
