"""Which columns tell a selection from the rest: planted ones are named, and no others."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.metrics import roc_auc_score

from isentropic import datasets, explain
from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.comparison.explain.explanation import _half, _scatter
from isentropic.comparison.explain.source_columns import columns_of

N, GROUP = 400, 80
PLANTED = ("number 3", "number 7", "levels 2")


def mixed_table(seed, planted):
    """Forty columns, numbers and levels with holes; the first rows differ in three of them, if planted."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"number {j}": rng.gamma(2.0, size=N) for j in range(25)})
    for j in range(15):
        frame[f"levels {j}"] = rng.choice(["a", "b", "c", "d"], N, p=[0.4, 0.3, 0.2, 0.1])
    inside = np.zeros(N, dtype=bool)
    inside[:GROUP] = True
    if planted:
        frame.loc[inside, "number 3"] += 1.5
        frame.loc[inside, "number 7"] /= 2.5
        frame.loc[inside, "levels 2"] = rng.choice(["a", "d"], GROUP, p=[0.4, 0.6])
    holes = rng.random(frame.shape) < 0.1
    order = rng.permutation(N)
    return frame.mask(holes).iloc[order].reset_index(drop=True), inside[order]


def test_the_planted_columns_are_named_and_no_others():
    found = [explain(*mixed_table(seed, True)).columns for seed in range(20)]
    assert sum(sorted(columns) == sorted(PLANTED) for columns in found) >= 19


def test_nothing_is_named_where_nothing_differs():
    found = [explain(*mixed_table(seed, False)).columns for seed in range(20)]
    assert sum(columns == () for columns in found) >= 19


def test_what_is_said_of_a_level_and_of_a_number():
    frame, inside = mixed_table(0, True)
    found = {one.column: one for one in explain(frame, inside).differences if one.level in ("", "d")}
    level, number = found["levels 2"], found["number 3"]
    assert level.lift == pytest.approx(level.inside / level.outside)
    assert level.low < 6.0 < level.high  # 60% against 10%
    assert "levels 2=d is " in level.text
    assert number.low < number.auc < number.high
    assert number.text.startswith("number 3 is higher: AUC 0.")
    assert found["number 7"].text.startswith("number 7 is lower: AUC 0.")


def plain_scatter(row, seed=0):
    """The number by which a row falls into one of the halves, in integers without an end."""
    x = (int(row) + 1 + seed * 0x9E3779B9) % 2**32
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ x >> shift) * factor % 2**32
    return x ^ x >> 16


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**40 + 3])
def test_halves_are_scattered_alike_by_plain_integers(seed):
    rows = np.array([0, 1, 2, 77, 49_999, 10**6])
    assert _scatter(rows, seed).tolist() == [plain_scatter(row, seed) for row in rows]


def test_halves_follow_neither_the_order_of_rows_nor_a_period_in_it():
    everybody = np.ones(20_000, dtype=bool)
    first = _half(everybody, 0)
    assert first.sum() == 10_000
    for period in (2, 3, 4, 10, 16, 1_000):
        shares = [first[start::period].mean() for start in range(period)]
        assert np.ptp(shares) < 8 * np.sqrt(0.25 * period / 20_000)
    assert abs(first[:10_000].mean() - 0.5) < 0.02
    assert abs(np.mean(first == _half(everybody, 1)) - 0.5) < 0.02  # another seed, other halves


