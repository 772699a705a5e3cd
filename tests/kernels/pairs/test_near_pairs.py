import numpy as np
import pytest
from numpy.testing import assert_allclose

from isentropic.kernels.pairs.pair_stress import kth_smallest, near_weights
from naive import condensed, distances


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_weights_are_shares_of_what_is_within_the_radii(rng, share):
    X, Z, radii = rng.normal(size=(9, 4)), rng.normal(size=(9, 2)), rng.uniform(0.5, 3.0, size=9)
    D, E = distances(X), distances(Z)
    out = np.empty(36)
    near_weights(condensed(D), np.ascontiguousarray(Z.T), radii, share, out)
    inside = (1 - share) * (radii[:, None] >= D) + share * (radii[:, None] >= E)
    assert_allclose(out, condensed((inside + inside.T) / 2), atol=1e-15)


@pytest.mark.parametrize("k", [1, 4, 8])
def test_the_kth_smallest_distance_of_each_row(rng, k):
    D, out = distances(rng.normal(size=(9, 3))), np.empty(9)
    kth_smallest(condensed(D), 9, k, out)
    assert_allclose(out, np.sort(D, axis=1)[:, k], rtol=0)
