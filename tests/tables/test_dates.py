"""Dates: recognised, made days and cycles that weigh as one column, alike for new rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.datasets import Preparation, load
from isentropic.tables.prepare.dates import CYCLES, on_circle

pytestmark = pytest.mark.filterwarnings("ignore:dates count as features")


def days_of(values) -> np.ndarray:
    return load(pd.DataFrame({"a": values, "b": range(len(values))}), scaling="none", keep="b").X[:, 0]


@pytest.mark.parametrize(
    "written",
    [
        ["1970-01-02", "1970-02-01", "1971-01-01"],
        ["1970/01/02", "1970/02/01", "1971/01/01"],
        ["2 Jan 1970", "1 February 1970", "1 jan 1971"],
        ["Jan 2, 1970", "Feb 1, 1970", "January 1, 1971"],
        ["02-Jan-1970", "01-Feb-1970", "01-Jan-1971"],
        pd.to_datetime(["1970-01-02", "1970-02-01", "1971-01-01"]),
        pd.to_datetime(["1970-01-02", "1970-02-01", "1971-01-01"]).date,
    ],
)
def test_however_a_date_is_written_it_is_the_same_day(written):
    assert_array_equal(days_of(written), [1, 31, 365])


def test_a_month_is_its_first_day_and_hours_are_fractions():
    assert_array_equal(days_of(["1970-01", "1970-02", "1970-03"]), [0, 31, 59])
    assert_array_equal(days_of(["1970-01-01 12:00", "1970-01-02T06:00:00", "1970-01-02T01:00+01:00"]),
                       [0.5, 1.25, 1.0])  # fmt: skip


def test_dates_of_every_row_are_features_and_name_none():
    days = pd.date_range("2024-01-01", periods=60)
    for text in (days.strftime("%Y-%m-%d"), days.strftime("%d %b %Y")):
        frame = pd.DataFrame({"sold": text, "price": np.random.default_rng(0).normal(size=60)})
        table = load(frame)
        assert table.feature_names == ("sold", "price")
        assert table.preparation.index is None


def test_the_notice_names_the_dates_and_the_option():
    frame = pd.DataFrame({"sold": ["2024-01-01", "2024-05-05"], "price": [1.0, 2.0]})
    with pytest.warns(TableWarning, match=r"in days since 1970: 'sold'. drop=\[...\] .* dates='cycle' adds"):
        load(frame)
    with pytest.warns(TableWarning, match=r"and as cycles of the year, the week: 'sold'"):
        load(frame, dates="cycle")


def test_a_few_words_among_dates_count_as_missing():
    text = [*pd.date_range("2024-01-01", periods=57).strftime("%Y-%m-%d"), "unknown", "unknown", "2024-02-31"]
    frame = pd.DataFrame({"sold": text, "price": np.arange(60) ** 1.5})
    with (
        pytest.warns(
            TableWarning, match="holds dates, and 3 values that are none .*: 'unknown', '2024-02-31'"
        ),
        pytest.raises(InvalidInputError, match="3 missing values: 'sold' 3"),
    ):
        load(frame)
    with pytest.warns(TableWarning, match="3 values that are none"):
        table = load(frame, missing="median")
    assert table.feature_names == ("sold", "sold=(missing)", "price")
    with pytest.warns(TableWarning, match="3 values that are none"):
        assert_array_equal(load(frame, preparation=table.preparation).X, table.X)


def test_many_words_among_dates_are_levels():
    table = load(
        pd.DataFrame({"a": ["2024-01-01", "never", "never", "2024-01-02"], "b": [1.0, 2.0, 3.0, 5.0]})
    )
    assert table.feature_names[:3] == ("a=2024-01-01", "a=2024-01-02", "a=never")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (["02.01.1970", "01.02.1970", "01.01.1971", "13.01.1971"], "'a' with the day first"),
        (["01/02/1970", "02/01/1970", "1/1/1971", "1/13/1971"], "'a' with the month first"),
        (["02-01-70", "01-02-70", "01-01-71", "13-01-71"], "'a' with the day first"),
    ],
)
def test_the_order_of_day_and_month_that_alone_fits_is_read(written, said):
    with pytest.warns(TableWarning, match=f"only one order of day and month fits.*{said}"):
        assert_array_equal(days_of(written), [1, 31, 365, 377])


def test_day_and_month_that_may_swap_are_read_by_the_sign_and_said():
    with pytest.warns(
        TableWarning, match=r"fit both orders.*'a' with the month first.*'02/01/1970' is 1970-0"
    ):
        assert_array_equal(days_of(["02/01/1970", "01/05/1970"]), [31, 4])
    with pytest.warns(TableWarning, match=r"fit both orders.*'a' with the day first"):
        assert_array_equal(days_of(["02.01.1970", "05.01.1970"]), [1, 4])


def test_rising_rows_say_which_is_the_day():
    written = [f"0{m}/0{d}/2024" for m in (1, 2) for d in range(1, 9)]
    with pytest.warns(TableWarning, match="only one order.*the month first"):
        assert (np.diff(days_of(written)) > 0).all()


def test_dates_with_hours_and_new_rows_are_read_in_the_fitted_order():
    frame = pd.DataFrame({"a": ["31.12.1969 12:00", "01.02.1970 6:30"], "b": [1.0, 3.0]})
    with pytest.warns(TableWarning, match="the day first"):
        table = load(frame, scaling="none")
    assert_array_equal(table.X[:, 0], [-0.5, 31 + 6.5 / 24])
    prepared = Preparation.from_json(json.loads(json.dumps(table.preparation.to_json())))
    new = pd.DataFrame({"a": ["02.01.1970", "02.01.1970"], "b": [1.0, 3.0]})  # which fits both
    assert_array_equal(load(new, preparation=prepared).X[:, 0], [1, 1])
    with pytest.raises(InvalidInputError, match="must be dates"):
        load(new.assign(a="12/31/1970"), preparation=prepared)


def test_dates_of_two_orders_are_no_dates():
    table = load(pd.DataFrame({"a": ["31.12.2012", "12.31.2012", "31.12.2012"], "b": [1.0, 2.0, 3.0]}))
    assert table.feature_names == ("a=12.31.2012", "a=31.12.2012", "b")


# ---- cycles ------------------------------------------------------------------------------------


def year_of_hours() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    moments = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 17_520, 300), unit="h")
    return pd.DataFrame({"when": moments, "b": rng.normal(size=300)})


def test_cycles_are_those_in_which_dates_differ():
    frame = year_of_hours()
    names = load(frame, dates="cycle").feature_names
    assert names == ("when", "when:year-sin", "when:year-cos", "when:week-sin", "when:week-cos",
                     "when:day-sin", "when:day-cos", "b")  # fmt: skip
    week = frame.assign(when=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(300) % 7, unit="D"))
    assert load(week, dates="cycle").preparation.columns[0].cycles == ("week",)
    mondays = frame.assign(when=pd.Timestamp("2024-01-01") + pd.to_timedelta(7 * np.arange(300), unit="D"))
    assert load(mondays, dates="cycle").preparation.columns[0].cycles == ("year",)


def test_the_end_of_a_cycle_lies_beside_its_beginning():
    frame = pd.DataFrame(
        {"a": pd.to_datetime(["2023-01-01", "2023-12-31", "2023-07-02"]), "b": [1.0, 2.0, 4.0]}
    )
    X = load(frame, dates="cycle", scaling="none").X[:, 1:3]
    assert np.linalg.norm(X[0] - X[1]) < 0.03 < 1.99 < np.linalg.norm(X[0] - X[2])


@pytest.mark.parametrize("scaling", ["standard", "robust"])
def test_a_date_with_cycles_weighs_as_one_column(scaling):
    frame = year_of_hours()
    table = load(frame, dates="cycle", scaling=scaling)
    alone = load(frame, scaling=scaling)
    assert_allclose(table.X[:, 0], alone.X[:, 0] / 2)  # a quarter of the square: days, year, week and day
    if scaling == "standard":
        parts = [table.X[:, a:b].var(axis=0).sum() for a, b in ((0, 1), (1, 3), (3, 5), (5, 7))]
        assert_allclose(parts, 0.25)


def test_cycles_holes_and_flags_weigh_as_one_column():
    frame = year_of_hours()
    frame.loc[::7, "when"] = pd.NaT
    table = load(frame, dates="cycle", missing="median")
    assert table.feature_names[7] == "when=(missing)"
    assert_allclose(table.X[:, :8].var(axis=0).sum(), 1.0)


def test_minmax_keeps_a_date_with_cycles_within_one():
    X = load(year_of_hours(), dates="cycle", scaling="minmax").X[:, :7]
    assert np.linalg.norm(X[:, None] - X, axis=2).max() <= 1 + 1e-12


@pytest.mark.parametrize("missing", ["median", "keep", "mean"])
def test_new_rows_get_the_same_cycles(missing):
    frame = year_of_hours()
    frame.loc[::7, "when"] = pd.NaT
    table = load(frame, dates="cycle", missing=missing)
    prepared = Preparation.from_json(json.loads(json.dumps(table.preparation.to_json())))
    assert_array_equal(load(frame[:9], preparation=prepared).X, table.X[:9])
    with pytest.raises(InvalidInputError, match="dates must be left to the preparation"):
        load(frame, preparation=prepared, dates="cycle")


def test_cycles_are_columns_of_numbers_and_not_gowers():
    """Five features of one date would count as five columns."""
    with pytest.raises(InvalidInputError, match="dates must be number for metric='gower', got 'cycle'"):
        load(year_of_hours(), dates="cycle", metric="gower")
    mixed = year_of_hours().assign(t=["x", "y"] * 150)
    assert load(mixed, dates="cycle", metric="auto").preparation.metric == "euclidean"


def test_unknown_rules_and_cycles_are_refused():
    with pytest.raises(InvalidInputError, match="dates must be one of number, cycle, got 'cycles'"):
        load(year_of_hours(), dates="cycles")
    data = load(year_of_hours(), dates="cycle").preparation.to_json()
    data["columns"][0]["cycles"] = ["moon"]
    with pytest.raises(InvalidInputError, match="cycles must be one of year, week, day"):
        Preparation.from_json(data)


def test_a_cycle_begins_where_the_days_do():
    """1970-01-01 is day 0: the top of every circle; a quarter of a cycle later the sine is 1."""
    for cycle, length in CYCLES.items():
        found = on_circle(np.array([0.0, length / 4, length / 2, 5 * length]), cycle)
        np.testing.assert_allclose(found, [[0, 1], [1, 0], [0, -1], [0, 1]], atol=1e-12)
