"""Products of a triangle with a block, against those of the whole matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import squareform

from isentropic.kernels.distances.condensed import (
    COLUMNS,
    condensed_starts,
    square_starts,
    squared_times_block,
)


@pytest.mark.parametrize("n", [2, 3, 40, 70, 300])
def test_block_equals_the_whole_matrix(n):
    random = np.random.default_rng(n)
    distances = random.uniform(0, 2, n * (n - 1) // 2)
    Q = random.normal(size=(COLUMNS, n))
    expected = Q @ squareform(distances) ** 2
    assert_allclose(squared_times_block(distances, condensed_starts(n), Q), expected, atol=1e-10)
    wide = np.full((n, n + 3), np.nan)  # what is below the diagonal is never read
    wide[:, :n] = np.triu(squareform(distances)) + np.where(np.tri(n, k=-1), np.nan, 0)
    assert_allclose(squared_times_block(wide.ravel(), square_starts(n, n + 3), Q), expected, atol=1e-10)
