"""How likely rows are of one class, where some have none: against sums over classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic.embedding import class_model as fitted_classes
from isentropic.embedding.class_model import FittedClasses

CODES = np.array([0, 1, -1, 2, -1, 0])
GUESSED = np.array([[0.2, 0.5, 0.3], [0.0, 0.9, 0.1]])
ALL = np.array([[1, 0, 0], [0, 1, 0], GUESSED[0], [0, 0, 1], GUESSED[1], [1, 0, 0]])
HEADS, TAILS = (part.ravel() for part in np.meshgrid(np.arange(6), np.arange(6)))


@pytest.mark.parametrize("at_once", [1, 10_000])
def test_pairs_of_fitted_rows(at_once, monkeypatch):
    monkeypatch.setattr(fitted_classes, "_NUMBERS_AT_ONCE", at_once)
    same = FittedClasses(CODES, 3, GUESSED).same(HEADS, TAILS)
    assert_allclose(same, (ALL[HEADS] * ALL[TAILS]).sum(axis=1), rtol=1e-15)


def test_new_rows_and_rows_without_a_class():
    shares, near = np.array([[0.1, 0.2, 0.7], [0.6, 0.4, 0.0]]), np.array([[0, 2, 4], [4, 3, 1]])
    found = FittedClasses(CODES, 3, GUESSED).same_as_new(shares, near)
    expected = [[sum(shares[i, c] * ALL[j, c] for c in range(3)) for j in near[i]] for i in range(2)]
    assert_allclose(found, expected, rtol=1e-15)


def test_rows_of_which_nothing_is_guessed_are_of_any_class():
    classes = FittedClasses(CODES, 3)
    open_pair = (CODES[HEADS] < 0) | (CODES[TAILS] < 0)
    assert_array_equal(classes.same(HEADS, TAILS), open_pair | (CODES[HEADS] == CODES[TAILS]))
    assert_array_equal(classes.same_as_new(None, np.array([[0, 2]])), [[1.0, 1.0]])
