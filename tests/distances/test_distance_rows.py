"""Rows of distances, from whatever they come."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from assertions import assert_same_bits
from isentropic._core.errors import InvalidInputError
from isentropic.quality import assess, distance_rows
from naive import condensed, distances

SOURCES = {
    "table": lambda X: (X, "euclidean"),
    "l2": lambda X: (X, "l2"),
    "list": lambda X: (X.tolist(), "euclidean"),
    "fortran order": lambda X: (np.asfortranarray(X), "euclidean"),
    "matrix": lambda X: (distances(X), "precomputed"),
    "condensed": lambda X: (condensed(distances(X)), "precomputed"),
    "minkowski": lambda X: (X, "minkowski"),
}


@pytest.fixture
def X(rng):
    return rng.normal(size=(70, 5))


@pytest.mark.parametrize("source", SOURCES)
def test_rows_and_pairs_are_the_distances(X, source):
    D = distances(X)
    found = distance_rows(*SOURCES[source](X))
    numbers = np.array([69, 0, 33, 64])
    assert found.n == 70
    assert_allclose(found.rows(numbers), D[numbers], rtol=1e-12, atol=1e-15)
    assert_array_equal(found.rows(numbers)[np.arange(4), numbers], 0.0)
    if found.pairs is not None:
        assert_allclose(found.pairs(numbers, numbers[::-1]), D[numbers, numbers[::-1]], rtol=1e-12)


@pytest.mark.parametrize("source", SOURCES)
def test_a_row_has_the_same_bits_in_any_batch(X, source):
    found = distance_rows(*SOURCES[source](X))
    whole = found.rows(np.arange(70))
    assert_same_bits(found.rows(np.array([41])), whole[[41]])
    assert_same_bits(found.rows(np.array([7, 41, 3])), whole[[7, 41, 3]])


def test_rows_are_passed_on(X):
    found = distance_rows(X)
    assert distance_rows(found, "manhattan") is found


def test_names_of_metrics(X):
    def mine(x, y):
        return abs(x[0] - y[0])

    names = [distance_rows(X, metric).name for metric in ("euclidean", "l2", "cosine", mine)]
    assert names == ["euclidean", "euclidean", "cosine", "mine"]


@pytest.mark.parametrize("metric", [np.zeros(3), ["l2"], None, 2.0])
def test_what_is_no_metric_is_refused_by_name(X, metric):
    with pytest.raises(InvalidInputError, match="metric must be one of"):
        distance_rows(X, metric)


def test_zero_has_no_sign(X):
    D = distances(X)
    D[3, 4] = D[4, 3] = -0.0
    found = distance_rows(D, "precomputed").rows(np.array([3]))
    assert not np.signbit(found).any()


def test_a_table_is_not_copied_in_rows_order(X):
    # Memory beyond the table is one copy of it, in tiles.
    found = distance_rows(X)
    assert found.rows.data is X
    assert found.rows.tiles.nbytes == 128 * 5 * 8


def test_slight_asymmetry_and_a_slight_distance_to_itself_are_noise(X):
    D = distances(X)
    D[3, 4] *= 1 + 1e-13
    D[5, 5] = 1e-13
    assert distance_rows(D, "precomputed").rows(np.array([5]))[0, 5] == 0.0


def test_a_row_is_at_distance_0_of_itself_by_any_metric(X):
    D = distance_rows(X, "cosine").rows(np.arange(70))
    assert_array_equal(np.diagonal(D), 0.0)
    assert_allclose(D, distances(X, metric="cosine"), atol=1e-14)


@pytest.mark.parametrize("side", ["X", "Z", "both"])
def test_tables_that_cannot_be_written_are_read(X, side):
    tables = {"X": X.copy(), "Z": X[:, :2].copy()}
    expected = assess(tables["X"], tables["Z"]).to_json()
    for name in tables if side == "both" else side:
        tables[name].flags.writeable = False
    assert assess(tables["X"], tables["Z"]).to_json() == expected
