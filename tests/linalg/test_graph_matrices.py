"""Sums of dense blocks against a loop."""

import numpy as np
from numpy.testing import assert_allclose

from isentropic.linalg import sum_of_blocks


def test_blocks_of_several_parts_and_sizes_are_added(rng):
    parts, expected = [], np.zeros((9, 9))
    for r, p in ((4, 3), (1, 9), (6, 1)):
        rows = np.array([rng.choice(9, p, replace=False) for _ in range(r)])
        blocks = rng.normal(size=(r, p, p))
        parts.append((rows, blocks))
        for chosen, block in zip(rows, blocks, strict=True):
            expected[np.ix_(chosen, chosen)] += block
    assert_allclose(sum_of_blocks(9, iter(parts)).toarray(), expected, atol=1e-14)
    assert sum_of_blocks(3, []).nnz == 0
