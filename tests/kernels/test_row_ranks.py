"""Ranks on both sides, against plain sorting and plain sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from assertions import assert_same_bits
from isentropic.kernels import row_ranks
from isentropic.kernels import sorting as radix
from isentropic.kernels._jit import threads
from isentropic.kernels.distances.euclidean import TILE, tiled_distances
from isentropic.kernels.row_ranks import compare_points, compare_rows
from isentropic.kernels.sorting import row_orders
from isentropic.quality.ranks.rank_sums import NEAR
from naive import (
    distances,
    naive_konig_measure,
    naive_neighbors,
    naive_rank_matrix,
    naive_rank_terms,
    naive_topological_product,
)
from naive_near import naive_near_counts


def orders_of(D, own=None):
    D = np.ascontiguousarray(D, float)
    own = np.arange(len(D)) if own is None else own
    out = np.full((len(D), D.shape[1] - 1), -1, np.int32)
    amiss = row_orders(D, own, 1, out)
    return out, amiss


def compared(D_X, D_Z, ks, own=None, n_workers=1):
    n_rows, n = D_X.shape
    own = np.arange(n_rows) if own is None else own
    sums = np.zeros((n_workers, 2, row_ranks.N_SUMS, n - 1), np.int64)
    terms, states = np.full((n_rows, len(ks), row_ranks.N_TERMS), np.nan), np.full(n_rows, 9, np.int8)
    compare_rows(D_X, D_Z, own, np.array(ks), NEAR, n_workers, sums, terms, states, *nothing_read(n_rows))
    return sums.sum(axis=0), terms, states


def nothing_read(n_rows):
    return (np.empty(0), 0, 0, 0, 1.0, 1.0, 1.0), np.empty((n_rows, 0), int), np.empty((n_rows, 0))


def orders_read(D_X, D_Z, *, weights=None, k1=1, k2=1, n_nearest=0, scale=1.0, places=None, n_workers=1):
    """What the orders of all rows say."""
    n_rows, n = D_X.shape
    weights = np.ones(n - 1) if weights is None else weights
    places = np.empty((n_rows, 0), int) if places is None else places
    out = np.full((n_rows, row_ranks.N_ORDER_TERMS), np.nan)
    rest = (
        np.zeros((n_workers, 2, row_ranks.N_SUMS, n - 1), int),
        np.empty((n_rows, 1, row_ranks.N_TERMS)),
        np.empty(n_rows, np.int8),
    )
    reading = (weights, k1, k2, n_nearest, scale, 1.0, 1.0)
    compare_rows(D_X, D_Z, np.arange(n_rows), np.array([1]), NEAR, n_workers, *rest, reading, places, out)
    return out


def tiles_of(data):
    filled = np.zeros((-(-len(data) // TILE) * TILE, data.shape[1]))
    filled[: len(data)] = data
    return np.ascontiguousarray(filled.reshape(-1, TILE, data.shape[1]).transpose(0, 2, 1))


# ---- orders ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 9])
def test_orders_match_plain_sorting(rng, n):
    D = distances(rng.normal(size=(n, 3)))
    found, amiss = orders_of(D)
    assert amiss == 0
    assert_array_equal(found, naive_neighbors(D, n - 1)[0])


@given(arrays(float, st.integers(2, 6), elements=st.floats(0, 1e300, allow_subnormal=True)))
@settings(max_examples=25)
def test_orders_match_plain_sorting_whatever_the_numbers(row):
    for own in (0, len(row) - 1):
        found, amiss = orders_of(row[None, :], np.array([own]))
        expected = sorted((j for j in range(len(row)) if j != own), key=lambda j: (row[j], j))
        assert amiss == 0
        assert found[0].tolist() == expected


def test_ties_are_by_row_number_and_self_is_left_out_among_duplicates():
    D = np.zeros((5, 5))
    found, _ = orders_of(D)
    assert found.tolist() == [[1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 3, 4], [0, 1, 2, 4], [0, 1, 2, 3]]


def test_an_outlier_does_not_hide_the_order_of_the_others(rng):
    # Next to 1e30, all others are the same fraction of the range: insertion alone would take n^2 moves.
    row = np.concatenate([[0.0], rng.permutation(np.arange(1.0, 40.0)), [1e30]])
    found, _ = orders_of(row[None, :], np.array([0]))
    assert_array_equal(row[found[0]], np.sort(row)[1:])


def test_differences_beyond_the_leading_digits_count():
    row = np.array([0.0, 0.5 + 3e-9, 0.5 + 2e-9, 0.5 + 1e-9, 1.0, 0.5])
    found, _ = orders_of(row[None, :], np.array([0]))
    assert found.tolist() == [[5, 3, 2, 1, 4]]


def test_differences_in_the_last_bit_count():
    row = np.array([0.0, 1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), 1.0, 8.0])
    found, _ = orders_of(row[None, :], np.array([0]))
    assert found.tolist() == [[3, 1, 4, 2, 5]]


def test_sorting_by_all_digits_agrees(rng, monkeypatch):
    D = distances(rng.integers(0, 3, size=(8, 2)).astype(float))
    keys, spare, low, _ = radix.sorting_space(8)
    for own in range(8):
        radix._sort_all(keys, spare, D[own], own, low)
        assert_array_equal(keys, naive_neighbors(D, 7)[0][own])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
def test_what_is_no_distance_is_counted(rng, wrong):
    D = distances(rng.normal(size=(4, 2)))
    D[1, 3] = wrong
    assert orders_of(D)[1] == 1
    assert compared(D, distances(rng.normal(size=(4, 2))), [1])[2].tolist() == [0, -1, 0, 0]
    assert compared(distances(rng.normal(size=(4, 2))), D, [1])[2].tolist() == [0, -1, 0, 0]


# ---- both sides --------------------------------------------------------------------------------


def plain_sums(R, r):
    n = len(R)
    sums = np.zeros((2, 4, n - 1), int)
    for i in range(n):
        for j in range(n):
            if i != j:
                for side, (mine, other) in enumerate(((R[i, j], r[i, j]), (r[i, j], R[i, j]))):
                    gap = other - mine
                    sums[side, :, mine - 1] += [gap > 0, gap < 0, max(gap, 0), max(-gap, 0)]
    return sums


@pytest.mark.parametrize("whole", [False, True])
def test_sums_and_terms_match_plain_ones(rng, whole):
    X, Z = rng.normal(size=(9, 3)), rng.normal(size=(9, 2))
    if whole:  # many ties
        X, Z = X.round(), Z.round()
    D_X, D_Z = distances(X), distances(Z)
    R, r = naive_rank_matrix(D_X), naive_rank_matrix(D_Z)
    ks = [1, 2, 5, 8]
    sums, terms, states = compared(D_X, D_Z, ks)
    assert_array_equal(sums[:, :4], plain_sums(R, r))
    near = np.array([naive_near_counts(D_X, D_Z, k).sum(axis=0)[::-1] for k in range(1, 9)])
    assert_array_equal(sums[:, 4].T.cumsum(axis=0), near)
    for c, k in enumerate(ks):
        assert_allclose(terms[:, c, :6], naive_rank_terms(R, r, k), rtol=1e-14)
        assert_array_equal(terms[:, c, 6:], naive_near_counts(D_X, D_Z, k))
    assert (states == 3 if whole else states == 0).all()


def test_some_rows_against_all(rng):
    D_X, D_Z = distances(rng.normal(size=(8, 3))), distances(rng.normal(size=(8, 2)))
    own = np.array([6, 1, 3])
    whole, part = compared(D_X, D_Z, [2, 3])[1], compared(D_X[own], D_Z[own], [2, 3], own)[1]
    assert_same_bits(part, whole[own])


def test_small_sums_move_to_large_ones_in_time(rng, monkeypatch):
    small = np.zeros((2, 4, 4), np.int32)
    small[0, 0] = [1, 2 << 16, (3 << 16) + 4, 0]
    small[1, 1:] = 7
    sums = np.ones((2, 5, 4), np.int64)
    row_ranks._flush(small, sums)
    assert sums[0].tolist() == [[2, 1, 5, 1], [1, 3, 4, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]
    assert sums[1].tolist() == [[1] * 4, [1] * 4, [8] * 4, [8] * 4, [8] * 4]
    assert not small.any()


# ---- Euclidean distances -----------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m"), [(2, 1), (5, 4), (TILE, 3), (TILE + 1, 6)])
def test_tiled_distances_match_plain_ones(rng, n, m):
    data = rng.normal(size=(n, m))
    own = rng.permutation(n)[:4]
    out = np.full((len(own), n), np.nan)
    tiled_distances(data, own, tiles_of(data), 3, out)
    assert_allclose(out, distances(data[own], data), rtol=1e-14)
    assert not out[np.arange(len(own)), own].any()


def test_distances_are_symmetric_to_the_last_bit_and_equal_for_duplicates(rng):
    data = rng.normal(size=(TILE + 3, 7)) * 10.0 ** rng.integers(-5, 6, size=7)
    data[-1] = data[0]
    own = np.array([0, 1, TILE + 1, TILE + 2])
    out = np.empty((4, len(data)))
    tiled_distances(data, own, tiles_of(data), 3, out)
    assert_same_bits(out[:, own], out[:, own].T.copy())
    assert_same_bits(out[:, 0], out[:, -1])


@pytest.mark.parametrize("group", [1, 4, 16])
def test_points_are_compared_as_their_distances_are(rng, group):
    X, Z = rng.normal(size=(11, 3)), rng.normal(size=(11, 2)).round(1)
    own, ks = np.array([0, 3, 4, 7, 9, 10]), np.array([1, 4, 10])
    D_X, D_Z = np.empty((2, len(own), 11))
    tiled_distances(X, own, tiles_of(X), 16, D_X)
    tiled_distances(Z, own, tiles_of(Z), 1, D_Z)
    expected = compared(D_X, D_Z, ks, own)
    sums = np.zeros((2, 2, row_ranks.N_SUMS, 10), np.int64)
    terms, states = np.empty((len(own), 3, row_ranks.N_TERMS)), np.empty(len(own), np.int8)
    reading = (np.arange(10.0), 2, 4, 3, 0.5, 1.0, 0.25)
    places, orders = np.array([[5, -1]] * len(own)), np.empty((2, len(own), row_ranks.N_ORDER_TERMS))
    rest = np.zeros_like(sums), np.empty_like(terms), np.empty_like(states)
    compare_rows(D_X, D_Z, own, ks, NEAR, 2, *rest, reading, places, orders[0])
    points = X, tiles_of(X), Z, tiles_of(Z)
    compare_points(*points, own, ks, NEAR, group, 2, sums, terms, states, reading, places, orders[1])
    for found, wanted in zip((sums.sum(axis=0), terms, states), expected, strict=True):
        assert_same_bits(found, wanted)
    assert_same_bits(orders[0], orders[1])


def test_many_rows_overflow_nothing(rng):
    # More rows than small sums are made for, by coming back to the same ones.
    X, Z = rng.normal(size=(5, 2)), rng.normal(size=(5, 1))
    ks, times = np.array([2]), row_ranks._FLUSH // 5 + 2
    once = compared(distances(X), distances(Z), ks)
    own = np.tile(np.arange(5), times)
    sums = np.zeros((1, 2, row_ranks.N_SUMS, 4), np.int64)
    terms, states = np.empty((len(own), 1, row_ranks.N_TERMS)), np.empty(len(own), np.int8)
    points = X, tiles_of(X), Z, tiles_of(Z)
    compare_points(*points, own, ks, NEAR, 16, 1, sums, terms, states, *nothing_read(len(own)))
    assert_array_equal(sums[0], times * once[0])
    again = compared(np.tile(distances(X), (times, 1)), np.tile(distances(Z), (times, 1)), ks, own)
    assert_array_equal(again[0], times * once[0])


# ---- what the orders say -----------------------------------------------------------------------


@pytest.fixture
def sides(rng):
    """Distances in the data and in the map, some of them 0."""
    X = rng.normal(size=(12, 3))
    X[7] = X[2]
    return distances(X), distances(X[:, :2] + 0.1 * rng.normal(size=(12, 2)))


def test_terms_of_the_topological_product(sides):
    weights = np.array([sum(0.5 / k for k in range(rank, 12)) for rank in range(1, 12)])
    found = orders_read(*sides, weights=weights)
    value, left_out = naive_topological_product(*sides)
    assert_allclose(found[:, row_ranks.PRODUCT].sum() / (12 * 11), value, rtol=1e-12)
    assert found[:, row_ranks.SKIPPED].sum() == left_out > 0


def test_tiny_distances_are_no_zeros():
    D = 1e-200 * np.array([[0.0, 1.0, 2.0]])
    swapped = 1e-200 * np.array([[0.0, 2.0, 1.0]])
    found = orders_read(D, swapped)
    assert found[0, row_ranks.SKIPPED] == 0
    assert_allclose(found[0, row_ranks.PRODUCT], 0.0, atol=1e-15)
    by_rank = orders_read(D, 3 * D, weights=np.array([1.0, 0.0]))
    assert_allclose(by_rank[0, row_ranks.PRODUCT], 0.0, atol=1e-15)


@pytest.mark.parametrize(("k1", "k2"), [(1, 1), (4, 10), (3, 11), (11, 11)])
def test_scores_of_konig(sides, k1, k2):
    found = orders_read(*sides, k1=k1, k2=k2)[:, row_ranks.KONIG]
    assert_allclose(found.mean() / (3 * k1), naive_konig_measure(*sides, k1, k2), rtol=1e-14)


def test_gaps_of_ranks(sides):
    D, DZ = sides
    expected = np.abs(naive_rank_matrix(DZ) - naive_rank_matrix(D)).sum(axis=1)
    assert_array_equal(orders_read(D, DZ)[:, row_ranks.GAPS], expected)
    assert expected.any()


def test_sums_over_listed_rows(sides):
    D, DZ = sides
    places = np.array([[5, -1, 9]] * 12)
    found = orders_read(D, DZ, n_nearest=2, scale=0.4, places=places)[:, row_ranks.LISTED :]
    for s, order in enumerate(naive_neighbors(D, 11)[0]):
        listed = order[[0, 1, 5, 9]]
        d, z = D[s, listed], DZ[s, listed]
        left = d - 0.4 * z
        assert_allclose(found[s], [((d - z) ** 2).sum(), d @ d, z @ z, left @ left, left @ z], atol=1e-14)


def test_the_number_of_threads_changes_no_bit_of_the_orders(sides):
    found = []
    for n_jobs in (1, 2):
        with threads(n_jobs):
            found.append(orders_read(*sides, k1=3, k2=5, n_nearest=4, n_workers=n_jobs))
    assert_same_bits(*found)


# ---- threads -----------------------------------------------------------------------------------


def test_the_number_of_threads_changes_no_bit(rng):
    D_X, D_Z = distances(rng.normal(size=(10, 3))), distances(rng.normal(size=(10, 2)))
    results = []
    for n_jobs in (1, 2):
        with threads(n_jobs):
            results.append(compared(D_X, D_Z, [1, 5], n_workers=n_jobs))
    for one, two in zip(*results, strict=True):
        assert_same_bits(one, two)
