"""Pairs in descending order, against counting them one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from assertions import assert_same_bits
from isentropic.kernels import inversions as kernels
from isentropic.kernels._jit import threads
from isentropic.kernels.inversions import cell_counts

SMALL, LARGE = np.empty(0, np.uint16), np.empty(0, np.int32)
counters = pytest.mark.parametrize("like", [SMALL, LARGE], ids=["uint16", "int32"])


def inversions(sequence):
    return sum(sequence[p] > sequence[q] for q in range(len(sequence)) for p in range(q))


@counters
@pytest.mark.parametrize("bits", [3, 10, 16, 21])
@given(data=st.data())
def test_greater_values_seen_before(like, bits, data):
    values = data.draw(st.lists(st.integers(0, 2**bits - 1), max_size=40))
    table, starts = kernels._counters(2**bits, like)
    assert table.dtype == like.dtype
    found = [int(kernels._count_greater(table, starts, np.int64(value))) for value in values]
    assert found == [sum(before > value for before in values[:i]) for i, value in enumerate(values)]


@pytest.mark.parametrize("n_values", [1, 2, 32, 33, 1024, 1025, 40_000])
def test_counters_reach_the_largest_value(n_values):
    table, starts = kernels._counters(n_values, SMALL)
    assert kernels._count_greater(table, starts, np.int64(n_values - 1)) == 0
    assert kernels._count_greater(table, starts, np.int64(0)) == (n_values > 1)


@counters
def test_groups_are_dealt_and_counted_by_chunk(rng, like):
    ranks = (2 * rng.permutation(40)).astype(np.uint32)
    bounds, shift = np.array([0, 13, 40]), 4  # groups of eight ranks
    counts = np.zeros((2, 5), np.int32)
    cell_counts(ranks, 0, shift, bounds, counts)
    assert_array_equal(counts.sum(axis=0), [8] * 5)
    places = np.vstack([np.arange(0, 40, 8), np.arange(0, 40, 8) + counts[0]]).astype(np.int64)
    out, within = np.zeros(40, np.uint32), np.zeros(2, np.int64)
    kernels.deal_ranks(ranks, shift, bounds, places, like, out, within)
    groups = ranks.astype(int) >> shift
    assert within.tolist() == [inversions(groups[:13]), inversions(groups[13:])]
    for g in range(5):
        assert_array_equal(out[8 * g : 8 * g + 8], (ranks[groups == g] - 16 * g) // 2)
    found = np.zeros(5, np.int64)
    kernels.group_inversions(out, np.arange(0, 41, 8), 8, 2, like, found)
    assert found.tolist() == [inversions(ranks[groups == g]) for g in range(5)]


@counters
def test_every_row_is_counted(rng, like):
    sequences = (2 * rng.integers(0, 50, size=(3, 50))).astype(np.uint32)
    found = np.zeros(3, np.int64)
    kernels.row_inversions(sequences, like, found)
    assert found.tolist() == [inversions(row) for row in sequences]


def test_the_number_of_threads_changes_no_bit(rng):
    sequences = (2 * rng.integers(0, 50, size=(4, 50))).astype(np.uint32)
    found = np.zeros((2, 4), np.int64)
    for n_jobs in (1, 2):
        with threads(n_jobs):
            kernels.row_inversions(sequences, SMALL, found[n_jobs - 1])
    assert_same_bits(found[0], found[1])
