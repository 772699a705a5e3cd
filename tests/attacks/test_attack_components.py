"""Disconnected tables of every kind: the connecting edges are those of a plain search."""

import os

import numpy as np
import pytest

import naive
from assertions import assert_same_bits, assert_same_edges
from isentropic.neighbors import connecting_edges as bridges_module
from isentropic.neighbors import connecting_edges as cells_module
from isentropic.neighbors.connecting_edges import shortest_bridges

ATTACKS = 40 * int(os.environ.get("ISENTROPIC_ATTACKS", "1"))


def attack(seed):
    """A table and the component of each row: clusters, ties, duplicates, outliers, any unit and offset."""
    rng = np.random.default_rng(seed)
    n, m, c = int(rng.integers(2, 90)), int(rng.choice([1, 2, 7, 40])), int(rng.integers(2, 12))
    labels = rng.integers(0, c, n)
    labels[:2] = 0, 1
    X = rng.normal(size=(n, m)) + rng.choice([0.0, 1.0, 50.0]) * rng.normal(size=(c, m))[labels]
    if rng.random() < 0.4:
        X = X.round()
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, n)]
    if rng.random() < 0.2:
        X[rng.integers(n)] *= 1e8
    X = X * rng.choice([1.0, 2.0**-400, 2.0**400]) + rng.choice([0.0, 0.0, 2.0**20])
    return X, np.unique(labels, return_inverse=True)[1]


def search_by_cells(monkeypatch):
    monkeypatch.setattr(bridges_module, "_ENOUGH", 1)
    monkeypatch.setattr(bridges_module, "_FEW", 1)
    monkeypatch.setattr(bridges_module, "worth_comparing", lambda n, m: -1)
    monkeypatch.setattr(cells_module, "_LEAST_CELL", 8)
    monkeypatch.setattr(cells_module, "_QUERIES", 5)


@pytest.mark.parametrize("seed", range(ATTACKS))
def test_connecting_edges_are_those_of_a_plain_search(seed, monkeypatch):
    X, labels = attack(seed)
    by_tree = shortest_bridges(X, labels)
    search_by_cells(monkeypatch)
    by_cells = shortest_bridges(X, labels)
    for one, other in zip(by_tree, by_cells, strict=True):
        assert_same_bits(one, other)
    D = np.array([np.sqrt(((X - x) ** 2).sum(axis=1)) for x in X])
    found = {(int(i), int(j)): d for (i, j), d in zip(*by_cells, strict=True)}
    if (X == X.round()).all() and np.abs(X).max() < 2**20:  # else ties are told apart by rounding
        assert_same_edges(found, naive.naive_bridges(D, labels))
    else:
        expected = naive.naive_bridges(D, labels)
        np.testing.assert_allclose(sorted(found.values()), sorted(expected.values()), rtol=1e-9)


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
@pytest.mark.parametrize("seed", range(ATTACKS))
def test_edges_by_direction_are_those_of_whole_rows_of_distances(seed, metric, monkeypatch):
    X, labels = attack(seed)
    if metric == "correlation":  # rows without variance have none
        X = np.column_stack([X, X[:, :1] + np.ldexp(1.0, np.frexp(np.abs(X[:, :1]))[1])])
    elif seed % 3 == 0:
        X[:: 1 + seed % 5] = 0.0
    by_rows = shortest_bridges(X, labels, metric)
    search_by_cells(monkeypatch)
    for one, other in zip(by_rows, shortest_bridges(X, labels, metric), strict=True):
        assert_same_bits(one, other)
