"""One step of a layout over fixed pairs: every row gathers its forces and takes a step of Adam's.

A pair stands in the lists of both of its rows, so that a thread writes nothing but its own row.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows

_ROWS = 64  # that a thread takes at a time
_BETA1, _BETA2 = np.float32(0.9), np.float32(0.999)
_ONE = np.float32(1.0)
_LEAST = np.float32(1e-7)


@kernel
def adam(i, d, Z, memory, out, gradient, rate):
    """Adam's step of row i; ``rate`` has the corrections of both means."""
    for c in range(d):
        memory[0, i, c] += (_ONE - _BETA1) * (gradient[c] - memory[0, i, c])
        memory[1, i, c] += (_ONE - _BETA2) * (gradient[c] * gradient[c] - memory[1, i, c])
        out[i, c] = Z[i, c] - rate * memory[0, i, c] / (np.sqrt(memory[1, i, c]) + _LEAST)


@kernel
def _slopes(i, d, Z, start, stop, partners, amount, half, gradient):
    """Add ``amount / (half + 1 + r^2)^2 (z_i - z_j)`` of the pairs in a range."""
    for e in range(start, stop):
        j = partners[e]
        square = half + _ONE
        for c in range(d):
            gap = Z[i, c] - Z[j, c]
            square += gap * gap
        force = amount / (square * square)
        for c in range(d):
            gradient[c] += force * (Z[i, c] - Z[j, c])


@kernel
def _pair_row(i, d, Z, memory, out, starts, partners, amounts, halves, gradient, rate):
    for c in range(d):
        gradient[c] = np.float32(0.0)
    for kind in range(len(amounts)):
        if amounts[kind] != 0.0:
            _slopes(i, d, Z, starts[i, kind], starts[i, kind + 1], partners, amounts[kind], halves[kind],
                    gradient)  # fmt: skip
    adam(i, d, Z, memory, out, gradient, rate)


@parallel_kernel
def pair_epoch(Z, memory, out, starts, partners, amounts, halves, rate):
    """Move every row by its pairs: those of kind t are ``partners[starts[i, t] : starts[i, t + 1]]``.

    The gradient of a pair is ``amounts[t] / (halves[t] + 1 + r^2)^2`` times the gap. Single precision.
    """
    n, d = Z.shape
    for block in rows((n + _ROWS - 1) // _ROWS):
        gradient = np.empty(d, np.float32)
        for i in range(block * _ROWS, min((block + 1) * _ROWS, n)):
            if d == 2:  # as a constant, the dimension costs nothing
                _pair_row(i, 2, Z, memory, out, starts, partners, amounts, halves, gradient, rate)
            else:
                _pair_row(i, d, Z, memory, out, starts, partners, amounts, halves, gradient, rate)
