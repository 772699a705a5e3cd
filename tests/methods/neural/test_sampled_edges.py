"""Edges drawn by their weights."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from isentropic.methods.neural.parametric_maps import SampledEdges, matching


def graph(rng, n=30):
    W = np.where(rng.uniform(size=(n, n)) < 0.3, rng.uniform(0.1, 2, size=(n, n)), 0.0)
    W = np.triu(W, 1)
    return W + W.T


def counts_of(ends, n):
    counts = np.zeros((n, n))
    np.add.at(counts, (np.minimum(*ends), np.maximum(*ends)), 1)
    return counts


def test_an_edge_comes_as_often_as_its_weight_says(rng):
    W, n = graph(rng), 30
    ends = SampledEdges.of(csr_array(W), np.ones(n, bool), both=True).sample(5000, np.random.RandomState(0))
    expected = np.triu(W) / np.triu(W).sum() * 5000
    assert np.abs(counts_of(ends, n) - expected).max() < 1  # systematic: never off by an edge


def test_draws_differ_and_are_mixed(rng):
    edges = SampledEdges.of(csr_array(graph(rng)), np.ones(30, bool), both=True)
    random = np.random.RandomState(0)
    one, two = edges.sample(40, random), edges.sample(40, random)
    assert not np.array_equal(np.sort(one, axis=1), np.sort(two, axis=1))
    assert (np.diff(one[0]) < 0).any()


def test_edges_are_those_of_the_rows_asked_for(rng):
    W, some = graph(rng), np.arange(30) % 3 == 0
    inner = SampledEdges.of(csr_array(W), some, both=True)
    outer = SampledEdges.of(csr_array(W), some, both=False)
    both, one = some[:, None] & some, some[:, None] | some
    assert_array_equal(np.stack([inner.first, inner.second]), np.nonzero(np.triu(W) * both))
    assert_array_equal(np.stack([outer.first, outer.second]), np.nonzero(np.triu(W) * one))
    assert_allclose(inner.sums[-1], (np.triu(W) * both).sum())


def test_edges_without_weight_are_never_drawn():
    W = csr_array((np.array([1.0, 0.0, 1.0, 0.0]), [1, 2, 0, 0], [0, 2, 3, 4]), shape=(3, 3))
    edges = SampledEdges.of(W, np.ones(3, bool), both=True)
    assert np.sort(edges.sample(10, np.random.RandomState(0)), axis=0).max() == 1


def test_a_matching_has_one_neighbour_for_each_row():
    W = matching(7).toarray()
    assert_allclose(W, W.T)
    assert_allclose(W.sum(axis=1), 1 / 14)
    assert_array_equal(W.argmax(axis=1), (np.arange(14) + 7) % 14)
