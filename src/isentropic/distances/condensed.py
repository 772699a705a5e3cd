"""All distances, condensed: those of rows i < j, as by ``scipy.spatial.distance.pdist``.

Half the memory of a square array: ``4 n^2`` bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from .._core.runtime import row_blocks
from .._core.values import DistanceRows, Floats, Integers
from ..kernels._jit import threads
from ..kernels.distances.euclidean import TILE
from ..kernels.distances.pairs import store_upper
from .blocks import rows_per_block
from .gower import GowerRows
from .metrics import Metric
from .sources import Points, measured_rows


def condensed_distances(X: Floats, metric: Metric, n_jobs: int | None) -> Floats:
    """Of the rows of a table that was checked, or of a square matrix when precomputed. ``O(n^2 m)`` time."""
    if metric == "precomputed":
        return squareform(X, checks=False)
    out = np.empty(len(X) * (len(X) - 1) // 2)
    return store_distances(measured_rows(X, metric, n_jobs), out, n_jobs=n_jobs)


def store_distances(source: DistanceRows, out: Floats, *, n_jobs: int | None = None) -> Floats:
    """Fill ``out`` with the distances of all pairs i < j, row after row."""
    for rows, first, (block,) in later_distances("distances", source):
        with threads(n_jobs):
            store_upper(np.ascontiguousarray(block), rows[0], first, source.n, out)
    return out


def later_distances(what: str, *sides: DistanceRows) -> Iterator[tuple[Integers, int, list[Floats]]]:
    """Rows one after the other, and on each side their distances to row ``first`` and those after it.

    Of what lies in tiles those before the rows are left out, which halves the work; columns after the last
    row mean nothing there.
    """
    n = sides[0].n
    in_tiles = all(isinstance(side.rows, Points | GowerRows) for side in sides)
    for block in row_blocks(n, what, size=rows_per_block(n)):
        rows = np.arange(block.start, block.stop)
        tile = block.start // TILE if in_tiles else 0
        yield rows, tile * TILE, [_from_tile(side.rows, tile)(rows) for side in sides]


def _from_tile(source: Any, tile: int) -> Callable[[Integers], Floats]:
    return source if tile == 0 else replace(source, tiles=source.tiles[tile:])
