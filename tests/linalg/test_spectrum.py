"""What the families say of eigenvalues and of coordinates in which neighbours stand still."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isentropic import DisconnectedGraphWarning
from isentropic.linalg.eigen import count_still_coordinates, eigengap


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, 3.0, 4.0], 0.25), ([1.0, 4.0], 1.0), ([-1e-17, 0.0, 0.0], 0.0), ([0.0, -1e-17, 2.0], 1.0)],
)
def test_the_gap_is_behind_the_second_of_two(values, expected):
    assert eigengap(np.array(values), 2) == expected


def test_a_coordinate_that_is_constant_on_groups_is_counted(rng):
    ring = np.arange(100)
    pattern = np.zeros((100, 100))
    pattern[ring, (ring + 1) % 100] = pattern[(ring + 1) % 100, ring] = 1
    smooth, step = np.cos(2 * np.pi * ring / 100), np.where(ring < 50, -1.0, 1.0)
    assert count_still_coordinates(smooth[:, None], csr_array(pattern)) == 0
    with pytest.warns(DisconnectedGraphWarning, match="1 of 2 coordinate only separates"):
        assert count_still_coordinates(np.column_stack([smooth, step]), csr_array(pattern)) == 1
    assert count_still_coordinates(smooth[:, None], csr_array((100, 100))) == 0
