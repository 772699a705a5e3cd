"""Curvilinear components: rows of a map pull on each other only as far as a radius, in the map.

The published rule, and the place of a new row among fitted ones.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..distances.condensed import _row_start

_STEPS = 4  # towards the partners within each radius
_LAST_STEPS = 60  # within the last one


@kernel
def curvilinear_epoch(distances, order, rate, radius, Z):
    """Demartines and Hérault's rule: each row in turn stays, and moves those within the radius around it.

    ``z_j += rate (d_ij / e_ij - 1) (z_j - z_i)``, in place; distances are condensed. ``O(n^2 d)``.
    """
    n, d = Z.shape
    for i in order:
        for j in range(n):
            square = 0.0
            for c in range(d):
                square += (Z[j, c] - Z[i, c]) ** 2
            if square == 0.0 or square > radius * radius:
                continue
            given = distances[_row_start(min(i, j), n) + max(i, j)]
            stretch = rate * (given / np.sqrt(square) - 1.0)
            for c in range(d):
                Z[j, c] += stretch * (Z[j, c] - Z[i, c])


@kernel
def _mapped(z, Z, e):
    """Distances to all rows of the map; returns the largest."""
    largest = 0.0
    for j in range(len(Z)):
        square = 0.0
        for c in range(len(z)):
            square += (z[c] - Z[j, c]) ** 2
        e[j] = np.sqrt(square)
        largest = max(largest, e[j])
    return largest


@kernel
def _step_within(z, Z, given, e, within):
    """A Guttman step: the mean of where the rows want z that are ``within``; returns how far it went."""
    count, moved, length = 0, np.zeros(len(z)), 0.0
    for j in range(len(Z)):
        if not within[j]:
            continue
        stretch = given[j] / e[j] if e[j] > 0.0 else 0.0
        count += 1
        for c in range(len(z)):
            moved[c] += Z[j, c] + stretch * (z[c] - Z[j, c])
    for c in range(len(z)):
        length += (moved[c] / count - z[c]) ** 2
        z[c] = moved[c] / count
    return length


@parallel_kernel
def optimize_within_radius(distances, Z, first, radius, n_stages, out):
    """Places of new rows at ``distances`` (b, n) from the rows of ``Z``: each by the rows near it in the map.

    A row starts beside its nearest one. The radius within which rows count shrinks from ``first`` to
    ``radius`` in stages; the nearest row always counts. ``O(n d)`` a step.
    """
    n, d = Z.shape
    for i in rows(len(distances)):
        given, z, e, within = distances[i], np.empty(d), np.empty(n), np.empty(n, np.bool_)
        nearest = 0
        for j in range(n):
            if given[j] < given[nearest]:
                nearest = j
        for c in range(d):
            z[c] = Z[nearest, c]
        z[0] += given[nearest]
        for stage in range(n_stages):
            last = stage == n_stages - 1
            limit = radius if last else first * (radius / first) ** (stage / (n_stages - 1))
            _mapped(z, Z, e)
            for j in range(n):
                within[j] = e[j] <= limit or j == nearest
            for _ in range(_LAST_STEPS if last else _STEPS):
                length = _step_within(z, Z, given, e, within)
                _mapped(z, Z, e)
                if length <= 1e-24 * limit * limit:
                    break
        for c in range(d):
            out[i, c] = z[c]
