"""Built-in sets: shapes as catalogued, seeds, and the shape of the rolls."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.datasets import catalogue, load
from isentropic.tables.table_sources import BUILTIN

NAMES = ["iris", "wine", "breast-cancer", "digits", "swiss-roll", "swiss-hole", "s-curve"]
NAMES += ["four-cluster-roll", "two-moons", "blobs"]
GENERATED = [name for name, builtin in BUILTIN.items() if builtin.generated]


def test_all_are_here():
    assert list(BUILTIN) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_is_as_catalogued(name):
    entry = next(entry for entry in catalogue() if entry.source == f"builtin:{name}")
    table = load(entry.source, tails="keep")
    assert table.X.shape == (entry.n_samples, entry.n_features)
    assert f"builtin:{table.name}" == entry.source
    assert len(table.row_names) == entry.n_samples
    assert np.isfinite(table.X).all()
    if entry.n_classes is None:
        assert table.class_names == ()
        assert table.y.dtype == np.float64
    else:
        assert len(table.class_names) == entry.n_classes
        assert_array_equal(np.unique(table.y), np.arange(entry.n_classes))


@pytest.mark.parametrize("name", GENERATED)
def test_sizes_and_seeds(name):
    table = load(f"builtin:{name}", n_samples=30, random_state=1)
    assert len(table.X) == 30
    assert_array_equal(load(f"builtin:{name}", n_samples=30, random_state=1).X, table.X)
    assert (load(f"builtin:{name}", n_samples=30, random_state=2).X != table.X).any()


def test_four_clusters_on_a_roll():
    table = load("builtin:four-cluster-roll")
    x = np.hypot(table.X[:, 0], table.X[:, 2])
    assert_allclose(table.X[:, 0], x * np.cos(x), atol=1e-9)
    assert_array_equal(np.bincount(table.y), [400] * 4)
    flat = np.column_stack([x, table.X[:, 1]])
    for code, centre in enumerate([(7.5, 7.5), (7.5, 12.5), (12.5, 7.5), (12.5, 12.5)]):
        assert_allclose(flat[table.y == code].mean(axis=0), centre, atol=0.2)
        assert_allclose(flat[table.y == code].std(axis=0), 1, atol=0.15)


def test_the_target_of_a_roll_is_the_position_along_it():
    for name in ("swiss-roll", "swiss-hole"):
        table = load(f"builtin:{name}")
        assert_allclose(np.hypot(table.X[:, 0], table.X[:, 2]), table.y)


def test_iris_is_standardised_sklearn_iris():
    from sklearn.datasets import load_iris
    from sklearn.preprocessing import StandardScaler

    bunch = load_iris()
    table = load("builtin:iris")
    assert_allclose(table.X, StandardScaler().fit_transform(bunch.data), atol=1e-12)
    assert_array_equal(table.y, bunch.target)
    assert table.class_names == ("setosa", "versicolor", "virginica")


def test_a_feature_may_be_the_target():
    with pytest.warns(TableWarning, match="'target', which iris knows as its target, is now") as told:
        table = load("builtin:iris", "sepal length (cm)")
    assert "drop=['target']" in str(told[0].message)
    assert load("builtin:iris", "sepal length (cm)", drop=["target"]).X.shape == (150, 3)
    assert table.feature_names[-3:] == ("target=setosa", "target=versicolor", "target=virginica")


def test_an_unknown_name_offers_the_nearest():
    with pytest.raises(InvalidInputError, match=r"got 'swissroll'. Did you mean 'swiss-roll'"):
        load("builtin:swissroll")


@pytest.mark.parametrize("n_samples", [0, -3, 2.5])
def test_a_size_is_a_positive_integer(n_samples):
    with pytest.raises(InvalidInputError, match="n_samples must be a positive integer or None"):
        load("builtin:blobs", n_samples=n_samples)


def test_a_classic_has_its_own_size():
    with pytest.raises(
        InvalidInputError, match=r"n_samples must be None for builtin:iris, got 10. It sets the size of"
    ):
        load("builtin:iris", n_samples=10)
