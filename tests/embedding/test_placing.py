"""The one ``transform``: rows are known by their values, and by their classes where a method learns those."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic._core.state import require_state
from isentropic.embedding.input_rows import KnownRows, checked_rows
from isentropic.embedding.placement import Placer, RowKeeper
from isentropic.registry import METHODS

X = np.array([[0.0, 1.0], [2.0, 3.0], [-0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])  # rows 0 and 2 are equal, 1 and 3
CLASSES = np.array([0, 1, 0, 0, 1])


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_the_one_transform(name):
    if METHODS[name].out_of_sample != "none":
        assert METHODS[name].load().transform.__qualname__ == Placer.transform.__qualname__


def test_a_row_is_known_by_its_values():
    known = KnownRows.of(X)
    assert_array_equal(known.find(X), [0, 1, 0, 1, 4])
    assert_array_equal(known.find(X + 1), np.full(5, -1))


def test_of_equal_rows_of_two_classes_the_first_of_the_more_frequent_is_found():
    known = KnownRows.of(X, CLASSES)
    require_state(known)
    assert_array_equal(known.one_class, [True, False, True, False, True])
    assert_array_equal(known.find(X), [0, 3, 0, 3, 4])  # one each: the class that comes first
    more = KnownRows.of(np.vstack([X, X[:2]]), np.append(CLASSES, [1, 1]))
    assert_array_equal(more.find(X), [0, 1, 0, 1, 4])  # two to one
    assert_array_equal(more.one_class, [False, False, False, False, True, False, False])
    assert_array_equal(known.find(X + 1), np.full(5, -1))
    assert_array_equal(KnownRows.of(X, np.zeros(5, int)).find(X), KnownRows.of(X).find(X))


class OneByOne(RowKeeper):
    """A fitted row is at its number and its class, any other at minus the sum of its features."""

    metric, n_jobs = "euclidean", 1

    def fit(self, X, classes=None):
        X = checked_rows(self, X)
        self._n_features_out = 1
        self.embedding_ = np.arange(float(len(X)))[:, None]
        self._remember(X, classes)
        return self

    def _place(self, X):
        return -X.sum(axis=1, keepdims=True)


def test_known_rows_have_their_places_and_others_are_placed():
    new = np.vstack([X, [[7.0, 7.0]]])
    assert_array_equal(OneByOne().fit(X).transform(new).ravel(), [0, 1, 0, 1, 4, -14])
    assert_array_equal(OneByOne().fit(X, CLASSES).transform(new).ravel(), [0, 3, 0, 3, 4, -14])
