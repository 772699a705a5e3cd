"""Identifiers and dates among the columns are named, and nothing else is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from isentropic._errors import TableWarning
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
def test_identifiers_are_named(name, values, nominal):
    frame = pd.DataFrame({name: values, "x": RNG.normal(size=N)})
    with pytest.warns(
        TableWarning, match=f"look like identifiers count as features: '{name}'. Leave them out"
    ):
        table = load(frame, nominal=nominal)
    assert table.X.shape[1] >= 2  # kept


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
