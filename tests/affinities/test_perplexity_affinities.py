"""Affinities of given perplexity: entropies, limits, units, the joint form, and scikit-learn's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold._t_sne import _joint_probabilities

from assertions import assert_same_bits
from isentropic._core.errors import InvalidInputError, PerplexityWarning
from isentropic._core.values import Knn
from isentropic.affinities import (
    checked_perplexity,
    conditional_affinities,
    joint_affinities,
    neighbors_for_perplexity,
)
from isentropic.neighbors import nearest_neighbors
from naive_neighbours import naive_affinities, naive_joint

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) * [3, 1, 1, 0.2]


def lists(k):
    return nearest_neighbors(X, Knn(k))


def perplexities(P):
    logs = np.log(P, where=P > 0, out=np.zeros_like(P))
    return np.exp(-(P * logs).sum(axis=1))


@pytest.mark.parametrize(("k", "perplexity"), [(59, 1.5), (59, 20.0), (59, 58.9), (15, 5.0)])
def test_rows_have_the_perplexity(k, perplexity):
    found = lists(k)
    P, widths = conditional_affinities(found.distances, perplexity)
    assert_allclose(P.sum(axis=1), 1, rtol=1e-14)
    assert_allclose(perplexities(P), perplexity, rtol=1e-10)
    assert_allclose(P, [naive_affinities(row, perplexity) for row in found.distances], atol=1e-11)
    weights = np.exp(-(found.distances**2) / np.exp(widths)[:, None])
    assert_allclose(P, weights / weights.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("exponent", [-480, 0, 480])
def test_any_unit_and_any_offset_of_distances(exponent, offset):
    row = np.sort(RNG.random((3, 30)) * 2**10 // 1 + offset)
    P, _ = conditional_affinities(row, 7.0)
    assert_allclose(perplexities(P), 7.0, rtol=1e-9)
    assert_same_bits(conditional_affinities(np.ldexp(row, exponent), 7.0)[0], P)


def test_limits():
    rows = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 1.0], [2.0, 2.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0]])
    P, _ = conditional_affinities(rows, 4.0)
    assert_array_equal(P, np.full((4, 4), 0.25))
    P, widths = conditional_affinities(rows, 2.5)
    assert_allclose(perplexities(P)[0], 2.5)
    assert_allclose(P[1:], [[1 / 3, 1 / 3, 1 / 3, 0], [0.25] * 4, [0.25] * 4])
    assert_array_equal(widths[1:], [-np.inf] * 3)
    assert_array_equal(conditional_affinities(rows, 1.0)[0][0], [1, 0, 0, 0])


@pytest.mark.parametrize("k", [59, 18])
def test_the_joint_form_is_the_mean_of_both_directions(k):
    found = lists(k)
    P = joint_affinities(found, conditional_affinities(found.distances, 6.0)[0])
    assert_allclose(P.toarray(), naive_joint(X, 6.0, k), atol=1e-12)
    assert_same_bits(P.toarray(), P.T.toarray())
    assert_allclose(P.sum(), 1)
    assert P.has_sorted_indices
    assert P.indices.dtype == np.int32


def test_scikit_learn_has_the_same():
    found = lists(59)
    P = joint_affinities(found, conditional_affinities(found.distances, 12.0)[0])
    # its bisection ends at an entropy within 1e-5
    theirs = squareform(_joint_probabilities(squareform(pdist(X)) ** 2, 12.0, 0))
    assert_allclose(P.toarray(), theirs, atol=2e-7)


def test_threads_change_no_bit():
    found = lists(20)
    one, two = (conditional_affinities(found.distances, 6.0, n_jobs=jobs) for jobs in (1, 2))
    assert_same_bits(one[0], two[0])
    assert_same_bits(one[1], two[1])


def test_how_many_are_listed():
    assert [
        neighbors_for_perplexity(30.0, 1000),
        neighbors_for_perplexity(5.5, 1000),
        neighbors_for_perplexity(30.0, 50),
    ] == [90, 17, 49]


def test_a_perplexity_of_all_rows_warns():
    with pytest.warns(PerplexityWarning, match=r"below 9 \(the other rows\), got 30: all"):
        assert checked_perplexity(30, 10) == 9
    assert checked_perplexity(8.5, 10) == 8.5


@pytest.mark.parametrize("wrong", [0.5, -1, np.nan, "many", True])
def test_what_is_no_perplexity(wrong):
    with pytest.raises(InvalidInputError, match="perplexity must be a number of at least 1"):
        checked_perplexity(wrong, 10)
