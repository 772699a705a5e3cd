"""Pairs whose shortest path cannot have been bent by the boundary of a surface."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..distances.condensed import _row_start

_SLACK = 1.0 + 1e-9  # a path that touches the boundary has just this length, but for rounding


@kernel
def _is_kept(length, one, other, linked):
    return linked or length <= _SLACK * (one + other)


@parallel_kernel
def consistent_pairs(geodesics, to_boundary, indptr, neighbours, starts, indices, wanted):
    """Partners of each row: linked to it, or nearer along the surface than both are to the boundary, added.

    With no ``indices`` it counts: ``starts`` (n + 1,) is set to how many partners each row has, one place
    later. Else row i is listed from ``starts[i]`` on, in row order. ``O(n^2)``; geodesics are condensed.
    """
    n = len(to_boundary)
    counting = len(indices) == 0
    for i in rows(n):
        linked = np.zeros(n, np.bool_)
        for t in range(indptr[i], indptr[i + 1]):
            linked[neighbours[t]] = True
        found, row = 0, np.int64(i)
        for j in range(n):
            if j == row:
                continue
            length = geodesics[_row_start(min(row, j), n) + max(row, j)]
            if _is_kept(length, to_boundary[i], to_boundary[j], linked[j]):
                if not counting:
                    indices[starts[i] + found] = j
                    wanted[starts[i] + found] = length
                found += 1
        if counting:
            starts[i + 1] = found
