"""Shortest paths against a plain heap, on graphs with every awkwardness."""

import heapq

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic.kernels.paths import LANES, grouped_order, grouped_paths, single_paths


def plain_dijkstra(indptr, indices, weights, seeds):
    distance = np.full(len(indptr) - 1, np.inf)
    queue = []
    for node, start in seeds:
        if start < distance[node]:
            distance[node] = start
            heapq.heappush(queue, (start, node))
    while queue:
        d, u = heapq.heappop(queue)
        if d > distance[u]:
            continue
        for e in range(indptr[u], indptr[u + 1]):
            through = d + weights[e]
            if through < distance[indices[e]]:
                distance[indices[e]] = through
                heapq.heappush(queue, (through, indices[e]))
    return distance


def random_graph(n, n_edges, seed, *, weight):
    random = np.random.default_rng(seed)
    edges = {}
    for a, b in random.integers(0, n, (n_edges, 2)):
        if a != b:
            edges[a, b] = edges[b, a] = float(weight(random))
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=n))])
    weights = np.array([edges[tuple(pair)] for pair in pairs.tolist()], dtype=np.float64)
    return indptr, pairs[:, 1].astype(np.int32), weights


GRAPHS = {
    "sparse, in parts": random_graph(40, 40, 0, weight=lambda r: r.uniform(0.1, 2)),
    "dense": random_graph(30, 200, 1, weight=lambda r: r.uniform(0.1, 2)),
    "zero weights": random_graph(35, 90, 2, weight=lambda r: r.integers(0, 3)),
    "ties": random_graph(35, 90, 3, weight=lambda r: 1.0),
    "widely spread weights": random_graph(35, 90, 4, weight=lambda r: 10.0 ** r.uniform(-8, 8)),
    "no edge": random_graph(5, 0, 5, weight=lambda r: 1.0),
    "all zero": random_graph(20, 60, 6, weight=lambda r: 0.0),
}


@pytest.mark.parametrize("find", [grouped_paths, single_paths])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("n_workers", [1, 3])
def test_paths_from_every_node_equal_a_plain_heap_to_the_last_bit(find, name, n_workers):
    indptr, indices, weights = GRAPHS[name]
    n = len(indptr) - 1
    wanted = np.random.default_rng(0).permutation(n)
    out = np.full((n, n), -1.0)
    nodes, at = np.arange(n, dtype=np.int32), np.arange(n) * n
    columns_from = np.arange(n) % 3  # some columns are not wanted
    find(indptr, indices, weights, np.arange(n + 1), nodes, np.zeros(n), wanted, at, columns_from, n_workers,
         out.reshape(-1))  # fmt: skip
    for s in range(n):
        expected = plain_dijkstra(indptr, indices, weights, [(s, 0.0)])[wanted]
        expected[: columns_from[s]] = -1.0
        assert_array_equal(out[s], expected)


@pytest.mark.parametrize("find", [grouped_paths, single_paths])
def test_a_new_row_enters_through_all_its_seeds(find):
    indptr, indices, weights = GRAPHS["dense"]
    n = len(indptr) - 1
    random = np.random.default_rng(1)
    k, n_sources = 4, LANES + 3
    seeds = random.integers(0, n, (n_sources, k)).astype(np.int32)  # a node may be named twice
    starts = random.uniform(0, 3, (n_sources, k))
    starts[0, 1:] = np.inf  # a shorter list, filled up
    out = np.empty((n_sources, n))
    seed_ptr = np.arange(0, n_sources * k + 1, k)
    at = np.arange(n_sources) * n
    wanted, columns_from = np.arange(n), np.zeros_like(at)
    find(indptr, indices, weights, seed_ptr, seeds.ravel(), starts.ravel(), wanted, at, columns_from, 2,
         out.reshape(-1))  # fmt: skip
    for s in range(n_sources):
        expected = plain_dijkstra(indptr, indices, weights, list(zip(seeds[s], starts[s], strict=True)))
        assert_array_equal(out[s], expected)


@pytest.mark.parametrize("name", GRAPHS)
def test_groups_hold_every_node_once_and_grow_along_edges(name):
    indptr, indices, _ = GRAPHS[name]
    order = grouped_order(indptr, indices)
    assert_array_equal(np.sort(order), np.arange(len(indptr) - 1))
    if name == "dense":
        first = order[:LANES]
        joined = [v for u in first for v in indices[indptr[u] : indptr[u + 1]]]
        assert set(first[1:]) <= set(joined)


def test_the_plain_heap_notices_a_changed_weight():
    indptr, indices, weights = GRAPHS["dense"]
    longer = weights.copy()
    longer[indptr[0] : indptr[1]] += 1.0
    before = plain_dijkstra(indptr, indices, weights, [(0, 0.0)])
    assert (plain_dijkstra(indptr, indices, longer, [(0, 0.0)]) > before).any()
