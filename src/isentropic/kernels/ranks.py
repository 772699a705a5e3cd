"""Ranks of distances on the two sides of a map, compared row by row and forgotten.

A row is ranked by sorting integers that hold a distance, as a fraction of the row's range, in front of
the row number: two counting passes over the leading digits, then an insertion pass that looks at the
distances themselves where the integers do not decide. Ranks are by distance, then by row number, and
a row is never among its own neighbours, whatever its duplicates.

Ranks count from 0 here. What is summed over rows is summed in integers, so that neither the order of
the rows nor the number of threads changes a bit. Ordering, comparing and measuring are in one file
because a compiled function does not notice changes of what it inlines from another.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows

_LEAST_SHIFT = 12  # a fraction of 50 bits: scaling it cannot round past the last one
_BITS = 11  # of a digit: its counts stay in the fastest cache
_DIGIT = 2**_BITS - 1
_FIRST = 62 - _BITS  # where the leading digit of a key starts, and the one after it
_SECOND = _FIRST - _BITS
TILE = 64
GROUP = 16  # rows that are measured together, so that a tile is read once for all of them
_FLUSH = 256  # rows after which small sums move to large ones: enough up to 2^23 rows
_PATIENCE = 4  # moves per entry after which insertion gives up
_INFINITY = np.array(np.inf).view(np.int64).item()


@kernel
def _bits(n):
    """How many bits hold the numbers below ``n``."""
    bits = 1
    while (1 << bits) < n:
        bits += 1
    return bits


@kernel
def _range(image):
    """Least and greatest bits: those of distances have the order of the distances."""
    least = _INFINITY
    most = np.int64(0)
    for j in range(len(image)):
        least = min(least, image[j])
        most = max(most, image[j])
    return least, most


@kernel
def _fill_part(d, start, least, scale, shift, keys):
    for j in range(len(d)):
        keys[j] = (np.int64((d[j] - least) * scale) << shift) | (start + j)


@kernel
def _fill_keys(d, own, shift, keys):
    """Fractions of the range, each with its row number in the last ``shift`` bits; False if amiss."""
    image = d.view(np.int64)
    least, most = _range(image[:own])
    also_least, also_most = _range(image[own + 1 :])
    least = min(least, also_least)
    most = max(most, also_most)
    if least < 0 or most >= _INFINITY:  # a negative, infinite or missing number
        return False
    ends = np.array([least, most]).view(np.float64)
    scale = (2.0 ** (62 - shift) - 1.0) / (ends[1] - ends[0]) if most > least else 0.0
    _fill_part(d[:own], 0, ends[0], scale, shift, keys[:own])
    _fill_part(d[own + 1 :], own + 1, ends[0], scale, shift, keys[own:])
    return True


@kernel
def _starts(counts):
    """Turn how many there are of each digit into where the first of each goes."""
    before = 0
    for c in range(len(counts)):
        count = counts[c]
        counts[c] = before
        before += count


@kernel
def _sort_leading(keys, spare, low, high):
    """Sort by the two leading digits of the keys, the lower digit first."""
    low[:] = 0
    high[:] = 0
    for p in range(len(keys)):
        low[(keys[p] >> _SECOND) & _DIGIT] += 1
        high[(keys[p] >> _FIRST) & _DIGIT] += 1
    _starts(low)
    _starts(high)
    for p in range(len(keys)):
        key = keys[p]
        digit = (key >> _SECOND) & _DIGIT
        spare[low[digit]] = key
        low[digit] += 1
    for p in range(len(keys)):
        key = spare[p]
        digit = (key >> _FIRST) & _DIGIT
        keys[high[digit]] = key
        high[digit] += 1


@kernel
def _comes_after(one, two, d, shift):
    if one >> shift != two >> shift:
        return one > two
    mask = (1 << shift) - 1
    a = d[one & mask]
    b = d[two & mask]
    return a > b or (a == b and one > two)


@kernel
def _settle(keys, d, shift):
    """Insertion by fraction, distance, row. Returns 0, 1 if two fractions were equal, 2 if it gave up."""
    patience = _PATIENCE * len(keys)
    close = 0
    for p in range(1, len(keys)):
        key = keys[p]
        if key >> shift > keys[p - 1] >> shift:
            continue
        close |= key >> shift == keys[p - 1] >> shift
        s = p
        while s > 0 and _comes_after(keys[s - 1], key, d, shift):
            keys[s] = keys[s - 1]
            s -= 1
        keys[s] = key
        patience -= p - s
        if patience < 0:
            return 2
    return close


@kernel
def _sort_all(keys, spare, d, own, counts):
    """Row numbers by distance, however unevenly spread: all digits of the bits, the lowest first."""
    image = d.view(np.int64)
    for p in range(len(keys)):
        keys[p] = p + (p >= own)
    for lowest in range(0, 63, _BITS):
        counts[:] = 0
        for p in range(len(keys)):
            counts[(image[keys[p]] >> lowest) & _DIGIT] += 1
        _starts(counts)
        for p in range(len(keys)):
            digit = (image[keys[p]] >> lowest) & _DIGIT
            spare[counts[digit]] = keys[p]
            counts[digit] += 1
        keys[:] = spare


@kernel
def _order(d, own, keys, spare, low, high):
    """Row numbers without ``own``, nearest first, in ``keys``; 1 if some may be tied, -1 if amiss."""
    shift = max(_bits(len(d)), _LEAST_SHIFT)
    if not _fill_keys(d, own, shift, keys):
        return -1
    _sort_leading(keys, spare, low, high)
    found = _settle(keys, d, shift)
    if found == 2:
        _sort_all(keys, spare, d, own, low)
        return 1
    mask = (1 << shift) - 1
    for p in range(len(keys)):
        keys[p] &= mask
    return found


@kernel
def _scratch(n):
    """What :func:`_order` works in: keys, spare keys, counts of either digit."""
    keys = np.empty(n - 1, np.int64)
    counts = np.empty((2, 2**_BITS), np.uint32)  # unsigned: an index that cannot be negative is faster
    return keys, np.empty_like(keys), counts[0], counts[1]


@parallel_kernel
def row_orders(D, own, n_workers, orders):
    """``orders[s]``: the rows other than ``own[s]``, nearest first by ``D[s]``; how many rows were amiss."""
    wrong = np.zeros(n_workers, np.int64)
    for worker in rows(n_workers):
        keys, spare, low, high = _scratch(D.shape[1])
        for s in range(worker, len(D), n_workers):
            wrong[worker] += _order(D[s], own[s], keys, spare, low, high) < 0
            for p in range(len(keys)):
                orders[s, p] = keys[p]
    return wrong.sum()


# ---- both sides --------------------------------------------------------------------------------


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
    order_X, spare, low, high = _scratch(n)
    ranks = np.empty((3, n), np.int32)
    small = np.zeros((2, 3, n - 1), np.int32)
    return order_X, np.empty_like(order_X), spare, low, high, ranks, small, 1.0 / np.arange(1, n)


@kernel
def _compare_row(d_X, d_Z, own, ks, work, terms):
    """Add one row to the small sums and fill its terms; -1 if amiss, 1 and 2 for possible ties in X and Z."""
    order_X, order_Z, spare, low, high, ranks, small, inverse = work
    close_X = _order(d_X, own, order_X, spare, low, high)
    close_Z = _order(d_Z, own, order_Z, spare, low, high)
    if close_X < 0 or close_Z < 0:
        return -1
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
    return close_X + 2 * close_Z


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


# ---- Euclidean distances -----------------------------------------------------------------------


@kernel
def _add_squares(tile, query, out):
    """``out[c]``: the squared distance of the query to row c of a tile."""
    out[:] = 0.0
    whole = len(query) - len(query) % 4
    for f in range(0, whole, 4):
        x0, x1, x2, x3 = query[f], query[f + 1], query[f + 2], query[f + 3]
        for c in range(TILE):
            d0 = tile[f, c] - x0
            d1 = tile[f + 1, c] - x1
            d2 = tile[f + 2, c] - x2
            d3 = tile[f + 3, c] - x3
            out[c] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
    for f in range(whole, len(query)):
        for c in range(TILE):
            d = tile[f, c] - query[f]
            out[c] += d * d


@kernel
def _measure(data, own, tiles, squares, out):
    """``out[s, j]``: the distance of rows ``own[s]`` and j."""
    n = out.shape[1]
    for t in range(len(tiles)):
        start = t * TILE
        stop = min(TILE, n - start)
        for s in range(len(own)):
            _add_squares(tiles[t], data[own[s]], squares)
            for c in range(stop):
                out[s, start + c] = np.sqrt(squares[c])


@parallel_kernel
def tiled_distances(data, own, tiles, group, out):
    """``out[s, j]``: Euclidean distance of rows ``own[s]`` and j; ``tiles[t, f, c] = data[TILE t + c, f]``.

    Every pair is added up in the same order, so that equal pairs have equal bits, in both directions and
    in any batch. The last tile is filled up with anything. A thread takes ``group`` rows at a time.
    """
    for g in rows((len(own) + group - 1) // group):
        part = slice(g * group, min((g + 1) * group, len(own)))
        _measure(data, own[part], tiles, np.empty(TILE), out[part])


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
            _measure(X, mine, tiles_X, squares, D_X)
            _measure(Z, mine, tiles_Z, squares, D_Z)
            for s in range(len(mine)):
                states[start + s] = _compare_row(D_X[s], D_Z[s], mine[s], ks, work, terms[start + s])
            done += len(mine)
            if done >= _FLUSH:
                _flush(work[6], sums[worker])
                done = 0
        _flush(work[6], sums[worker])
