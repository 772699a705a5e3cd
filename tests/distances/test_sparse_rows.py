"""Sparse rows: taken as those of an array, known again, and as far from each other as their dense twins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from isentropic import InvalidInputError, quality
from isentropic._core.sparse_rows import SparseRows
from isentropic.distances import (
    are_all_equal,
    distance_rows,
    distances_between,
    distinct_rows,
    hashes_of,
    pair_distances,
    same_rows,
)

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(40, 25)) * (RNG.random((40, 25)) < 0.2)
DENSE[[3, 8]] = 0.0
DENSE[9] = DENSE[4]
ROWS = SparseRows.of(sparse.csr_array(DENSE))


@pytest.mark.parametrize(
    "rows",
    [slice(None), slice(5, 9), slice(2, 2), np.array([7, 3, 3]), [0], np.arange(40) % 3 == 0],
    ids=["all", "slice", "none", "repeated", "list", "mask"],
)
def test_rows_are_taken_as_those_of_an_array(rows):
    taken = ROWS[rows]
    assert_array_equal(taken.tocsr().toarray(), DENSE[rows])
    assert len(taken) == len(DENSE[rows])


def test_entries_of_one_place_are_added_and_zeros_are_none():
    given = sparse.coo_array(([1.0, 2.0, 3.0, -3.0, 0.0], ([0, 0, 1, 1, 1], [2, 2, 0, 0, 1])), shape=(2, 3))
    rows = SparseRows.of(given)
    assert (rows.data.tolist(), rows.indices.tolist(), rows.indptr.tolist()) == ([3.0], [2], [0, 1, 1])
    assert rows.n_empty == 1


def test_equal_rows_are_found():
    groups = distinct_rows(ROWS)
    expected = distinct_rows(DENSE)
    for name in ("rows", "indptr", "members"):
        assert_array_equal(getattr(groups, name), getattr(expected, name))
    assert len(np.unique(hashes_of(ROWS))) == len(np.unique(DENSE, axis=0))
    order = RNG.permutation(40)
    assert_array_equal(hashes_of(ROWS[order]), hashes_of(ROWS)[order])
    assert_array_equal(same_rows(ROWS, ROWS[order]), (DENSE == DENSE[order]).all(axis=1))
    other = SparseRows(ROWS.indptr, ROWS.indices, ROWS.data * np.where(ROWS.indices == 3, 2.0, 1.0), ROWS.m)
    assert_array_equal(same_rows(ROWS, other), DENSE[:, 3] == 0)  # the same columns, other values
    assert are_all_equal(ROWS[[4, 9, 4]])
    assert not are_all_equal(ROWS[[4, 5, 9]])


def test_distances_are_those_of_the_dense_table():
    expected = distances_between(DENSE, DENSE, "cosine", None)
    whole = distances_between(ROWS, ROWS, "cosine", None)
    assert_allclose(whole, expected, atol=1e-15)
    assert_array_equal(whole[[3, 8]][:, [3, 8]], 0.0)  # empty rows, as zero rows have it
    for rows in ([0], slice(30, None), [7, 2, 7]):  # the same bits in any batch
        assert_array_equal(distances_between(ROWS[rows], ROWS, "cosine", None), whole[rows])
    first, second = RNG.integers(40, size=(2, 200))
    assert_array_equal(pair_distances(ROWS, "cosine")(first, second), whole[first, second])


def test_the_number_of_threads_changes_no_bit():
    one, two = (distances_between(ROWS, ROWS, "cosine", n_jobs) for n_jobs in (1, 2))
    assert_array_equal(one, two)


def test_a_source_of_distances_for_quality():
    given = distance_rows(sparse.csc_array(DENSE), "cosine")
    assert (given.n, given.name) == (40, "cosine")
    assert_allclose(given.rows(np.array([5, 2])), distances_between(DENSE[[5, 2]], DENSE, "cosine", None))
    Z = RNG.normal(size=(40, 2))
    for measure in (quality.trustworthiness, quality.kendall_tau, quality.kruskal_stress):
        found, expected = (measure(X, Z, metric="cosine") for X in (sparse.csr_array(DENSE), DENSE))
        assert_allclose(float(found), float(expected), atol=1e-12)


def test_another_metric_is_refused_with_a_next_step():
    with pytest.raises(InvalidInputError, match=r"dense array for the metric 'euclidean'.*metric='cosine'"):
        distance_rows(sparse.csr_array(DENSE))


def test_infinite_entries_are_refused():
    with pytest.raises(InvalidInputError, match="X must be finite everywhere, got '1 entries"):
        distance_rows(sparse.csr_array([[1.0, np.inf]]), "cosine")
