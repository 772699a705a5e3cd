"""The nearest by paths against a plain heap that visits all."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from test_paths import plain_dijkstra, random_graph

from isentropic.kernels.paths import nearest_by_paths

GRAPHS = {
    "sparse": random_graph(40, 90, 0, weight=lambda r: r.uniform(0.1, 2)),
    "dense": random_graph(30, 200, 1, weight=lambda r: r.uniform(0.1, 2)),
    "ties": random_graph(35, 130, 3, weight=lambda r: 1.0),
    "zero weights": random_graph(35, 130, 2, weight=lambda r: r.integers(0, 3)),
    "all zero": random_graph(20, 90, 6, weight=lambda r: 0.0),
}


def plain_lists(graph, seeds, extras, k, own=-1):
    """The k least of ``distance + extra``, by length, then by number."""
    lengths = plain_dijkstra(*graph, seeds) + extras
    order = np.lexsort((np.arange(len(lengths)), lengths))
    order = order[order != own][:k]
    return order, lengths[order]


def found_by_kernel(graph, seed_ptr, seeds, starts, extras, selves, k, n_workers):
    indices = np.empty((len(selves), k), np.int32)
    lengths = np.empty((len(selves), k))
    nearest_by_paths(*graph, seed_ptr, seeds, starts, extras, selves, n_workers, indices, lengths)
    return indices, lengths


@pytest.mark.parametrize("k", [1, 4, 12])
@pytest.mark.parametrize("name", GRAPHS)
def test_rows_of_the_graph(name, k):
    indptr, indices, weights = graph = GRAPHS[name]
    n = len(indptr) - 1
    extras = np.random.default_rng(7).choice([0.0, 0.0, 0.5, 3.0], len(weights))
    reached = [np.isfinite(plain_dijkstra(*graph, [(i, 0.0)])).sum() for i in range(n)]
    rows = [i for i in range(n) if reached[i] > k]
    found = [
        found_by_kernel(graph, indptr, indices, weights, extras, np.arange(n), k, workers)
        for workers in (1, 3)
    ]
    for i in rows:
        own = np.zeros(n)
        own[indices[indptr[i] : indptr[i + 1]]] = extras[indptr[i] : indptr[i + 1]]
        expected = plain_lists(graph, [(i, 0.0)], own, k, i)
        for lists in found:
            assert_array_equal(lists[0][i], expected[0])
            assert_array_equal(lists[1][i], expected[1])


def test_new_rows_enter_by_their_seeds():
    graph = GRAPHS["dense"]
    random = np.random.default_rng(0)
    n = len(graph[0]) - 1
    seeds = np.array([random.choice(n, 3, replace=False) for _ in range(9)], np.int32)
    starts, extras = random.uniform(0, 2, (2, 9, 3))
    ptr = np.arange(0, 28, 3)
    nobody = np.full(9, -1)
    indices, lengths = found_by_kernel(
        graph, ptr, seeds.ravel(), starts.ravel(), extras.ravel(), nobody, 7, 2
    )
    for s in range(9):
        own = np.zeros(n)
        own[seeds[s]] = extras[s]
        order, expected = plain_lists(graph, list(zip(seeds[s], starts[s], strict=True)), own, 7)
        assert_array_equal(indices[s], order)
        assert_array_equal(lengths[s], expected)
