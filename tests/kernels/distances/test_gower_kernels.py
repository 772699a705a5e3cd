"""Gower's kernels against plain sums. Small: this folder also runs without the JIT."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from assertions import assert_same_bits
from isentropic.kernels.distances.euclidean import TILE
from isentropic.kernels.distances.gower_distances import gower_pairs, gower_rows


def plain(x, y, weights):
    both = ~np.isnan(x) & ~np.isnan(y)
    if not weights[both].sum():
        return 1.0
    return np.minimum(np.abs(x - y), weights)[both].sum() / weights[both].sum()


def in_tiles(X):
    tiles = np.zeros((-(-len(X) // TILE), X.shape[1], TILE))
    for i, row in enumerate(X):
        tiles[i // TILE, :, i % TILE] = row
    return tiles, np.isnan(X).any(axis=0)


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_rows_and_pairs(share, rng):
    weights = np.array([1.0, 0.5, 0.25, 1.0])
    X = rng.uniform(0, 2, size=(TILE + 3, 4))
    X[:, 2] = rng.integers(0, 3, size=len(X)) * weights[2]
    X[rng.random(X.shape) < share] = np.nan
    tiles, holed = in_tiles(X)
    out, pairs = np.empty((3, len(X))), np.empty(len(X))
    gower_rows(X[:3], tiles, weights, holed, 2, out)
    assert_allclose(out, [[plain(x, y, weights) for y in X] for x in X[:3]], atol=1e-15)
    gower_pairs(X, np.full(len(X), 2), np.arange(len(X)), weights, pairs)
    assert_same_bits(pairs, out[2])


def test_rows_without_a_common_column_are_as_far_as_can_be():
    X = np.array([[0.2, np.nan], [np.nan, 0.4]])
    out = np.empty((2, 2))
    gower_rows(X, in_tiles(X)[0], np.ones(2), np.array([True, True]), 1, out)
    assert out.tolist() == [[0.0, 1.0], [1.0, 0.0]]
