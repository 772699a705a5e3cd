"""Geodesics of one graph after the other against those of each graph by itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import squareform

from isentropic.geodesics import PairSequence, all_pairs
from isentropic.neighbors import distance_graph

TABLES = {
    "random": np.random.default_rng(0).normal(size=(150, 3)),
    "one group": np.random.default_rng(1).normal(size=(16, 2)),
    "few rows": np.random.default_rng(2).normal(size=(5, 2)),
    "grid with duplicates": np.array([[i % 9, i // 9 % 9] for i in range(130)], float),
    "line": np.arange(70.0)[:, None],
}


@pytest.mark.filterwarnings("ignore::isentropic.DisconnectedGraphWarning")
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_graph_of_a_sequence_has_its_own_geodesics(name, n_jobs):
    X = TABLES[name]
    graphs = [distance_graph(X, k, on_disconnected="inflate") for k in (2, 4, 3)]
    sequence = PairSequence(graphs[1], n_jobs=n_jobs)
    assert_array_equal(np.sort(sequence.rows), np.arange(len(X)))
    for graph in graphs:
        found = squareform(sequence.all_pairs(graph))
        expected = squareform(all_pairs(graph))[np.ix_(sequence.rows, sequence.rows)]
        assert_array_equal(np.isinf(found), np.isinf(expected))
        assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_threads_change_no_bit():
    X = TABLES["random"]
    graph = distance_graph(X, 6)
    one, two = (PairSequence(graph, n_jobs=n_jobs).all_pairs(graph) for n_jobs in (1, 2))
    assert_array_equal(one, two)
