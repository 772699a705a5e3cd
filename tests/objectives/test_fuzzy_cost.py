"""UMAP's cost as value and gradient: against differences, and against a plain sum over all pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from assertions import assert_same_bits
from isentropic.objectives import FuzzyNeighbors
from naive_layouts import naive_gradient

CURVE = A, B = 1.577, 0.895
PAIRS = csr_array(np.roll(np.eye(12), 6, axis=1) / 12)  # of 12 rows, i and i + 6


def places(rng, d=2):
    """Rows that are far enough apart for neither the softening nor the bound of a push to matter."""
    return 4.0 * rng.permutation(np.stack(np.divmod(np.arange(12), 4), axis=1))[:, :d].astype(float)


def naive_cost(Z, push, exaggeration=1.0):
    """The mean over the six pairs, and half the push of the mean over all ordered pairs."""
    squares = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    powers = A * (squares + 1e-3) ** B
    pulls = np.log1p(powers[np.arange(12), np.roll(np.arange(12), 6)]).mean()
    others = ~np.eye(12, dtype=bool)
    return pulls + push / (2 * exaggeration) * np.log1p(1 / powers[others]).mean()


@pytest.mark.parametrize("exaggeration", [1.0, 4.0])
def test_the_cost_is_that_of_all_pairs_of_a_few_rows(rng, exaggeration):
    Z = rng.normal(size=(12, 2))
    found = FuzzyNeighbors(PAIRS, CURVE, push=5.0, seed=0).divergence(Z, exaggeration)
    assert found == pytest.approx(naive_cost(Z, 5.0, exaggeration), rel=1e-12)


@pytest.mark.parametrize("exaggeration", [1.0, 4.0])
def test_the_gradient_is_that_of_the_cost_on_average(rng, exaggeration):
    Z, cost = places(rng), FuzzyNeighbors(PAIRS, CURVE, push=5.0, seed=0)
    mean = np.mean([cost.gradient(Z, exaggeration) for _ in range(2000)], axis=0)
    without = FuzzyNeighbors(PAIRS, CURVE, push=0.0, seed=0).gradient(Z)
    # one draw of twelve is the row itself, which does not push
    expected = naive_gradient(lambda z: naive_cost(z, 11 / 12 * 5.0, exaggeration), Z)
    pushes = np.abs(expected - without).max()
    assert pushes > 1e-4
    assert_allclose(mean, expected, atol=0.03 * pushes)
    assert_allclose(without, naive_gradient(lambda z: naive_cost(z, 0.0), Z), atol=1e-5)


def test_draws_are_new_at_every_gradient_and_the_same_again_from_the_start(rng):
    Z = rng.normal(size=(12, 2))
    runs = [FuzzyNeighbors(PAIRS, CURVE, push=5.0, seed=0) for _ in range(2)]
    first, second = ([cost.gradient(Z) for _ in range(2)] for cost in runs)
    assert not np.array_equal(*first)
    assert_same_bits(first[0], second[0])
    assert_same_bits(first[1], second[1])


def test_rows_at_one_place_have_a_finite_cost():
    cost = FuzzyNeighbors(PAIRS, CURVE, push=5.0, seed=0)
    assert np.isfinite(cost.divergence(np.zeros((12, 2))))
    assert np.isfinite(cost.gradient(np.zeros((12, 2)))).all()
