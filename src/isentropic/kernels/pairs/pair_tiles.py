"""Tiles of pairs of rows of a map: gaps between them, and moves along these.

The map is held as ``(d, n)``, coordinates apart, so that the partners of a row are read one after the other.
A tile is a row i with the rows from ``start`` on, or the rows from ``start`` on with those from ``aside`` on.
"""

from __future__ import annotations

from .._jit import kernel

TILE = 512  # pairs whose intermediate results stay in the nearest cache


@kernel
def gaps(Z, i, start, least, square):
    """``least + |z_i - z_j|^2`` for the rows j from ``start`` on."""
    for j in range(len(square)):
        square[j] = least
    for c in range(len(Z)):
        other = Z[c, start : start + len(square)]
        z = Z[c, i]
        for j in range(len(square)):
            gap = z - other[j]
            square[j] += gap * gap


@kernel
def gaps_aside(Z, start, aside, least, square):
    """``least + |z_i - z_j|^2`` for the rows i from ``start`` on and the rows j from ``aside`` on."""
    for j in range(len(square)):
        square[j] = least
    for c in range(len(Z)):
        one, other = Z[c, start : start + len(square)], Z[c, aside : aside + len(square)]
        for j in range(len(square)):
            gap = one[j] - other[j]
            square[j] += gap * gap


@kernel
def move_both(Z, i, start, force, moved):
    """Add ``f_j (z_i - z_j)`` to row i, and take it from each row j."""
    for c in range(len(Z)):
        z = Z[c, i]
        other = Z[c, start : start + len(force)]
        below = moved[c, start : start + len(force)]
        total = 0.0
        for j in range(len(force)):
            shift = force[j] * (z - other[j])
            total += shift
            below[j] -= shift
        moved[c, i] += total


@kernel
def move_own(Z, start, aside, force, moved):
    """Add ``f_i (z_i - z_j)`` to the rows i from ``start`` on."""
    for c in range(len(Z)):
        one, other = Z[c, start : start + len(force)], Z[c, aside : aside + len(force)]
        own = moved[c, start : start + len(force)]
        for j in range(len(force)):
            own[j] += force[j] * (one[j] - other[j])
