"""Lists counted and dealt into buckets."""

import numpy as np
import pytest

from isentropic.kernels import inversions


@pytest.mark.parametrize(("key", "cell"), [(0, 0), (100, 0), (101, 0), (107, 0), (108, 1), (10**9, 65535)])
def test_cells_have_a_width_and_open_ends(key, cell):
    assert inversions._cell(key, 100, 3) == cell


def test_cells_are_counted_by_chunk():
    values = np.array([0, 8, 8, 16, 7, 99], np.int64)
    counts = np.zeros((2, inversions.CELLS), np.int32)
    inversions.cell_counts(values, 0, 3, np.array([0, 3, 6]), counts)
    assert counts[0, :3].tolist() == [1, 2, 0]
    assert counts[1, :3].tolist() == [1, 0, 1]
    assert counts[1, 12] == 1
    assert counts.sum() == 6


def test_entries_are_dealt_in_ascending_order():
    values = np.array([9, 1, 8, 0, 9, 1], np.int64)
    bucket_of = np.zeros(inversions.CELLS, np.int64)
    bucket_of[5:] = 1
    places = np.array([[0, 3], [1, 5]])  # of chunk 0: one small, two large; of chunk 1: two small, one large
    order = np.zeros(6, np.uint32)
    inversions.deal(values, 0, 0, bucket_of, np.array([0, 3, 6]), places, order)
    assert order.tolist() == [1, 3, 5, 0, 2, 4]
    assert places.tolist() == [[1, 5], [3, 6]]
