"""Rank images and places by ranks against plain twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist, squareform

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.pairs.disparities import condensed_ranks, optimize_rank_images
from isentropic.objectives import AllPairs, RankImages
from naive_curvilinear import naive_rank_images, naive_ranked_place, naive_ranks, naive_zetas


def tables(rng, n=20):
    X = rng.normal(size=(n, 4))
    X[5] = X[2]  # tied with each other around every row
    return X, rng.normal(size=(n, 2))


def test_ranks_are_those_of_the_twin(rng):
    X, _ = tables(rng)
    X = np.round(X)  # many ties
    ranks = np.empty((len(X), len(X)), np.uint16)
    condensed_ranks(pdist(X), 3, ranks)
    assert_array_equal(ranks, naive_ranks(squareform(pdist(X))))


@pytest.mark.parametrize("k", [1, 4, 19])
def test_costs_and_images_are_those_of_the_twin(rng, k):
    X, Z = tables(rng)
    pairs, D = AllPairs(len(X), pdist(X)), cdist(X, X)
    strict, lenient = naive_zetas(D, Z, k)
    cost, images = RankImages(pairs, k)(Z)
    assert cost == strict > 0
    assert RankImages(pairs, k, 1.0)(Z)[0] == lenient
    assert RankImages(pairs, k, 0.25)(Z)[0] == pytest.approx(0.75 * strict + 0.25 * lenient, rel=1e-14)
    W, T = naive_rank_images(D, Z, k)
    found = np.zeros((2, *W.shape))
    rows = np.repeat(np.arange(len(X)), np.diff(images.indptr))
    found[0, rows, images.indices], found[1, rows, images.indices] = images.weights, images.wanted
    assert_allclose(found[0], W, rtol=1e-13)
    assert_allclose(found[1], np.where(W > 0, T, 0.0), rtol=1e-12)


def test_a_lenient_pair_between_its_two_ranks_stays_as_it_is(rng):
    X, Z = tables(rng)
    lenient = RankImages(AllPairs(len(X), pdist(X)), 6, 1.0)
    _, images = lenient(Z)
    R, r, E = naive_ranks(cdist(X, X)), naive_ranks(cdist(Z, Z)), cdist(Z, Z)
    between = (r >= np.minimum(R, R.T)) & (r <= np.maximum(R, R.T))
    both = between & between.T
    rows = np.repeat(np.arange(len(X)), np.diff(images.indptr))
    held = both[rows, images.indices]
    assert held.sum() > 10
    assert_allclose(images.wanted[held], E[rows, images.indices][held], rtol=1e-12)


def test_a_map_in_the_order_of_the_data_costs_nothing_and_wants_itself(rng):
    Z = rng.normal(size=(15, 2))
    cost, images = RankImages(AllPairs(15, pdist(Z) ** 3), 5)(Z)
    rows = np.repeat(np.arange(15), np.diff(images.indptr))
    assert cost == 0
    assert_allclose(images.wanted, cdist(Z, Z)[rows, images.indices], rtol=1e-12)


def test_a_new_row_goes_where_the_twin_puts_it_on_any_number_of_threads(rng):
    X, Z = tables(rng)
    d = cdist(rng.normal(size=(5, 4)), X)
    out = np.empty((5, 2))
    optimize_rank_images(d, Z, 6, 8, 1, out)
    assert_allclose(out, [naive_ranked_place(row, Z, 6, 8) for row in d], rtol=1e-9)
    for n_jobs in (1, 2):
        with threads(n_jobs) as workers:
            for i in range(5):
                again = np.empty((1, 2))
                optimize_rank_images(d[i : i + 1], Z, 6, 8, workers, again)
                assert_same_bits(again[0], out[i])
