"""Cosine and correlation distances against numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from isentropic.kernels.distances.directions import LANES, direction_pairs, direction_rows, direction_tiles


def direction_arrays(X, centred):
    tiles, norms = np.empty((-(-len(X) // LANES), X.shape[1], LANES)), np.empty((-(-len(X) // LANES), LANES))
    direction_tiles(X, centred, tiles, norms)
    return tiles, norms


@pytest.mark.parametrize("m", [2, 3, 6])
@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_rows_and_pairs(metric, m, rng):
    X = rng.normal(size=(LANES + 3, m))
    tiles, norms = direction_arrays(X, metric == "correlation")
    out = np.empty((2, len(X)))
    direction_rows(*direction_arrays(X[:2], metric == "correlation"), tiles, norms, 0.0, 1.0, out)
    assert_allclose(out, cdist(X[:2], X, metric), atol=1e-14)
    pairs = np.empty(len(X))
    direction_pairs(tiles, norms, np.zeros(len(X), np.int64), np.arange(len(X)), 0.0, 1.0, pairs)
    assert_allclose(pairs, out[0], atol=1e-15)


def test_rows_without_a_direction():
    zero, other = direction_arrays(np.zeros((1, 3)), False), direction_arrays(np.ones((1, 3)), False)
    out = np.empty((1, 1))
    for left, right, expected in ((zero, zero, 0.25), (zero, other, 0.5), (other, other, 0.0)):
        direction_rows(*left, *right, 0.25, 0.5, out)
        assert out[0, 0] == expected
