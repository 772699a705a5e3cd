"""One step of a layout over fixed triplets: a row gathers the forces of all triplets that it takes part in.

Those that it leads stand in its own list, those that it is the near or the far row of in a list by that row.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows

_ROWS = 64  # that a thread takes at a time
_ONE, _NONE = np.float32(1.0), np.float32(0.0)
_MORE, _LESS, _LEAST = np.float32(0.2), np.float32(0.8), np.float32(0.01)  # of gains (delta-bar-delta)


@kernel
def _square(d, Z, i, j):
    """``1 + |z_i - z_j|^2``."""
    square = _ONE
    for c in range(d):
        gap = Z[i, c] - Z[j, c]
        square += gap * gap
    return square


@kernel
def _led(i, d, Z, near, far, weights, gradient):
    """Add ``w (b (z_i - z_j) - a (z_i - z_k)) / (a + b)^2`` of the triplets that row i leads."""
    for t in range(near.shape[1]):
        weight = weights[i, t]
        if weight > _NONE:
            j, k = near[i, t], far[i, t]
            a, b = _square(d, Z, i, j), _square(d, Z, i, k)
            force = weight / ((a + b) * (a + b))
            for c in range(d):
                gradient[c] += force * (b * (Z[i, c] - Z[j, c]) - a * (Z[i, c] - Z[k, c]))


@kernel
def _taken(r, d, Z, starts, leaders, others, shares, gradient):
    """Add the forces of triplets that row r is the near or, where the weight is negative, the far row of.

    The factor is ``b / (a + b)^2`` or ``a / (a + b)^2``: of both the square of the other one.
    """
    for e in range(starts[r], starts[r + 1]):
        i = leaders[e]
        mine, other = _square(d, Z, i, r), _square(d, Z, i, others[e])
        force = shares[e] * other / ((mine + other) * (mine + other))
        for c in range(d):
            gradient[c] += force * (Z[r, c] - Z[i, c])


@kernel
def _step(i, d, Z, memory, out, gradient, rate, momentum, ahead):
    """Nesterov's step with gains: Z and ``out`` hold positions that look ahead by the momentum."""
    for c in range(d):
        speed, gain = memory[0, i, c], _ONE + memory[1, i, c]  # what is kept is a gain beyond 1
        same = (speed > _NONE and gradient[c] > _NONE) or (speed < _NONE and gradient[c] < _NONE)
        both = speed == _NONE and gradient[c] == _NONE
        gain = max(_LESS * gain, _LEAST) if same or both else gain + _MORE
        place = Z[i, c] - momentum * speed
        speed = momentum * speed - rate * gain * gradient[c]
        memory[0, i, c], memory[1, i, c] = speed, gain - _ONE
        out[i, c] = place + speed + ahead * speed


@kernel
def _triplet_row(i, d, Z, memory, out, near, far, weights, starts, leaders, others, shares, gradient, rate,
                 momentum, ahead):  # fmt: skip
    for c in range(d):
        gradient[c] = _NONE
    _led(i, d, Z, near, far, weights, gradient)
    _taken(i, d, Z, starts, leaders, others, shares, gradient)
    _step(i, d, Z, memory, out, gradient, rate, momentum, ahead)


@parallel_kernel
def triplet_epoch(Z, memory, out, near, far, weights, starts, leaders, others, shares, rate, momentum, ahead):
    """Move every row by its triplets. Single precision.

    Row i leads the triplets (i, near[i, t], far[i, t]) of weight ``weights[i, t]``, none where it is 0, and
    takes part in those of ``leaders`` from ``starts[i]`` to ``starts[i + 1]``, with ``others`` as third rows.
    """
    n, d = Z.shape
    for block in rows((n + _ROWS - 1) // _ROWS):
        gradient = np.empty(d, np.float32)
        for i in range(block * _ROWS, min((block + 1) * _ROWS, n)):
            if d == 2:  # as a constant, the dimension costs nothing
                _triplet_row(i, 2, Z, memory, out, near, far, weights, starts, leaders, others, shares,
                             gradient, rate, momentum, ahead)  # fmt: skip
            else:
                _triplet_row(i, d, Z, memory, out, near, far, weights, starts, leaders, others, shares,
                             gradient, rate, momentum, ahead)  # fmt: skip
