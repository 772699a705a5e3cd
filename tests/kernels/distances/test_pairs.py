"""Sums over pairs of rows, against the formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.distances import euclidean as kernels
from isentropic.kernels.distances.euclidean import euclidean_pairs
from naive import distances, naive_neighbors, naive_rank_matrix

N_SUMS = kernels.ZERO + 1


def sums_of(d, z, scale):
    """One row of sums, by the formulas."""
    a, b, left = d - d.mean(), z - z.mean(), d - scale * z
    sammon = sum((x - y) ** 2 / x for x, y in zip(d, z, strict=True) if x > 0)
    return [len(d), d.mean(), z.mean(), a @ a, b @ b, a @ b, ((d - z) ** 2).sum(), d @ d, z @ z,
            left @ z, left @ left, sammon, (d == 0).sum()]  # fmt: skip


def test_sums_of_the_pairs_right_of_a_column(rng):
    given, mapped = rng.uniform(size=(2, 4, 9))
    given[1, 5] = 0.0
    firsts = np.array([0, 3, 8, 9])
    found = np.zeros((4, N_SUMS))
    kernels.pair_sums(given, mapped, firsts, 9, 0.7, found)
    for s in range(3):
        assert_allclose(found[s], sums_of(given[s, firsts[s] :], mapped[s, firsts[s] :], 0.7), rtol=1e-12)
    assert not found[3].any()  # no pair is left
    assert found[1, kernels.ZERO] == 1


def test_columns_from_the_stop_on_do_not_count(rng):
    given, mapped = rng.uniform(size=(2, 1, 9))
    found, expected = np.zeros((1, N_SUMS)), np.zeros((1, N_SUMS))
    kernels.pair_sums(given, mapped, np.array([2]), 6, 1.0, found)
    kernels.pair_sums(given[:, :6].copy(), mapped[:, :6].copy(), np.array([2]), 6, 1.0, expected)
    assert_same_bits(found, expected)


@pytest.mark.parametrize("first_column", [0, 3])
def test_the_upper_triangle_is_stored_row_by_row(rng, first_column):
    D = rng.uniform(size=(7, 7))
    out = np.full(21, np.nan)
    kernels.store_upper(D[:3], 0, 0, 7, out)
    block = np.hstack([D[3:, first_column:], np.full((4, first_column), np.nan)])  # nothing after the last
    kernels.store_upper(block, 3, first_column, 7, out)
    assert_array_equal(out, D[np.triu_indices(7, 1)])


def test_centred_sums_survive_a_large_mean(rng):
    d, z = rng.uniform(size=(2, 1, 50))
    near, far = np.zeros((1, N_SUMS)), np.zeros((1, N_SUMS))
    kernels.pair_sums(d, z, np.zeros(1, int), 50, 1.0, near)
    kernels.pair_sums(d + 1e8, z, np.zeros(1, int), 50, 1.0, far)
    assert_allclose(far[0, [kernels.DD, kernels.DZ]], near[0, [kernels.DD, kernels.DZ]], rtol=1e-6)


def test_distances_of_single_pairs(rng):
    X = rng.normal(size=(6, 3))
    first, second = np.array([0, 5, 2, 2]), np.array([1, 0, 2, 4])
    out = np.empty(4)
    euclidean_pairs(X, first, second, out)
    assert_allclose(out, distances(X)[first, second], rtol=1e-14)


def test_distances_to_each_class(rng):
    D, classes = rng.uniform(size=(3, 8)), np.array([0, 2, 1, 0, 2, 2, 0, 1])
    out = np.zeros((3, 3))
    kernels.class_sums(D, classes, out)
    assert_allclose(out, [[row[classes == c].sum() for c in range(3)] for row in D], rtol=1e-14)


# ---- neighbours on both sides ------------------------------------------------------------------


@pytest.fixture
def sides(rng):
    """Distances in the data and in the map, some of them 0, and the other rows by distance."""
    X = rng.normal(size=(12, 3))
    X[7] = X[2]
    D, DZ = distances(X), distances(X[:, :2] + 0.1 * rng.normal(size=(12, 2)))
    return D, DZ, naive_neighbors(D, 11)[0], naive_neighbors(DZ, 11)[0]


def test_differences_of_ranks(sides):
    D, DZ, order, order_Z = sides
    differences = np.zeros((12, 12), np.int32)
    kernels.rank_differences(order, order_Z, differences)
    assert_array_equal(differences, naive_rank_matrix(DZ) - naive_rank_matrix(D))
    assert differences.any()


def test_the_number_of_threads_changes_no_bit(sides, rng):
    D, DZ = sides[:2]
    found = []
    for n_jobs in (1, 2):
        with threads(n_jobs):
            sums, classes = np.zeros((12, N_SUMS)), np.zeros((12, 3))
            kernels.pair_sums(D, DZ, np.arange(1, 13), 12, 1.1, sums)
            kernels.class_sums(D, np.arange(12) % 3, classes)
            found.append((sums, classes))
    for one, two in zip(*found, strict=True):
        assert_same_bits(one, two)
