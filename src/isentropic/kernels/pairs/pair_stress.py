"""Pairs whose shortest path cannot have been bent by the boundary of a surface."""

from __future__ import annotations

import numpy as np

from .._jit import choice, kernel, parallel_kernel, rows
from ..distances.condensed import CHUNKS, _chunk_bounds, _row_start
from ..rows.row_costs import near_gap

# --------------------------------------------------------------------------------------------------
# Costs of pairs by their distances d in the data and e in the map: sums and gradients over all or drawn
# pairs.
#
# A cost has a number, a ``choice``, and a line in :func:`pair_term`, which says what a pair costs and how
# that changes with e: a new one needs its number and its line, and a line in ``TERMS`` of its test. Pairs
# weigh ``m_i m_j w_ij``: m are the numbers of equal rows that a row stands for, and w is given, or a power
# ``max(d, floor)^-p``. Pairs are laid out as in :mod:`.degrees`.


_SQUARES, _NEAR_GAPS = 1, 2
SQUARES, NEAR_GAPS = map(choice, (_SQUARES, _NEAR_GAPS))


@kernel
def pair_term(term, d, e, w, shape):
    """What a pair costs, and the derivative of that by e."""
    number = len(term)
    if number == _SQUARES:
        gap = e - d
        return w * gap * gap, 2.0 * w * gap
    if number == _NEAR_GAPS:
        cost, derivative, _ = near_gap(d, e, shape)
        return w * cost, w * derivative
    return np.nan, np.nan


@kernel
def _power(d, power, floor, out):
    """``max(d, floor)^-power``, by quotients where the power is 0, 1 or 2."""
    for j in range(len(d)):
        out[j] = max(d[j], floor)
    if power == 0.0:
        for j in range(len(d)):
            out[j] = 1.0
    elif power == 1.0:
        for j in range(len(d)):
            out[j] = np.divide(1.0, out[j])
    elif power == 2.0:
        for j in range(len(d)):
            out[j] = np.divide(1.0, out[j] * out[j])
    else:
        for j in range(len(d)):
            out[j] = out[j] ** -power


@kernel
def _weigh(d, given, power, floor, out):
    """Weights of a tile of pairs: those that are given, or a power of the distance."""
    if len(given):
        for j in range(len(d)):
            out[j] = given[j]
    else:
        _power(d, power, floor, out)


@kernel
def _gradient_factors(term, d, w, shape, square):
    """The sum of a tile, and into ``square`` the gradients divided by e; a pair at one place has none."""
    total = 0.0
    for j in range(len(d)):
        e = np.sqrt(square[j])
        cost, derivative = pair_term(term, d[j], e, w[j], shape)
        total += cost
        square[j] = np.divide(derivative, e) if e > 0.0 else 0.0
    return total


@kernel
def _add_rows(term, first, last, distances, given, counts, power, floor, shape, Z, moves):
    """Add the pairs of the rows from ``first`` to ``last`` with all later ones; returns their cost."""
    n = Z.shape[1]
    squares, weights = np.empty(TILE), np.empty(TILE)
    total = 0.0
    for i in range(first, last):
        for start in range(i + 1, n, TILE):
            size = min(TILE, n - start)
            square, w = squares[:size], weights[:size]
            place = _row_start(i, n) + start
            d = distances[place : place + size]
            _weigh(d, given[place : place + size], power, floor, w)
            if len(counts):
                for j in range(size):
                    w[j] *= counts[i] * counts[start + j]
            gaps(Z, i, start, 0.0, square)
            total += _gradient_factors(term, d, w, shape, square)
            move_both(Z, i, start, square, moves)
    return total


@parallel_kernel
def all_pairs_stress(term, distances, given, counts, power, floor, shape, Z):
    """Per chunk of rows: the cost ``(chunks,)`` and its gradient ``(chunks, d, n)``. ``O(n^2 d)`` time.

    ``given`` are the weights of the pairs, or none: then they are powers of the distances. ``counts`` are
    the numbers of rows that each row stands for, or none for 1.
    """
    d, n = Z.shape
    bounds = _chunk_bounds(n)
    costs, moves = np.empty(CHUNKS), np.zeros((CHUNKS, d, n))
    for chunk in rows(CHUNKS):
        costs[chunk] = _add_rows(term, bounds[chunk], bounds[chunk + 1], distances, given, counts, power,
                                 floor, shape, Z, moves[chunk])  # fmt: skip
    return costs, moves


