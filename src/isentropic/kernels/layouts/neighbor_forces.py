"""Forces between the rows of a map: the pull of affinities in CSR form, and the push of all pairs.

With ``u = 1 / (1 + |z_i - z_j|^2)``, a pull is ``sum_j p_ij u (z_i - z_j)`` and a push
``sum_j u^(g + 1) (z_i - z_j)``. Coordinates are in single or in double precision, long sums always in double.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..distances.condensed import CHUNKS
from ..elementary import exponentials, weighted_logs
from ..pairs.pair_stress import move_both
from ..rows.row_costs import VANISHED, shares_of

_BLOCK = 512  # rows, and partners, that are added up together, on any number of threads
_FETCHED = 256  # rows, and neighbours, at once
_ONE = np.float32(1)


@parallel_kernel
def pulls_in_plane(indptr, indices, weights, Z, out):
    """The pulls on rows in two dimensions; partners are fetched first, then many are added up at once."""
    for b in rows((len(Z) + _FETCHED - 1) // _FETCHED):
        near_x, near_y = np.empty(_FETCHED, Z.dtype), np.empty(_FETCHED, Z.dtype)
        for i in range(b * _FETCHED, min((b + 1) * _FETCHED, len(Z))):
            x, y = Z[i, 0], Z[i, 1]
            across, along = np.float32(0), np.float32(0)
            start = indptr[i]
            while start < indptr[i + 1]:
                size = min(_FETCHED, indptr[i + 1] - start)
                listed, weight = indices[start : start + size], weights[start : start + size]
                for e in range(size):
                    near_x[e] = Z[listed[e], 0]
                    near_y[e] = Z[listed[e], 1]
                for e in range(size):
                    dx, dy = x - near_x[e], y - near_y[e]
                    force = weight[e] / (_ONE + dx * dx + dy * dy)
                    across += force * dx
                    along += force * dy
                start += size
            out[i, 0] = across
            out[i, 1] = along


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


@kernel
def _weights(t, out):
    """The cubic B-spline at the four nodes around a place."""
    s = np.float32(1) - t
    out[0] = s * s * s / np.float32(6)
    out[1] = (np.float32(4) - (np.float32(6) - np.float32(3) * t) * t * t) / np.float32(6)
    out[2] = (np.float32(4) - (np.float32(6) - np.float32(3) * s) * s * s) / np.float32(6)
    out[3] = t * t * t / np.float32(6)


@kernel
def _weight_derivatives(t, out):
    """The derivatives of :func:`_weights` by t."""
    s = np.float32(1) - t
    out[0] = -np.float32(0.5) * s * s
    out[1] = (np.float32(1.5) * t - np.float32(2)) * t
    out[2] = (np.float32(2) - np.float32(1.5) * s) * s
    out[3] = np.float32(0.5) * t * t


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
    """Add a unit charge at every place to the grid ``out``: one line of nodes has one owner."""
    n_lines = len(starts) - 1
    for r in rows(len(out)):
        across, along = np.empty(4, np.float32), np.empty(4, np.float32)
        line = out[r]
        line[:] = 0
        for c in range(max(r - 3, 0), min(r + 1, n_lines)):
            for s in range(starts[c], starts[c + 1]):
                _weights(places[s, 0] - np.float32(c), across)
                cell = np.int64(places[s, 1])
                _weights(places[s, 1] - np.float32(cell), along)
                weight = across[r - c]
                for k in range(4):
                    line[cell + k] += weight * along[k]


@kernel
def _with_itself(weights, other, out):
    """``sum_k w_k v_(k + lag)`` for the lags 0 to 3, each with the opposite one."""
    for lag in range(4):
        total = np.float32(0)
        for k in range(4 - lag):
            total += weights[k] * other[k + lag]
            if lag > 0:
                total += weights[k + lag] * other[k]
        out[lag] = total


@kernel
def _read(field, line, cell, across, along):
    """The field at a place with these weights along the axes."""
    value = np.float32(0)
    for k in range(4):
        here = np.float32(0)
        for e in range(4):
            here += along[e] * field[line + k, cell + e]
        value += across[k] * here
    return value


@parallel_kernel
def read_field(field, near, order, places, out):
    """Slopes of the field at every place, in cells, into ``out``; per block of rows, the sum of the field.

    Without what a row is to itself: ``near`` are the coefficients of the kernel at the lags 0 to 3.
    """
    n = len(places)
    n_blocks = (n + _BLOCK - 1) // _BLOCK
    sums = np.empty(n_blocks)
    for b in rows(n_blocks):
        weights, derivatives = np.empty((2, 4), np.float32), np.empty((2, 4), np.float32)
        own, own_derivatives = np.empty((2, 4), np.float32), np.empty((2, 4), np.float32)
        total = 0.0
        for s in range(b * _BLOCK, min((b + 1) * _BLOCK, n)):
            line, cell = np.int64(places[s, 0]), np.int64(places[s, 1])
            for c in range(2):
                share = places[s, c] - np.floor(places[s, c])
                _weights(share, weights[c])
                _weight_derivatives(share, derivatives[c])
                _with_itself(weights[c], weights[c], own[c])
                _with_itself(derivatives[c], weights[c], own_derivatives[c])
            value = _read(field, line, cell, weights[0], weights[1])
            total += value - _read(near, 0, 0, own[0], own[1])
            first = _read(field, line, cell, derivatives[0], weights[1])
            out[order[s], 0] = first - _read(near, 0, 0, own_derivatives[0], own[1])
            second = _read(field, line, cell, weights[0], derivatives[1])
            out[order[s], 1] = second - _read(near, 0, 0, own[0], own_derivatives[1])
        sums[b] = total
    return sums


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
