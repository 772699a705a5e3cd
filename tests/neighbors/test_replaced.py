"""Lists in which the edges of a graph have other distances, against all distances sorted."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from isentropic import Knn
from isentropic.neighbors import (
    RowIndex,
    graph_of_lists,
    nearest_neighbors,
    replaced_among,
    replaced_neighbors,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))


def sorted_lists(D, k):
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def reweighed(graph, factors):
    """The graph with symmetric factors of its weights, and all distances with the same ones."""
    D, n = cdist(X, X), graph.n_rows
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    low, high = np.minimum(rows, graph.indices), np.maximum(rows, graph.indices)
    weights = graph.weights * factors[low, high]
    D[rows, graph.indices] = weights
    np.fill_diagonal(D, np.inf)
    return replace(graph, weights=weights), D


@pytest.mark.parametrize("factor", [0.1, 1.0, 1.5, 100.0])
@pytest.mark.parametrize("listed", [20, 89])
def test_lists_of_rows(factor, listed):
    k, edges = 12, 8
    found = nearest_neighbors(X, Knn(listed))
    graph = graph_of_lists(X, nearest_neighbors(X, Knn(edges)))
    factors = np.where(RNG.uniform(size=(90, 90)) < 0.8, factor, 1.0)
    graph, D = reweighed(graph, factors)
    ours = [replaced_neighbors(found, graph, k, RowIndex(X), n_jobs=jobs) for jobs in (1, 2)]
    order, near = sorted_lists(D, k)
    for one in ours:
        assert_array_equal(one.indices, order)
        assert_allclose(one.distances, near, rtol=1e-12)


def test_lists_of_new_rows():
    new = RNG.normal(size=(7, 3))
    near, distances = RowIndex(X).nearest(new, 15)
    values = distances[:, :5] * RNG.choice([0.2, 1.0, 50.0], (7, 5))
    D = cdist(new, X)
    np.put_along_axis(D, near[:, :5].astype(np.int64), values, axis=1)
    found = replaced_among(near, distances, values, 10, len(X))
    order, expected = sorted_lists(D, 10)
    assert_array_equal(found[0], order)
    assert_allclose(found[1], expected, rtol=1e-12)
