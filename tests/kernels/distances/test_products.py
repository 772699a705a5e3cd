"""Inner products against numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from assertions import assert_same_bits
from isentropic.distances import References
from isentropic.kernels.distances.euclidean import gaussian_exponents, inner_products, row_squares


def test_every_pair_of_rows(rng):
    X, Y = rng.normal(size=(7, 5)), rng.normal(size=(4, 5))
    out = np.empty((7, 4))
    inner_products(X, Y, out)
    assert_allclose(out, X @ Y.T, rtol=1e-12)


def test_exponents_are_of_squared_distances_and_never_positive(rng):
    X, Y = rng.normal(size=(7, 5)), rng.normal(size=(4, 5))
    Y[2] = X[1]
    assert_allclose(row_squares(Y), (Y**2).sum(axis=1))
    out = np.empty((7, 4))
    gaussian_exponents(X, Y, row_squares(Y), 0.5, out)
    expected = [[-0.5 * ((x - y) ** 2).sum() for y in Y] for x in X]
    assert_allclose(out, expected, rtol=1e-12, atol=1e-14)
    assert out.max() <= 0


@pytest.mark.parametrize(("n", "m"), [(1, 1), (63, 3), (64, 4), (130, 50), (200, 7)])
def test_distances_to_references_are_those_of_scipy(rng, n, m):
    X, new = rng.normal(size=(n, m)), rng.normal(size=(21, m))
    new[3] = 1e6 * X[0]
    unit = max(cdist(X, X).max(), 1.0)
    assert_allclose(References.of(X, unit).of_new(new), cdist(new, X), rtol=1e-12, atol=1e-7 * unit)


def test_what_references_have_in_common_costs_no_digits(rng):
    X, new = rng.normal(size=(70, 3)), rng.normal(size=(5, 3))
    shift = np.array([2.0**60, 0.0, 0.0])
    X[:, 0] = new[:, 0] = 0.0
    expected = cdist(new, X)
    assert_allclose(References.of(X + shift, 5.0).of_new(new + shift), expected, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("factor", [1e-200, 1e150])
def test_distances_to_references_have_the_unit_of_the_data(rng, factor):
    X, new = rng.normal(size=(70, 3)), rng.normal(size=(5, 3))
    found = References.of(factor * X, 5.0 * factor).of_new(factor * new)
    assert_allclose(found / factor, cdist(new, X), rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("m", [3, 8, 50])
def test_a_row_has_the_same_distances_in_any_batch_on_any_threads(rng, m):
    X, new = rng.normal(size=(150, m)), rng.normal(size=(37, m))
    references = References.of(X, 9.0)
    together = references.of_new(new, 1)
    assert_same_bits(references.of_new(new, 2), together)
    assert_same_bits(np.vstack([references.of_new(new[i : i + 1]) for i in range(37)]), together)
    order = rng.permutation(37)
    assert_same_bits(references.of_new(new[order]), together[order])
