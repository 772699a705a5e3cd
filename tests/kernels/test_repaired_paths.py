"""Rows of distances repaired after edges left and nodes came, against a plain closure of the matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic.kernels.growing_paths import repaired_paths


def plain_closure(W):
    G = W.copy()
    for middle in range(len(G)):
        G = np.minimum(G, G[:, middle, None] + G[middle])
    return G


def drawn_weights(random, n, share, least):
    """Whole lengths, so that many paths tie and none rounds; ``least`` 0 has edges of no length."""
    lengths = random.integers(least, 5, (n, n)).astype(float)
    W = np.where(random.uniform(size=(n, n)) < share, lengths, np.inf)
    W = np.minimum(W, W.T)
    np.fill_diagonal(W, 0)
    return W


def csr(W):
    there = np.isfinite(W) & ~np.eye(len(W), dtype=bool)
    row, column = np.nonzero(there)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(W)))])
    return indptr, column.astype(np.int32), W[row, column]


def changed(random, n, n_new, share, least):
    """A graph, the one after some edges left it, and the one after new nodes came."""
    before = drawn_weights(random, n, share, least)
    ends = np.argwhere(np.triu(np.isfinite(before), 1))
    ends = ends[random.permutation(len(ends))[: len(ends) // 4]].astype(np.int32)
    kept = before.copy()
    kept[ends[:, 0], ends[:, 1]] = kept[ends[:, 1], ends[:, 0]] = np.inf
    after = drawn_weights(random, n + n_new, 0.15, least)
    after[:n, :n] = kept
    return before, ends, kept, after


def repaired(before, ends, kept, after, *, most=10**9, repair=True, n_workers=1):
    n, n_new = len(before), len(after) - len(before)
    hubs = plain_closure(after)[n:]
    there = [np.flatnonzero(np.isfinite(row[:n])) for row in after[n:]]
    exit_ptr = np.concatenate([[0], np.cumsum([len(nodes) for nodes in there])]).astype(np.int64)
    exits = np.concatenate([*there, []]).astype(np.int32)
    weights = np.concatenate([*(row[nodes] for row, nodes in zip(after[n:], there, strict=True)), []])
    G = np.full((n, n + n_new), np.nan)
    G[:, :n] = plain_closure(before)
    n_lost = np.empty(n, np.int64)
    repaired_paths(*csr(kept), ends, before[ends[:, 0], ends[:, 1]], exit_ptr, exits, weights, hubs, n_new,
                   np.arange(n), most, repair, n_workers, G, n_lost)  # fmt: skip
    return G, n_lost


SHAPES = [(30, 2, 0.15), (40, 1, 0.06), (40, 1, 0.02), (40, 0, 0.1), (25, 4, 0.4), (3, 1, 1.0)]


@pytest.mark.parametrize(("n", "n_new", "share"), SHAPES)
@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_repaired_rows_are_those_of_the_closure(n, n_new, share, least, seed):
    graphs = changed(np.random.default_rng(seed), n, n_new, share, least)
    G, n_lost = repaired(*graphs)
    assert_array_equal(G, plain_closure(graphs[3])[:n])
    farther = plain_closure(graphs[2]) > plain_closure(graphs[0])
    assert (n_lost >= farther.sum(axis=1)).all()
    if least > 0:  # an edge of no length supports nothing, so that more may be searched than is lost
        assert_array_equal(n_lost, farther.sum(axis=1))


def test_lengths_that_round_support_and_hold_up_nothing():
    random = np.random.default_rng(0)
    for _ in range(20):
        X = np.repeat(random.normal(size=(14, 2)), 3, axis=0)[random.permutation(42)]
        X[::5] += 1e-16 * random.normal(size=(9, 2))  # equal but for the last bit
        D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
        near = np.argsort(D, axis=1, kind="stable")[:, :5]
        W = np.full_like(D, np.inf)
        np.put_along_axis(W, near, np.take_along_axis(D, near, axis=1), axis=1)
        W = np.minimum(W, W.T)
        ends = np.argwhere(np.triu(np.isfinite(W), 1))
        ends = ends[random.permutation(len(ends))[:12]].astype(np.int32)
        kept = W.copy()
        kept[ends[:, 0], ends[:, 1]] = kept[ends[:, 1], ends[:, 0]] = np.inf
        G, _ = repaired(W, ends, kept, kept)
        assert_allclose(G, plain_closure(kept), rtol=1e-12, atol=1e-14)


def test_rows_that_lost_much_and_counts_change_nothing():
    graphs = changed(np.random.default_rng(1), 30, 1, 0.12, 1)
    before, after = plain_closure(graphs[0]), plain_closure(graphs[3])
    G, counted = repaired(*graphs, repair=False)
    assert_array_equal(G[:, :30], before)
    most = int(np.median(counted))
    G, n_lost = repaired(*graphs, most=most)
    heavy = counted > most
    assert heavy.any()
    assert (n_lost[heavy] > most).all()
    assert_array_equal(G[heavy, :30], before[heavy])
    assert_array_equal(G[~heavy], after[:30][~heavy])


def test_workers_change_no_bit():
    graphs = changed(np.random.default_rng(2), 40, 3, 0.1, 0)
    for one, two in zip(repaired(*graphs, n_workers=1), repaired(*graphs, n_workers=2), strict=True):
        assert_array_equal(one, two)