@kernel
def _add_sampled_rows(
    term, first, last, shift, ahead, distances, given, counts, power, floor, shape, Z, scratch, moves
):
    """Add the pairs of the rows from ``first`` to ``last`` with their partners on one side."""
    n = Z.shape[1]
    total = 0.0
    start = first
    while start < last:
        aside = (start + shift) % n if ahead else (start + n - shift) % n
        size = min(last - start, n - aside)  # the partners of the last rows are the first ones
        square, w = scratch[0, :size], scratch[1, :size]
        place = start if ahead else aside
        d = distances[place : place + size]
        _weigh(d, given[place : place + size], power, floor, w)
        if len(counts):
            for j in range(size):
                w[j] *= counts[start + j] * counts[aside + j]
        gaps_aside(Z, start, aside, 0.0, square)
        cost = _gradient_factors(term, d, w, shape, square)
        if ahead:
            total += cost
        move_own(Z, start, aside, square, moves)
        start += size
    return total


@parallel_kernel
def sampled_pairs_stress(term, distances, given, counts, power, floor, shape, shifts, Z):
    """As :func:`all_pairs_stress`, for the pairs of i and ``i + shifts[s]``, ``distances[s, i]``.

    Per tile of rows: the cost; and the gradient ``(1, d, n)``, of which every tile adds up its own part, from
    the partners ahead and from those behind. ``O(n s d)`` time.
    """
    d, n = Z.shape
    n_tiles = (n + TILE - 1) // TILE
    costs, moves = np.zeros(n_tiles), np.zeros((1, d, n))
    for tile in rows(n_tiles):
        scratch = np.empty((2, TILE))
        first, last = tile * TILE, min((tile + 1) * TILE, n)
        for s in range(len(shifts)):
            for ahead in (True, False):
                costs[tile] += _add_sampled_rows(term, first, last, shifts[s], ahead, distances[s], given[s],
                                             counts, power, floor, shape, Z, scratch, moves[0])  # fmt: skip
    return costs, moves


@parallel_kernel
def all_pairs_lengths(Z, out):
    """The distances of all pairs of rows of a map (d, n), condensed. ``O(n^2 d)`` time."""
    n = Z.shape[1]
    for i in rows(n):
        place = _row_start(i, n) + i + 1
        mine = out[place : place + n - i - 1]
        gaps(Z, i, i + 1, 0.0, mine)
        for j in range(len(mine)):
            mine[j] = np.sqrt(mine[j])


# --------------------------------------------------------------------------------------------------
# Weighted stress over listed pairs: each row has a list of partners, with a distance wanted and a weight.
#
# Lists are CSR and symmetric: a pair is in the list of both of its rows, so that a thread adds up its own
# rows.


@kernel
def _listed_gaps(Z, i, others, gaps, square):
    """Gaps of a row to others, each coordinate by itself, and the squares of their lengths."""
    for t in range(len(others)):
        square[t] = 0.0
    for c in range(Z.shape[1]):
        for t in range(len(others)):
            gap = Z[i, c] - Z[others[t], c]
            gaps[c, t] = gap
            square[t] += gap * gap


