"""load: roles of columns, targets, names, and what is refused."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import isentropic.datasets
from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.datasets import load


@pytest.fixture
def flats() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "address": ["a", "b", "c", "d"],
            "rooms": [2, 3, 4, 2],
            "lift": [True, False, True, True],
            "heating": ["gas", "oil", "gas", "none"],
            "price": [1.5, 2.5, 3.25, 1.0],
        }
    )


def test_exported_names_are_the_public_ones():
    assert set(isentropic.datasets.__all__) == {"Column", "Entry", "Preparation", "catalogue", "load"}


def test_import_loads_neither_sklearn_nor_numba():
    code = (
        "import sys, isentropic.datasets; print({'sklearn', 'numba', 'pyarrow.parquet'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_part_of_the_table(flats):
    table = load(flats, target="price", index="address", scaling="none")
    assert table.feature_names == ("rooms", "lift", "heating=gas", "heating=none", "heating=oil")
    assert_array_equal(table.X, [[2, 1, 1, 0, 0], [3, 0, 0, 0, 1], [4, 1, 1, 0, 0], [2, 1, 0, 1, 0]])
    assert table.row_names == ("a", "b", "c", "d")
    assert_array_equal(table.y, flats["price"])
    assert table.class_names == ()
    assert table.scaling == "none"
    assert table.X.dtype == np.float64
    assert table.X.flags.c_contiguous


def test_the_frame_is_left_as_it_was(flats):
    before = flats.copy(deep=True)
    load(flats, target="heating", index="address")
    pd.testing.assert_frame_equal(flats, before)


def test_coded_levels_keep_the_order_of_categories(flats):
    flats["heating"] = pd.Categorical(flats["heating"], categories=["oil", "gas", "coal", "none"])
    table = load(flats, drop=["address", "price"], nominal="coded", scaling="none")
    assert table.feature_names == ("rooms", "lift", "heating")
    assert_array_equal(table.X[:, 2], [1, 0, 1, 3])


def test_declared_levels_keep_their_features_when_none_has_them(flats):
    flats["heating"] = pd.Categorical(flats["heating"], categories=["oil", "gas", "coal", "none"])
    table = load(flats[["heating"]])
    assert table.feature_names == ("heating=oil", "heating=gas", "heating=coal", "heating=none")
    assert_array_equal(table.X[:, 2], np.zeros(4))


def test_rows_are_named_by_the_index_of_a_frame(flats):
    assert load(flats.set_index("address")).row_names == ("a", "b", "c", "d")
    assert load(flats.drop(columns="address")[1:]).row_names == ("1", "2", "3")


@pytest.mark.parametrize(
    ("values", "classes", "y"),
    [
        (["b", "a", "b", "c"], ("a", "b", "c"), [1, 0, 1, 2]),
        ([10, 9, 10, 2], ("2", "9", "10"), [2, 1, 2, 0]),
        (["10", "9", "10", "2"], ("2", "9", "10"), [2, 1, 2, 0]),
        ([1.0, 0.0, 1.0, 2.0], ("0", "1", "2"), [1, 0, 1, 2]),
        ([True, False, True, True], ("False", "True"), [1, 0, 1, 1]),
        (
            pd.Categorical(["lo", "hi", "lo", "lo"], categories=["lo", "mid", "hi"]),
            ("lo", "hi"),
            [0, 1, 0, 0],
        ),
    ],
)
def test_classes(flats, values, classes, y):
    flats["kind"] = values
    if isinstance(values, list) and values[0] == "10":
        with pytest.warns(TableWarning, match="numbers written as text"):
            table = load(flats, target="kind", drop="address")
    else:
        table = load(flats, target="kind", drop="address")
    assert table.class_names == classes
    assert_array_equal(table.y, y)
    assert table.y.dtype.kind == "i"
    assert_array_equal(table.labels, [classes[code] for code in y])


def test_many_whole_numbers_are_a_quantity():
    frame = pd.DataFrame({"x": np.linspace(0, 1, 101), "y": np.arange(101) * 3})
    assert load(frame, target="y").class_names == ()
    assert len(load(frame[1:], target="y").class_names) == 100


def test_no_target_is_none(flats):
    assert load(flats.drop(columns="address")).y is None


def test_a_known_target_may_be_dropped():
    assert load("builtin:iris", drop="target").y is None


@pytest.mark.parametrize("what", ["target", "drop", "index"])
def test_a_column_that_is_not_there_offers_the_nearest(flats, what):
    with pytest.raises(
        InvalidInputError, match=rf"{what} must be a column of table, got 'heatin'.*'heating'\?"
    ):
        load(flats, **{what: "heatin"})


def test_duplicate_names_are_refused(flats):
    twice = flats.set_axis(["a", "b", "a", "c", "d"], axis=1)
    with pytest.raises(InvalidInputError, match="names that differ, got 'a' more than once"):
        load(twice)


def test_an_empty_table_is_refused(flats):
    with pytest.raises(InvalidInputError, match="at least one row"):
        load(flats[:0])
    with pytest.raises(InvalidInputError, match="column left for the features"):
        load(flats[["rooms"]], drop="rooms")


def test_one_row_warns_and_is_zero(flats):
    with pytest.warns(TableWarning, match="one row"):
        table = load(flats[:1], drop="address")
    assert_array_equal(table.X, np.zeros((1, 4)))


def test_one_row_as_it_is(flats):
    assert_array_equal(load(flats[:1], drop="address", scaling="none").X, [[2, 1, 1, 1.5]])


def test_duplicate_rows_are_kept(flats):
    assert len(load(pd.concat([flats, flats]), drop="address").X) == 8


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"nominal": "one-hot"},
            r"nominal must be one of onehot, coded, got 'one-hot'. Did you mean 'onehot'\?",
        ),
        ({"missing": "mode"}, "missing must be one of raise, drop, median, ppca, mean, keep"),
        ({"scaling": "standart"}, "Did you mean 'standard'"),
        ({"target": 3}, "target must be the name of a column"),
        ({"drop": [3]}, "drop must be names of columns"),
        ({"index": 3}, "index must be the name of a column"),
        ({"target": "price", "drop": ["price"]}, "target must be a column that is not dropped"),
        ({"target": "price", "index": "price"}, "index must be another column than the target"),
        ({"n_samples": 5}, "n_samples must be None for a table"),
        ({"preparation": {}}, "preparation must be a Preparation"),
    ],
)
def test_wrong_options_are_refused(flats, options, text):
    with pytest.raises(InvalidInputError, match=text):
        load(flats, **options)


def test_an_index_must_name_every_row(flats):
    flats.loc[1, "address"] = None
    with pytest.raises(InvalidInputError, match="index must name every row, got 1 row without"):
        load(flats, index="address")


def test_an_infinite_target_is_refused(flats):
    flats.loc[1, "price"] = np.inf
    with pytest.raises(InvalidInputError, match="target 'price' must be finite, got 1 infinite"):
        load(flats, target="price", index="address")


def test_warnings_point_at_the_caller():
    with pytest.warns(TableWarning) as caught:
        load(pd.DataFrame({"a": [1.0, 1.0], "b": [1.0, 2.0]}))
    assert caught[0].filename == __file__


def test_memory_is_asked_for_before_it_is_spent(flats):
    with isentropic.config_context(memory_limit=100), pytest.raises(MemoryError, match="needs 128 B"):
        load(flats[["rooms", "price"]])


@pytest.mark.parametrize(("values", "told"), [([-1, 0, 1], True), ([-1, 1, 1], False), ([0, 1, 2], False)])
def test_a_target_of_minus_one_among_classes_is_told_of(values, told):
    frame = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9.0)[::-1] ** 2, "kind": values * 3})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = load(frame, "kind")
    said = "target 'kind' has -1 in 3 of 9 rows, which is read as a class. If these rows are unlabelled"
    assert any(str(one.message).startswith(said) for one in caught) == told
    assert len(table.class_names) == len(set(values))


def test_the_next_step_for_a_target_of_minus_one_can_be_taken():
    frame = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9.0)[::-1] ** 2, "kind": [-1, 0, 1] * 3})
    with pytest.warns(TableWarning, match="leave their cells empty"):
        load(frame, "kind")
    frame["kind"] = frame["kind"].replace(-1, np.nan)
    with pytest.warns(TableWarning, match="3 rows of 9 without the target 'kind': mapped but not scored"):
        table = load(frame, "kind")
    assert (table.y.tolist(), table.class_names) == ([-1, 0, 1] * 3, ("0", "1"))
    assert table.labels.tolist() == [None, "0", "1"] * 3
    np.testing.assert_array_equal(table.classes, [np.nan, 0, 1] * 3)
    with pytest.warns(TableWarning, match="3 rows of 9 with missing values left out"):
        table = load(frame, "kind", missing="drop")
    assert (len(table.X), table.class_names) == (6, ("0", "1"))
