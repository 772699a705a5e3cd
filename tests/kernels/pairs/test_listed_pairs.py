"""Stress over listed pairs, and which pairs a boundary leaves, against plain twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, squareform

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.pairs.pair_stress import consistent_pairs, pair_list_stress
from isentropic.objectives import ListedPairs, ListedStress
from naive_curvilinear import naive_consistent, naive_stress


def listed(T, W):
    lists = csr_array(W)
    return ListedPairs(lists.indptr.astype(np.int64), lists.indices, T[W > 0], lists.data)


def some_pairs(rng, n=14):
    W = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.4), 1)
    T = cdist(*2 * [rng.normal(size=(n, 3))])
    return T, W + W.T, rng.normal(size=(n, 2))


def test_stress_is_that_of_the_twin_and_its_gradient_that_of_differences(rng):
    T, W, Z = some_pairs(rng)
    cost, gradient = ListedStress(listed(T, W))(Z)
    assert_allclose(cost, naive_stress(Z, T, W), rtol=1e-12)
    slopes = approx_fprime(Z.ravel(), lambda flat: naive_stress(flat.reshape(Z.shape), T, W), 1e-7)
    assert_allclose(gradient.ravel(), slopes, atol=1e-6)


def test_any_number_of_threads_gives_the_same_bits(rng):
    T, W, Z = some_pairs(rng, 60)
    pairs = listed(T, W)
    found = []
    for n_jobs in (1, 2):
        gradient = np.empty(Z.shape)
        with threads(n_jobs):
            costs = pair_list_stress(pairs.indptr, pairs.indices, pairs.wanted, pairs.weights, Z, gradient)
        found.append(np.column_stack([costs, gradient]))
    assert_same_bits(*found)


def test_rows_in_one_place_push_each_other_nowhere(rng):
    T, W, _ = some_pairs(rng)
    cost, gradient = ListedStress(listed(T, W))(np.zeros((len(T), 2)))
    assert_allclose(cost, 1.0, rtol=1e-12)
    assert_array_equal(gradient, 0.0)


@pytest.mark.parametrize("counted", [False, True])
def test_lists_of_pairs_are_those_of_scipy(rng, counted):
    T, W, _ = some_pairs(rng, 40)
    counts = rng.integers(1, 4, size=40).astype(float) if counted else None
    first, second = rng.permutation(np.argwhere(np.triu(W))).T.copy()
    found = ListedPairs.of(40, first, second, lambda i, j: T[i, j], counts=counts)
    weights = np.outer(counts, counts) if counted else np.ones((40, 40))
    for values, expected in ((found.wanted, T), (found.weights, weights)):
        dense = csr_array((values, found.indices, found.indptr), shape=(40, 40)).toarray()
        assert_array_equal(dense, np.where(W > 0, expected, 0.0))


def test_distances_in_other_lists_are_not_measured_again(rng):
    T, W, _ = some_pairs(rng, 40)
    pairs = rng.permutation(np.argwhere(np.triu(W)))
    known = ListedPairs.of(40, *pairs[: len(pairs) // 2].T.copy(), lambda i, j: T[i, j])
    measured = []

    def measure(i, j):
        measured.extend(zip(i, j, strict=True))
        return T[i, j]

    part = rng.permutation(pairs[len(pairs) // 4 :])
    found = ListedPairs.of(40, *part.T.copy(), measure, known=known)
    assert {*measured} == {tuple(pair) for pair in pairs[len(pairs) // 2 :]}
    expected = ListedPairs.of(40, *part.T.copy(), lambda i, j: T[i, j])
    assert_array_equal(found.wanted, expected.wanted)


def test_consistent_pairs_are_those_of_the_twin(rng):
    n = 30
    G = cdist(*2 * [rng.normal(size=(n, 2))])
    linked = np.triu(rng.uniform(size=(n, n)) < 0.1, 1)
    linked |= linked.T
    boundary = np.zeros(n, bool)
    boundary[:4] = True
    edges = csr_array(linked)
    lists = edges.indptr.astype(np.int64), edges.indices
    about = squareform(G, checks=False), G[:, boundary].min(axis=1), *lists
    starts, nothing = np.zeros(n + 1, np.int64), np.empty(0)
    consistent_pairs(*about, starts, nothing.astype(np.int32), nothing)
    starts = np.cumsum(starts)
    indices, wanted = np.empty(starts[-1], np.int32), np.empty(starts[-1])
    consistent_pairs(*about, starts, indices, wanted)
    kept = naive_consistent(G, boundary, linked)
    assert 0.1 < kept.mean() < 0.6
    rows, columns = np.nonzero(kept)
    assert_array_equal(np.repeat(np.arange(n), np.diff(starts)), rows)
    assert_array_equal(indices, columns)
    assert_array_equal(wanted, G[kept])
