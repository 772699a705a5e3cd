"""Missing and infinite values: counted, and remedied only when asked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.datasets import load
from isentropic.tables.prepare.preparation import MISSING


@pytest.fixture
def gaps() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [1.0, np.nan, 3.0, np.nan],
            "town": ["x", "y", None, "y"],
            "full": [1, 2, 3, 5],
            "kind": ["p", "q", "q", "p"],
        }
    )


def test_the_error_counts_each_column_and_names_the_remedies(gaps):
    with pytest.raises(InvalidInputError) as caught:
        load(gaps, target="kind")
    assert str(caught.value) == (
        "table must be complete, got 3 missing values: 'age' 2, 'town' 1. "
        "Choose missing='median' to fill in medians and flag what was missing, missing='ppca' to fill in "
        "what the other columns tell, missing='mean' to fill in means, missing='drop' to leave out 3 rows, "
        "metric='gower' to compare rows by what both have, or missing='keep' and the method "
        "probabilistic-pca, which maps rows with holes."
    )


def test_drop_leaves_out_rows_and_keeps_their_names(gaps):
    with pytest.warns(TableWarning, match="^2 rows of 4 with missing values left out"):
        table = load(gaps[["age", "full", "kind"]], target="kind", missing="drop", scaling="none")
    assert_array_equal(table.X, [[1, 1], [3, 3]])
    assert table.row_names == ("0", "2")
    assert table.labels.tolist() == ["p", "q"]


def test_classes_without_rows_are_gone():
    frame = pd.DataFrame({"x": [1.0, 2.0, np.nan], "y": ["a", "c", "b"]})
    with pytest.warns(TableWarning, match="^1 row of 3 "):
        table = load(frame, target="y", missing="drop")
    assert table.class_names == table.preparation.class_names == ("a", "c")
    assert_array_equal(table.y, [0, 1])


def test_mean_fills_numbers_and_shares_of_levels(gaps):
    table = load(gaps, target="kind", missing="mean", scaling="none")
    assert_allclose(table.X[:, 0], [1, 2, 3, 2])
    assert_allclose(table.X[2, 1:3], [1 / 3, 2 / 3])


def test_mean_agrees_with_sklearn():
    from sklearn.impute import SimpleImputer

    X = np.random.default_rng(0).normal(size=(20, 3))
    X[::3, 1] = np.nan
    expected = SimpleImputer().fit_transform(X)
    assert_allclose(load(pd.DataFrame(X), missing="mean", scaling="none").X, expected)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "robust", "none"])
def test_kept_they_stay_and_the_rest_is_scaled_by_itself(scaling):
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[::3, 1] = np.nan
    table = load(pd.DataFrame(X, columns=list("abc")), missing="keep", scaling=scaling)
    assert_array_equal(np.isnan(table.X), np.isnan(X))
    alone = load(pd.DataFrame({"b": X[~np.isnan(X[:, 1]), 1]}), scaling=scaling)
    assert_allclose(table.X[~np.isnan(X[:, 1]), 1], alone.X[:, 0])
    again = load(pd.DataFrame(X[:4], columns=list("abc")), preparation=table.preparation)
    assert_array_equal(again.X, table.X[:4])


def test_kept_a_column_needs_a_value():
    with pytest.raises(InvalidInputError, match=r"for missing='keep', got none in 'a'"):
        load(pd.DataFrame({"a": [np.nan, np.nan], "b": [1, 2]}), missing="keep", keep=["a"])


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("nothing", [[np.nan, np.nan, np.nan], [None, "", None]], ids=["numbers", "text"])
def test_a_column_with_nothing_is_left_out_and_named(nothing, missing):
    frame = pd.DataFrame({"a": nothing, "b": [1, 2, 4], "c": [1, 3, 4]})
    with pytest.warns(TableWarning, match="^columns without any value are left out: 'a'.$"):
        table = load(frame, missing=missing)
    assert table.feature_names == ("b", "c")
    again = load(frame.assign(a=[5, 6, 7]), preparation=table.preparation)  # without a word
    np.testing.assert_array_equal(again.X, table.X)


def test_a_column_with_nothing_that_is_kept_has_no_mean():
    frame = pd.DataFrame({"a": [np.nan, np.nan], "b": [1, 2]})
    with pytest.raises(InvalidInputError, match=r"got none in 'a'. Leave them out: drop=\['a'\]"):
        load(frame, missing="mean", keep=["a"])
    with pytest.raises(InvalidInputError, match="2 missing values: 'a' 2"):
        load(frame[["a"]])


def test_drop_needs_a_row_that_stays():
    with pytest.raises(InvalidInputError, match=r"got none: 'a' 1, 'b' 1. Choose missing='median'"):
        load(pd.DataFrame({"a": [np.nan, 1], "b": [1, np.nan]}), missing="drop")


def test_a_target_has_no_mean(gaps):
    gaps.loc[0, "kind"] = None
    with pytest.warns(TableWarning, match="^1 row of 4 without the target 'kind': mapped but not scored"):
        assert load(gaps, target="kind", missing="mean").y.tolist() == [-1, 1, 1, 0]
    with pytest.warns(TableWarning, match="^1 row of 4 without the target 'kind': mapped but not scored"):
        number = load(gaps.assign(kind=[np.nan, 0.5, 1.5, 2.5]), target="kind", missing="mean")
    np.testing.assert_array_equal(number.y, [np.nan, 0.5, 1.5, 2.5])
    with pytest.raises(InvalidInputError, match="target must be a column with a value in some row"):
        load(gaps.assign(kind=np.nan), target="kind", missing="mean")
    with pytest.warns(TableWarning, match="^1 row of 4 "):
        assert load(gaps[["full", "kind"]], target="kind", missing="drop").row_names == ("1", "2", "3")


@pytest.mark.parametrize("missing", ["raise", "drop", "mean", "median", "ppca"])
def test_infinities_are_never_missing_values(missing):
    frame = pd.DataFrame({"a": [np.inf, 1.0, -np.inf], "b": [1.0, np.inf, np.nan]})
    with pytest.raises(InvalidInputError, match="must be finite, got 3 infinite values: 'a' 2, 'b' 1"):
        load(frame, missing=missing)


def test_missing_booleans_and_dates():
    frame = pd.DataFrame({"a": [True, None, False], "b": pd.to_datetime(["1970-01-01", None, "1970-01-03"])})
    with pytest.warns(TableWarning, match="dates"):
        table = load(frame, missing="mean", scaling="none")
    assert_array_equal(table.X, [[1, 0], [0.5, 1], [0, 2]])


def test_a_long_list_of_columns_is_cut():
    frame = pd.DataFrame(np.full((2, 12), np.nan)).rename(columns=lambda i: f"c{i}")
    with pytest.raises(InvalidInputError, match="'c7' 2 and 4 more"):
        load(frame)