@parallel_kernel
def pair_list_stress(indptr, indices, wanted, weights, Z, gradient):
    """Per row, ``sum_j w_ij (t_ij - e_ij)^2`` with ``e = |z_i - z_j|``; and the gradient of half their sum.

    Rows in the same place push each other nowhere. ``O(pairs d)``.
    """
    n, d = Z.shape
    costs = np.empty(n)
    for i in rows(n):
        longest = min(TILE, indptr[i + 1] - indptr[i])
        scratch, total = np.empty((d + 1, longest)), 0.0
        for c in range(d):
            gradient[i, c] = 0.0
        for start in range(indptr[i], indptr[i + 1], TILE):
            size = min(TILE, indptr[i + 1] - start)
            given, weight, square = wanted[start:], weights[start:], scratch[d, :size]
            _listed_gaps(Z, i, indices[start : start + size], scratch, square)
            for t in range(size):
                short = given[t] - np.sqrt(square[t])
                total += weight[t] * short * short
            for t in range(size):
                mapped = np.sqrt(square[t])
                force = 2.0 * weight[t] * (given[t] - mapped)
                square[t] = np.divide(force, mapped) if mapped > 0.0 else 0.0
            for c in range(d):
                moved = 0.0
                for t in range(size):
                    moved += square[t] * scratch[c, t]
                gradient[i, c] -= moved
        costs[i] = total
    return costs


@parallel_kernel
def pair_list_pulls(indptr, indices, multipliers, squared, penalty, at_most, Z, gradient):
    """Per row, ``sum_j f_ij^2``, and into ``gradient`` ``sum_j f_ij (z_i - z_j)``.

    ``f = m + penalty (|z_i - z_j|^2 - squared)``, with the multiplier m and the squared length of each entry,
    and at least 0 where lengths are ``at_most`` so long. ``O(entries d)``.
    """
    n, d = Z.shape
    costs = np.empty(n)
    for i in rows(n):
        total = 0.0
        for c in range(d):
            gradient[i, c] = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            square = 0.0
            for c in range(d):
                gap = Z[i, c] - Z[j, c]
                square += gap * gap
            force = multipliers[t] + penalty * (square - squared[t])
            if at_most and force <= 0.0:
                continue
            total += force * force
            for c in range(d):
                gradient[i, c] += force * (Z[i, c] - Z[j, c])
        costs[i] = total
    return costs


@kernel
def pair_rows(first, second, indptr, indices, pair):
    """Partners of each row, as CSR, from pairs that are named once each; ``pair`` is the number of its pair.

    ``indptr`` (n + 1,) comes with zeros. Partners are in the order of the pairs. ``O(pairs)``.
    """
    for p in range(len(first)):
        indptr[first[p] + 1] += 1
        indptr[second[p] + 1] += 1
    for i in range(len(indptr) - 1):
        indptr[i + 1] += indptr[i]
    free = indptr.copy()
    for p in range(len(first)):
        i, j = first[p], second[p]
        indices[free[i]], pair[free[i]] = j, p
        indices[free[j]], pair[free[j]] = i, p
        free[i] += 1
        free[j] += 1


@kernel
def listed_values(indptr, indices, pair, other_indptr, other_indices, other_values, out):
    """``out[pair]``: the values of the pairs that other lists have as well; of no others. ``O(entries)``."""
    place = np.full(len(indptr) - 1, -1)
    for i in range(len(indptr) - 1):
        start, stop = other_indptr[i], other_indptr[i + 1]
        for t in range(start, stop):
            place[other_indices[t]] = t
        for t in range(indptr[i], indptr[i + 1]):
            at = place[indices[t]]  # of an earlier row, where it is not listed for this one
            if start <= at < stop:
                out[pair[t]] = other_values[at]


# --------------------------------------------------------------------------------------------------
# Weights of pairs that are near in the data, in the map, or in both: frozen for a stage of a descent.


@parallel_kernel
def near_weights(distances, Z, radii, share, out):
    """``out``: the mean over both rows of ``(1 - share) [d <= radius] + share [e <= radius]``, condensed.

    d are the distances in the data, condensed; e those in the map (d, n); each row has a radius.
    ``O(n^2 d)`` time.
    """
    n = Z.shape[1]
    for i in rows(n):
        place = _row_start(i, n) + i + 1
        d, w = distances[place : place + n - i - 1], out[place : place + n - i - 1]
        gaps(Z, i, i + 1, 0.0, w)
        for j in range(len(w)):
            e, other = np.sqrt(w[j]), radii[i + 1 + j]
            in_data = (1.0 if d[j] <= radii[i] else 0.0) + (1.0 if d[j] <= other else 0.0)
            in_map = (1.0 if e <= radii[i] else 0.0) + (1.0 if e <= other else 0.0)
            w[j] = 0.5 * ((1.0 - share) * in_data + share * in_map)


