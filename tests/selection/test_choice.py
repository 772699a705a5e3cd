"""The best candidate and the whole curve."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic._errors import InvalidInputError
from isentropic.selection import choose, geometric_grid


def test_the_first_of_the_best_is_chosen_and_every_score_kept():
    made = []

    def embed(k):
        made.append(k)
        return np.full((3, 2), float(k))

    choice = choose([5, 7, 9, 11], embed, lambda Z: -abs(Z[0, 0] - 8), criterion="nearness")
    assert made == [5, 7, 9, 11]
    assert (choice.best, choice.index, choice.criterion) == (7, 1, "nearness")
    assert_array_equal(choice.scores, [-3, -1, -1, -3])
    assert type(choice.best) is int


def test_bad_candidates_and_scores_are_refused():
    with pytest.raises(InvalidInputError, match="candidates must be at least one, got"):
        choose([], np.zeros, np.sum)
    with pytest.raises(InvalidInputError, match="A score must be a finite number for every candidate"):
        choose([1], lambda k: np.zeros((2, 2)), lambda Z: float("nan"))


@pytest.mark.parametrize(("low", "high", "count"), [(5, 80, 5), (3, 4, 9), (7, 7, 3), (1, 1000, 7)])
def test_grids_are_rising_from_end_to_end(low, high, count):
    grid = geometric_grid(low, high, count)
    assert (grid[0], grid[-1]) == (low, high)
    assert len(grid) <= count
    assert all(a < b for a, b in pairwise(grid))


def test_bad_grids_are_refused():
    with pytest.raises(InvalidInputError, match="1 <= low <= high"):
        geometric_grid(5, 4, 3)
