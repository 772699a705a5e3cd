"""The one ``transform``: rows are known by their values, and by their classes where a method learns those."""

from dataclasses import dataclass, fields
from typing import Annotated

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic._core.errors import IsentropicWarning
from isentropic._core.state import Sub, require_state
from isentropic.embedding.embedder import Embedder
from isentropic.embedding.input_rows import KnownRows
from isentropic.embedding.training_data import Part, TrainingData, labelled_training_data, training_data
from isentropic.registry import METHODS

X = np.array([[0.0, 1.0], [2.0, 3.0], [-0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])  # rows 0 and 2 are equal, 1 and 3
CLASSES = np.array([0, 1, 0, 0, 1])


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_the_one_transform(name):
    if METHODS[name].out_of_sample != "none":
        assert METHODS[name].load().transform.__qualname__ == Embedder.transform.__qualname__


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


def fitted_to(X, labels=None):
    class Summed(Embedder):
        """A fitted row is at its number and its class, any other at minus the sum of its features."""

        _learns_from_y = labels is not None

        def fit(self, X, y=None):
            data = training_data(self, X) if labels is None else labelled_training_data(self, X, labels)
            return self._set_fit(np.arange(float(len(X)))[:, None], SumOfFeatures(data))

    return Summed().fit(X)


@dataclass(frozen=True, eq=False)
class SumOfFeatures(Part):
    data: Annotated[TrainingData, Sub(TrainingData)]

    def transform(self, X, n_jobs):
        return -X.sum(axis=1, keepdims=True)


def test_training_rows_have_their_places_and_others_are_mapped():
    new, given = np.vstack([X, [[7.0, 7.0]]]), X.copy()
    fitted = fitted_to(given)
    given[:] = 0.0  # the caller may write into the table
    assert_array_equal(fitted.transform(new).ravel(), [0, 1, 0, 1, 4, -14])
    with pytest.warns(IsentropicWarning, match="2 of 6 rows have the values of fitted rows of several"):
        found = fitted_to(X, CLASSES).transform(new)
    assert_array_equal(found.ravel(), [0, 3, 0, 3, 4, -14])


def test_caches_of_parts_are_no_state():
    fitted = fitted_to(X)
    fitted.transform(X)
    data = fitted._map.data
    assert set(vars(data)) > set(data.__getstate__()) == {field.name for field in fields(data)}
