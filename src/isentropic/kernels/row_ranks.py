"""Ranks of distances on the two sides of a map, compared row by row, and what ties could change.

Ranks are by distance, then by row number, and count from 0 here. What is summed over rows is summed in
integers, so that neither the order of the rows nor the number of threads changes a bit.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .distances.euclidean import TILE, measure_rows
from .sorting import order_row, sorting_space

_ROUNDING = 1.0 + 1e-9  # distances that differ by less are equal, whatever the unit
_PARTS = 5  # a near row is in the nearest fifth or the 2k nearest: in many dimensions all are nearly as far
_FLUSH = 256  # rows after which small sums move to large ones: enough up to 2^23 rows

# Columns of what the two orders of a row say. The last ones are sums over listed rows, with the distances
# d given and z mapped, each in its own unit, and r = d - scale z: of (d - z)^2, in the larger of these units,
# d^2, z^2, r^2 and r z.
PRODUCT, SKIPPED, KONIG, GAPS, LISTED = range(5)
N_ORDER_TERMS = LISTED + 5

N_SUMS, N_TERMS = 5, 8  # per rank and side, and per row and k; see compare_rows


@kernel
def _add_gaps(partner, counts, ahead, behind):
    """Per rank: how often the other side's rank is above, and below (in the high half), and by how much."""
    for p in range(len(partner)):
        gap = np.int32(partner[p] - np.int32(p))
        counts[p] += np.int32(gap > 0) + (np.int32(gap < 0) << 16)
        ahead[p] += max(gap, np.int32(0))
        behind[p] += max(np.int32(-gap), np.int32(0))


@kernel
def _flush(small, sums):
    for side in range(2):
        for p in range(small.shape[2]):
            sums[side, 0, p] += small[side, 0, p] & 0xFFFF
            sums[side, 1, p] += small[side, 0, p] >> 16
            sums[side, 2, p] += small[side, 1, p]
            sums[side, 3, p] += small[side, 2, p]
            sums[side, 4, p] += small[side, 3, p]
    small[:] = 0


@kernel
def _fill_terms(given, mapped, ks, inverse, out):
    """The terms of one row at each of the increasing ``ks``, brought up to date as k grows by one."""
    false = torn = shared = intrusive = 0
    false_open = torn_open = 0  # neighbours on one side that are not yet neighbours on the other
    false_error = missing_error = 0.0
    start = 0
    for c in range(len(ks)):
        for p in range(start, ks[c]):
            behind = np.int64(given[p]) - p  # of the neighbour that Z adds when k grows to p + 1
            ahead = np.int64(mapped[p]) - p  # of the one that X adds
            false += max(behind, 0) - false_open
            torn += max(ahead, 0) - torn_open
            false_open += (behind > 0) - np.int64(ahead < 0)
            torn_open += (ahead > 0) - np.int64(behind < 0)
            shared += (behind <= 0) + np.int64(ahead < 0)
            intrusive += (ahead < 0) - np.int64(behind < 0)
            false_error += abs(behind) * inverse[p]
            missing_error += abs(ahead) * inverse[p]
        start = ks[c]
        out[c, 0] = false
        out[c, 1] = torn
        out[c, 2] = shared
        out[c, 3] = intrusive
        out[c, 4] = false_error
        out[c, 5] = missing_error