@parallel_kernel
def kth_smallest(distances, n, k, out):
    """``out[i]``: the k-th smallest of the distances of row i to the others, of all pairs condensed."""
    for i in rows(n):
        row = np.empty(n - 1)
        for j in range(i):
            row[j] = distances[_row_start(j, n) + i]
        place = _row_start(i, n)
        for j in range(i + 1, n):
            row[j - 1] = distances[place + j]
        out[i] = np.partition(row, k - 1)[k - 1]


_SLACK = 1.0 + 1e-9  # a path that touches the boundary has just this length, but for rounding


@kernel
def _is_kept(length, one, other, linked):
    return linked or length <= _SLACK * (one + other)


@parallel_kernel
def consistent_pairs(geodesics, to_boundary, indptr, neighbours, starts, indices, wanted):
    """Partners of each row: linked to it, or nearer along the surface than both are to the boundary, added.

    With no ``indices`` it counts: ``starts`` (n + 1,) is set to how many partners each row has, one place
    later. Else row i is listed from ``starts[i]`` on, in row order. ``O(n^2)``; geodesics are condensed.
    """
    n = len(to_boundary)
    counting = len(indices) == 0
    for i in rows(n):
        linked = np.zeros(n, np.bool_)
        for t in range(indptr[i], indptr[i + 1]):
            linked[neighbours[t]] = True
        found, row = 0, np.int64(i)
        for j in range(n):
            if j == row:
                continue
            length = geodesics[_row_start(min(row, j), n) + max(row, j)]
            if _is_kept(length, to_boundary[i], to_boundary[j], linked[j]):
                if not counting:
                    indices[starts[i] + found] = j
                    wanted[starts[i] + found] = length
                found += 1
        if counting:
            starts[i + 1] = found


# ---- Tiles of pairs of rows of a map: gaps between them, and moves along these -------------------
#
# The map is held as ``(d, n)``, coordinates apart, so that the partners of a row are read one after the
# other. A tile is a row i with the rows from ``start`` on, or the rows from ``start`` on with those from
# ``aside`` on.


TILE = 512  # pairs whose intermediate results stay in the nearest cache


@kernel
def gaps(Z, i, start, least, square):
    """``least + |z_i - z_j|^2`` for the rows j from ``start`` on."""
    for j in range(len(square)):
        square[j] = least
    for c in range(len(Z)):
        other = Z[c, start : start + len(square)]
        z = Z[c, i]
        for j in range(len(square)):
            gap = z - other[j]
            square[j] += gap * gap


@kernel
def gaps_aside(Z, start, aside, least, square):
    """``least + |z_i - z_j|^2`` for the rows i from ``start`` on and the rows j from ``aside`` on."""
    for j in range(len(square)):
        square[j] = least
    for c in range(len(Z)):
        one, other = Z[c, start : start + len(square)], Z[c, aside : aside + len(square)]
        for j in range(len(square)):
            gap = one[j] - other[j]
            square[j] += gap * gap


@kernel
def move_both(Z, i, start, force, moved):
    """Add ``f_j (z_i - z_j)`` to row i, and take it from each row j."""
    for c in range(len(Z)):
        z = Z[c, i]
        other = Z[c, start : start + len(force)]
        below = moved[c, start : start + len(force)]
        total = 0.0
        for j in range(len(force)):
            shift = force[j] * (z - other[j])
            total += shift
            below[j] -= shift
        moved[c, i] += total


@kernel
def move_own(Z, start, aside, force, moved):
    """Add ``f_i (z_i - z_j)`` to the rows i from ``start`` on."""
    for c in range(len(Z)):
        one, other = Z[c, start : start + len(force)], Z[c, aside : aside + len(force)]
        own = moved[c, start : start + len(force)]
        for j in range(len(force)):
            own[j] += force[j] * (one[j] - other[j])
