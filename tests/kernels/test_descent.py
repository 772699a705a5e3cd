"""Nearest-neighbour descent against plain lists. Small: this folder also runs without the JIT."""

import numpy as np
import pytest

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.neighbor_descent import (
    CAPPED_MEANS,
    CAPPED_SUMS,
    GROUP,
    LARGEST,
    NOTHING,
    SQUARES,
    SUMS,
    UNEQUAL,
    _offer,
    both_ways,
    listed_rows,
    offer_round,
)

MEASURES = {
    SQUARES: lambda x, y: ((x - y) ** 2).sum(axis=-1),
    SUMS: lambda x, y: np.abs(x - y).sum(axis=-1),
    LARGEST: lambda x, y: np.abs(x - y).max(axis=-1),
    UNEQUAL: lambda x, y: (x != y).sum(axis=-1),
    CAPPED_SUMS: lambda x, y: np.minimum(np.abs(x - y), WEIGHTS[: x.shape[-1]]).sum(axis=-1),
    CAPPED_MEANS: lambda x, y: capped_means(x, y, WEIGHTS[: x.shape[-1]]),
}
WEIGHTS = np.tile(np.array([2, 1, 0, 1], np.float32), 8)


def capped_means(x, y, weights):
    shared = (weights * ~np.isnan(x - y)).sum(axis=-1, dtype=np.float32)
    totals = np.nansum(np.minimum(np.abs(x - y), weights), axis=-1, dtype=np.float32)
    return np.where(shared > 0, totals / np.maximum(shared, 1), np.float32(1))


def lattice(seed, n, m=8, holes=False):
    """Rows on a small grid: many ties, and every distance is exact."""
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 4, size=(n, m)).astype(np.float32)
    return np.where(rng.random(data.shape) < 0.4, np.float32(np.nan), data) if holes else data


def empty_lists(n, k):
    return np.full((n, k), NOTHING)


def no_ways(n):
    return np.empty(0, np.int32), np.zeros((n, 3), np.int64)


def entry(distance, row, new):
    return (int(np.float32(distance).view(np.int32)) << 32) | (row << 1) | new


def listed(entries):
    """(distance, row, new) of the entries of a list."""
    bits = [int(e) for e in entries if e != NOTHING]
    return [(float(np.int32(e >> 32).view(np.float32)), (e >> 1) & 0x7FFFFFFF, e & 1) for e in bits]


def nearest(D, i, candidates, k):
    return sorted((float(D[i, j]), int(j)) for j in set(candidates) - {i})[:k]


def every_distance(kind, data):
    return MEASURES[kind](data[:, None], data[None])


# ---- lists -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_list_keeps_the_nearest_rows_once(seed):
    rng = np.random.default_rng(seed)
    entries, kept = np.full(5, NOTHING), {}
    for row in rng.integers(0, 12, size=40):
        distance = float(row % 5) / 3  # of a row, always the same
        bits = np.float32(distance).view(np.int32)
        before = sorted(kept)
        taken = _offer(entries, bits, row)
        kept = dict.fromkeys(sorted({*kept, (float(np.float32(distance)), int(row))})[:5])
        assert taken == (sorted(kept) != before)
        assert [found[:2] for found in listed(entries)] == sorted(kept)
        assert all(new == 1 for *_, new in listed(entries))


def test_an_old_entry_that_is_offered_again_stays_old():
    entries = np.array([entry(0.5, 3, 0), entry(0.5, 4, 1), NOTHING])
    for row in (3, 4):
        assert _offer(entries, np.float32(0.5).view(np.int32), row) == 0
    assert listed(entries) == [(0.5, 3, 0), (0.5, 4, 1)]


def test_names_are_those_of_the_rows():
    lists = np.array([[entry(1, 1, 0), entry(2, 2, 1)], [entry(1, 0, 1), NOTHING], [NOTHING, NOTHING]])
    out = np.empty((3, 2), np.int32)
    listed_rows(lists, np.array([2, 0, 1], np.int32), out)
    assert out.tolist() == [[2, -1], [-1, -1], [0, 1]]


# ---- both ways ---------------------------------------------------------------------------------


def naive_both_ways(lists, width, most):
    """Old and new neighbours of each row, in both directions."""
    found = [([], []) for _ in lists]
    backwards = [0] * len(lists)
    for s in range(width):
        for i, entries in enumerate(lists):
            if entries[s] == NOTHING:
                continue
            (_, j, new) = listed(entries[s : s + 1])[0]
            found[i][new].append(j)
            if backwards[j] < most:
                backwards[j] += 1
                found[j][new].append(i)
    return found


