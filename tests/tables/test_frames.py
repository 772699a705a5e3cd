"""Frames of others: polars and Arrow give what pandas gives; estimators take and give polars."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import isentropic
from isentropic._core.errors import InvalidInputError, MissingExtraError, TableWarning
from isentropic.datasets import load

pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")


def columns() -> dict:
    rng = np.random.default_rng(0)
    return {
        "size": [None, *rng.normal(size=19).tolist()],
        "rooms": [*rng.integers(1, 5, 19).tolist(), None],
        "lift": [True, None, *(rng.random(18) < 0.5).tolist()],
        "heating": ["gas", "oil", None, "wood"] * 5,
        "day": rng.permutation(pd.date_range("2024-01-01", periods=20).date).tolist(),
    }


def test_polars_and_arrow_give_what_pandas_gives():
    import pyarrow

    given = columns()
    with pytest.warns(TableWarning, match="dates"):
        first = load(pd.DataFrame(given), missing="median")
    for frame in (pl.DataFrame(given), pyarrow.table(given)):
        with pytest.warns(TableWarning, match="dates"):
            table = load(frame, missing="median")
        assert table.feature_names == first.feature_names
        assert_array_equal(table.X, first.X)


def test_levels_keep_the_order_of_an_enum():
    frame = pl.DataFrame(
        {"a": pl.Series(["mid", "low", "mid"], dtype=pl.Enum(["low", "mid", "high"])), "b": [1, 2, 4]}
    )
    table = load(frame, scaling="none")
    assert table.feature_names == ("a", "b")  # ordered levels are one number
    assert table.X[:, 0].tolist() == [1, 0, 1]
    assert table.preparation.columns[0].levels == ("low", "mid", "high")
    assert load(frame, nominal="coded", scaling="none").X[:, 0].tolist() == [1, 0, 1]


def test_new_rows_in_another_kind_of_frame():
    given = {"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"]}
    table = load(pd.DataFrame(given))
    assert_array_equal(load(pl.DataFrame(given), preparation=table.preparation).X, table.X)


def test_a_lazy_frame_names_the_next_step():
    with pytest.raises(InvalidInputError, match=r"got LazyFrame. .* a lazy frame once it is collected"):
        load(pl.DataFrame({"a": [1]}).lazy())


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"A frame of polars needs pyarrow.*isentropic\[parquet\]"):
        load(pl.DataFrame({"a": [1]}))


@pytest.mark.parametrize("method", ["pca", "isomap", "classical-mds"])
def test_estimators_take_polars_and_give_it(method):
    rows = np.random.default_rng(0).normal(size=(40, 3))
    frame = pl.DataFrame(rows, schema=["a", "b", "c"])
    estimator = isentropic.registry.make(method).set_output(transform="polars")
    Z = estimator.fit_transform(frame)
    assert isinstance(Z, pl.DataFrame)
    assert Z.columns == list(estimator.get_feature_names_out())
    assert list(estimator.feature_names_in_) == ["a", "b", "c"]
    assert_array_equal(Z.to_numpy(), isentropic.registry.make(method).fit_transform(rows))
    assert_array_equal(estimator.transform(frame).to_numpy(), Z.to_numpy())