@kernel
def _add_near(d, order, given, mapped, ks, radius, near_X, near_Z, out):
    """Rows that are near in the data, and those of them among the k nearest in the map, as k grows by one.

    The bound ``max(min(radius mean(d_1, ..., d_k), d_max(m / 5, 2k)), d_k)`` never falls, so that whatever is
    near stays near.
    """
    m, reach, near, c, p = len(order), 0, 0, 0, 0  # reach: how many rows are near
    total = 0.0
    while reach < m:
        farthest = d[order[p]]
        total += farthest
        widest = d[order[min(m, max(m // _PARTS, 2 * (p + 1))) - 1]]
        bound = max(min(radius * total / (p + 1), widest), farthest) * _ROUNDING
        before, found = reach, 0
        while reach < m and d[order[reach]] <= bound:
            found += mapped[reach] < p
            reach += 1
        found += given[p] < reach
        near += found
        near_X[p] += reach - before
        near_Z[p] += found
        p += 1
        if c < len(ks) and ks[c] == p:
            out[c, 6], out[c, 7] = near, reach
            c += 1
    for q in range(p, m):
        near_Z[q] += 1
    for rest in range(c, len(ks)):
        out[rest, 6], out[rest, 7] = ks[rest], m


@kernel
def _workspace(n):
    """What a thread compares rows in: orders of both sides, what ordering needs, ranks, small sums, logs."""
    order_X, spare, low, high = sorting_space(n)
    ranks = np.empty((3, n), np.int32)
    small = np.zeros((2, 4, n - 1), np.int32)
    logs = np.empty(n)
    return order_X, np.empty_like(order_X), spare, low, high, ranks, small, 1.0 / np.arange(1, n), logs


@kernel
def _compare_row(d_X, d_Z, own, ks, radius, work, terms):
    """Add one row to the small sums and fill its terms; -1 if amiss, 1 and 2 for possible ties in X and Z."""
    order_X, order_Z, spare, low, high, ranks, small, inverse, _ = work
    state = 0
    for side in range(2):  # a loop, so that the code of ordering is there once
        close = order_row((d_X, d_Z)[side], own, (order_X, order_Z)[side], spare, low, high)
        if close < 0:
            return -1
        state += (side + 1) * close
    m = len(order_X)
    in_Z = ranks[0]
    given = ranks[1, :m]  # rank in X of the p-th nearest in Z
    mapped = ranks[2, :m]  # and the other way round
    for p in range(m):
        in_Z[order_Z[p]] = p
    for p in range(m):
        mapped[p] = in_Z[order_X[p]]
        given[mapped[p]] = p
    _add_gaps(mapped, small[0, 0], small[0, 1], small[0, 2])
    _add_gaps(given, small[1, 0], small[1, 1], small[1, 2])
    _fill_terms(given, mapped, ks, inverse, terms)
    _add_near(d_X, order_X, given, mapped, ks, radius, small[0, 3], small[1, 3], terms)
    return state


# ---- what the two orders say -------------------------------------------------------------------


@kernel
def _log_product(d, z):
    """``log(d z)``; NaN if one of them is 0. The product of two tiny or huge distances is not formed."""
    product = d * z
    if 1e-300 < product < 1e300:
        return np.log(product)
    return np.log(d) + np.log(z) if d > 0 and z > 0 else np.nan


@kernel
def _add_product(d_X, d_Z, order_X, order_Z, weights, logs, out):
    """Bauer and Pawelzik's: weighted sum over ranks of ``log(Q1 Q2)``; those with a distance of 0 skipped."""
    for j in range(len(logs)):
        logs[j] = _log_product(d_X[j], d_Z[j])
    total = 0.0
    for p in range(len(order_X)):
        term = logs[order_Z[p]] - logs[order_X[p]]
        if np.isnan(term):
            out[SKIPPED] += 1
        else:
            total += weights[p] * term
    out[PRODUCT] = total


@kernel
def _add_ranks(mapped, k1, k2, out):
    """König's points of the k1 nearest, 3 for the same rank, 2 within k1, 1 within k2; gaps of all ranks."""
    points = gaps = 0
    for p in range(k1):
        q = mapped[p]
        points += 3 if p == q else (2 if q < k1 else (1 if q < k2 else 0))
    for p in range(len(mapped)):
        gaps += abs(np.int64(mapped[p]) - p)
    out[KONIG], out[GAPS] = points, gaps


@kernel
def _add_listed(d, z, scale, shift_X, shift_Z, out):
    gap = shift_X * d - shift_Z * z
    out[LISTED] += gap * gap
    out[LISTED + 1] += d * d
    out[LISTED + 2] += z * z
    out[LISTED + 3] += (d - scale * z) * (d - scale * z)
    out[LISTED + 4] += (d - scale * z) * z


@kernel
def _read_orders(d_X, d_Z, work, reading, places, out):
    """The terms of one row that was compared just now."""
    order_X, order_Z, ranks, logs = work[0], work[1], work[5], work[8]
    weights, k1, k2, n_nearest, scale, shift_X, shift_Z = reading
    out[:] = 0.0
    _add_product(d_X, d_Z, order_X, order_Z, weights, logs, out)
    _add_ranks(ranks[2, : len(order_X)], k1, k2, out)
    for p in range(n_nearest):
        _add_listed(d_X[order_X[p]], d_Z[order_X[p]], scale, shift_X, shift_Z, out)
    for place in places:
        if place >= 0:
            _add_listed(d_X[order_X[place]], d_Z[order_X[place]], scale, shift_X, shift_Z, out)


# ---- rows --------------------------------------------------------------------------------------


@parallel_kernel
def compare_rows(D_X, D_Z, own, ks, radius, n_workers, sums, terms, states, reading, places, orders):
    """Rank the rows on both sides, add up what every k needs, and tell each row's own terms.

    ``sums[w, side, :, p]`` grows by, over the neighbours of rank p in X (side 0) or in Z (side 1): how
    many have a higher rank on the other side, how many a lower one, and by how much in total, up and
    down; then by how many rows become near as k grows to p + 1, of all (side 0) and of the k nearest in Z
    (side 1). Near is whoever is in X in the nearest fifth, or among the 2k nearest, and at most ``radius``
    times as far as the k nearest there on average, or no farther than the last of these. ``terms[s, c]`` is
    set to, of row s at ``ks[c]``: the sum of ``rank - k`` in X beyond k over the neighbours in Z, the same
    with X and Z exchanged, the number of shared
    neighbours, of those the ones nearer in Z less the ones farther, the sums of ``|rank - rank'| / rank``
    over neighbours in Z, and in X, and the number of near rows, among the neighbours in Z and among all.
    ``states[s]``: -1 if a distance is negative or not finite, else 1, 2, 3: X, Z, both may be tied.
    ``orders[s]``, unless it has no columns, is set to what the orders of row s say: ``reading`` holds the
    weights of the topological product, König's two k, how many of the nearest rows in X are listed, a
    scale, and what brings both sides to one unit; ``places[s]`` are ranks in X of rows that are listed too,
    -1 for none.
    """
    for worker in rows(n_workers):
        work = _workspace(D_X.shape[1])
        for s in range(worker, len(D_X), n_workers):
            states[s] = _compare_row(D_X[s], D_Z[s], own[s], ks, radius, work, terms[s])
            if orders.shape[1] > 0 and states[s] >= 0:
                _read_orders(D_X[s], D_Z[s], work, reading, places[s], orders[s])
            if (s // n_workers) % _FLUSH == 0:
                _flush(work[6], sums[worker])
        _flush(work[6], sums[worker])


@parallel_kernel
def compare_points(
    X, tiles_X, Z, tiles_Z, own, ks, radius, group, n_workers, sums, terms, states, reading, places, orders
):
    """As :func:`compare_rows`, for Euclidean distances that are forgotten after each group of rows."""
    for worker in rows(n_workers):
        work = _workspace(len(X))
        squares = np.empty(TILE)
        D_X = np.empty((group, len(X)))
        D_Z = np.empty((group, len(X)))
        done = 0
        for start in range(worker * group, len(own), n_workers * group):
            mine = own[start : start + group]
            for side in range(2):  # a loop, so that the code is there once
                measure_rows((X, Z)[side], mine, (tiles_X, tiles_Z)[side], squares, (D_X, D_Z)[side])
            for s in range(len(mine)):
                r = start + s
                states[r] = _compare_row(D_X[s], D_Z[s], mine[s], ks, radius, work, terms[r])
                if orders.shape[1] > 0 and states[r] >= 0:
                    _read_orders(D_X[s], D_Z[s], work, reading, places[r], orders[r])
            done += len(mine)
            if done >= _FLUSH:
                _flush(work[6], sums[worker])
                done = 0
        _flush(work[6], sums[worker])


# ---- Pairs of ranks and ties ---------------------------------------------------------------------
#
# A row with equal distances has several orders that are equally right.


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
