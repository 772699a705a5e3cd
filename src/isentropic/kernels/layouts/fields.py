"""Sums over all pairs of a map in the plane, by a field on a grid: spread, convolved elsewhere, read.

Rows have unit charges. A row in cell c of an axis, at the share t of the cell, touches the nodes c to c + 3
with the weights of a cubic B-spline. Rows are sorted by their cell along the first axis, so that a thread
owns a line of the grid when charges are spread: no two threads add to the same node, and the order of every
sum is that of the rows.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows

_BLOCK = 512  # rows whose sums are added up together, on any number of threads


@kernel
def _weights(t, out):
    """The cubic B-spline at the four nodes around a place."""
    s = np.float32(1) - t
    out[0] = s * s * s / np.float32(6)
    out[1] = (np.float32(4) - (np.float32(6) - np.float32(3) * t) * t * t) / np.float32(6)
    out[2] = (np.float32(4) - (np.float32(6) - np.float32(3) * s) * s * s) / np.float32(6)
    out[3] = t * t * t / np.float32(6)


@kernel
def _slopes(t, out):
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
        weights, slopes = np.empty((2, 4), np.float32), np.empty((2, 4), np.float32)
        own, own_slopes = np.empty((2, 4), np.float32), np.empty((2, 4), np.float32)
        total = 0.0
        for s in range(b * _BLOCK, min((b + 1) * _BLOCK, n)):
            line, cell = np.int64(places[s, 0]), np.int64(places[s, 1])
            for c in range(2):
                share = places[s, c] - np.floor(places[s, c])
                _weights(share, weights[c])
                _slopes(share, slopes[c])
                _with_itself(weights[c], weights[c], own[c])
                _with_itself(slopes[c], weights[c], own_slopes[c])
            value = _read(field, line, cell, weights[0], weights[1])
            total += value - _read(near, 0, 0, own[0], own[1])
            first = _read(field, line, cell, slopes[0], weights[1])
            out[order[s], 0] = first - _read(near, 0, 0, own_slopes[0], own[1])
            second = _read(field, line, cell, weights[0], slopes[1])
            out[order[s], 1] = second - _read(near, 0, 0, own[0], own_slopes[1])
        sums[b] = total
    return sums
