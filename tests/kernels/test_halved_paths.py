"""Paths searched from one end, against a plain closure of the matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import squareform

from isentropic.kernels.distances.condensed import condensed_starts
from isentropic.kernels.growing_paths import halved_paths, wave_orders
from isentropic.kernels.paths import LANES


def plain_closure(weights):
    G = weights.copy()
    for middle in range(len(G)):
        G = np.minimum(G, G[:, middle, None] + G[middle])
    return G


def drawn_weights(n, share, seed, *, zero=False):
    random = np.random.default_rng(seed)
    lengths = random.integers(0 if zero else 1, 5, (n, n)).astype(float)
    W = np.where(random.uniform(size=(n, n)) < share, lengths, np.inf)
    W = np.minimum(W, W.T)
    np.fill_diagonal(W, 0)
    return W


def found_paths(W, block, n_workers):
    n = len(W)
    edges = np.isfinite(W) & ~np.eye(n, dtype=bool)

    def csr(first):
        row, column = np.nonzero(edges[first:, first:])
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n - first))])
        return indptr, column.astype(np.int32), W[first:, first:][row, column]

    first_of = np.arange(0, n, LANES) // block * block
    starts = np.concatenate([[0], np.cumsum(n - first_of)])
    orders = np.empty(starts[-1], np.int32)
    wave_orders(*csr(0), first_of, starts, n_workers, orders)
    for group, first in enumerate(first_of):
        assert_array_equal(np.sort(orders[starts[group] : starts[group + 1]]), np.arange(n - first))
    out = np.empty(n * (n - 1) // 2)
    for start in range(0, n, block):
        stop = min(start + block, n)
        halved_paths(*csr(0), *csr(start), start, stop, orders, starts, n_workers, condensed_starts(n), out)
    return out


@pytest.mark.parametrize(("n", "share"), [(50, 0.1), (50, 0.03), (33, 0.5), (16, 0.2), (3, 1.0)])
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("n_workers", [1, 2])
def test_all_pairs_are_those_of_the_closure(n, share, zero, n_workers):
    W = drawn_weights(n, share, n, zero=zero)
    for block in (LANES, 2 * LANES, 4 * LANES):
        found = found_paths(W, block, n_workers)
        assert_allclose(found, squareform(plain_closure(W), checks=False))  # whole numbers: no rounding
