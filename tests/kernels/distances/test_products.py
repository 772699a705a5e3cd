"""Inner products against numpy."""

import numpy as np
from numpy.testing import assert_allclose

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
