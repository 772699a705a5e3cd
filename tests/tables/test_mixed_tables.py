"""Tables for Gower's metric: what auto decides, how columns become numbers, and new rows after them."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from isentropic import ClassicalMDS, InvalidInputError, TableWarning
from isentropic.datasets import Preparation, load
from isentropic.distances import distances_between, in_units
from isentropic.tables.prepare.column_scaling import shares_by_column

MIXED = pd.DataFrame({
    "rooms": [2, np.nan, 4, 5], "heating": ["gas", "oil", None, "gas"], "area": [40.0, 50.0, 70.0, 90.0],
})  # fmt: skip
NUMBERS = MIXED[["rooms", "area"]]


def test_levels_are_codes_numbers_are_as_they_were_and_holes_stay():
    table = load(MIXED, metric="gower")
    assert table.metric.levels == (1,)
    assert (table.feature_names, table.scaling) == (("rooms", "heating", "area"), "none")
    expected = [[2, 0, 40], [np.nan, 1, 50], [4, np.nan, 70], [5, 0, 90]]
    assert_array_equal(table.X, expected)
    assert ClassicalMDS(metric=table.metric).fit(table.X).embedding_.shape == (4, 2)


def test_auto_counts_every_column_the_same():
    with pytest.warns(TableWarning) as caught:
        table = load(MIXED, metric="auto")
    assert "2 missing values: the median takes their place" in str(caught[0].message)
    assert (table.metric, table.scaling) == ("euclidean", "standard")
    assert list(shares_by_column(table).values()) == pytest.approx([1 / 3] * 3)


def test_auto_fills_holes_of_numbers():
    with pytest.warns(TableWarning, match="the table has 1 missing value: the median takes"):
        table = load(NUMBERS, metric="auto")
    assert (table.metric, table.feature_names) == ("euclidean", ("rooms", "rooms=(missing)", "area"))


def test_auto_leaves_rows_out_where_it_is_said():
    with pytest.warns(TableWarning) as caught:
        table = load(MIXED, metric="auto", missing="drop")
    assert len(table.X) == 2
    assert any("2 rows of 4 with missing values left out" in str(one.message) for one in caught)


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        (NUMBERS.dropna(), {}),
        (MIXED[["heating"]].dropna(), {}),
        (MIXED, {"missing": "mean"}),
        (MIXED, {"missing": "drop", "scaling": "standard"}),
        (MIXED, {"missing": "drop", "nominal": "coded"}),
    ],
    ids=["numbers", "text alone", "filled in", "scaled", "coded"],
)
@pytest.mark.filterwarnings("ignore::isentropic.TableWarning")
def test_auto_is_euclidean_elsewhere(frame, options):
    table, plain = load(frame, metric="auto", **options), load(frame, **options)
    assert (table.metric, plain.metric) == ("euclidean", "euclidean")
    assert_array_equal(table.X, plain.X)


def test_another_name_is_handed_on():
    assert load(NUMBERS.dropna(), metric="cityblock").metric == "cityblock"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"missing": "mean"}, "missing must be raise, keep or drop for metric='gower', got 'mean'"),
        ({"scaling": "standard"}, "scaling must be none for metric='gower', got 'standard'"),
    ],
)
def test_what_gower_has_no_use_for_is_refused(options, match):
    with pytest.raises(InvalidInputError, match=match):
        load(MIXED, metric="gower", **options)


def test_declared_orders_are_ranks():
    """small < middle < large, as the frame says: two apart are twice as far as one."""
    sizes = pd.CategoricalDtype(["small", "middle", "large"], ordered=True)
    frame = pd.DataFrame(
        {"size": pd.Series(["large", "small", "middle"], dtype=sizes), "of": ["a", "a", "a"]}
    )
    table = load(frame, metric="gower", keep="of")
    assert (table.metric.levels, table.metric.ordered) == ((1,), (0,))
    assert_array_equal(table.X[:, 0], [2, 0, 1])
    D = distances_between(*2 * [in_units(table.X, table.metric)], table.metric, None)
    assert D[0, 1] == 2 * D[0, 2] == 2 * D[1, 2]
    preparation = Preparation.from_json(json.loads(json.dumps(table.preparation.to_json())))
    with pytest.warns(TableWarning, match="'huge' in 1 row"):
        new = load(pd.DataFrame({"size": ["middle", "huge"], "of": ["a", "a"]}), preparation=preparation)
    assert_array_equal(new.X[:, 0], [1, np.nan])
    assert new.metric == table.metric
    plain = frame.assign(size=frame["size"].cat.as_unordered())
    assert load(plain, metric="gower", keep="of").metric.levels == (0, 1)


def test_new_rows_go_the_same_way():
    fitted = load(MIXED, metric="gower")
    preparation = Preparation.from_json(json.loads(json.dumps(fitted.preparation.to_json())))
    new = pd.DataFrame({"rooms": [7.0, 3.0], "heating": ["wood", None], "area": [np.nan, 60.0]})
    with pytest.warns(TableWarning, match="'wood' in 1 row. They count as none of the known levels"):
        table = load(new, preparation=preparation)
    assert table.metric == fitted.metric
    assert_array_equal(table.X, [[7, -1, np.nan], [3, np.nan, 60]])
    assert len(ClassicalMDS(metric=fitted.metric).fit(fitted.X).transform(table.X)) == 2


def test_a_preparation_of_an_older_version_is_euclidean():
    data = load(NUMBERS.dropna()).preparation.to_json()
    del data["metric"]
    assert Preparation.from_json(data).metric == "euclidean"
