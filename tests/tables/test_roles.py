"""Every column of a source has a role: as asked for, or by rules that a notice names."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from isentropic import explain
from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.comparison.budget.comparison_plan import select_rows
from isentropic.datasets import Preparation, load

RNG = np.random.default_rng(3)
N = 120


def frame(**columns):
    """Two measures, and other columns before them."""
    return pd.DataFrame({**columns, "x_1": RNG.normal(size=N), "x_2": RNG.normal(size=N)})


def roles(table):
    return {column.name: column.role for column in table.columns}


def quietly(source, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        return load(source, *arguments, **options)


# ---- what is asked for ---------------------------------------------------------------------------

PANEL = frame(
    name=[f"row {i}" for i in range(N)], kind=["a", "b", "c"] * (N // 3), note=["u", "v"] * (N // 2),
    x_3=RNG.normal(size=N),
)  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "features", "labels", "ignored"),
    [
        ({}, "kind note x_3 x_1 x_2", "", ""),
        ({"features": ("x_1", "x_2")}, "x_1 x_2", "name kind note x_3", ""),
        ({"features": "x_1,kind"}, "kind x_1", "name note x_3 x_2", ""),
        ({"features": "x_*"}, "x_3 x_1 x_2", "name kind note", ""),
        ({"labels": "kind,note"}, "x_3 x_1 x_2", "kind note", ""),
        ({"labels": ["kind"], "drop": ["x_[12]"]}, "note x_3", "kind", "x_1 x_2"),
        ({"drop": "x_*", "keep": "x_2"}, "kind note x_2", "", "x_3 x_1"),
        ({"drop": "x_*", "labels": "x_2"}, "kind note", "x_2", "x_3 x_1"),
        ({"features": "x_*", "drop": "x_1"}, "x_3 x_2", "name kind note", "x_1"),
    ],
)
def test_names_win_over_patterns(asked, features, labels, ignored):
    table = quietly(PANEL, nominal="coded", **asked)
    found = {
        role: [c.name for c in table.columns if c.role == role] for role in ("feature", "label", "ignored")
    }
    assert found == {"feature": features.split(), "label": labels.split(), "ignored": ignored.split()}
    assert [column.name for column in table.columns] == list(PANEL.columns)
    assert list(table.feature_names) == features.split()
    pd.testing.assert_frame_equal(table.other_columns, PANEL.drop(columns=features.split()))


def test_a_name_with_a_comma_is_a_name():
    found = quietly(PANEL.rename(columns={"kind": "kind,note"}), drop="kind,note")
    assert roles(found)["kind,note"] == "ignored"
    assert roles(found)["note"] == "feature"


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"drop": "y_*"}, r"drop must be a column of table, got 'y_\*'. .*x_1"),
        ({"labels": "knd"}, "labels must be a column of table, got 'knd'. Did you mean 'kind'"),
        ({"drop": "kind", "labels": "kind"}, "labels must be other columns than drop"),
        ({"drop": "kind,note", "target": "note"}, "drop must be other columns than target"),
        ({"features": ("kind",), "index": "kind"}, "index must be a column that is not a feature"),
        ({"features": (1,)}, "features must be names of columns"),
    ],
)
def test_what_cannot_be_is_refused(asked, match):
    with pytest.raises(InvalidInputError, match=match):
        quietly(PANEL, **asked)


# ---- what the rules say --------------------------------------------------------------------------

BLOCKS = np.repeat([0.0, 5.0, 10.0], N // 3) + RNG.normal(size=N)  # a file in order of its classes
GAPS = np.cumsum(RNG.integers(1, 6, N)) + 4000
TIMES = pd.Timestamp("2024-01-05 08:00") + pd.to_timedelta(np.cumsum(RNG.exponential(300, N)), unit="s")


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("id", np.arange(N), "name"),
        ("Unnamed: 0", np.arange(1, N + 1), "name"),
        ("case_no", GAPS, "name"),
        ("case", GAPS, "name"),
        ("respondent", GAPS, "label"),  # evenly spaced: the row's number, whatever it is called
        ("exported", TIMES, "label"),
        ("exported", TIMES.strftime("%Y-%m-%d %H:%M"), "label"),
        ("year", 1900 + np.arange(N), "label"),
        ("n", np.tile(np.arange(1, N // 3 + 1), 3), "label"),
        ("country", [f"country {i // 6}" for i in range(N)], "label"),
        ("subject_id", np.repeat(np.arange(20) * 7 + 100, 6), "label"),
        ("title", [f"title {i}" for i in range(N)], "name"),
        ("title", [f"title {i // 2}" for i in range(N)], "label"),
        ("survey", ["2024"] * N, "ignored"),
        ("version", np.full(N, 3), "ignored"),
        ("rank", RNG.permutation(N) + 1, "feature"),  # in no order, and no name of identifiers
        ("size", np.sort(RNG.normal(size=N).round(3) * 1000), "feature"),  # the file is sorted by a measure
        ("born", pd.Timestamp("1980-01-01") + pd.to_timedelta(RNG.integers(0, 9000, N), unit="D"), "feature"),
        ("town", [f"town {i % 9}" for i in range(N)], "feature"),
        ("quarter", np.tile(np.arange(1, 5), N // 4), "feature"),
        ("price_index", RNG.choice(10**6, N, replace=False), "feature"),
    ],
)
def test_a_rule_gives_the_role(name, values, role):
    source = frame(**{name: values}, level=BLOCKS)
    table = quietly(source, metric="auto")
    assert roles(table) == {name: role, "level": "feature", "x_1": "feature", "x_2": "feature"}
    kept = quietly(source, metric="auto", keep=name)
    assert roles(kept)[name] == "feature"
    without = quietly(source.drop(columns=name), metric="auto")
    if role != "feature":  # the other columns make the same table
        np.testing.assert_array_equal(table.X, without.X)
        assert table.metric == without.metric


def test_a_short_sorted_table_keeps_its_measure():
    """Heights of 15 women, 58 to 72 inches, in order."""
    women = pd.DataFrame({"height": np.arange(58, 73), "weight": np.arange(115, 160, 3)})
    assert load(women).feature_names == ("height", "weight")


def test_a_counter_that_goes_with_a_measure_is_one():
    hours = np.tile(np.arange(24), 5)
    rides = np.where(hours > 6, 10.0 * hours, 1.0) + RNG.normal(size=N)
    assert roles(quietly(frame(hour=hours, rides=rides)))["hour"] == "feature"
    assert roles(quietly(frame(hour=hours)))["hour"] == "label"


def test_two_features_remain():
    series = pd.DataFrame({"date": pd.date_range("2020-01-01", periods=N), "y": RNG.normal(size=N)})
    assert quietly(series).feature_names == ("date", "y")
    assert quietly(series.assign(z=RNG.normal(size=N))).feature_names == ("y", "z")


def test_each_rule_is_one_line_with_the_command():
    source = frame(
        country=[f"country {i // 6}" for i in range(N)], maker=[f"maker {i % 30}" for i in range(N)],
        day=pd.date_range("2020-01-01", periods=N), version=3,
    )  # fmt: skip
    with pytest.warns(TableWarning) as caught:
        load(source)
    assert [str(one.message) for one in caught] == [
        "columns with the same value in every row are left out: 'version'.",
        "columns that follow the order of the rows are labels, for colour only: 'day'. keep=['day'] counts "
        "them as features.",
        "columns with more levels than rows in each are labels, for colour only: 'country' (text with 20 "
        "levels of 6 rows each), 'maker' (text with 30 levels of 4 rows each). keep=['country,maker'] counts "
        "them as features.",
    ]
    assert (
        roles(quietly(source, keep="country,maker"))["maker"] == "feature"
    )  # what the line says can be done


# ---- what goes with a table ----------------------------------------------------------------------


def test_columns_say_what_was_done():
    source = frame(kind=["a", "b", "c"] * (N // 3), country=[f"country {i // 6}" for i in range(N)])
    source.loc[:4, "x_1"] = np.nan
    source.loc[0, "country"] = None
    by_name = {column.name: column for column in quietly(source, "kind", missing="mean").columns}
    assert by_name["kind"].role == "target"
    assert by_name["x_1"].change == "standardised, 5 missing values filled with the mean"
    assert (by_name["x_1"].missing, by_name["country"].missing, by_name["x_2"].missing) == (5, 1, 0)
    assert by_name["country"].command == "--keep country"
    assert by_name["x_2"].command == "--label x_2"
    shares = {name: column.share for name, column in by_name.items() if column.share is not None}
    assert shares == pytest.approx({"x_1": 0.5, "x_2": 0.5})  # of features alone


def test_labels_stay_with_their_rows():
    source = frame(country=[f"country {i // 6}" for i in range(N)])
    source.loc[[3, 77], "x_1"] = np.nan
    table = quietly(source, missing="drop")
    left = source.drop(index=[3, 77])
    assert table.other_columns["country"].tolist() == left["country"].tolist()
    some = np.array([50, 4, 100])
    assert select_rows(table, some).other_columns["country"].tolist() == left["country"].iloc[some].tolist()
    again = Preparation.from_json(json.loads(json.dumps(table.preparation.to_json())))
    assert again.summaries == table.columns
    new = quietly(source[::-1], preparation=again, missing="mean")
    assert new.other_columns["country"].tolist() == source["country"].tolist()[::-1]
    assert roles(new) == roles(table)
    fewer = quietly(source[["x_2", "x_1"]], preparation=again, missing="mean")  # labels may be absent
    np.testing.assert_array_equal(fewer.X[::-1], new.X)


@pytest.mark.parametrize("form", [1, 2])
def test_preparations_of_earlier_formats_are_read(form):
    source = frame(id=np.arange(N), kind=["a", "b", "c"] * (N // 3))
    data = quietly(source, "kind", drop="x_2").preparation.to_json() | {"format": form}
    del data["summaries"]
    table = quietly(source, preparation=Preparation.from_json(data))
    assert roles(table) == {"id": "name", "kind": "target", "x_1": "feature", "x_2": "ignored"}


@pytest.mark.parametrize(
    "change",
    [{"role": "guest"}, {"kind": "sound"}, {"missing": -1}, {"name": 3}, {"role": "label"}, {"odd": 1}],
)
def test_damaged_summaries_are_refused(change):
    data = quietly(frame()).preparation.to_json()
    data["summaries"][0] |= change
    with pytest.raises(InvalidInputError, match="preparation must hold what to_json"):
        Preparation.from_json(data)


def test_labels_explain_and_are_marked():
    inside = np.arange(N) < 40
    source = frame(
        group=np.where(inside, "in", "out"), day=pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d")
    )
    found = explain(quietly(source, labels="group"), inside)
    told = {(one.column, one.level): one for one in found.differences}
    assert told["day", ""].dates
    assert told["day", ""].label
    assert told["group", "in"].label
    assert told["group", "in"].text.startswith("group=in (label) is at least ")
