"""Columns of one unit are left unscaled; ordinary tables are not taken for them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import datasets as sklearn_datasets

from isentropic import InvalidInputError, TableWarning
from isentropic.datasets import Preparation, load
from isentropic.tables.prepare.column_scaling import row_profiles
from isentropic.tables.prepare.metric_choice import are_numbered, same_unit

RNG = np.random.default_rng(2)
DIGITS = sklearn_datasets.load_digits().data
VECTORS = RNG.normal(size=(90, 50)) * RNG.uniform(0.6, 1.4, size=(90, 1))
GENES = RNG.negative_binomial(1, 1 / (1 + RNG.lognormal(1.0, 2.0, size=60)), size=(80, 60)).astype(float)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([f"pixel_{i}_{j}" for i in range(4) for j in range(4)], True),
        ([f"V{i}" for i in range(1, 20)], True),
        ([f"{850 + 2 * i} nm" for i in range(20)], True),
        ([str(i) for i in range(20)], True),
        (["age", *(f"x{i}" for i in range(19))], True),
        ([f"{word}{i}" for i, word in enumerate(["age", "income", "rooms"] * 5)], False),
        (["alcohol", "malic_acid", "ash"], False),
    ],
)
def test_numbered_names(names, expected):
    assert are_numbered(names) == expected


def test_pixels_vectors_genes_and_answers_have_one_unit():
    pixels = [f"p{j}" for j in range(64)]
    assert same_unit(DIGITS, pixels).what == "numbers of one range, up to 16"
    assert same_unit(VECTORS, [f"v{j}" for j in range(50)]).directions
    assert same_unit(GENES, [f"GENE {chr(65 + j % 26)}{chr(65 + j // 26)}" for j in range(60)]).log1p
    answers = RNG.integers(1, 6, size=(80, 25)).astype(float)
    assert same_unit(answers, [f"item {chr(65 + j)}" for j in range(25)]) is not None
    flags = RNG.integers(0, 2, size=(80, 30)).astype(float)
    assert "two values" in same_unit(flags, [f"word {chr(65 + j)}" for j in range(30)]).what


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes"])
def test_measured_columns_have_units_of_their_own(name):
    data = getattr(sklearn_datasets, f"load_{name}")(**({"scaled": False} if name == "diabetes" else {}))
    assert same_unit(data.data, list(data.feature_names)) is None
    assert same_unit(data.data, [f"x{j}" for j in range(data.data.shape[1])]) is None  # no header


def test_one_column_in_another_unit_is_enough():
    answers = np.c_[RNG.integers(1, 6, size=(80, 25)), RNG.integers(18, 90, size=80)].astype(float)
    assert same_unit(answers, [f"x{j}" for j in range(26)]) is None


def test_pixels_are_not_scaled_unless_asked():
    frame = pd.DataFrame(DIGITS[:100], columns=[f"pixel{j}" for j in range(64)])
    varies = np.ptp(DIGITS[:100], axis=0) > 0
    with pytest.warns(TableWarning) as caught:
        table = load(frame)
    words = [str(one.message) for one in caught]
    assert "columns with the same value in every row are left out: 'pixel0'" in words[0]
    assert "the 53 columns are numbers of one range, up to 16, so they are not" in words[1]
    assert_array_equal(table.X, DIGITS[:100, varies])
    assert table.scaling == "none"
    with pytest.warns(TableWarning, match="same value in every row"):
        assert load(frame, scaling="standard").scaling == "standard"


def test_vectors_are_compared_by_direction_and_new_ones_after_them():
    frame = pd.DataFrame(VECTORS, columns=[f"v{j}" for j in range(50)])
    with pytest.warns(TableWarning, match=r"by their directions \(cosine\).*scaling='standard'"):
        table = load(frame)
    assert_allclose(np.linalg.norm(table.X, axis=1), 1.0)
    assert table.preparation.rows == "unit"
    prepared = Preparation.from_json(table.preparation.to_json())
    assert_array_equal(load(frame[:3], preparation=prepared).X, table.X[:3])
    with pytest.warns(TableWarning, match="not scaled one by one"):
        assert_array_equal(load(frame, rows="values").X, VECTORS)


def test_counts_are_compared_by_their_logarithms():
    frame = pd.DataFrame(GENES, columns=[f"GENE {chr(65 + j % 26)}{chr(65 + j // 26)}" for j in range(60)])
    with pytest.warns(TableWarning) as caught:
        table = load(frame)
    words = [str(one.message) for one in caught]
    assert "columns with the same value in every row are left out: 'GENE QB'" in words[0]
    assert "counts in one unit, so rows are compared by log" in words[1]
    assert_allclose(table.X, np.log1p(GENES[:, np.ptp(GENES, axis=0) > 0]))
    prepared = Preparation.from_json(table.preparation.to_json())
    assert_array_equal(load(frame[:3], preparation=prepared).X, table.X[:3])


def test_rows_as_shares_and_profiles():
    X = RNG.uniform(1, 9, size=(30, 4)) * RNG.uniform(1, 50, size=(30, 1))
    shares = X / X.sum(axis=1, keepdims=True)
    assert_allclose(row_profiles(X, "shares"), shares)
    profiles = row_profiles(X, "profiles")
    assert_allclose(profiles.mean(axis=1), 0.0, atol=1e-12)
    assert_allclose(profiles.std(axis=1), 1.0)
    for rows in ("shares", "profiles", "unit"):  # the size of a row is taken out
        assert_allclose(row_profiles(X * 7.0, rows), row_profiles(X, rows))
        holed = np.where(np.arange(4) == 1, np.nan, X)
        assert_allclose(row_profiles(holed, rows)[:, [0, 2, 3]], row_profiles(X[:, [0, 2, 3]], rows))
    table = load(pd.DataFrame(X, columns=list("abcd")), rows="shares")
    assert table.scaling == "standard"
    assert_allclose(table.X, (shares - shares.mean(axis=0)) / shares.std(axis=0))
    prepared = Preparation.from_json(table.preparation.to_json())
    assert_allclose(load(pd.DataFrame(X * 3.0, columns=list("abcd")), preparation=prepared).X, table.X)


def test_rows_without_differences_are_named_and_become_zero():
    with pytest.warns(TableWarning, match="1 row without differences become 0 for rows='shares'"):
        assert_array_equal(row_profiles(np.array([[0.0, 0.0], [1.0, 3.0]]), "shares"), [[0, 0], [0.25, 0.75]])


@pytest.mark.parametrize(
    ("frame", "rows", "match"),
    [
        ({"a": [1.0, -2.0], "b": [1.0, 2.0]}, "shares", "values must be 0 or more for rows='shares', got -2"),
        (
            {"a": [1.0, 2.0], "b": ["x", "y"]},
            "profiles",
            "every feature must be a number for rows='profiles'",
        ),
        (
            {"a": [1.0, 2.0], "b": [1.0, 2.0]},
            "sums",
            "rows must be one of auto, values, shares, profiles, unit",
        ),
    ],
)
def test_rows_that_have_no_shares_are_refused(frame, rows, match):
    with pytest.raises(InvalidInputError, match=match):
        load(pd.DataFrame(frame), rows=rows)
