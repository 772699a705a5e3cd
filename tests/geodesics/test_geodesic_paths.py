"""Geodesics of neighbour graphs: agreement with scipy, laws, determinism, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import squareform

from isentropic import Pnn, config_context, geodesics, neighbor_graph
from isentropic._core.errors import InvalidInputError, MemoryBudgetError


@pytest.fixture(scope="module")
def graph():
    X = np.random.default_rng(0).normal(size=(400, 3))
    return neighbor_graph(X, 8)


def by_scipy(graph):
    n = graph.n_rows
    return shortest_path(csr_array((graph.weights, graph.indices, graph.indptr), shape=(n, n)), method="D")


def test_all_pairs_agree_with_scipy_to_the_last_bit(graph):
    assert_array_equal(geodesics.all_pairs(graph), squareform(by_scipy(graph), checks=False))


def test_paths_from_some_rows_are_rows_of_all_pairs(graph):
    sources = np.array([17, 3, 399, 3])
    assert_array_equal(geodesics.from_rows(graph, sources), by_scipy(graph)[sources])


def test_a_new_row_goes_through_its_nearest_neighbour(graph):
    random = np.random.default_rng(1)
    indices = random.integers(0, graph.n_rows, (60, 5)).astype(np.int32)
    distances = np.sort(random.uniform(0, 1, (60, 5)), axis=1)
    found = geodesics.from_neighbors(graph, indices, distances)
    G = by_scipy(graph)
    expected = (distances[:, :, None] + G[indices]).min(axis=1)
    assert_allclose(found, expected, rtol=1e-13)


def test_any_number_of_threads_and_any_batch_give_the_same_bits(graph):
    assert_array_equal(geodesics.all_pairs(graph, n_jobs=1), geodesics.all_pairs(graph, n_jobs=2))
    random = np.random.default_rng(2)
    indices = random.integers(0, graph.n_rows, (50, 5)).astype(np.int32)
    distances = random.uniform(0, 1, (50, 5))
    together = geodesics.from_neighbors(graph, indices, distances, n_jobs=2)
    for i in range(50):
        alone = geodesics.from_neighbors(graph, indices[[i]], distances[[i]], n_jobs=1)
        assert_array_equal(alone[0], together[i])


def test_rows_without_a_path_are_infinitely_far():
    X = np.concatenate([np.zeros((3, 1)), np.full((3, 1), 10.0)]) + np.arange(6)[:, None] / 10
    with pytest.warns(match="2 parts of 3, 3 rows"):
        graph = neighbor_graph(X, 1, on_disconnected="inflate")
    G = squareform(geodesics.all_pairs(graph))
    assert np.isinf(G[:3, 3:]).all()
    assert np.isfinite(G[:3, :3]).all()


def test_geodesics_are_a_metric_no_shorter_than_the_straight_line(graph):
    X = np.random.default_rng(0).normal(size=(400, 3))
    G = squareform(geodesics.all_pairs(graph))
    straight = np.linalg.norm(X[:, None] - X[None], axis=2)
    assert (G >= straight * (1 - 1e-12)).all()
    middle = np.random.default_rng(3).integers(0, 400, 50)
    for m in middle:
        assert (G <= (G[:, [m]] + G[[m], :]) * (1 + 1e-12)).all()


def test_memory_is_refused_before_it_is_taken(graph):
    with (
        config_context(memory_limit=1000),
        pytest.raises(MemoryBudgetError, match=r"needs 625 KiB.*n_landmarks"),
    ):
        geodesics.all_pairs(graph)
    with config_context(memory_limit=1000), pytest.raises(MemoryBudgetError, match="fewer landmarks"):
        geodesics.from_rows(graph, np.arange(10))


def test_affinities_are_no_lengths():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(InvalidInputError, match=r"must be of kind knn, radius or percentile.*got 'pnn'"):
        geodesics.all_pairs(neighbor_graph(X, Pnn(10)))
