"""Same-degree distributions: the pull and push between rows of a map, over all pairs or over drawn ones.

With ``u = 1 / (1 + |z_i - z_j|^2)``, a degree g gives a pair the weight ``u^g``. ``pull`` is
``sum_j a_ij u (z_i - z_j)`` for the attractions a of the pairs, ``push`` is ``sum_j u^(g+1) (z_i - z_j)``,
one for every degree. Neither needs the normaliser, which is known only after the pass.

All pairs are condensed in scipy's order. Drawn pairs are those of the rows i and ``(i + shift) mod n`` of a
shuffled table: partners are random, and yet lie next to each other in memory.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..distances.condensed import CHUNKS, _chunk_bounds, _row_start
from ..distances.euclidean import squared_distance
from ..elementary import weighted_logs
from .pair_stress import TILE as _TILE
from .pair_stress import gaps, gaps_aside, move_both, move_own


@kernel
def _raise(u, power, out):
    """``out = u^power``, by products where the power is a small whole number."""
    if power == np.floor(power) and 1 <= power <= 32:
        for j in range(len(u)):
            out[j] = u[j]
        for _ in range(np.int64(power) - 1):
            for j in range(len(u)):
                out[j] *= u[j]
    else:
        for j in range(len(u)):
            out[j] = u[j] ** power


@kernel
def _inverses(attraction, square, u, force):
    for j in range(len(square)):
        u[j] = 1.0 / square[j]
        force[j] = attraction[j] * u[j]


@kernel
def _sum_and_multiply(u, force):
    """The sum of the weights, each of which is then multiplied by u."""
    total = 0.0
    for j in range(len(u)):
        total += force[j]
        force[j] *= u[j]
    return total


@kernel
def _add_rows(first, last, attraction, Z, degrees, sums, moves):
    """Add the pairs of the rows from ``first`` to ``last`` with all later ones."""
    n = Z.shape[1]
    squares, inverses, forces = np.empty(_TILE), np.empty(_TILE), np.empty(_TILE)
    for i in range(first, last):
        for start in range(i + 1, n, _TILE):
            size = min(_TILE, n - start)
            square, u, force = squares[:size], inverses[:size], forces[:size]
            gaps(Z, i, start, 1.0, square)
            place = _row_start(i, n) + start
            a = attraction[place : place + size]
            sums[0] += weighted_logs(a, square, u)
            _inverses(a, square, u, force)
            move_both(Z, i, start, force, moves[0])
            for g in range(len(degrees)):
                _raise(u, degrees[g], force)
                sums[1 + g] += _sum_and_multiply(u, force)
                move_both(Z, i, start, force, moves[1 + g])


@parallel_kernel
def all_pairs_forces(attraction, Z, degrees):
    """Per chunk of rows: sums ``(chunks, 1 + g)`` and moves ``(chunks, 1 + g, d, n)``.

    Sums are ``sum a_ij log(1 + |z_i - z_j|^2)`` and, for each degree, ``sum u^g``; moves are the pull and,
    for each degree, the push. ``O(n^2 (d + g))`` time.
    """
    d, n = Z.shape
    bounds = _chunk_bounds(n)
    sums = np.zeros((CHUNKS, 1 + len(degrees)))
    moves = np.zeros((CHUNKS, 1 + len(degrees), d, n))
    for chunk in rows(CHUNKS):
        _add_rows(bounds[chunk], bounds[chunk + 1], attraction, Z, degrees, sums[chunk], moves[chunk])
    return sums, moves


@kernel
def _add_sampled_rows(first, last, shift, ahead, attraction, Z, degrees, scratch, sums, moves):
    """Add the pairs of the rows from ``first`` to ``last`` with their partners on one side."""
    n = Z.shape[1]
    start = first
    while start < last:
        aside = (start + shift) % n if ahead else (start + n - shift) % n
        size = min(last - start, n - aside)  # the partners of the last rows are the first ones
        square, u, force = scratch[0, :size], scratch[1, :size], scratch[2, :size]
        gaps_aside(Z, start, aside, 1.0, square)
        place = start if ahead else aside
        a = attraction[place : place + size]
        if ahead:
            sums[0] += weighted_logs(a, square, u)
        _inverses(a, square, u, force)
        move_own(Z, start, aside, force, moves[0])
        for g in range(len(degrees)):
            _raise(u, degrees[g], force)
            total = _sum_and_multiply(u, force)
            if ahead:
                sums[1 + g] += total
            move_own(Z, start, aside, force, moves[1 + g])
        start += size


@parallel_kernel
def sampled_pairs_forces(attraction, shifts, Z, degrees):
    """As :func:`all_pairs_forces`, for the pairs of i and ``i + shifts[s]``, ``attraction[s, i]``.

    Moves are ``(1 + g, d, n)``: every tile of rows adds up its own, from the partners ahead and from those
    behind. ``O(n s (d + g))`` time.
    """
    d, n = Z.shape
    n_tiles = (n + _TILE - 1) // _TILE
    sums = np.zeros((n_tiles, 1 + len(degrees)))
    moves = np.zeros((1 + len(degrees), d, n))
    for tile in rows(n_tiles):
        scratch = np.empty((3, _TILE))
        first, last = tile * _TILE, min((tile + 1) * _TILE, n)
        for s in range(len(shifts)):
            for ahead in (True, False):
                _add_sampled_rows(
                    first, last, shifts[s], ahead, attraction[s], Z, degrees, scratch, sums[tile], moves
                )
    return sums, moves


@parallel_kernel
def degree_sums(distances, unit, degrees):
    """Per block of distances and degree: ``sum (1 + (d / unit)^2)^-g``."""
    n_blocks = (len(distances) + _TILE - 1) // _TILE
    sums = np.empty((n_blocks, len(degrees)))
    for block in rows(n_blocks):
        d = distances[block * _TILE : (block + 1) * _TILE]
        u, weight = np.empty(len(d)), np.empty(len(d))
        for j in range(len(d)):
            ratio = d[j] / unit
            u[j] = 1.0 / (1.0 + ratio * ratio)
        for g in range(len(degrees)):
            _raise(u, degrees[g], weight)
            total = 0.0
            for j in range(len(d)):
                total += weight[j]
            sums[block, g] = total
    return sums


@parallel_kernel
def attractions(distances, unit, degrees, sums, out):
    """``a = sum_g g (1 + (d / unit)^2)^-g / sums_g`` of every distance; per block, ``sum a log(1 + ...)``."""
    n_blocks = (len(distances) + _TILE - 1) // _TILE
    logs = np.empty(n_blocks)
    for block in rows(n_blocks):
        d = distances[block * _TILE : (block + 1) * _TILE]
        a = out[block * _TILE : (block + 1) * _TILE]
        square, u, weight = np.empty(len(d)), np.empty(len(d)), np.empty(len(d))
        for j in range(len(d)):
            ratio = d[j] / unit
            square[j] = 1.0 + ratio * ratio
            u[j] = 1.0 / square[j]
            a[j] = 0.0
        for g in range(len(degrees)):
            _raise(u, degrees[g], weight)
            factor = degrees[g] / sums[g]
            for j in range(len(d)):
                a[j] += factor * weight[j]
        logs[block] = weighted_logs(a, square, weight)
    return logs


@parallel_kernel
def paired_distances(X, order, shifts, out):
    """``out[s, i]``: Euclidean distance of the rows ``order[i]`` and ``order[(i + shifts[s]) mod n]``."""
    n = len(order)
    for i in rows(n):
        x = X[order[i]]
        for s in range(len(shifts)):
            out[s, i] = np.sqrt(squared_distance(x, X[order[(i + shifts[s]) % n]]))


@parallel_kernel
def row_attractions(distances, unit, Z, degrees, means, out):
    """``out[i, j] = sum_g g (1 + (d_ij / unit)^2)^-g / means_g`` of new rows; returns their starts (b, 2, d).

    A row starts from its nearest reference, and from the mean of all of them weighted by attraction.
    """
    n_rows, n_references = distances.shape
    d = Z.shape[1]
    starts = np.zeros((n_rows, 2, d))
    for i in rows(n_rows):
        scratch, nearest, total = np.empty((2, _TILE)), 0, 0.0
        for first in range(0, n_references, _TILE):
            size = min(_TILE, n_references - first)
            u, weight, attraction = scratch[0, :size], scratch[1, :size], out[i, first : first + size]
            given = distances[i, first : first + size]
            for j in range(size):
                ratio = given[j] / unit
                u[j] = 1.0 / (1.0 + ratio * ratio)
                attraction[j] = 0.0
            for g in range(len(degrees)):
                _raise(u, degrees[g], weight)
                factor = degrees[g] / means[g]
                for j in range(size):
                    attraction[j] += factor * weight[j]
            for j in range(size):
                if given[j] < distances[i, nearest]:
                    nearest = first + j
            for j in range(size):
                total += attraction[j]
            for c in range(d):
                mean = 0.0
                for j in range(size):
                    mean += attraction[j] * Z[first + j, c]
                starts[i, 1, c] += mean
        for c in range(d):
            starts[i, 0, c] = Z[nearest, c]
            starts[i, 1, c] /= max(total, 1e-300)
    return starts
