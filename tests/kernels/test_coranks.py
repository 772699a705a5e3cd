"""Ties and co-ranking of two orders, against every order there is."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic.kernels.row_ranks import add_coranks, tie_extremes
from naive import naive_coranking, naive_neighbors, naive_rank_matrix, naive_tie_extremes


def extremes_of(D_X, D_Z, ks):
    n = len(D_X)
    orders = [np.ascontiguousarray(naive_neighbors(D, n - 1)[0], np.int32) for D in (D_X, D_Z)]
    shared, out = np.full((n, 2), -1, np.int64), np.full((n, len(ks), 4), -1, np.int64)
    tie_extremes(D_X, D_Z, *orders, np.array(ks), 2, shared, out)
    return shared, out


def symmetric(rng, n, most):
    upper = np.triu(rng.integers(0, most, size=(n, n)), 1).astype(float)
    return upper + upper.T


@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_extremes_are_those_over_all_orders(rng, most):
    n, ks = 6, [1, 2, 3, 4, 5]
    D_X, D_Z = symmetric(rng, n, most), symmetric(rng, n, 3)
    _, found = extremes_of(D_X, D_Z, ks)
    for i in (0, 3):
        for c, k in enumerate(ks):
            assert found[i, c].tolist() == naive_tie_extremes(D_X[i], D_Z[i], i, k)


def test_without_ties_there_is_one_order(rng):
    D_X, D_Z = symmetric(rng, 7, 10**6), symmetric(rng, 7, 10**6)
    shared, found = extremes_of(D_X, D_Z, [1, 3, 6])
    assert not shared.any()
    assert_array_equal(found[:, :, 0], found[:, :, 1])
    assert_array_equal(found[:, :, 2], found[:, :, 3])


def test_shared_ranks_are_counted_on_each_side():
    D_X = np.array([[0.0, 1, 1, 2, 2, 2, 3]])
    D_Z = np.array([[0.0, 1, 2, 3, 4, 5, 5]])
    orders = np.arange(1, 7, dtype=np.int32)[None, :]
    shared, out = np.empty((1, 2), np.int64), np.empty((1, 1, 4), np.int64)
    tie_extremes(D_X, D_Z, orders, orders, np.array([2]), 1, shared, out)
    assert shared.tolist() == [[5, 2]]


def test_coranks_are_counted_in_bins(rng):
    D_X, D_Z = symmetric(rng, 8, 50), symmetric(rng, 8, 50)
    orders = [np.ascontiguousarray(naive_neighbors(D, 7)[0], np.int32) for D in (D_X, D_Z)]
    whole = naive_coranking(naive_rank_matrix(D_X), naive_rank_matrix(D_Z))
    counts = np.zeros((7, 7), np.int64)
    add_coranks(*orders, np.arange(7), counts)
    assert_array_equal(counts, whole)
    halves = np.ones((2, 2), np.int64)
    add_coranks(*orders, np.array([0, 0, 0, 1, 1, 1, 1]), halves)
    assert_array_equal(halves - 1, np.add.reduceat(np.add.reduceat(whole, [0, 3]), [0, 3], axis=1))
