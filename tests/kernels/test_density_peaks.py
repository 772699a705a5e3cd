import numpy as np

from isentropic.kernels.densities import basins

DENSITY = np.array([1.0, 3.0, 2.0, 0.5, 1.5, 2.5, 1.0])  # along a line: hills at 1 and 5, a saddle at 3
NEIGHBORS = np.array([[1, 1], [0, 2], [1, 3], [2, 4], [3, 5], [4, 6], [5, 5]])


def peaks(rise, least=1):
    order = np.argsort(-DENSITY, kind="stable")
    parents, sizes = np.empty(7, np.int64), np.empty(7, np.int64)
    basins(order, DENSITY, NEIGHBORS, np.ones(7, np.int64), rise, least, parents, sizes)
    return parents.tolist()


def test_places_belong_to_the_peak_above_them():
    assert peaks(rise=1.0) == [1, 1, 1, 1, 5, 5, 5]


def test_a_hill_that_hardly_rises_above_its_saddle_joins_the_higher_one():
    assert peaks(rise=2.1) == [1] * 7  # the lower hill rises by 2.5 - 0.5


def test_a_hill_of_few_rows_joins_the_higher_one():
    assert peaks(rise=1.0, least=4) == [1] * 7
