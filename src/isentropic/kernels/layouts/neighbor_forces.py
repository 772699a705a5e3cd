"""Forces between the rows of a map: the pull of affinities in CSR form, and the push of all pairs.

With ``u = 1 / (1 + |z_i - z_j|^2)``, a pull is ``sum_j p_ij u (z_i - z_j)`` and a push
``sum_j u^(g + 1) (z_i - z_j)``. Coordinates are in single or in double precision, long sums always in double.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..distances.condensed import CHUNKS
from ..elementary import exponentials, high_single, low_single, weighted_logs
from ..pairs.pair_stress import move_both
from ..rows.row_costs import VANISHED, shares_of

_BLOCK = 512  # rows, and partners, that are added up together, on any number of threads
_ONE = np.float32(1)


@parallel_kernel
def pulls_in_plane(indptr, indices, weights, Z, out):
    """The pulls on rows in two dimensions."""
    for i in rows(len(Z)):
        x, y = Z[i, 0], Z[i, 1]
        listed, weight = indices[indptr[i] : indptr[i + 1]], weights[indptr[i] : indptr[i + 1]]
        across, along = np.float32(0), np.float32(0)
        for e in range(len(listed)):
            dx, dy = x - Z[listed[e], 0], y - Z[listed[e], 1]
            force = weight[e] / (_ONE + dx * dx + dy * dy)
            across += force * dx
            along += force * dy
        out[i, 0] = across
        out[i, 1] = along


@parallel_kernel
def packed_pulls(indptr, indices, weights, packed, order, out):
    """As :func:`pulls_in_plane` in single precision, on rows that are numbered in another order.

    Both coordinates of a place are the bits of one number of ``packed``: a partner is fetched by one access,
    and where the order follows the map, from near in memory. Row s of the graph and of ``packed`` is row
    ``order[s]`` of ``out``. ``indices`` are unsigned, which spares a look at their sign.
    """
    for s in rows(len(packed)):
        x, y = low_single(packed[s]), high_single(packed[s])
        listed, weight = indices[indptr[s] : indptr[s + 1]], weights[indptr[s] : indptr[s + 1]]
        across, along = np.float32(0), np.float32(0)
        for e in range(len(listed)):
            place = packed[listed[e]]
            dx, dy = x - low_single(place), y - high_single(place)
            force = weight[e] / (_ONE + dx * dx + dy * dy)
            across += force * dx
            along += force * dy
        out[order[s], 0] = across
        out[order[s], 1] = along


@parallel_kernel
def pulls(indptr, indices, weights, Z, out):
    """The pulls on rows in any number of dimensions."""
    for i in rows(len(Z)):
        out[i] = 0
        for e in range(indptr[i], indptr[i + 1]):
            square = _ONE
            for c in range(Z.shape[1]):
                gap = Z[i, c] - Z[indices[e], c]
                square += gap * gap
            for c in range(Z.shape[1]):
                out[i, c] += weights[e] / square * (Z[i, c] - Z[indices[e], c])


@parallel_kernel
def pull_logs(indptr, indices, weights, Z):
    """Per row: ``sum_j p_ij log(1 + |z_i - z_j|^2)``."""
    out = np.empty(len(Z))
    for i in rows(len(Z)):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            square = 1.0
            for c in range(Z.shape[1]):
                square += (Z[i, c] - Z[indices[e], c]) ** 2
            total += weights[e] * np.log(square)
        out[i] = total
    return out


@kernel
def _inverses(Z, i, start, u):
    """``1 / (1 + |z_i - z_j|^2)`` for the rows j from ``start`` on; Z has its coordinates apart."""
    u[:] = _ONE
    for c in range(len(Z)):
        other, z = Z[c, start : start + len(u)], Z[c, i]
        for j in range(len(u)):
            gap = z - other[j]
            u[j] += gap * gap
    for j in range(len(u)):
        u[j] = _ONE / u[j]


@kernel
def _raised(u, power, force):
    """The sum of ``u^g``, which ``force`` becomes, times u."""
    total = np.float32(0)
    if power == 1.0:
        for j in range(len(u)):
            total += u[j]
            force[j] = u[j] * u[j]
    else:
        for j in range(len(u)):
            weight = u[j] ** power
            total += weight
            force[j] = weight * u[j]
    return total


@parallel_kernel
def pushes(Z, power, out):
    """The pushes of all rows on each, for places ``Z`` (d, n), into ``out`` (n, d); per row, ``sum u^g``.

    ``O(n^2 d)`` time.
    """
    d, n = Z.shape
    sums = np.empty(n)
    for i in rows(n):
        u, force = np.empty(_BLOCK, Z.dtype), np.empty(_BLOCK, Z.dtype)
        total = -1.0  # what a row is to itself
        moved = np.zeros(d)
        for start in range(0, n, _BLOCK):
            size = min(_BLOCK, n - start)
            _inverses(Z, i, start, u[:size])
            total += _raised(u[:size], power, force[:size])
            for c in range(d):
                other, z = Z[c, start : start + size], Z[c, i]
                shift = np.float32(0)
                for j in range(size):
                    shift += force[j] * (z - other[j])
                moved[c] += shift
        sums[i] = total
        for c in range(d):
            out[i, c] = moved[c]
    return sums


@parallel_kernel
def momentum_step(gradient, rate, momentum, longest, point, step, gains):
    """One step with gains, none longer than ``longest``, in place; the sums of the points per block of rows.

    A gain grows by 0.2 where gradient and last step point opposite ways, and is 0.8 of itself and 0.01
    otherwise, so that it never vanishes.
    """
    n, d = point.shape
    n_blocks = (n + _BLOCK - 1) // _BLOCK
    sums = np.zeros((n_blocks, d))
    for b in rows(n_blocks):
        for i in range(b * _BLOCK, min((b + 1) * _BLOCK, n)):
            length = 0.0
            for c in range(d):
                slope = np.float64(gradient[i, c])
                if np.sign(slope) != np.sign(step[i, c]):
                    gains[i, c] += 0.2
                else:
                    gains[i, c] = 0.8 * gains[i, c] + 0.01
                step[i, c] = momentum * step[i, c] - rate * gains[i, c] * slope
                length += step[i, c] * step[i, c]
            shrink = min(1.0, longest / np.sqrt(length)) if length > 0.0 else 1.0
            for c in range(d):
                step[i, c] *= shrink
                point[i, c] += step[i, c]
                sums[b, c] += point[i, c]
    return sums


# --------------------------------------------------------------------------------------------------
# Sums over all pairs of a map in the plane, by a field on a grid: spread, convolved elsewhere, read.
#
# Rows have unit charges. A row in cell c of an axis, at the share t of the cell, touches the nodes c to c + 3
# with the weights of a cubic B-spline. Rows are sorted by their cell along the first axis, so that a thread
# owns a line of the grid when charges are spread: no two threads add to the same node, and the order of every
# sum is that of the rows.


_LINES = 8  # of nodes that a thread owns at once: rows near them count for up to three more
_SIXTH, _HALVED = np.float32(1 / 6), np.float32(0.5)


@kernel
def _weights(t):
    """The cubic B-spline at the four nodes around a place."""
    s = _ONE - t
    first = (np.float32(4) - (np.float32(6) - np.float32(3) * t) * t * t) * _SIXTH
    second = (np.float32(4) - (np.float32(6) - np.float32(3) * s) * s * s) * _SIXTH
    return s * s * s * _SIXTH, first, second, t * t * t * _SIXTH


@kernel
def _weight_derivatives(t):
    """The derivatives of :func:`_weights` by t."""
    s = _ONE - t
    first = (np.float32(1.5) * t - np.float32(2)) * t
    second = (np.float32(2) - np.float32(1.5) * s) * s
    return -_HALVED * s * s, first, second, _HALVED * t * t


@kernel
def sorted_by_line(Z, origin, spacing, n_lines):
    """Rows in the order of their cells along the first axis, and where each line of cells begins.

    ``places[s]`` are the coordinates of row ``order[s]`` in cells from the origin.
    """
    n = len(Z)
    starts = np.zeros(n_lines + 1, np.int64)
    lines = np.empty(n, np.int32)
    for i in range(n):
        lines[i] = min(max(np.int32((Z[i, 0] - origin[0]) / spacing), 0), n_lines - 1)
        starts[lines[i] + 1] += 1
    for c in range(n_lines):
        starts[c + 1] += starts[c]
    heads = starts[:-1].copy()
    order = np.empty(n, np.int32)
    places = np.empty((n, 2), np.float32)
    for i in range(n):
        s = heads[lines[i]]
        heads[lines[i]] += 1
        order[s] = i
        places[s, 0] = (Z[i, 0] - origin[0]) / spacing
        places[s, 1] = (Z[i, 1] - origin[1]) / spacing
    return order, places, starts


@parallel_kernel
def spread_charges(places, starts, out):
    """Add a unit charge at every place to the grid ``out``: some lines of nodes have one owner."""
    n_lines = len(starts) - 1
    for b in rows((len(out) + _LINES - 1) // _LINES):
        first, end = b * _LINES, min((b + 1) * _LINES, len(out))
        across = np.empty(4, np.float32)
        for r in range(first, end):
            out[r] = 0
        for c in range(max(first - 3, 0), min(end, n_lines)):
            for s in range(starts[c], starts[c + 1]):
                across[0], across[1], across[2], across[3] = _weights(places[s, 0] - np.float32(c))
                cell = np.int64(places[s, 1])
                along = _weights(places[s, 1] - np.float32(cell))
                for r in range(max(c, first), min(c + 4, end)):
                    line, weight = out[r, cell : cell + 4], across[r - c]
                    for e in range(4):
                        line[e] += weight * along[e]


@kernel
def _overlaps(w, v):
    """``sum_k w_k v_(k + lag)`` for the lags 0 to 3, each with the opposite one."""
    return (
        w[0] * v[0] + w[1] * v[1] + w[2] * v[2] + w[3] * v[3],
        w[0] * v[1] + w[1] * v[0] + w[1] * v[2] + w[2] * v[1] + w[2] * v[3] + w[3] * v[2],
        w[0] * v[2] + w[2] * v[0] + w[1] * v[3] + w[3] * v[1],
        w[0] * v[3] + w[3] * v[0],
    )


@kernel
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@kernel
def _line_of(near, lag):
    return near[lag, 0], near[lag, 1], near[lag, 2], near[lag, 3]


@kernel
def _read_across(field, places, out):
    """Columns of ``out``: the field and its slope at four nodes of a line, and the place in its cell."""
    for s in range(len(places)):
        line, cell = np.int64(places[s, 0]), np.int64(places[s, 1])
        out[8, s] = places[s, 0] - np.float32(line)
        out[9, s] = places[s, 1] - np.float32(cell)
        w, v = _weights(out[8, s]), _weight_derivatives(out[8, s])
        f0, f1 = field[line, cell : cell + 4], field[line + 1, cell : cell + 4]
        f2, f3 = field[line + 2, cell : cell + 4], field[line + 3, cell : cell + 4]
        for e in range(4):
            out[e, s] = w[0] * f0[e] + w[1] * f1[e] + w[2] * f2[e] + w[3] * f3[e]
            out[4 + e, s] = v[0] * f0[e] + v[1] * f1[e] + v[2] * f2[e] + v[3] * f3[e]


@kernel
def _read_along(near, size, read):
    """Turn columns of :func:`_read_across` into the field and two slopes, less what a row is to itself."""
    n0, n1, n2, n3 = _line_of(near, 0), _line_of(near, 1), _line_of(near, 2), _line_of(near, 3)
    for s in range(size):
        w, v = _weights(read[9, s]), _weight_derivatives(read[9, s])
        here = read[0, s], read[1, s], read[2, s], read[3, s]
        there = read[4, s], read[5, s], read[6, s], read[7, s]
        own, own_slope = _overlaps(w, w), _overlaps(w, v)
        mine = _dot(n0, own), _dot(n1, own), _dot(n2, own), _dot(n3, own)
        bent = _dot(n0, own_slope), _dot(n1, own_slope), _dot(n2, own_slope), _dot(n3, own_slope)
        other_w, other_v = _weights(read[8, s]), _weight_derivatives(read[8, s])
        other = _overlaps(other_w, other_w)
        read[0, s] = _dot(here, w) - _dot(other, mine)
        read[1, s] = _dot(there, w) - _dot(_overlaps(other_w, other_v), mine)
        read[2, s] = _dot(here, v) - _dot(other, bent)


@parallel_kernel
def read_field(field, near, order, places, out):
    """Slopes of the field at every place, in cells, into ``out``; per block of rows, the sum of the field.

    Without what a row is to itself: ``near`` are the coefficients of the kernel at the lags 0 to 3.
    """
    n = len(places)
    n_blocks = (n + _BLOCK - 1) // _BLOCK
    sums = np.empty(n_blocks)
    for b in rows(n_blocks):
        read, total = np.empty((10, _BLOCK), np.float32), 0.0
        start, size = b * _BLOCK, min(_BLOCK, n - b * _BLOCK)
        _read_across(field, places[start : start + size], read)
        _read_along(near, size, read)
        for s in range(size):
            total += read[0, s]
            out[order[start + s], 0] = read[1, s]
            out[order[start + s], 1] = read[2, s]
        sums[b] = total
    return sums


# --------------------------------------------------------------------------------------------------
# ---- Mixtures of Gaussians -----------------------------------------------------------------------
#
# SNE and multiscale SNE: the divergence of conditional affinities from means of Gaussians in a map. Row i
# sees the others with ``q = mean_h q^h``, ``q^h`` proportional to ``exp(-a_h |z_i - z_j|^2 / 2)`` over all j
# but i, for the precisions ``a_h``.


@kernel
def _gaussians(Z, i, precisions, squares, weights, totals, sums, bits):
    """Fill in ``|z_i - z_j|^2``, less the least, ``q^h`` and their sum over h for all j; the normalisers.

    Gives the sum of all squares, by which NaN and infinity are known: then nothing is filled in.
    """
    n = Z.shape[1]
    for j in range(n):
        squares[j], sums[j] = 0.0, 0.0
    for c in range(len(Z)):
        z, other = Z[c, i], Z[c]
        for j in range(n):
            squares[j] += (z - other[j]) ** 2
    largest, least = squares.sum(), np.inf
    if not np.isfinite(largest):
        return largest
    squares[i] = np.inf  # whose weight is nothing
    for j in range(n):
        least = min(least, squares[j])
    for j in range(n):
        squares[j] -= least
    for h in range(len(precisions)):
        totals[h] = exponentials(squares, -0.5 * precisions[h], weights[h], bits)
        scale = 1.0 / totals[h]
        weights[h, i] = 0.0
        for j in range(n):
            weights[h, j] *= scale
            sums[j] += weights[h, j]
    sums[i] = 1.0  # whose logarithm is nothing
    return largest


@kernel
def _told_by_logarithms(p, squares, precisions, totals, sums, means, force):
    """``sum p log q`` over pairs whose weights are too small for numbers, and their part in forces and means.

    Their sums are 1 thereafter: what weights of 1e-280 add to forces is nothing.
    """
    logs, shares, nothing = np.log(totals), np.empty(len(precisions)), np.zeros(len(precisions))
    cost = 0.0
    for j in range(len(p)):
        if sums[j] <= VANISHED:
            sums[j] = 1.0
            if p[j] > 0.0:
                cost += p[j] * shares_of(squares[j], nothing, precisions, logs, shares)
                for h in range(len(precisions)):
                    means[h] += p[j] * shares[h]
                    force[j] += precisions[h] * p[j] * shares[h]
    return cost


@kernel
def _row_forces(p, precisions, weights, sums, means, ratios, force):
    """Add the forces of one row to ``force``."""
    for j in range(len(p)):
        ratios[j] = p[j] / sums[j]
    for h in range(len(precisions)):
        mean = means[h]
        for j in range(len(p)):
            mean += ratios[j] * weights[h, j]
        for j in range(len(p)):
            force[j] += precisions[h] * weights[h, j] * (ratios[j] - mean)


@parallel_kernel
def mixture_forces(P, Z, precisions):
    """Per row: ``-sum_j p_j|i log q_j|i``; per chunk of rows, its part of the gradient (chunks, d, n).

    The force of j on i is ``T_ij = sum_h a_h q^h_j|i (p_j|i / q_j|i - m_h)``, q here the sum over h, and
    ``m_h`` the sum over l of ``q^h_l|i p_l|i / q_l|i``; the gradient is ``sum_j (T_ij + T_ji) (z_i - z_j)``.
    Places ``Z`` are (d, n). ``O(n^2 (d + h))`` time.
    """
    n, n_scales = len(P), len(precisions)
    costs, moves = np.empty(n), np.zeros((CHUNKS, len(Z), n))
    for chunk in rows(CHUNKS):
        squares, weights, bits = np.empty(n), np.empty((n_scales, n)), np.empty(n, np.int64)
        totals, means, sums, force = np.empty(n_scales), np.empty(n_scales), np.empty(n), np.empty(n)
        for i in range(chunk * n // CHUNKS, (chunk + 1) * n // CHUNKS):
            costs[i] = _gaussians(Z, i, precisions, squares, weights, totals, sums, bits)
            if not np.isfinite(costs[i]):
                for c in range(len(Z)):
                    moves[chunk, c, i] = costs[i]
                continue
            cost, p = 0.0, P[i]
            for h in range(n_scales):
                means[h] = 0.0
            for j in range(n):
                force[j] = 0.0
            if sums.min() <= VANISHED:
                cost = _told_by_logarithms(p, squares, precisions, totals, sums, means, force)
            cost += weighted_logs(p, sums, squares)
            _row_forces(p, precisions, weights, sums, means, squares, force)
            costs[i] = p.sum() * np.log(n_scales) - cost
            move_both(Z, i, 0, force, moves[chunk])
    return costs, moves
