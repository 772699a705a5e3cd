"""Tables like those on which new users stumbled: they come in with no option, nothing odd is a feature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from isentropic._core.errors import TableWarning
from isentropic.datasets import load

pytestmark = pytest.mark.filterwarnings("ignore:ordered words count as numbers")  # of the cuts


def diamonds(n: int = 400) -> pd.DataFrame:
    """As diamonds.csv: a first column without a name counts the rows; one level in a hundred is rare."""
    rng = np.random.default_rng(0)
    clarity = np.where(np.arange(n) % 100 == 7, "I1", rng.choice(["SI1", "SI2", "VS1", "VS2"], n))
    return pd.DataFrame(
        {
            "carat": rng.gamma(2.0, 0.4, n).round(2),
            "cut": rng.choice(["Fair", "Good", "Ideal"], n),
            "clarity": clarity,
            "depth": rng.normal(61, 1.4, n).round(1),
            "price": rng.gamma(1.5, 2_600, n).round(),
        },
        index=range(1, n + 1),
    )


def cars(n: int = 93) -> pd.DataFrame:
    """As Cars93: a few dozen rows, one text that differs in each and one that hardly repeats, some holes."""
    rng = np.random.default_rng(1)
    makers = [f"maker {i % 32}" for i in range(n)]
    frame = pd.DataFrame({"Manufacturer": makers, "Model": [f"model {i}" for i in range(n)]})
    frame["Type"] = rng.choice(["Small", "Midsize", "Van", "Sporty"], n)
    for name in ("Min.Price", "Price", "Horsepower", "Length", "Weight"):
        frame[name] = rng.gamma(4.0, 5.0, n).round(1)
    frame["AirBags"] = rng.choice(["None", "Driver only", "Driver & Passenger"], n)
    frame["Luggage.room"] = np.where(np.arange(n) % 9 == 0, np.nan, rng.integers(8, 22, n))
    frame["Make"] = frame["Manufacturer"] + " " + frame["Model"]
    return frame


def test_a_first_column_that_counts_the_rows_names_them(tmp_path):
    frame = diamonds()
    frame.to_csv(tmp_path / "diamonds.csv")
    with pytest.warns(TableWarning, match="or hardly repeat, are no features: 'Unnamed: 0'"):
        table = load(tmp_path / "diamonds.csv", "price")
    assert table.row_names[:3] == ("1", "2", "3")
    assert not any("Unnamed" in name for name in table.feature_names)


def test_a_rare_level_throws_no_row_out_of_the_map(tmp_path):
    """Standardised by itself, a level that one row in a hundred has lay ten standard deviations away."""
    table = load(diamonds(), "price")
    rare = table.X[:, table.feature_names.index("clarity=I1")]
    assert np.ptp(rare) < 2.0
    levels = [j for j, name in enumerate(table.feature_names) if name.startswith("clarity=")]
    assert table.X[:, levels].var(axis=0).sum() == pytest.approx(1.0)


def test_a_level_in_every_row_is_a_name(tmp_path):
    cars().to_csv(tmp_path / "cars.csv", index=False)
    with pytest.warns(TableWarning, match="no features: 'Model', 'Make'. 'Model' names the rows"):
        table = load(tmp_path / "cars.csv", "Type", missing="median", keep="Manufacturer", tails="keep")
    assert table.row_names[0] == "model 0"
    numbers = [name for name in table.feature_names if "=" not in name]
    assert numbers == ["Min.Price", "Price", "Horsepower", "Length", "Weight", "Luggage.room"]
    makers = [j for j, name in enumerate(table.feature_names) if name.startswith("Manufacturer=")]
    assert len(makers) == 32
    assert table.X[:, makers].var(axis=0).sum() == pytest.approx(1.0)  # they weigh as one column


@pytest.mark.parametrize("rule", ["median", "ppca", "mean", "drop"])
def test_every_remedy_of_the_error_works(rule):
    with pytest.warns(TableWarning):
        table = load(cars(), "Type", missing=rule)
    assert np.isfinite(table.X).all()
    assert len(table.X) == (82 if rule == "drop" else 93)