def test_the_area_agrees_with_sklearn():
    """One column that both halves are sure of: the AUC is that of the second half of the rows."""
    rng = np.random.default_rng(0)
    inside = np.repeat([True, False], [40, 60])
    x = np.round(rng.normal(size=100) + 2.0 * inside, 1)  # with ties
    found = explain(x[:, None], inside).differences[0]
    first = [sorted(np.flatnonzero(part), key=plain_scatter)[: part.sum() // 2] for part in (inside, ~inside)]
    second = np.setdiff1d(np.arange(100), np.concatenate(first))
    assert found.auc == pytest.approx(roc_auc_score(inside[second], x[second]))
    assert found.p == pytest.approx(
        stats.mannwhitneyu(x[second][inside[second]], x[second][~inside[second]]).pvalue
    )


def test_intervals_hold():
    """Of 200 intervals of 95% about 190 hold the truth: AUC = Phi(1 / sqrt(2)) for normals one apart."""
    truth, held = stats.norm.cdf(1 / np.sqrt(2)), 0
    inside = np.repeat([True, False], 120)
    for seed in range(200):
        x = np.random.default_rng(seed).normal(size=240) + inside
        one = explain(x[:, None], inside, alpha=0.1).differences[0]
        held += one.low <= truth <= one.high
    assert 182 <= held <= 198


def test_p_is_uniform_without_a_difference_however_the_columns_were_chosen():
    """The test half knows nothing of the choice: at most alpha of the tables have a column named."""
    named = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        named += bool(explain(rng.normal(size=(60, 30)), np.arange(60) < 20, alpha=0.1).differences)
    assert named <= 30


def test_a_second_selection_takes_the_place_of_the_rest():
    iris = datasets.load("builtin:iris")
    setosa, virginica = (np.flatnonzero(iris.labels == name) for name in ("setosa", "virginica"))
    found = explain(iris, setosa, virginica)
    assert (found.n_rows, found.n_against, found.n_columns) == (50, 50, 4)
    assert found.columns[0] in ("petal length (cm)", "petal width (cm)")
    assert found.differences[0].inside < 1.0 < found.differences[0].outside  # in centimetres, as read


def test_levels_of_a_table_are_its_columns_again():
    frame, inside = mixed_table(1, True)
    of_frame = explain(frame, inside)
    for rule in ("mean", "median"):
        table = datasets.load(frame, missing=rule)
        assert sorted(explain(table, inside).columns) == sorted(PLANTED)
        assert explain(table, inside).n_columns == 40
    # what the median stands in for is flagged, and so counts as missing, as it does in the frame
    for found, known in zip(explain(table, inside).differences, of_frame.differences, strict=True):
        assert found.auc == pytest.approx(known.auc)


def test_the_same_seed_says_the_same_in_json():
    frame, inside = mixed_table(2, True)
    told = [json.dumps(explain(frame, inside).to_json(), sort_keys=True) for _ in range(2)]
    assert told[0] == told[1]
    assert json.loads(told[0])["format"] == "isentropic.explanation/1"


def test_columns_with_too_few_values_are_told():
    frame, inside = mixed_table(3, True)
    frame.loc[12:, "number 0"] = np.nan
    assert explain(frame, inside).skipped == ("number 0",)
    nothing = explain(frame[["number 0", "number 1"]], inside)
    assert nothing.lines == (
        "None of 1 columns tells these 80 rows from 320 others beyond chance. 1 more has too few values "
        "to say.",
    )


def test_constant_and_equal_columns_say_nothing():
    inside = np.arange(40) < 20
    frame = pd.DataFrame({"constant": 1.0, "one level": "a", "x": np.arange(40) % 4}, index=range(40))
    found = explain(frame, inside)
    assert found.differences == ()
    assert found.lines == (
        "None of 3 columns tells these 20 rows from 20 others beyond chance. So few rows tell large "
        "differences only.",
    )


@pytest.mark.parametrize(
    ("rows", "against", "message"),
    [
        (np.arange(5), None, "rows must be at least 10 rows, got 5"),
        (np.arange(95), None, "against must be at least 10 rows, got 5"),
        (np.arange(20), np.arange(10, 40), "against must be other rows than the selection, got '?10 rows"),
        (np.ones(7, dtype=bool), None, "rows must be one flag for each of 100 rows"),
        (np.arange(90, 110), None, "rows must be positions from 0 to 99, got 90 to 109"),
        (np.linspace(0, 1, 20), None, "rows must be flags or positions"),
        ([], None, "rows must be at least 10 rows, got 0"),
    ],
)
def test_bad_selections(rows, against, message):
    with pytest.raises(InvalidInputError, match=message):
        explain(np.random.default_rng(0).normal(size=(100, 3)), rows, against)


def test_zeros_come_back_from_the_scaling_as_zeros():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({f"x{j}": np.round(rng.gamma(0.3, size=286), 2) for j in range(30)})
    for column in columns_of(datasets.load(frame, scaling="standard")):
        np.testing.assert_array_equal(column.values == 0.0, frame[column.name] == 0.0)


# ---- frames as people have them ----------------------------------------------------------------

INSIDE = np.arange(100) < 40


@pytest.mark.parametrize(
    "values",
    [
        pd.date_range("2020-01-01", periods=100),
        pd.date_range("2020-01-01", periods=100, tz="UTC"),
        pd.period_range("2020-01-01", periods=100),
        [day.date() for day in pd.date_range("2020-01-01", periods=100)],
        [pd.NaT, *pd.date_range("2020-01-02", periods=99)],
    ],
)
def test_dates_are_ordered_and_told_as_days(values):
    (line,) = explain(pd.DataFrame({"sold": values}), INSIDE).lines
    assert line.startswith("sold is earlier: AUC 0.00")
    assert re.search(r"median 2020-01-\d\d against 2020-0[23]-\d\d[.]$", line)


def test_dates_of_a_table_are_days_too():
    frame = pd.DataFrame({"sold": pd.date_range("2020-01-01", periods=100), "x": np.arange(100) % 7})
    with pytest.warns(TableWarning, match="dates count as features"):
        table = datasets.load(frame)
    assert explain(table, INSIDE).lines == explain(frame, INSIDE).lines


@pytest.mark.parametrize(
    "values",
    [
        pd.to_timedelta(np.arange(100), unit="h"),
        pd.Series(np.arange(100.0)).astype(object),
        [Decimal(i) for i in range(100)],
    ],
)
def test_durations_and_objects_that_are_numbers_are_ordered(values):
    assert explain(pd.DataFrame({"x": values}), INSIDE).differences[0].auc == 0.0


def test_large_medians_have_no_exponent():
    frame = pd.DataFrame({"price": 1000.0 * np.arange(100), "year": 1990 + np.arange(100) // 4})
    year, price = explain(frame, INSIDE).lines
    assert price.endswith("median 22,000 against 66,500.")
    assert year.endswith("median 1995 against 2006.")


def test_two_columns_of_one_name_are_two():
    x = np.random.default_rng(0).normal(size=(100, 3)) + [[3.0, 0.0, 0.0]] * INSIDE[:, None]
    found = explain(pd.DataFrame(x, columns=["a", "a", "b"]), INSIDE)
    assert (found.columns, found.n_columns, found.skipped) == (("a",), 3, ())


def test_levels_are_those_of_a_table():
    other = [1.0 if inside else "1" for inside in INSIDE]
    assert explain(pd.DataFrame({"x": other}), INSIDE).differences == ()  # one level: 1
    empty = pd.DataFrame({"x": ["" if i % 3 else "u" if inside else "v" for i, inside in enumerate(INSIDE)]})
    assert {one.level for one in explain(empty, INSIDE).differences} == {"u", "v"}
    lists = pd.DataFrame({"x": [[1] if inside else [2] for inside in INSIDE]})
    assert {one.level for one in explain(lists, INSIDE).differences} == {"[1]", "[2]"}


def test_other_frames_keep_their_names():
    polars = pytest.importorskip("polars")
    frame = pd.DataFrame(
        {"size": np.where(INSIDE, 3.0, 1.0) + np.arange(100) % 2, "heating": ["gas", "oil"] * 50}
    )
    assert explain(polars.from_pandas(frame), INSIDE) == explain(frame, INSIDE)
    lists = explain([[3.0, "x"] if inside else [1.0, "y"] for inside in INSIDE], INSIDE)
    assert sorted(lists.columns) == ["column 0", "column 1"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (sparse.eye_array(100).tocsr(), "datasets.load"),
        ({"x": [1.0] * 100}, "got 'dict'"),
        (np.arange(100.0), r"got 'shape \(100,\)'"),
        (pd.DataFrame({"x": np.arange(100) * 1j}), "column 'x' must be real numbers, dates or levels"),
    ],
)
def test_what_is_no_table(table, message):
    with pytest.raises(InvalidInputError, match=message):
        explain(table, INSIDE)


def test_flags_and_labels_of_another_index_are_refused():
    frame = pd.DataFrame({"x": np.arange(100.0)}, index=np.arange(100)[::-1])
    assert explain(frame, frame["x"] < 40) == explain(frame, INSIDE)
    with pytest.raises(InvalidInputError, match="a Series with another index"):
        explain(frame, pd.Series(INSIDE))
    with pytest.raises(InvalidInputError, match=r"labels of an index[.] Give table.index.isin"):
        explain(frame, frame.index[:40])
    assert explain(frame.reset_index(drop=True), pd.RangeIndex(40)) == explain(frame, INSIDE)
