"""Preparation: new rows are treated as the fitted table was, also after a trip through JSON."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.datasets import Preparation, load


def mixed(n: int = 12, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.normal(5, 2, n),
            "heating": rng.permutation((["gas", "oil", "none"] * n)[:n]),
            "lift": rng.random(n) < 0.5,
            "kind": rng.permutation((["flat", "house"] * n)[:n]),
        }
    )


def again(preparation: Preparation) -> Preparation:
    return Preparation.from_json(json.loads(json.dumps(preparation.to_json())))


@given(
    seed=st.integers(0, 5),
    nominal=st.sampled_from(["onehot", "coded"]),
    scaling=st.sampled_from(["standard", "minmax", "robust", "none"]),
)
@pytest.mark.filterwarnings("ignore:.*interquartile")
def test_the_same_rows_give_the_same_bits(seed, nominal, scaling):
    frame = mixed(seed=seed)
    table = load(frame, "kind", nominal=nominal, scaling=scaling)
    repeated = load(frame, preparation=again(table.preparation))
    assert_array_equal(repeated.X, table.X)
    assert_array_equal(repeated.y, table.y)
    assert repeated.feature_names == table.feature_names
    assert repeated.class_names == table.class_names
    assert repeated.scaling == table.scaling


def test_a_row_by_itself_is_the_row_in_the_table():
    frame = mixed()
    table = load(frame, "kind")
    for i in range(len(frame)):
        row = load(frame[i : i + 1], preparation=table.preparation)
        assert_array_equal(row.X[0], table.X[i])


def test_the_order_of_columns_is_free_and_the_target_may_be_absent():
    frame = mixed()
    table = load(frame, "kind")
    new = load(frame[["lift", "size", "heating"]], preparation=table.preparation)
    assert_array_equal(new.X, table.X)
    assert new.y is None
    assert new.class_names == ()


def test_an_empty_target_is_an_absent_one():
    frame = mixed()
    table = load(frame, "kind")
    assert load(frame.assign(kind=None), preparation=table.preparation).y is None


def test_a_file_of_new_rows(write):
    first = write("first.csv", "id,zone,size,kind\n007,01,1,a\n008,x,2,b\n009,y,3,a\n")
    table = load(first, "kind", index="id")
    assert table.feature_names == ("zone=01", "zone=x", "zone=y", "size")
    new = load(write("new.csv", "size,zone,id\n2,01,010\n"), preparation=again(table.preparation))
    assert new.row_names == ("010",)
    assert_allclose(new.X[0, :3], table.X[0, :3])
    assert new.X[0, 3] == 0


def test_a_lacking_column_is_named():
    frame = mixed()
    preparation = load(frame, "kind").preparation
    with pytest.raises(InvalidInputError, match="got none called 'heating', 'lift'"):
        load(frame[["size"]], preparation=preparation)


def test_a_further_column_is_named_and_left_out():
    frame = mixed()
    table = load(frame, "kind", drop=())
    with pytest.warns(TableWarning, match="1 column that the fitted table had not, left out: 'colour'"):
        new = load(frame.assign(colour="red"), preparation=table.preparation)
    assert_array_equal(new.X, table.X)


def test_dropped_columns_may_come_again():
    frame = mixed()
    table = load(frame, "kind", drop="size")
    assert_array_equal(load(frame, preparation=table.preparation).X, table.X)


def test_an_unseen_level_is_none_of_the_known_and_named():
    frame = mixed()
    preparation = load(frame, "kind", scaling="none").preparation
    with pytest.warns(
        TableWarning, match="'heating' has levels that the fitted table had not: 'wood' in 12 rows"
    ):
        new = load(frame.assign(heating="wood"), preparation=preparation)
    assert_array_equal(new.X[:, 1:4], np.zeros((12, 3)))


def test_an_unseen_level_has_no_code():
    frame = mixed()
    preparation = load(frame, "kind", nominal="coded").preparation
    with pytest.raises(
        InvalidInputError, match=r"levels of the fitted table \('gas', 'none', 'oil'\), got 'wood'"
    ):
        load(frame.assign(heating="wood"), preparation=preparation)


def test_an_unseen_class_comes_last_and_is_named():
    frame = mixed()
    preparation = load(frame, "kind").preparation
    with pytest.warns(TableWarning, match="target 'kind' has classes that the fitted table had not: 'boat'"):
        new = load(frame.assign(kind=["boat", "flat"] * 6), preparation=preparation)
    assert new.class_names == ("flat", "house", "boat")
    assert new.y.tolist() == [2, 0] * 6


def test_another_target_is_coded_afresh():
    frame = mixed()
    preparation = load(frame, "kind").preparation
    new = load(frame.assign(year=[1, 2] * 6), "year", preparation=preparation)
    assert new.class_names == ("1", "2")
    with pytest.raises(InvalidInputError, match="target must be a column"):
        load(frame, "yaer", preparation=preparation)


def test_missing_values_take_the_fitted_means():
    frame = mixed()
    table = load(frame, "kind", scaling="none")
    hole = frame.assign(size=np.nan)
    with pytest.raises(InvalidInputError, match="12 missing values: 'size' 12"):
        load(hole, preparation=table.preparation)
    new = load(hole, preparation=table.preparation, missing="mean")
    assert_allclose(new.X[:, 0], frame["size"].mean())
    kept = load(frame, "kind", scaling="none", missing="mean").preparation
    assert_allclose(load(hole, preparation=kept).X[:, 0], frame["size"].mean())


def test_words_where_numbers_were_are_refused():
    frame = mixed()
    preparation = load(frame, "kind").preparation
    with pytest.raises(InvalidInputError, match="column 'size' must be numbers, got 'big'"):
        load(frame.assign(size="big"), preparation=preparation)
    with pytest.raises(InvalidInputError, match="column 'size' must be numbers, got '2000-01-01"):
        load(frame.assign(size=pd.Timestamp("2000-01-01")), preparation=preparation)


def test_numbers_where_dates_were_are_refused():
    frame = pd.DataFrame({"day": ["2000-01-01", "2000-01-02"]})
    with pytest.warns(TableWarning, match="dates"):
        preparation = load(frame).preparation
    with pytest.raises(InvalidInputError, match="'day' must be dates as YYYY-MM-DD, got '3'"):
        load(pd.DataFrame({"day": [3]}), preparation=preparation)
    assert load(frame[:1], preparation=preparation).X[0, 0] == -1


@pytest.mark.parametrize("option", [{"drop": "size"}, {"nominal": "coded"}, {"scaling": "none"}])
def test_choices_are_made_once(option):
    frame = mixed()
    preparation = load(frame, "kind").preparation
    with pytest.raises(InvalidInputError, match="left to the preparation"):
        load(frame, preparation=preparation, **option)


def number(name, **more):
    return {"name": name, "kind": "number", "levels": [], **more}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": 9}, "preparation must be of format 1 or 2 or 3, got 9"),
        ({"fill": [1.0]}, "fill must be of shape"),
        ({"scale": [0.0] * 5}, "scale must be positive"),
        ({"centre": [float("nan")] * 5}, "centre must be finite"),
        ({"scale": [True] * 5}, "scale must be a list of numbers"),
        ({"nominal": "dummy"}, "nominal must be one of"),
        ({"missing": "dummy"}, "missing must be one of"),
        ({"scaling": "dummy"}, "scaling must be one of"),
        ({"columns": [{"name": "a", "kind": "picture", "levels": []}]}, "kind must be one of"),
        ({"columns": [{"name": "a"}]}, "'kind'"),
        ({"columns": 3}, "what to_json"),
        ({"columns": [{"name": ["a"], "kind": "number", "levels": []}]}, "name must be a string"),
        ({"columns": [{"name": "a", "kind": "number", "levels": "xy"}]}, "levels must be a list of strings"),
        ({"format": True}, "preparation must be of format 1 or 2 or 3, got True"),
        ({"fill": [10**400] * 5}, "what to_json"),
        ({"columns": [{"name": "a", "kind": "number", "levels": [], "flag": "yes"}]}, "flag must be True or"),
        ({"factors": 3}, "factors must be mean, loadings and noise"),
        ({"factors": {"mean": [0.0], "loadings": [[1.0]], "noise": 1.0}}, "factors must be of 5 features"),
        ({"factors": {"mean": [0.0] * 5, "loadings": [[1.0]] * 5, "noise": 0.0}}, "a positive variance"),
        ({"factors": {"mean": ["x"] * 5, "loadings": [[1.0]] * 5, "noise": 1.0}}, "what to_json"),
        ({"factors": {"mean": [0.0] * 5, "loadings": [[float("nan")]] * 5, "noise": 1.0}}, "finite"),
        *(({name: {"a": 1}}, f"{name} must be a string") for name in ("target", "index")),
        *(({name: ["a", "b"]}, f"{name} must be a string") for name in ("target", "index")),
        *(({name: 3}, f"{name} must be a list of strings") for name in ("drop", "class_names")),
        *(({name: [["a"]]}, f"{name} must be a string") for name in ("drop", "class_names")),
        ({"columns": [number("a"), number("a")]}, "names of columns must be different from each other, got"),
        *(
            ({"columns": [number("a")], name: "a"}, "columns must be features")
            for name in ("target", "index")
        ),
        ({"columns": [number("a")], "drop": ["a"]}, "columns must be features, and not"),
        ({"columns": [number("a", levels=["x"])]}, "levels must be those of a column of kind 'number'"),
        ({"columns": [number("a", ordered=True)]}, "levels must be those of a column of kind 'number'"),
        ({"columns": [number("a", cycles=["year"])]}, "cycles must be those of a date"),
        ({"columns": [number("a", kind="nominal")]}, "levels must be those of a column of kind 'nominal'"),
        ({"columns": [number("a", kind="nominal", levels=["x", "x"])]}, "levels of 'a' must be different"),
        ({"columns": [number("a", kind="date", cycles=["year", "year"])]}, "cycles of 'a' must be different"),
        ({"class_names": ["p", "p"]}, "class_names must be different from each other"),
        ({"scaling": "none"}, "centre and scale must be 0 and 1 where nothing is scaled"),
        ({"missing": "ppca"}, "factors must be there for missing='ppca'"),
    ],
)
def test_a_damaged_preparation_is_refused(change, text):
    data = load(mixed(), "kind").preparation.to_json()
    with pytest.raises(InvalidInputError, match=text):
        Preparation.from_json({**data, **change})


def test_a_preparation_of_the_first_format_is_understood():
    frame = mixed()
    table = load(frame, "kind")
    data = table.preparation.to_json()
    old = {key: value for key, value in data.items() if key != "factors"} | {"format": 1}
    old["columns"] = [{key: column[key] for key in ("name", "kind", "levels")} for column in data["columns"]]
    assert_array_equal(load(frame, preparation=Preparation.from_json(old)).X, table.X)


def test_something_else_is_no_preparation():
    with pytest.raises(InvalidInputError, match="preparation must be of format 1"):
        Preparation.from_json([1, 2])


def test_words_are_no_target_where_the_fitted_table_had_numbers():
    fitted = load(pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [0.5, 1.5, 2.5]}), "y")
    with pytest.raises(
        InvalidInputError, match="target 'y' must be numbers, as in the fitted table, got 'u'"
    ):
        load(pd.DataFrame({"x": [1.0, 3.0], "y": ["u", "u"]}), preparation=fitted.preparation)
