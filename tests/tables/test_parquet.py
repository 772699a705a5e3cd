"""Parquet: through pyarrow, or one line that says what to install."""

from __future__ import annotations

import datetime
import sys

import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from isentropic._core.errors import FileFormatError, MissingExtraError, TableWarning
from isentropic.datasets import load

FRAME = pd.DataFrame(
    {
        "a": [1, 2, 4],
        "b": pd.Categorical(["hi", "lo", "hi"], categories=["lo", "hi"]),
        "c": [True, None, False],
        "d": [datetime.date(1970, 1, 2)] * 2 + [datetime.date(1970, 1, 4)],
    }
)


def test_a_table_of_every_type(tmp_path):
    pytest.importorskip("pyarrow")
    FRAME.to_parquet(tmp_path / "t.parquet")
    with pytest.warns(TableWarning, match="dates"):
        table = load(tmp_path / "t.parquet", missing="mean", scaling="none")
    assert table.feature_names == ("a", "b=lo", "b=hi", "c", "d")
    assert_array_equal(table.X, [[1, 0, 1, 1, 1], [2, 1, 0, 0.5, 1], [4, 0, 1, 0, 3]])


def test_the_index_of_the_frame(tmp_path):
    pytest.importorskip("pyarrow")
    frame = FRAME[["a", "b"]].set_axis(["x", "y", "z"])
    frame.to_parquet(tmp_path / "t.parquet")
    assert load(tmp_path / "t.parquet").row_names == ("x", "y", "z")
    frame.rename_axis("name").to_parquet(tmp_path / "t.pq")
    assert load(tmp_path / "t.pq", index="name").row_names == ("x", "y", "z")


def test_something_else(write, tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(FileFormatError, match="must be a Parquet file"):
        load(write("t.parquet", "a,b\n1,2\n"))
    FRAME.to_parquet(tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(whole[: len(whole) // 2] + whole[-8:])
    with pytest.raises(FileFormatError, match="must be a Parquet file"):
        load(tmp_path / "t.parquet")


def test_without_pyarrow(write, monkeypatch):
    path = write("t.parquet", b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'isentropic\[parquet\]'") as caught:
        load(path)
    assert "\n" not in str(caught.value)
