"""How well a row's distances fit its place on a map, and how many other places would suit it as well."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows

_EQUAL = 1e-12  # fits that differ by less are the same


@kernel
def _fit(near, given, place):
    """Correlation of ``given`` with the entries of ``place`` at ``near``; 0 where either is constant."""
    h = len(near)
    mean_x, mean_y = 0.0, 0.0
    for p in range(h):
        mean_x += given[p]
        mean_y += place[near[p]]
    mean_x /= h
    mean_y /= h
    xx, yy, xy = 0.0, 0.0, 0.0
    for p in range(h):
        x, y = given[p] - mean_x, place[near[p]] - mean_y
        xx += x * x
        yy += y * y
        xy += x * y
    return xy / np.sqrt(xx * yy) if xx > 0 and yy > 0 else 0.0


@parallel_kernel
def place_tests(near, given, own, places, selves, fits, better):
    """For each row: the fit of its own place, and how many of the other places fit at least as well.

    ``near[s]`` (h,) are references, ``given[s]`` the ranks of their distances in the data; ``own[s]`` and
    ``places[c]`` the ranks of the distances of all references on the map, from the row's own place and from
    others. Place ``selves[s]`` is the row's own, and not counted. ``O(h)`` for each row and place.
    """
    for s in rows(len(near)):
        fits[s] = _fit(near[s], given[s], own[s])
        count = 0
        for c in range(len(places)):
            if c != selves[s] and _fit(near[s], given[s], places[c]) >= fits[s] - _EQUAL:
                count += 1
        better[s] = count
