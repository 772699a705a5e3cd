"""Whether the columns of a table are related: a test that is exact on noise and sees what there is."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist, pdist, squareform

from isentropic import Gower, datasets
from isentropic.comparison.explain.column_relation import _density, blocks, column_relation

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


# ---- offsets, units and single cells -----------------------------------------------------------


def monotone(random):
    """Three columns that follow from one number; multiples of 2^-20, so that an offset rounds nothing."""
    t = random.uniform(size=100)
    return np.round(np.column_stack([t, np.exp(3 * t), t**3]) * 2**20) / 2**20


def unrelated(random):
    return np.round(random.normal(size=(100, 4)) * 2**20) / 2**20


@pytest.mark.parametrize("table", [monotone, unrelated])
@pytest.mark.parametrize("offset", [2.0**10, -(2.0**24), 2.0**30])  # 1e3, 1e7, 1e9
def test_an_offset_changes_no_relation(table, offset, rng):
    X = table(rng)
    expected = column_relation(X)
    assert column_relation(X + offset) == expected
    X[:, 1] += offset
    assert column_relation(X) == expected


@pytest.mark.parametrize("table", [monotone, unrelated])
@pytest.mark.parametrize("unit", [1e-280, 1e-3, 1e9, 1e306])
def test_the_unit_of_a_table_changes_no_relation(table, unit, rng):
    X = table(rng)
    found, expected = column_relation(unit * X), column_relation(X)
    assert found.p_value == expected.p_value
    assert found.strength == pytest.approx(expected.strength, abs=1e-8)


@pytest.mark.parametrize("cell", [1e3, -1e9, 1e100])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_one_cell_hides_no_relation_and_makes_none(cell, column, rng):
    X, noise = monotone(rng), unrelated(rng)
    strength = column_relation(X).strength
    X[7, column] = noise[7, column] = cell
    assert column_relation(X).p_value == 0.01
    assert column_relation(X).strength == pytest.approx(strength, abs=0.02)
    assert column_relation(noise).p_value > 0.05


def test_equal_rows_stay_equal_far_from_the_others(rng):
    """Ten places of ten rows each, one of them far off: the distances of its rows are 0 up to rounding."""
    X = np.repeat(rng.normal(size=(10, 6)), 10, axis=0)
    near = column_relation(X).strength
    X[:10] += 1e5
    assert column_relation(X).strength == pytest.approx(near, abs=0.02)


# ---- every metric ------------------------------------------------------------------------------


def shuffled_columns(random, n=200, m=24):
    X = random.normal(size=(n, 3)) @ random.normal(size=(3, m))
    return X, np.column_stack([random.permutation(column) for column in X.T])


def with_words(random, X):
    """One more column of random levels, as a word column becomes."""
    return np.column_stack([X, random.integers(0, 40, len(X))]), Gower(levels=(X.shape[1],))


def with_constant(random, X):
    return np.column_stack([X, np.zeros(len(X))]), Gower(levels=(X.shape[1],))


def with_hole(random, X):
    X = X.copy()
    X[5, 3] = np.nan
    return X, "gower"


def with_many_holes(random, X):
    """Some of each column is missing, and some rows of the shuffled table may have no column in common."""
    X = X[:, :6].copy()
    X[random.uniform(size=X.shape) < 0.15] = np.nan
    return X[~np.isnan(X).all(axis=1)], Gower(ordered=(1,), weights=(1.0, 2.0, 1.0, 1.0, 0.5, 0.0))


def by_cosine(random, X):
    return X, "cosine"


def by_city_block(random, X):
    return X, "manhattan"


@pytest.mark.parametrize(
    "change", [with_words, with_constant, with_hole, with_many_holes, by_cosine, by_city_block]
)
def test_unrelated_columns_are_seen_by_every_metric(change):
    random = np.random.default_rng(4)
    related, unrelated = shuffled_columns(random)
    X, metric = change(random, unrelated)
    assert column_relation(X, 0, metric).p_value > 0.01
    X, metric = change(random, related)
    assert column_relation(X, 0, metric).p_value == 0.01


def test_the_density_is_the_ratio_of_distances_to_the_power_of_the_dimension(rng):
    sphere = rng.normal(size=(400, 3))  # two dimensions, and no edge
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    near = np.sort(cdist(sphere, sphere), axis=1)
    for ratio in (1.0, 1.2, 2.0):
        found = _density(near[:, 5], near[:, 10], ratio * near[:, 5])
        assert found == pytest.approx(ratio**2, rel=0.15)
    assert _density(near[:, 5], near[:, 10], 0.9 * near[:, 5]) == 1.0
    assert _density(np.zeros(3), np.ones(3), np.ones((2, 3))) == 1.0


def test_groups_in_many_dimensions_are_dense_though_distances_hardly_differ(rng):
    groups = rng.integers(0, 5, 300)
    X = rng.normal(size=(300, 400)) + rng.normal(size=(5, 400))[groups] * 0.35
    found = column_relation(X)
    assert found.strength < 0.05
    assert found.density > 2
    noise = np.column_stack([rng.permutation(column) for column in X.T])
    assert column_relation(noise).density < 1.2


def test_distances_alone_say_nothing_of_columns(rng):
    D = squareform(pdist(rng.normal(size=(30, 3))))
    assert column_relation(D, 0, "precomputed") is None
    assert column_relation(D, 0, lambda a, b: float(np.abs(a - b).sum())) is None


@pytest.mark.parametrize("metric", ["euclidean", "gower"])
def test_copied_rows_and_a_column_in_other_units_make_no_relation(metric):
    _, X = shuffled_columns(np.random.default_rng(4))
    expected = column_relation(X, 0, metric)
    assert expected.p_value > 0.01
    assert column_relation(np.vstack([X, X[:60], X[:20]]), 0, metric) == expected
    in_inches = np.column_stack([X, X[:, 0] / 2.54 - 7, -X[:, 1], X[:, 2]])
    assert column_relation(in_inches, 0, metric).p_value > 0.01
    assert column_relation(np.column_stack([X[:, 0], 3 * X[:, 0]]), 0, metric) is None


@pytest.mark.parametrize("n_columns", [4, 10])
def test_rows_that_columns_of_few_values_repeat_are_evidence(n_columns):
    """Columns that follow one of two levels, but for one cell in ten: few patterns, many times each."""
    random = np.random.default_rng(0)
    kind = random.integers(0, 2, (300, 2))
    X = kind[:, np.arange(n_columns) % 2].astype(float)
    X = np.where(random.uniform(size=X.shape) < 0.1, 1 - X, X)
    assert column_relation(X).p_value == 0.01
    assert column_relation(X, 0, Gower(levels=tuple(range(n_columns)))).p_value == 0.01
    alone = np.column_stack([random.permutation(column) for column in X.T])
    assert column_relation(alone).p_value > 0.01
    assert column_relation(alone, 0, Gower(levels=tuple(range(n_columns)))).p_value > 0.01
