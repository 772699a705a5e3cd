"""Places of rows on a decoded surface, against scipy's least squares."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import least_squares

from isentropic.kernels.rows.row_descent import optimize_decoded_rows


def decode(z, decoder, bent):
    inner, inner_bias, outer, outer_bias = decoder
    units = inner @ z + inner_bias
    return outer @ (np.tanh(units) if bent else units) + outer_bias


def cost(x, z, decoder, bent, penalty):
    return np.nansum((x - decode(z, decoder, bent)) ** 2) + penalty * (z**2).sum()


@pytest.mark.parametrize("bent", [True, False])
@pytest.mark.parametrize("penalty", [0.0, 0.1])
def test_no_start_leads_lower(bent, penalty, rng):
    decoder = tuple(rng.normal(size=shape) for shape in ((4, 2), (4,), (5, 4), (5,)))
    candidates = rng.normal(size=(20, 2))
    X = np.array([decode(z, decoder, bent) for z in rng.normal(size=(6, 2))]) + 0.1 * rng.normal(size=(6, 5))
    X[1, 2] = X[4, 0] = X[4, 3] = np.nan
    decoded = np.array([decode(z, decoder, bent) for z in candidates])
    found = np.empty((6, 2))
    optimize_decoded_rows(X, candidates, decoded, decoder, bent, penalty, found)
    for x, z in zip(X, found, strict=True):
        known = ~np.isnan(x)

        def residuals(z, x=x, known=known):
            return np.concatenate([(x - decode(z, decoder, bent))[known], np.sqrt(penalty) * z])

        peers = [least_squares(residuals, start, xtol=1e-14, gtol=1e-14) for start in (*candidates[::5], z)]
        own = cost(x, z, decoder, bent, penalty)
        assert own <= min(2 * peer.cost for peer in peers) * (1 + 1e-6) + 1e-12
        assert_allclose(z, peers[-1].x, atol=1e-5)


def test_a_row_that_the_surface_does_not_bend_towards_stays_at_its_candidate():
    """No slope at all: nothing to follow."""
    decoder = (np.zeros((2, 1)), np.zeros(2), np.ones((3, 2)), np.zeros(3))
    out = np.empty((1, 1))
    optimize_decoded_rows(np.ones((1, 3)), np.array([[0.5]]), np.zeros((1, 3)), decoder, True, 0.0, out)
    assert out[0, 0] == 0.5
