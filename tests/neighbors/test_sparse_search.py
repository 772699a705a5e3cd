"""Exact cosine neighbours of sparse rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from isentropic import InvalidInputError, Knn, nearest_neighbors, neighbor_graph
from naive import naive_neighbors

RNG = np.random.default_rng(3)
WORDS = RNG.poisson(0.3, size=(80, 30)).astype(float)
WORDS[[5, 40]] = 0.0
WORDS[17] = 2 * WORDS[11]  # the same direction


def naive_cosines(X):
    """``1 - <x, y> / |x| |y|``; a zero row is at 1 from all but other zero rows, at 0 from those."""
    lengths = np.sqrt((X * X).sum(axis=1))
    products = X @ X.T
    both = np.multiply.outer(lengths, lengths)
    return np.where(both > 0, 1 - products / np.where(both > 0, both, 1), lengths[:, None] != lengths)


@pytest.mark.parametrize("k", [1, 7, 79])
def test_the_neighbours_are_those_of_all_distances(k):
    """Whole numbers: equal cosines have equal bits, so that ties go by index, as by the oracle rounded."""
    found = nearest_neighbors(sparse.csr_array(WORDS), Knn(k), metric="cosine")
    indices, distances = naive_neighbors(naive_cosines(WORDS).round(12), k)
    assert_array_equal(found.indices, indices)
    assert_allclose(found.distances, distances, atol=1e-12)
    assert (found.exact, found.metric) == (True, "cosine")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_they_are_those_of_the_dense_table_in_any_form_and_on_any_number_of_threads(form):
    expected = nearest_neighbors(WORDS, Knn(9), metric="cosine")
    for n_jobs in (1, 2):
        found = nearest_neighbors(
            sparse.coo_array(WORDS).asformat(form), Knn(9), metric="cosine", n_jobs=n_jobs
        )
        assert_array_equal(found.indices, expected.indices)
        assert_array_equal(found.distances, expected.distances)


def test_blocks_of_rows_change_nothing(monkeypatch):
    whole = nearest_neighbors(sparse.csr_array(WORDS), Knn(9), metric="cosine")
    monkeypatch.setattr(
        "isentropic.distances.pairwise_blocks._BLOCK_BYTES", 8 * 80 * 3
    )  # three rows at a time
    found = nearest_neighbors(sparse.csr_array(WORDS), Knn(9), metric="cosine")
    assert_array_equal(found.indices, whole.indices)
    assert_array_equal(found.distances, whole.distances)


@pytest.mark.filterwarnings("ignore::isentropic.DisconnectedGraphWarning")
def test_the_graph_is_that_of_the_dense_table():
    found, expected = (neighbor_graph(X, 3, metric="cosine") for X in (sparse.csr_array(WORDS), WORDS))
    for name in ("indptr", "indices", "weights", "components", "bridges"):
        assert_array_equal(getattr(found, name), getattr(expected, name))


def test_other_metrics_and_approximate_lists_are_refused():
    X = sparse.csr_array(WORDS)
    with pytest.raises(InvalidInputError, match=r"compared by metric='cosine'.*rank=50"):
        nearest_neighbors(X, Knn(5))
    with pytest.raises(InvalidInputError, match="approximate must be False for sparse rows"):
        nearest_neighbors(X, Knn(5, approximate=True), metric="cosine")
