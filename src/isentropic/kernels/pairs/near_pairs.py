"""Weights of pairs that are near in the data, in the map, or in both: frozen for a stage of a descent."""

from __future__ import annotations

import numpy as np

from .._jit import parallel_kernel, rows
from ..distances.condensed import _row_start
from .pair_tiles import gaps


@parallel_kernel
def near_weights(distances, Z, radii, share, out):
    """``out``: the mean over both rows of ``(1 - share) [d <= radius] + share [e <= radius]``, condensed.

    d are the distances in the data, condensed; e those in the map (d, n); each row has a radius.
    ``O(n^2 d)`` time.
    """
    n = Z.shape[1]
    for i in rows(n):
        place = _row_start(i, n) + i + 1
        d, w = distances[place : place + n - i - 1], out[place : place + n - i - 1]
        gaps(Z, i, i + 1, 0.0, w)
        for j in range(len(w)):
            e, other = np.sqrt(w[j]), radii[i + 1 + j]
            in_data = (1.0 if d[j] <= radii[i] else 0.0) + (1.0 if d[j] <= other else 0.0)
            in_map = (1.0 if e <= radii[i] else 0.0) + (1.0 if e <= other else 0.0)
            w[j] = 0.5 * ((1.0 - share) * in_data + share * in_map)


@parallel_kernel
def kth_smallest(distances, n, k, out):
    """``out[i]``: the k-th smallest of the distances of row i to the others, of all pairs condensed."""
    for i in rows(n):
        row = np.empty(n - 1)
        for j in range(i):
            row[j] = distances[_row_start(j, n) + i]
        place = _row_start(i, n)
        for j in range(i + 1, n):
            row[j - 1] = distances[place + j]
        out[i] = np.partition(row, k - 1)[k - 1]
