"""Whole numbers beyond 2^53: no float64 holds them all, so that a table says where it rounds."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from isentropic._core.errors import TableWarning
from isentropic.datasets import load

A, B = 2**53, 2**53 + 1  # equal as floats
FILES = {
    "t.csv": f"a,b\n{A},1\n{B},2\n{A},4\n",
    "gap.csv": f"a,b\n{A},1\n{B},2\n,4\n",  # beside a gap pandas reads floats
    "fraction.csv": f"a,b\n{A},1\n{B},2\n0.5,4\n",
    "longer.csv": f"a,b\n{10**30},1\n{10**30 + 1},2\n3,4\n",
    "below.csv": f"a,b\n{-A},1\n{-B},2\n3,4\n",
    "mixed.csv": "a,b\n18446744073709551615,1\n-1,2\n3,4\n",
    "t.tsv": f"a\tb\n{A}\t1\n{B}\t2\n3\t4\n",
    "t.arff": f"@attribute a integer\n@attribute b real\n@data\n{A},1\n{B},2\n?,4\n",
}
SAID = "whole numbers beyond 2.53 are rounded.*'a' [12]"


@pytest.mark.parametrize("name", FILES)
def test_text_that_is_rounded_is_said(write, name):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        table = load(write(name, FILES[name]), missing="mean")
    assert any(re.match(SAID, str(entry.message)) for entry in said)
    assert table.X.dtype == np.float64
    assert table.feature_names == ("a", "b")


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", object])
def test_frames_and_arrays_that_are_rounded(tmp_path, dtype):
    pytest.importorskip("pyarrow")
    column = pd.Series([A, B, 3], dtype=dtype)
    frame = pd.DataFrame({"a": column, "b": [1, 2, 4]})
    with pytest.warns(TableWarning, match=SAID):
        load(frame)
    if isinstance(dtype, str):
        frame.to_parquet(tmp_path / "t.parquet")
        with pytest.warns(TableWarning, match=SAID):
            load(tmp_path / "t.parquet")
    if dtype in ("int64", "uint64"):
        np.save(tmp_path / "t.npy", frame.to_numpy(dtype))
        with pytest.warns(TableWarning, match="'x0' 1"):
            load(tmp_path / "t.npy")


def test_parquet_with_gaps(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"a": [A, B, None], "b": [1, 2, None]}), tmp_path / "t.parquet")
    with pytest.warns(TableWarning, match=SAID):
        table = load(tmp_path / "t.parquet", missing="mean", scaling="none")
    np.testing.assert_array_equal(table.X, [[A, 1], [A, 2], [A, 1.5]])


def test_the_rows_of_a_fitted_table_too(write):
    fitted = load(pd.DataFrame({"a": [1, 2, 4], "b": [1, 2, 3]}))
    with pytest.warns(TableWarning, match=SAID):
        load(write("t.csv", FILES["t.csv"]), preparation=fitted.preparation)


@pytest.mark.parametrize("values", [[A, A - 1, -A], [2**60, 2**61, 3], [1e300, 2.5, 3.0], ["1e30", "7", "2"]])
def test_what_a_float_holds_is_not_said(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "column 'a' holds numbers written as text")
        load(pd.DataFrame({"a": values, "b": [1, 2, 4]}))


def test_as_names_of_rows_and_as_classes_they_are_exact(write):
    path = write("t.csv", FILES["t.csv"])
    assert load(path, index="a").row_names == (str(A), str(B), str(A))
    table = load(path, "a")
    assert table.class_names == (str(A), str(B))
    np.testing.assert_array_equal(table.y, [0, 1, 0])
