"""Costs of pairs by their distances d in the data and e in the map: sums and slopes over all or drawn pairs.

A cost has a number, a ``choice``, and a line in :func:`pair_term`, which says what a pair costs and how that
changes with e: a new one needs its number and its line, and a line in ``TERMS`` of its test. Pairs weigh
``m_i m_j w_ij``: m are the numbers of equal rows that a row stands for, and w is given, or a power
``max(d, floor)^-p``. Pairs are laid out as in :mod:`.degrees`.
"""

from __future__ import annotations

import numpy as np

from .._jit import choice, kernel, parallel_kernel, rows
from ..distances.condensed import CHUNKS, _chunk_bounds, _row_start
from ..rows.near_gaps import near_gap
from .pair_tiles import TILE, gaps, gaps_aside, move_both, move_own

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
        cost, slope, _ = near_gap(d, e, shape)
        return w * cost, w * slope
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
def _slopes(term, d, w, shape, square):
    """The sum of a tile, and into ``square`` the slopes divided by e; a pair at one place has none."""
    total = 0.0
    for j in range(len(d)):
        e = np.sqrt(square[j])
        cost, slope = pair_term(term, d[j], e, w[j], shape)
        total += cost
        square[j] = np.divide(slope, e) if e > 0.0 else 0.0
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
            total += _slopes(term, d, w, shape, square)
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
def _add_partners(
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
        cost = _slopes(term, d, w, shape, square)
        if ahead:
            total += cost
        move_own(Z, start, aside, square, moves)
        start += size
    return total


@parallel_kernel
def drawn_pairs_stress(term, distances, given, counts, power, floor, shape, shifts, Z):
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
                costs[tile] += _add_partners(term, first, last, shifts[s], ahead, distances[s], given[s],
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
