"""Lists in which edges have other values, against all candidates sorted."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic.kernels.nearest import replaced_lists


@pytest.mark.parametrize("n_workers", [1, 3])
def test_edges_take_the_place_of_what_was_listed(n_workers):
    random, n, b, listed, k = np.random.default_rng(0), 30, 12, 14, 6
    D = random.integers(1, 9, (b, n)).astype(float)  # with ties
    near = np.argsort(D, axis=1, kind="stable")[:, :listed].astype(np.int32)
    distances = np.take_along_axis(D, near.astype(np.int64), axis=1)
    counts = random.integers(0, 9, b)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    edges = np.concatenate([random.choice(n, count, replace=False) for count in counts]).astype(np.int32)
    values = random.integers(0, 20, len(edges)).astype(float)
    found, lengths = np.empty((b, k), np.int32), np.empty((b, k))
    certain = replaced_lists(near, distances, indptr, edges, values, n, n_workers, found, lengths)
    for i in range(b):
        own = dict(zip(near[i].tolist(), distances[i].tolist(), strict=True))
        own.update(zip(edges[indptr[i] : indptr[i + 1]].tolist(), values[indptr[i] : indptr[i + 1]].tolist(),
                       strict=True))  # fmt: skip
        first = sorted((value, j) for j, value in own.items())[:k]
        assert_array_equal(found[i], [j for _, j in first])
        assert_array_equal(lengths[i], [value for value, _ in first])
        assert certain[i] == (first[-1][0] <= distances[i, -1])
    assert certain.any()


def test_edges_that_became_long_leave_a_row_uncertain():
    near, distances = np.array([[1, 2]], np.int32), np.array([[1.0, 2.0]])
    found, lengths = np.empty((1, 2), np.int32), np.empty((1, 2))
    edges, values = np.array([1], np.int32), np.array([50.0])
    certain = replaced_lists(near, distances, np.array([0, 1]), edges, values, 5, 1, found, lengths)
    assert found.tolist() == [[2, 1]]
    assert not certain[0]
