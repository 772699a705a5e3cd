"""What the costs of a row have in common: gaps to other rows, terms of slope and curvature."""

from __future__ import annotations

from ._jit import kernel


@kernel
def squared_gap(z, Z, j, start, gap):
    """``start + |z - z_j|^2``, with ``gap = z - z_j``."""
    square = start
    for c in range(len(z)):
        gap[c] = z[c] - Z[j, c]
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
