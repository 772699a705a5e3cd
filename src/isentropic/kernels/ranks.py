"""Ranks of distances on the two sides of a map, compared row by row and forgotten.

Ranks are by distance, then by row number, and count from 0 here. What is summed over rows is summed in
integers, so that neither the order of the rows nor the number of threads changes a bit.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .sorting import order_row, sorting_space
from .tiles import TILE, measure_rows

_FLUSH = 256  # rows after which small sums move to large ones: enough up to 2^23 rows


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
def _workspace(n):
    """What a thread compares rows in: orders of both sides, what ordering needs, ranks, small sums."""
    order_X, spare, low, high = sorting_space(n)
    ranks = np.empty((3, n), np.int32)
    small = np.zeros((2, 3, n - 1), np.int32)
    return order_X, np.empty_like(order_X), spare, low, high, ranks, small, 1.0 / np.arange(1, n)


@kernel
def _compare_row(d_X, d_Z, own, ks, work, terms):
    """Add one row to the small sums and fill its terms; -1 if amiss, 1 and 2 for possible ties in X and Z."""
    order_X, order_Z, spare, low, high, ranks, small, inverse = work
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
    return state


@parallel_kernel
def compare_rows(D_X, D_Z, own, ks, n_workers, sums, terms, states):
    """Rank the rows on both sides, add up what every k needs, and tell each row's own terms.

    ``sums[w, side, :, p]`` grows by, over the neighbours of rank p in X (side 0) or in Z (side 1): how
    many have a higher rank on the other side, how many a lower one, and by how much in total, up and
    down. ``terms[s, c]`` is set to, of row s at ``ks[c]``: the sum of ``rank - k`` in X beyond k over the
    neighbours in Z, the same with X and Z exchanged, the number of shared neighbours, of those the ones
    nearer in Z less the ones farther, and the sums of ``|rank - rank'| / rank`` over neighbours in Z, and
    in X. ``states[s]``: -1 if a distance is negative or not finite, else 1, 2, 3: X, Z, both may be tied.
    """
    for worker in rows(n_workers):
        work = _workspace(D_X.shape[1])
        for s in range(worker, len(D_X), n_workers):
            states[s] = _compare_row(D_X[s], D_Z[s], own[s], ks, work, terms[s])
            if (s // n_workers) % _FLUSH == 0:
                _flush(work[6], sums[worker])
        _flush(work[6], sums[worker])


@parallel_kernel
def compare_points(X, tiles_X, Z, tiles_Z, own, ks, group, n_workers, sums, terms, states):
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
                states[start + s] = _compare_row(D_X[s], D_Z[s], mine[s], ks, work, terms[start + s])
            done += len(mine)
            if done >= _FLUSH:
                _flush(work[6], sums[worker])
                done = 0
        _flush(work[6], sums[worker])
