"""PCA: agreement with numpy, also where the data lie far from the origin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isentropic import PCA


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_variances_and_coordinates_equal_those_of_numpy_at_any_offset(offset):
    X = np.random.default_rng(0).normal(size=(500, 5)) * [5, 3, 1, 1, 1] + offset
    pca = PCA().fit(X)
    centred = X - X.mean(axis=0)
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    assert_allclose(pca.explained_variance_, singular[:2] ** 2 / 499, rtol=1e-6)
    assert_allclose(np.abs(pca.embedding_), np.abs(centred @ directions[:2].T), atol=1e-5)
