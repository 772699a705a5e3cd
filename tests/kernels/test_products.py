"""Inner products against numpy."""

import numpy as np
from numpy.testing import assert_allclose

from isentropic.kernels.products import inner_products


def test_every_pair_of_rows(rng):
    X, Y = rng.normal(size=(7, 5)), rng.normal(size=(4, 5))
    out = np.empty((7, 4))
    inner_products(X, Y, out)
    assert_allclose(out, X @ Y.T, rtol=1e-12)
