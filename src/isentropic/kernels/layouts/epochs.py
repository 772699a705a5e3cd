"""One epoch of a layout by negative sampling: every row moves by what it gathers from the last positions.

Nothing is written but a row's own place and speed, so that an epoch is the same on any number of threads.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..draws import drawn_below, drawn_key, next_key

_ROWS = 64  # that a thread takes at a time
STEPS = 64  # entries of the table of forces for every doubling of a squared distance
FIRST, LAST = -24, 24  # the doublings that it spans
_BITS = 17  # of a float that lie between two entries
_OFFSET = (127 + FIRST) * STEPS
_PART = np.float32(1.0 / (1 << _BITS))
_MOST = np.float32(4.0)  # a push along a coordinate, as in the published program


@kernel
def _force(forces, which, square):
    """Entry of the table of forces for a squared distance: linear between two entries."""
    bits = np.float32(square).view(np.int32)
    at = min(max((bits >> _BITS) - _OFFSET, 0), len(forces) - 2)
    part = np.float32(bits & ((1 << _BITS) - 1)) * _PART
    low = forces[at, which]
    return low + part * (forces[at + 1, which] - low)


@kernel
def _gather(i, d, Z, indptr, indices, weights, forces, key, draws, push, total):
    """Pulls of the edges of row i and pushes of drawn rows, added up in ``total``; how stiff the pulls are.

    ``push`` is what a drawn row weighs.
    """
    stiffness = np.float32(0.0)
    for c in range(d):
        total[c] = 0.0
    for e in range(indptr[i], indptr[i + 1]):
        j = indices[e]
        square = np.float32(0.0)
        for c in range(d):
            gap = Z[j, c] - Z[i, c]
            square += gap * gap
        pull = weights[e] * _force(forces, 0, square)
        stiffness += pull
        for c in range(d):
            total[c] += pull * (Z[j, c] - Z[i, c])
    for _ in range(draws):
        key = next_key(key)
        j = drawn_below(key, len(Z))
        square = np.float32(0.0)
        for c in range(d):
            gap = Z[i, c] - Z[j, c]
            square += gap * gap
        force = _force(forces, 1, square)
        for c in range(d):
            total[c] += push * min(max(force * (Z[i, c] - Z[j, c]), -_MOST), _MOST)
    return stiffness


@kernel
def _move(i, d, Z, speeds, out, total, stiffness, rate, momentum, farthest):
    """The speed keeps its momentum and gains the force by the stiffness; no row goes too far at once."""
    length = np.float32(0.0)
    for c in range(d):
        speeds[i, c] = momentum * speeds[i, c] + rate * total[c] / stiffness
        length += speeds[i, c] * speeds[i, c]
    cut = min(np.float32(1.0), farthest / np.sqrt(max(length, np.float32(1e-30))))
    for c in range(d):
        speeds[i, c] *= cut
        out[i, c] = Z[i, c] + speeds[i, c]


@parallel_kernel
def fuzzy_epoch(Z, speeds, out, indptr, indices, weights, degrees, forces, seed, epoch, draws, push, rate,
                momentum, farthest):  # fmt: skip
    """Move every row by its edges and by ``draws`` drawn rows, which weigh ``push`` of its degree together.

    ``forces`` is the table of pull and push by squared distance. All positions are of single precision.
    """
    n, d = Z.shape
    for block in rows((n + _ROWS - 1) // _ROWS):
        total = np.empty(d, np.float32)
        for i in range(block * _ROWS, min((block + 1) * _ROWS, n)):
            key = drawn_key(seed, epoch, i)
            each = push * degrees[i] / np.float32(draws)
            if d == 2:  # as a constant, the dimension costs nothing
                stiffness = _gather(i, 2, Z, indptr, indices, weights, forces, key, draws, each, total)
                _move(i, 2, Z, speeds, out, total, stiffness, rate, momentum, farthest)
            else:
                stiffness = _gather(i, d, Z, indptr, indices, weights, forces, key, draws, each, total)
                _move(i, d, Z, speeds, out, total, stiffness, rate, momentum, farthest)


@parallel_kernel
def fuzzy_slopes(Z, indptr, indices, weights, degrees, forces, seed, epoch, draws, push, out):
    """The gradient at every row of a map into ``out``: what :func:`fuzzy_epoch` gathers, the other way."""
    n, d = Z.shape
    for block in rows((n + _ROWS - 1) // _ROWS):
        total = np.empty(d, np.float32)
        for i in range(block * _ROWS, min((block + 1) * _ROWS, n)):
            each = push * degrees[i] / np.float32(draws)
            key = drawn_key(seed, epoch, i)
            _gather(i, d, Z, indptr, indices, weights, forces, key, draws, each, total)
            for c in range(d):
                out[i, c] = -total[c]
