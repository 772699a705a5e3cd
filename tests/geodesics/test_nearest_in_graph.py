"""The nearest over a graph are those of all geodesic distances, sorted, to the last bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import laws
from isentropic import neighbor_graph
from isentropic.geodesics import from_neighbors, from_rows, nearest_by_entries, nearest_in_graph
from isentropic.neighbors import RowIndex

X, NEW = laws.numbers(0, 120), laws.numbers(1, 9)
GRAPH = neighbor_graph(X, 6)


def sorted_lists(G, k):
    order = np.argsort(G, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(G, order, axis=1)


@pytest.mark.parametrize("k", [5, 40, 119])
def test_lists_with_extras_are_those_of_all_geodesics(k):
    extras = np.random.default_rng(0).choice([0.0, 0.7, 5.0], len(GRAPH.weights))
    G = from_rows(GRAPH, np.arange(120))
    G[np.repeat(np.arange(120), np.diff(GRAPH.indptr)), GRAPH.indices] += extras
    np.fill_diagonal(G, np.inf)
    order, lengths = sorted_lists(G, k)
    for jobs in (1, 2):
        found = nearest_in_graph(GRAPH, k, extras, n_jobs=jobs)
        assert_array_equal(found.indices, order)
        assert_array_equal(found.distances, lengths)


def test_lists_of_new_rows():
    near, distances = RowIndex(X).nearest(NEW, 6)
    extras = np.random.default_rng(1).choice([0.0, 0.7], near.shape)
    G = from_neighbors(GRAPH, near, distances)
    np.put_along_axis(
        G, near.astype(np.int64), np.take_along_axis(G, near.astype(np.int64), axis=1) + extras, axis=1
    )
    order, lengths = sorted_lists(G, 30)
    found = nearest_by_entries(GRAPH, near, distances, extras, 30)
    assert_array_equal(found[0], order)
    assert_array_equal(found[1], lengths)