@pytest.mark.parametrize(("width", "most"), [(4, 99), (3, 2), (4, 0)])
def test_neighbors_are_listed_both_ways_and_are_old_then(width, most):
    rng = np.random.default_rng(width)
    n, k = 30, 4
    lists = empty_lists(n, k)
    for i in range(n):
        for row in rng.permutation(np.delete(np.arange(n), i))[: rng.integers(0, 6)]:
            _offer(lists[i], np.float32(row // 7).view(np.int32), row)
    old = lists != NOTHING
    lists[old] ^= rng.integers(0, 2, old.sum())  # new or old
    expected = naive_both_ways(lists, width, most)
    assert any(one for one, _ in expected)
    assert any(two for _, two in expected)
    before = lists.copy()
    near, starts = np.empty(n * (width + most), np.int32), np.empty((n, 3), np.int64)
    both_ways(lists, width, most, near, starts)
    for (begin, middle, end), found in zip(starts, expected, strict=True):
        assert (near[begin:middle].tolist(), near[middle:end].tolist()) == found
    assert all(new == 0 for row in lists for *_, new in listed(row[:width]))
    assert_same_bits(lists[:, width:], before[:, width:])
    assert_same_bits(lists >> 1, before >> 1)


# ---- rounds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MEASURES)
@pytest.mark.parametrize(("n", "span"), [(GROUP + 5, 2 * GROUP), (3 * GROUP + 1, GROUP)])
def test_a_leaf_offers_its_rows_to_each_other(kind, n, span):
    data, k = lattice(n, n, holes=kind == CAPPED_MEANS), 6
    weights = WEIGHTS[: data.shape[1]]
    order = np.random.default_rng(1).permutation(n).astype(np.int32)
    lists, D = empty_lists(n, k), every_distance(kind, data)
    new = offer_round(kind, data, weights, order, span, *no_ways(n), 2, lists)
    for start in range(0, n, span):
        leaf = order[start : start + span].tolist()
        for i in leaf:
            assert [found[:2] for found in listed(lists[i])] == nearest(D, i, leaf, k)
    assert new >= (lists != NOTHING).sum()  # some were put, and fell out again
    assert offer_round(kind, data, weights, order, span, *no_ways(n), 1, lists) == 0


def begun(kind, data, k, seed):
    """Lists of random rows, half of them old, and the ways between them."""
    n = len(data)
    rng = np.random.default_rng(seed)
    lists, D = empty_lists(n, k), every_distance(kind, data).astype(np.float32)
    for i in range(n):
        for row in rng.permutation(np.delete(np.arange(n), i))[:k]:
            _offer(lists[i], D[i, row].view(np.int32), row)
    lists ^= rng.integers(0, 2, lists.shape)
    near, starts = np.empty(n * (2 + 1), np.int32), np.empty((n, 3), np.int64)
    both_ways(lists, 2, 1, near, starts)
    return lists, near, starts


def naive_two_steps(own, near, starts):
    """Rows over two steps of which one is new, or over a new one; what is old for a row is for its group."""
    old = {j for i in own for j in near[starts[i, 0] : starts[i, 1]].tolist()}
    new = {j for i in own for j in near[starts[i, 1] : starts[i, 2]].tolist()} - old
    over_old = {j for u in old for j in near[starts[u, 1] : starts[u, 2]].tolist()}
    over_new = {j for u in new for j in near[starts[u, 0] : starts[u, 2]].tolist()}
    return new | over_old | over_new


@pytest.mark.parametrize("kind", [SQUARES, SUMS])
def test_a_group_is_offered_the_neighbors_of_its_neighbors(kind):
    n, k = 3 * GROUP + 7, 3
    data = lattice(0, n)
    weights = WEIGHTS[: data.shape[1]]
    lists, near, starts = begun(kind, data, k, 5)
    before, D = lists.copy(), every_distance(kind, data)
    order = np.arange(n, dtype=np.int32)
    offer_round(kind, data, weights, order, 0, near, starts, 2, lists)
    for first in range(0, n, GROUP):
        own = range(first, min(first + GROUP, n))
        candidates = naive_two_steps(own, near, starts)
        assert len(candidates) < n  # so that it matters who is one
        for i in own:
            had = {row for _, row, _ in listed(before[i])}
            expected = nearest(D, i, candidates | had, k)
            assert [found[:2] for found in listed(lists[i])] == expected
            assert all(new == (row not in had) for _, row, new in listed(lists[i]))


@pytest.mark.parametrize("kind", MEASURES)
def test_workers_and_threads_change_no_bit(kind):
    n = 4 * GROUP + 3
    data = np.random.default_rng(3).normal(size=(n, 12)).astype(np.float32)
    order, weights = np.arange(n, dtype=np.int32), WEIGHTS[:12]
    found = []
    for workers in (1, 2, 4):
        lists, near, starts = begun(kind, data, 5, 2)
        with threads(workers):
            new = offer_round(kind, data, weights, order, 0, near, starts, workers, lists)
            new += offer_round(kind, data, weights, order[::-1].copy(), GROUP, near, starts, workers, lists)
        found.append((new, lists))
    for new, lists in found[1:]:
        assert new == found[0][0]
        assert_same_bits(lists, found[0][1])
