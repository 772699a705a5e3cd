"""The neighbours of a row in two orders: what their ties could change, and which ranks meet.

A row with equal distances has several orders that are equally right. Ranks count from 0 here.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows


@kernel
def _groups(order, d, first, last):
    """Where the group of equal distances around each rank starts and ends; how many ranks share a group."""
    m = len(order)
    shared = 0
    start = 0
    for p in range(m):
        if p + 1 < m and d[order[p + 1]] == d[order[p]]:
            continue
        for q in range(start, p + 1):
            first[q] = start
            last[q] = p
        if p > start:
            shared += p + 1 - start
        start = p + 1
    return shared


@kernel
def _extreme(partner, first, last, near_first, near_last, k, worst, taken, slots):
    """The least (or greatest) sum of ``rank - k`` beyond k over the k nearest, over all orders of ties.

    ``partner[p]`` is the other side's rank of the p-th nearest. The members of one of its groups take the
    lowest (highest) ranks of that group. Where a tie leaves open who is among the k nearest, those are
    who would have the lowest (highest) ranks: a rank more of the same group is never lower (higher).
    """
    open_from = near_first[k - 1] if near_last[k - 1] >= k else k
    reach = near_last[k - 1] + 1 if open_from < k else k  # all who could be among the k nearest
    total = 0
    for p in range(reach):
        group = first[partner[p]]
        slot = last[partner[p]] - taken[group] if worst else group + taken[group]
        taken[group] += 1
        if p < open_from:
            total += max(slot + 1 - k, 0)
        else:
            slots[slot] = 1
    for p in range(reach):
        taken[first[partner[p]]] = 0
    to_choose = k - open_from
    for step in range(len(slots) if to_choose > 0 else 0):
        slot = len(slots) - 1 - step if worst else step
        if slots[slot] == 1 and to_choose > 0:
            to_choose -= 1
            total += max(slot + 1 - k, 0)
        slots[slot] = 0
    return total


@kernel
def _row_extremes(given, mapped, groups, ks, taken, slots, out):
    """Least and greatest sums at each k: of the neighbours in Z, then of those in X."""
    for c in range(len(ks)):
        for worst in range(2):
            out[c, worst] = _extreme(
                given, groups[0], groups[1], groups[2], groups[3], ks[c], worst, taken, slots
            )
            out[c, 2 + worst] = _extreme(
                mapped, groups[2], groups[3], groups[0], groups[1], ks[c], worst, taken, slots
            )


@parallel_kernel
def tie_extremes(D_X, D_Z, orders_X, orders_Z, ks, n_workers, shared, out):
    """Of each row: how many ranks are shared in X and in Z, and the extremes of its sums at each k.

    ``out[s, c]``: the least and the greatest sum of ``rank - k`` in X beyond k over the neighbours in Z, and
    the least and the greatest with X and Z exchanged. ``O(n)`` time for each k.
    """
    n_rows, m = orders_X.shape
    for worker in rows(n_workers):
        ranks = np.empty(m + 1, np.int64)
        partners = np.empty((2, m), np.int64)
        groups = np.empty((4, m), np.int64)
        taken = np.zeros(m, np.int64)
        slots = np.zeros(m, np.int64)
        for s in range(worker, n_rows, n_workers):
            shared[s, 0] = _groups(orders_X[s], D_X[s], groups[0], groups[1])
            shared[s, 1] = _groups(orders_Z[s], D_Z[s], groups[2], groups[3])
            for p in range(m):
                ranks[orders_Z[s, p]] = p
            for p in range(m):
                partners[1, p] = ranks[orders_X[s, p]]
                partners[0, partners[1, p]] = p
            _row_extremes(partners[0], partners[1], groups, ks, taken, slots, out[s])


@kernel
def add_coranks(orders_X, orders_Z, bin_of, counts):
    """Add rows to a co-ranking matrix: ``counts[bin_of[R], bin_of[r]]`` grows by 1 for each neighbour."""
    n_rows, m = orders_X.shape
    bins = np.empty(m + 1, np.int64)
    for s in range(n_rows):
        for p in range(m):
            bins[orders_Z[s, p]] = bin_of[p]
        for p in range(m):
            counts[bin_of[p], bins[orders_X[s, p]]] += 1


# --------------------------------------------------------------------------------------------------
# How well a row's distances fit its place on a map, and how many other places would suit it as well.


_EQUAL = 1e-12  # fits that differ by less are the same


@kernel
def _fit(near, given, place):
    """Correlation of ``given`` with the entries of ``place`` at ``near``; 0 where either is constant."""
    h = len(near)
    mean_x, mean_y = 0.0, 0.0
    for p in range(h):
        mean_x += given[p]
        mean_y += place[near[p]]
    mean_x /= h
    mean_y /= h
    xx, yy, xy = 0.0, 0.0, 0.0
    for p in range(h):
        x, y = given[p] - mean_x, place[near[p]] - mean_y
        xx += x * x
        yy += y * y
        xy += x * y
    return xy / np.sqrt(xx * yy) if xx > 0 and yy > 0 else 0.0


@parallel_kernel
def place_tests(near, given, own, places, selves, fits, better):
    """For each row: the fit of its own place, and how many of the other places fit at least as well.

    ``near[s]`` (h,) are references, ``given[s]`` the ranks of their distances in the data; ``own[s]`` and
    ``places[c]`` the ranks of the distances of all references on the map, from the row's own place and from
    others. Place ``selves[s]`` is the row's own, and not counted. ``O(h)`` for each row and place.
    """
    for s in rows(len(near)):
        fits[s] = _fit(near[s], given[s], own[s])
        count = 0
        for c in range(len(places)):
            if c != selves[s] and _fit(near[s], given[s], places[c]) >= fits[s] - _EQUAL:
                count += 1
        better[s] = count
