"""Sorting, ranking and aligning lists, against counting one pair after the other."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from assertions import assert_same_bits
from isentropic.kernels import inversions
from isentropic.kernels._jit import threads
from isentropic.kernels.sorting import bit_length
from naive import naive_average_ranks, naive_order_counts

numbers = st.one_of(
    st.integers(0, 4).map(float),  # many ties
    st.floats(0, allow_infinity=False, allow_nan=False, allow_subnormal=True),
)
pairs_of_lists = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30)


def keys(values):
    return np.array(values, float).view(np.int64)


def bucketed(values, n_buckets):
    """QueryEdges by value in buckets of neighbouring values, ascending in each; equal values together."""
    levels = np.unique(values)
    bucket = np.searchsorted(levels, values) * n_buckets // len(levels)
    order = np.argsort(bucket, kind="stable").astype(np.uint32)
    return order, np.searchsorted(bucket[order], np.arange(n_buckets + 1))


# ---- sorting a bucket --------------------------------------------------------------------------


def sorted_bucket(values, entries):
    found, places = np.empty((2, len(entries)), np.int64), np.empty((2, len(entries)), np.uint32)
    inversions._sort_bucket(keys(values), np.array(entries, np.uint32), found, places)
    return found[0], places[0]


@given(st.lists(numbers, min_size=1, max_size=40))
@example([0.0, 1.7e308, 5e-324, 1.0])  # the widest span there is
def test_a_bucket_is_sorted_stably(values):
    entries = np.arange(len(values))[::-1]
    found, places = sorted_bucket(values, entries)
    expected = np.argsort(np.array(values)[entries], kind="stable")
    assert_array_equal(places, expected)
    assert_array_equal(found, keys(np.sort(values)) - keys([min(values)]))


def test_crowded_values_are_sorted_by_all_their_digits(rng):
    """Half of them share their leading digits, so that insertion gives up."""
    values = np.r_[1.0 + 1e-13 * rng.permutation(60), rng.uniform(1, 2, size=60)]
    packed = np.append(((keys(values) - keys([1.0])) << 7) | np.arange(120), 0)
    assert not inversions._sort_packed(packed[:120].copy(), np.empty(120, np.int64), 120, 59)
    _, places = sorted_bucket(values, np.arange(120))
    assert_array_equal(places, np.argsort(values, kind="stable"))


@pytest.mark.parametrize(("number", "bits"), [(0, 0), (1, 1), (2, 2), (3, 2), (2**62, 63)])
def test_bits_of_a_number(number, bits):
    assert bit_length(np.int64(number)) == bits


def test_constant_means_every_entry():
    assert inversions._constant(keys([1.0, 2.0, 2.0]), np.array([1, 2], np.uint32))
    assert not inversions._constant(keys([1.0, 2.0, 2.0]), np.array([1, 2, 0], np.uint32))


# ---- ranks -------------------------------------------------------------------------------------


def ranked(values, n_buckets, n_workers=1):
    order, bounds = bucketed(values, n_buckets)
    ranks, tied, squares = np.zeros(len(values), np.uint32), np.zeros(n_buckets, int), np.zeros(n_buckets)
    inversions.rank_buckets(keys(values), order, bounds, n_workers, ranks, tied, squares)
    return ranks, tied.sum(), squares.sum()


@pytest.mark.parametrize("n_buckets", [1, 3])
@given(values=st.lists(numbers, min_size=1, max_size=25))
def test_ranks_are_twice_the_average_position(n_buckets, values):
    values = np.array(values)
    ranks, tied, square = ranked(values, n_buckets)
    average = naive_average_ranks(values)
    assert_array_equal(ranks, 2 * average - 2)
    assert tied == sum(values[p] == values[q] for p in range(len(values)) for q in range(p))
    assert_allclose(square, 4 * ((average - average.mean()) ** 2).sum(), atol=1e-9)


def aligned(values, others, n_buckets=1, n_workers=1):
    """The ranks in the second list in the order of the first, ties, and sums of squares."""
    ranks, tied_there, square_there = ranked(others, n_buckets, n_workers)
    order, bounds = bucketed(values, n_buckets)
    tied, squares = np.zeros((n_buckets, 2), int), np.zeros((n_buckets, 2))
    inversions.align_buckets(keys(values), ranks, order, bounds, n_workers, tied, squares)
    (tied_here, both), (square, mixed) = tied.sum(axis=0), squares.sum(axis=0)
    return order, (tied_here, tied_there, both), (square, square_there, mixed)


def check_aligned(a, b, sequence, tied, sums):
    _, _, only_a, only_b, both = naive_order_counts(a, b)
    assert tuple(tied) == (only_a + both, only_b + both, both)
    r, s = (2 * (ranks - ranks.mean()) for ranks in (naive_average_ranks(a), naive_average_ranks(b)))
    assert_allclose(sums, [r @ r, s @ s, r @ s], atol=1e-8)
    expected = sorted(zip(a.tolist(), (2 * naive_average_ranks(b) - 2).tolist(), strict=True))
    assert sequence.tolist() == [rank for _, rank in expected]


@pytest.mark.parametrize("n_buckets", [1, 3])
@given(pairs=pairs_of_lists)
def test_aligned_lists_know_their_ties_and_moments(n_buckets, pairs):
    a, b = np.array(pairs).T
    check_aligned(a, b, *aligned(a, b, n_buckets))


def test_large_buckets_of_one_value_need_no_copy(rng, monkeypatch):
    a, b = np.repeat([1.0, 2.0], 8), rng.integers(0, 3, size=16).astype(float)
    monkeypatch.setattr(inversions, "_LARGE", 4)
    monkeypatch.setattr(inversions, "_rank", None)  # and none is made
    monkeypatch.setattr(inversions, "_align", None)
    # compiled code has its own constants
    rank, align = (getattr(f, "py_func", f) for f in (inversions._rank_every, inversions._align_every))
    order, bounds = bucketed(b, 3)
    ranks, tied, square = np.zeros(16, np.uint32), np.zeros(3, int), np.zeros(3)
    rank(keys(b), order, bounds, 0, 1, ranks, tied, square)
    order, bounds = bucketed(a, 2)
    own_tied, squares = np.zeros((2, 2), int), np.zeros((2, 2))
    align(keys(a), ranks, order, bounds, 0, 1, own_tied, squares)
    (tied_here, both), (own_square, mixed) = own_tied.sum(axis=0), squares.sum(axis=0)
    check_aligned(a, b, order, (tied_here, tied.sum(), both), (own_square, square.sum(), mixed))


@given(pairs_of_lists)
def test_short_lists_are_aligned_at_once(pairs):
    a, b = np.array(pairs).T
    sequences, tied, squares = np.zeros((2, len(a)), np.uint32), np.zeros((2, 3), int), np.zeros((2, 3))
    inversions.align_rows(
        np.vstack([keys(a), keys(b)]), np.vstack([keys(b), keys(a)]), sequences, tied, squares
    )
    check_aligned(a, b, sequences[0], tied[0], squares[0])
    check_aligned(b, a, sequences[1], tied[1], squares[1])


def test_the_number_of_threads_changes_no_bit(rng):
    a, b = rng.integers(0, 50, size=(2, 90)).astype(float)
    found = []
    for n_jobs in (1, 2):
        with threads(n_jobs) as n_workers:
            found.append([np.asarray(each) for each in aligned(a, b, 5, n_workers)])
    for one, two in zip(*found, strict=True):
        assert_same_bits(one, two)
