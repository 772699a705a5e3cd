"""Columns: which kind each is, and how it becomes numbers."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.datasets import load
from isentropic.tables.prepare.columns import MAX_LEVELS, Column, encode, level_text


def naive_one_hot(values: list[str]) -> tuple[list[str], list[list[float]]]:
    levels = sorted(set(values))
    return levels, [[1.0 if value == level else 0.0 for level in levels] for value in values]


def numbers(column) -> np.ndarray:
    return load(pd.DataFrame({"a": column}), scaling="none").X[:, 0]


@given(st.lists(st.sampled_from(["red", "green", "blue", "none", "1x"]), min_size=2, max_size=9))
def test_one_hot_matches_naive(values):
    levels, rows = naive_one_hot(values)
    table = load(pd.DataFrame({"a": values}), scaling="none")
    assert table.feature_names == tuple(f"a={level}" for level in levels)
    assert_array_equal(table.X, rows)


def test_one_hot_agrees_with_sklearn():
    from sklearn.preprocessing import OneHotEncoder

    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": ["u", "u", "v"]})
    encoder = OneHotEncoder(sparse_output=False).fit(frame)
    assert_array_equal(load(frame, scaling="none").X, encoder.transform(frame))


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.array([1, 2, 3], dtype="Int64"), [1, 2, 3]),
        (pd.array([True, False, True], dtype="boolean"), [1, 0, 1]),
        (np.array([True, False, True], dtype=object), [1, 0, 1]),
        (np.array([1, 2.5, 3], dtype=object), [1, 2.5, 3]),
        ([decimal.Decimal("1.5"), decimal.Decimal(2), decimal.Decimal(3)], [1.5, 2, 3]),
        (np.array([1, 2, 3], dtype=np.uint8), [1, 2, 3]),
        (pd.arrays.SparseArray([0, 0, 3]), [0, 0, 3]),
    ],
)
def test_numbers_of_every_type(column, expected):
    assert_array_equal(numbers(column), expected)


@pytest.mark.parametrize(
    "column",
    [
        ["1970-01-02", "1970-01-03", "2000-01-01"],
        ["1970/01/02", "1970/01/03", "2000/01/01"],
        pd.to_datetime(["1970-01-02", "1970-01-03", "2000-01-01"]),
        pd.to_datetime(["1970-01-02", "1970-01-03", "2000-01-01"]).tz_localize("UTC"),
        [datetime.date(1970, 1, 2), datetime.date(1970, 1, 3), datetime.date(2000, 1, 1)],
        ["1970-01-02T00:00:00Z", "1970-01-03 00:00", "2000-01-01T01:00:00+01:00"],
    ],
)
def test_dates_become_days_and_are_named(column):
    with pytest.warns(TableWarning, match="dates count as features, in days since 1970: 'a'"):
        assert_allclose(numbers(column), [1, 2, 10957], atol=1e-9)


def test_impossible_dates_are_refused():
    with pytest.raises(InvalidInputError, match="must be dates as YYYY-MM-DD, got '2000-13-01'"):
        numbers(["2000-01-01", "2000-13-01"])


def test_numbers_written_as_text_warn():
    with pytest.warns(TableWarning, match="'a' holds numbers written as text"):
        assert_array_equal(numbers(["1", " 2.5", "3"]), [1, 2.5, 3])


def test_words_among_few_numbers_are_levels_and_named():
    with pytest.warns(
        TableWarning, match="'a' looks numeric but is read as 4 levels.*75% of the rows.*'other'"
    ):
        table = load(pd.DataFrame({"a": ["1", "2", "3", "other"]}))
    assert table.X.shape == (4, 4)


def test_many_words_among_many_numbers_are_an_error():
    words = [*map(str, range(MAX_LEVELS)), *["other"] * 20]
    with pytest.raises(
        InvalidInputError, match=r"numbers in 83% of the rows, and the word 'other'. For numbers, leave"
    ):
        numbers(words)


def test_too_many_levels_are_an_error_with_remedies():
    words = [f"w{i}" for i in range(MAX_LEVELS + 1)]
    with pytest.raises(
        InvalidInputError, match=r"at most 100 levels, got 101 levels.*drop=\['a'\].*nominal='coded'"
    ):
        numbers(words)


@pytest.mark.filterwarnings("ignore:columns that look like identifiers")
def test_declared_levels_may_be_many():
    words = pd.Categorical([f"w{i}" for i in range(MAX_LEVELS + 1)])
    assert load(pd.DataFrame({"a": words})).X.shape == (101, 101)
    assert load(pd.DataFrame({"a": list(words)}), nominal="coded").X.shape == (101, 1)


@pytest.mark.parametrize(
    "column",
    [[1 + 2j, 3j], [b"x", b"y"], [[1], [2]], pd.to_timedelta([1, 2])],
)
def test_other_contents_are_refused(column):
    with pytest.raises(
        InvalidInputError, match=r"column 'a' must be numbers, booleans, dates or text.*drop=\['a'\]"
    ):
        numbers(column)


def test_levels_of_mixed_types():
    with pytest.warns(TableWarning, match="looks numeric"):
        table = load(pd.DataFrame({"a": np.array([1, "x", 2.0, 1.0], dtype=object)}), scaling="none")
    assert table.feature_names == ("a=1", "a=2", "a=x")


def test_categories_that_are_one_text_are_refused():
    column = pd.Categorical([1, "1"], categories=[1, "1"])
    with pytest.raises(InvalidInputError, match="levels that differ as text"):
        numbers(column)


def test_empty_text_is_missing():
    with pytest.raises(InvalidInputError, match="1 missing value: 'a' 1"):
        numbers(["x", "", "y"])


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (1.5, "1.5"), (" a ", "a"), (True, "True"), (7, "7")]
)
def test_level_text(value, text):
    assert level_text(value) == text


def test_encode_marks_missing_and_unseen():
    codes = encode(pd.Series(["b", None, "z", "a"]), Column("a", "nominal", ("a", "b")))
    assert_array_equal(codes, [1, np.nan, -1, 0])
