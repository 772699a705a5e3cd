"""What the costs of a row have in common: gaps to other rows, terms of slope and curvature.

A loop that adds up writes to no array: else the compiler keeps two versions of it, which add up in another
order, and takes one by where the arrays happen to lie in memory.
"""

from __future__ import annotations

from .._jit import kernel


@kernel
def squared_gap(z, Z, j, start, gap):
    """``start + |z - z_j|^2``, with ``gap = z - z_j``."""
    for c in range(len(z)):
        gap[c] = z[c] - Z[j, c]
    square = start
    for c in range(len(z)):
        square += gap[c] * gap[c]
    return square


@kernel
def add_slopes(force, bend, gap, gradient, curvature):
    """Add the derivatives of ``f(|gap|^2)`` by z, with ``force = f'`` and ``bend = f''``."""
    for c in range(len(gap)):
        gradient[c] += 2.0 * force * gap[c]
        curvature[c, c] += 2.0 * force
        for e in range(c + 1):
            curvature[c, e] += 4.0 * bend * gap[c] * gap[e]
