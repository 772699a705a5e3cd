"""Whether the columns of a table are related: a test that is exact on noise and sees what there is."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic import datasets
from isentropic.comparison.structure import blocks, column_relation

NOISE = {
    "normal": lambda random, shape: random.normal(size=shape),
    "uniform": lambda random, shape: random.uniform(size=shape),
    "cauchy": lambda random, shape: random.standard_cauchy(size=shape),
    "coins": lambda random, shape: random.integers(0, 2, size=shape).astype(float),
}


def test_noise_of_any_shape_is_called_related_as_often_as_the_p_value_says():
    found = []
    for seed in range(10):
        for draw in NOISE.values():
            X = draw(np.random.default_rng(seed), (60, 4 + seed))
            found.append(column_relation(X, seed).p_value)
    assert np.mean(np.array(found) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(found))
    assert 0.35 < np.mean(found) < 0.68  # evenly spread from 0 to 1, but for ties of coins


@pytest.mark.parametrize("name", ["iris", "wine", "swiss-roll"])
def test_tables_with_something_to_show_are_seen(name, rng):
    X = datasets.load(f"builtin:{name}").X[:300]
    assert column_relation(X).p_value == 0.01
    shuffled = np.column_stack([rng.permutation(column) for column in X.T])
    assert column_relation(shuffled).p_value > 0.01
    assert column_relation(shuffled).strength < column_relation(X).strength


def test_levels_of_one_column_are_no_relation(rng):
    """Indicators of a level exclude each other in every table; that says nothing about rows."""
    codes = rng.integers(0, 6, size=(200, 4))
    X = np.hstack([np.eye(6)[column] for column in codes.T])
    assert column_relation(X).p_value > 0.01
    assert_array_equal([len(block) for block in blocks(X)], [6] * 4)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    assert_array_equal([len(block) for block in blocks(scaled)], [6] * 4)


def test_other_columns_stand_by_themselves(rng):
    coins = rng.integers(0, 2, size=(50, 3)).astype(float)
    X = np.column_stack([coins, np.ones(50), rng.normal(size=50)])
    assert_array_equal([len(block) for block in blocks(X)], [1] * 5)


def test_nothing_is_said_of_equal_rows_and_wide_tables_take_few_of_them(rng):
    assert column_relation(np.ones((30, 4))) is None
    assert column_relation(rng.normal(size=(70, 20_000))).p_value > 0.01


def test_the_same_table_has_the_same_relation(rng):
    X = rng.normal(size=(80, 5))
    assert column_relation(X, 3) == column_relation(X.copy(), 3)
