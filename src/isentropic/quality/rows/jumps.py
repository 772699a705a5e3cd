"""``map_jumps``: continuity of a map, row by row, along paths to a neighbor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.errors import require, require_count
from ..._core.runtime import generator
from ..._core.values import Floats, Integers
from ...distances import finite_rows
from ...linalg import rows_in_unit
from ...neighbors import nearest_among
from ..sampling import sampled_rows

JUMP = 1.5  # times the reach of its neighbours on the map: beyond an even step, that is no wobble
_ROWS = 1_000  # "auto" moves: of more rows, as many are drawn


@dataclass(frozen=True, slots=True, eq=False)
class MapJumps:
    """Of each row that walked to a neighbour: how much its longest step exceeds an even one."""

    rows: Integers  # (s,) row numbers, increasing
    jumps: Floats  # (s,) the excess, in units of the reach of the row's neighbours on the map
    n_neighbors: int
    n_steps: int

    @property
    def torn(self) -> Integers:
        """Rows that jump: by more than one and a half times the reach of their neighbours on the map."""
        return self.rows[self.jumps > JUMP]


def map_jumps(
    place: Callable[[Floats], Any],
    X: Any,
    Z: Any,
    *,
    n_neighbors: int = 10,
    n_steps: int = 4,
    sample: Any = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> MapJumps:
    """Walk from rows to a neighbour in small steps, place each step, and see whether the map jumps.

    Row i walks to row j, that of its ``n_neighbors`` nearest rows in the data that is farthest on the map, by
    ``x(t) = x_i + t (x_j - x_i)`` for ``n_steps`` equal steps of t from 0 to 1. Its jump is what the longest
    step on the map exceeds an even one by, ``(max |z(t + 1/n_steps) - z(t)| - |z_j - z_i| / n_steps) / r_i``,
    with z(0) and z(1) the places of both rows, those between from ``place``, and r_i the distance to the k-th
    nearest row on the map, or the median of those over all rows where that is more. A smooth map takes even
    steps. One that tears neighbours apart takes nearly the whole way in one. One that only stretches
    them, as a projection does, does not jump: that is how this differs from :func:`tears`.

    Cost: ``s (n_steps - 1)`` placements, beside the neighbours of s rows.

    Parameters
    ----------
    place : callable
        From rows (b, m) to places (b, d), each by itself: ``model.transform``.
    X : array (n, m)
        The fitted data.
    Z : array (n, d)
        Their map: ``model.embedding_``.
    n_neighbors, n_steps : int
        See above.
    sample : int, None or "auto"
        Rows that are moved: all with None, at most 1,000 drawn ones by default.

    References
    ----------
    Z. Liu, R. Ma, Y. Zhong, Assessing and improving reliability of neighbor embedding methods: a
    map-continuity perspective, Nature Communications 16 (2025).

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import PCA
    >>> X = np.random.default_rng(0).uniform(size=(200, 3)) * [4.0, 4.0, 0.1]
    >>> model = PCA().fit(X)
    >>> len(map_jumps(model.transform, X, model.embedding_).torn)
    0
    """
    require(callable(place), "place", "a function from rows to places, as model.transform", place)
    X, Z = finite_rows(X, "X", fewest=3), finite_rows(Z, "Z")
    n = len(X)
    require(len(Z) == n, "Z", f"a map of the same {n} rows", f"shape {Z.shape}")
    k = min(require_count("n_neighbors", n_neighbors), n - 1)
    n_steps = require_count("n_steps", n_steps, least=2)
    rows = sampled_rows(sample, n, _ROWS, generator(random_state))
    data, exponent = rows_in_unit(X)[0], rows_in_unit(Z)[1]
    origin, Z = Z[0], _in_unit(Z, Z[0], exponent)
    near = nearest_among(data[rows], data, k, selves=rows, n_jobs=n_jobs)[0]
    apart = np.linalg.norm(Z[near] - Z[rows][:, None], axis=2)
    ends = near[np.arange(len(rows)), apart.argmax(axis=1)]
    walk = _in_unit(_walk(place, X, rows, ends, n_steps, Z.shape[1]), origin, exponent)
    places = np.concatenate([Z[rows][None], walk, Z[ends][None]])
    longest = np.linalg.norm(np.diff(places, axis=0), axis=2).max(axis=0)
    excess = np.maximum(longest - apart.max(axis=1) / n_steps, 0.0)
    return MapJumps(rows, excess / _reaches(Z, k, n_jobs)[rows], k, n_steps)


def _walk(
    place: Callable[[Floats], Any], X: Floats, rows: Integers, ends: Integers, n_steps: int, d: int
) -> Floats:
    """Places (n_steps - 1, s, d) between the rows and their ends."""
    shares = np.arange(1, n_steps)[:, None, None] / n_steps
    between = X[rows] + shares * (X[ends] - X[rows])
    mapped = np.asarray(place(between.reshape(-1, X.shape[1])), np.float64)
    count = between.shape[0] * between.shape[1]
    must_be = f"a function that gives {d} coordinates of each row, here ({count}, {d})"
    require(mapped.shape == (count, d), "place", must_be, mapped.shape)
    lost = int((~np.isfinite(mapped)).sum())
    require(lost == 0, "place", "a function that gives finite coordinates", f"{lost} that are not")
    return mapped.reshape(*between.shape[:2], d)


def _in_unit(places: Floats, origin: Floats, exponent: int) -> Floats:
    """Places on the map in its unit, from a place on it; as they are if that is 1."""
    if exponent == 0:
        return places
    return np.ldexp(np.ldexp(places, -1) - np.ldexp(origin, -1), 1 - exponent)


def _reaches(Z: Floats, k: int, n_jobs: int | None) -> Floats:
    """Of each row: how far its neighbours on the map are, at least as far as those of most rows."""
    far = nearest_among(Z, Z, k, selves=np.arange(len(Z)), n_jobs=n_jobs)[1][:, -1]
    usual = float(np.median(far)) or float(np.ptp(Z, axis=0).max()) or 1.0
    return np.maximum(far, usual)
