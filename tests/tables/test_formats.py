"""One table in every format: the same bits as from CSV; what a format adds has a test of its own."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from isentropic._core.errors import FileFormatError, InvalidInputError, MissingExtraError, TableWarning
from isentropic.datasets import load


def mixed(n: int = 40) -> pd.DataFrame:
    """Numbers that need all their digits, whole ones, truth values, words, dates as text, holes."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) * 10.0 ** rng.integers(-1, 1, n),
            "rooms": rng.integers(1, 6, n),
            "lift": rng.random(n) < 0.4,
            "heating": rng.choice(["gas", "oil", "wärme"], n),
            "sold": (pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")).strftime(
                "%Y-%m-%d"
            ),
            "price": rng.normal(size=n),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.05)


def csv_bytes(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def write_excel(frame: pd.DataFrame, path: Path) -> None:
    pytest.importorskip("openpyxl")
    frame.to_excel(path, index=False)


def write_arrow(frame: pd.DataFrame, path: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import Table, ipc

    table = Table.from_pandas(frame)
    new = ipc.new_file if path.suffix == ".arrow" else ipc.new_stream
    with path.open("wb") as file, new(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)


def write_feather(frame: pd.DataFrame, path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame.to_feather(path)


def write_jsonl(frame: pd.DataFrame, path: Path) -> None:
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")


def write_json(frame: pd.DataFrame, path: Path) -> None:
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    path.write_text(json.dumps(records), encoding="utf-8")


def zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").compress(data)


WRITERS = {
    "t.tsv": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "t.txt": lambda frame, path: frame.to_csv(path, index=False),
    "t.json": write_json,
    "t.parquet": lambda frame, path: frame.to_parquet(path),
    "t.jsonl": write_jsonl,
    "t.ndjson": write_jsonl,
    "t.xlsx": write_excel,
    "t.feather": write_feather,
    "t.arrow": write_arrow,
    "t.ipc": write_arrow,
    "t.csv.gz": lambda frame, path: path.write_bytes(gzip.compress(csv_bytes(frame))),
    "t.csv.bz2": lambda frame, path: path.write_bytes(bz2.compress(csv_bytes(frame))),
    "t.csv.xz": lambda frame, path: path.write_bytes(lzma.compress(csv_bytes(frame))),
    "t.csv.zst": lambda frame, path: path.write_bytes(
        zstd(csv_bytes(frame)[:99]) + zstd(csv_bytes(frame)[99:])
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_bits_of_csv(tmp_path, name):
    frame = mixed()
    if name == "t.xlsx":  # writers of workbooks keep 15 digits
        numbers = frame.select_dtypes("float").columns
        frame[numbers] = frame[numbers].map(lambda x: float(f"{x:.15g}"))
    (tmp_path / "t.csv").write_bytes(csv_bytes(frame))
    WRITERS[name](frame, tmp_path / name)
    with pytest.warns(TableWarning, match="dates"):
        first = load(tmp_path / "t.csv", missing="median")
    with pytest.warns(TableWarning, match="dates"):
        second = load(tmp_path / name, missing="median")
    assert second.name == "t"
    assert second.feature_names == first.feature_names
    assert second.row_names == first.row_names
    assert_array_equal(second.X, first.X)


@pytest.mark.parametrize(("name", "module", "extra"), [
    ("t.xlsx", "openpyxl", "excel"), ("t.feather", "pyarrow", "parquet"), ("t.csv.zst", "zstandard", "zstd"),
])  # fmt: skip
def test_what_is_not_installed_is_one_line(write, monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'isentropic\[{extra}\]'") as caught:
        load(write(name, "a,b"))
    assert "\n" not in str(caught.value)


# ---- Excel -------------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path) -> Path:
    """Two sheets; the first begins late, and has an empty row, an empty column, a failed formula."""
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Flats"
    for row in ([], ["rooms", "area", None], [2, 44.5], [None, None], [3, "#DIV/0!"], [4, "NA"], [5, 70]):
        sheet.append(row)
    workbook.create_sheet("More").append(["a", "b"])
    workbook["More"].append([1, 2])
    workbook.save(tmp_path / "flats.xlsx")
    return tmp_path / "flats.xlsx"


def test_the_first_sheet_is_read_and_the_others_named(book):
    with pytest.warns(TableWarning) as caught:
        table = load(book, missing="mean", scaling="none")
    assert table.feature_names == ("rooms", "area")
    assert_array_equal(table.X, [[2, 44.5], [3, 57.25], [4, 57.25], [5, 70]])
    said = " ".join(str(one.message) for one in caught)
    assert (
        "flats.xlsx has 2 sheets, and 'Flats', the first, is read. flats.xlsx#NAME reads another: 'More'"
        in said
    )
    assert "1 cell whose formula failed" in said


def test_a_sheet_by_its_name(book):
    table = load(f"{book}#More", scaling="none")
    assert (table.name, table.X.tolist()) == ("flats More", [[1, 2]])
    assert load(Path(f"{book}#More"), scaling="none").feature_names == ("a", "b")
    with pytest.raises(
        InvalidInputError, match=r"got 'Mroe'. Did you mean 'More'\? The sheets are 'Flats', 'More'"
    ):
        load(f"{book}#Mroe")


def test_a_value_beyond_the_names_is_refused(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    for row in (["a", "b"], [1, 2], [3, 4, "note"]):
        workbook.active.append(row)
    workbook.save(tmp_path / "t.xlsx")
    with pytest.raises(OSError, match="got 'note' in row 3, beyond the 2 names"):
        load(tmp_path / "t.xlsx")


def test_dates_of_a_workbook_are_dates(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"sold": pd.to_datetime(["1970-01-02", "1970-01-05"]), "b": [1.5, 2.5]})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    with pytest.warns(TableWarning, match="dates"):
        assert_array_equal(load(tmp_path / "t.xlsx", scaling="none").X[:, 0], [1, 4])


# ---- JSON lines --------------------------------------------------------------------------------


def test_records_that_lack_a_key_lack_its_value(write):
    path = write("t.jsonl", '\n{"a": 1, "b": true}\n\n{"a": 2.5}\n{"c": "x", "a": null}\n')
    table = load(path, missing="keep", scaling="none")
    assert table.feature_names == ("a", "b", "c=x")
    assert_array_equal(table.X, [[1, 1, np.nan], [2.5, np.nan, np.nan], [np.nan, np.nan, 1]])


def test_whole_numbers_beyond_2_to_the_53_are_named(write):
    path = write("t.jsonl", '{"a": 9007199254740993, "b": 1}\n{"a": null, "b": 2}\n{"a": 5, "b": 4}\n')
    with pytest.warns(TableWarning, match="beyond 2\\^53 are rounded.*'a' 1"):
        load(path, missing="mean")


# ---- Arrow -------------------------------------------------------------------------------------


def test_categories_and_an_index_come_through_feather(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {"b": pd.Categorical(["hi", "lo", "hi"], categories=["lo", "hi"]), "c": [1.0, 2.0, 4.0]}
    )
    frame.to_feather(tmp_path / "t.feather")
    assert load(tmp_path / "t.feather").feature_names == ("b=lo", "b=hi", "c")


def test_offsets_of_text_that_lead_out_of_its_bytes_are_refused(tmp_path):
    import pyarrow

    # the second text ends before it begins
    offsets = pyarrow.py_buffer(np.array([0, 2, 1, 4], np.int32).tobytes())
    words = pyarrow.Array.from_buffers(pyarrow.utf8(), 3, [None, offsets, pyarrow.py_buffer(b"abcd")])
    table = pyarrow.Table.from_arrays([words, pyarrow.array([1.0, 2.0, 3.0])], ["a", "b"])
    with pyarrow.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(FileFormatError, match="must be a Feather or Arrow file"):
        load(tmp_path / "t.arrow")
