"""What names rows is left out, dates among the columns are named, and nothing else is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.datasets import load

N = 30
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("row", np.arange(1, N + 1)),
        ("row", RNG.permutation(N) + 500),
        ("patient_id", RNG.choice(10**6, N, replace=False)),
        ("patientID", RNG.choice(10**6, N, replace=False)),
        ("phone number", RNG.choice(10**6, N, replace=False)),
        ("Unnamed: 0", np.arange(N) * 2),
        ("name", [f"person {i}" for i in range(N)]),
    ],
)
@pytest.mark.parametrize("nominal", ["onehot", "coded"])
def test_what_names_rows_is_left_out_and_names_them(name, values, nominal):
    frame = pd.DataFrame({name: values, "x": RNG.normal(size=N)})
    with pytest.warns(TableWarning, match=f"are no features: '{name}'. '{name}' names the rows; keep="):
        table = load(frame, nominal=nominal)
    assert table.feature_names == ("x",)
    assert table.row_names == tuple(map(str, values))
    assert table.preparation.index == name
    again = load(frame, preparation=table.preparation)  # new rows are treated alike, without a word
    np.testing.assert_array_equal(again.X, table.X)
    assert again.row_names == table.row_names


def test_a_column_that_is_kept_is_a_feature():
    frame = pd.DataFrame({"rank": np.arange(N), "x": RNG.normal(size=N)})
    table = load(frame, keep=["rank"])
    assert table.feature_names == ("rank", "x")
    assert load(frame, keep="rank").feature_names == table.feature_names
    with pytest.raises(InvalidInputError, match="rnak"):
        load(frame, keep=["rnak"])
    with pytest.raises(InvalidInputError, match="keep must be other columns than drop"):
        load(frame, keep=["rank"], drop=["rank"])


def test_words_name_rows_before_numbers_do():
    frame = pd.DataFrame(
        {"nr": np.arange(N), "who": [f"person {i}" for i in range(N)], "x": RNG.normal(size=N)}
    )
    with pytest.warns(TableWarning, match="'nr', 'who'. 'who' names the rows"):
        table = load(frame)
    assert table.row_names[3] == "person 3"
    assert table.preparation.drop == ("nr",)


def test_given_names_of_rows_stay():
    frame = pd.DataFrame(
        {"nr": np.arange(N), "town": [f"town {i}" for i in range(N)], "x": RNG.normal(size=N)}
    )
    with pytest.warns(TableWarning, match="are no features: 'nr'. keep="):
        table = load(frame, index="town")
    assert table.row_names[0] == "town 0"
    with pytest.warns(TableWarning, match="are no features: 'nr'. keep="):
        table = load(frame.set_index("town"))
    assert table.row_names[0] == "town 0"


def test_names_with_a_repetition_are_left_out_but_name_nothing():
    who = [f"person {max(i, 1)}" for i in range(N)]
    with pytest.warns(TableWarning, match="are no features: 'who'. keep="):
        table = load(pd.DataFrame({"who": who, "x": RNG.normal(size=N)}))
    assert table.row_names == tuple(map(str, range(N)))
    assert table.feature_names == ("x",)


def test_text_that_hardly_repeats_is_left_out():
    """Tickets: three in four differ, and half are plain numbers. Cabins: few are known."""
    n = 120
    ticket = [f"{10_000 + i}" if i % 2 else f"PC {i}" for i in range(n * 3 // 4)]
    frame = pd.DataFrame({
        "ticket": [*ticket, *ticket[: n // 4]],
        "cabin": [f"C{i}" if i < 30 else None for i in range(n)],
        "maker": [f"maker {i % 10}" for i in range(n)],  # fewer than rows of each
        "spoilt": [*map(str, RNG.permutation(n - 4)), "low", "low", "high", "high"],  # in no order
        "x": RNG.normal(size=n),
    })  # fmt: skip
    with pytest.warns(TableWarning) as caught:
        table = load(frame, metric="gower")
    assert table.feature_names == ("maker", "spoilt", "x")
    words = [str(one.message) for one in caught]
    assert "count as missing: 'spoilt' ('low', 'high' in 4 rows). levels=" in words[0]
    assert "or hardly repeat, are no features: 'ticket', 'cabin'. keep=" in words[1]


def test_a_table_of_nothing_else_is_left_as_it_is():
    assert load(pd.DataFrame({"row": np.arange(N)})).X.shape == (N, 1)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("birth_date", RNG.normal(size=N)),
        ("day", 20200100 + RNG.integers(1, 29, N)),
        ("timestamp", RNG.normal(size=N)),
    ],
)
def test_numbers_that_look_like_dates_are_named(name, values):
    with pytest.warns(TableWarning, match=f"look like dates count as numbers: '{name}'"):
        load(pd.DataFrame({name: values}))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("x", RNG.choice(10**6, N, replace=False)),  # distinct, but neither a range nor called so
        ("type_id", RNG.integers(0, 3, N)),
        ("id", RNG.normal(size=N)),
        ("valid", RNG.choice(10**6, N, replace=False)),
        ("year", 1990 + RNG.integers(0, 30, N)),
        ("area", 20200000 + RNG.choice(10**5, N)),
        ("update", RNG.normal(size=N)),
        ("town", ["a", "b", "c"] * 10),
        ("declared", pd.Categorical(["a", "b", "c"] * 10, categories=[*"abc", *map(str, range(N))])),
    ],
)
def test_measurements_are_not(name, values):
    load(pd.DataFrame({name: values}))


def test_few_rows_say_nothing():
    load(pd.DataFrame({"row": range(5), "id": [5, 9, 2, 7, 1]}))
