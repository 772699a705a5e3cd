"""Cosine distances of sparse rows against numpy, whole rows and single pairs."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from isentropic.kernels.distances.directions import (
    sparse_norms,
    sparse_pairs,
    sparse_rows,
    sparse_units,
)


def parts(X):
    rows = csr_array(X)
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data


def measured(X):
    """All distances by whole rows, and by pairs."""
    indptr, indices, data = parts(X)
    norms, out, pairs = np.empty(len(X)), np.empty((len(X), len(X))), np.empty(X.shape[0] ** 2)
    sparse_norms(indptr, indices, data, norms)
    sparse_rows(indptr, indices, data, norms, *parts(X.T), norms, 0.25, 0.5, out)
    first, second = (one.ravel() for one in np.indices(out.shape))
    sparse_pairs(indptr, indices, data, norms, first, second, 0.25, 0.5, pairs)
    return out, pairs.reshape(out.shape)


def test_rows_and_pairs(rng):
    X = rng.normal(size=(9, 7)) * (rng.random((9, 7)) < 0.5)
    X[:, 3] = 1.0  # no row is empty
    rows, pairs = measured(X)
    assert_allclose(rows, cdist(X, X, "cosine"), atol=1e-14)
    assert_array_equal(rows, rows.T)
    assert_array_equal(pairs, rows)
    assert_array_equal(np.diagonal(rows), 0.0)


def test_rows_without_an_entry():
    X = np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    expected = [[0.25, 0.5, 0.25], [0.5, 0.0, 0.5], [0.25, 0.5, 0.25]]
    for found in measured(X):
        assert_array_equal(found, expected)


def test_units_are_powers_of_two():
    X = np.array([[3e200, 1e200], [0.0, 0.0], [5e-300, 0.0], [0.0, -7.0]])
    indptr, _, data = parts(X)
    out = np.empty_like(data)
    sparse_units(indptr, data, out)
    assert np.abs(out[[0, 2, 3]]).min() >= 0.5
    assert np.abs(out).max() < 1.0
    assert_array_equal(np.frexp(out)[0], np.frexp(data)[0])
