"""``shared_neighbors``: what several maps of the same rows all show, and what only some of them do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.errors import require, require_count
from ..._core.values import Floats, Integers
from ...distances import euclidean_rows
from ...neighbors import nearest_among


@dataclass(frozen=True, slots=True, eq=False)
class SharedNeighbors:
    """Neighbours on which all of several maps agree."""

    n_maps: int
    n_neighbors: int
    shares: Floats  # (n,) of the k nearest rows on a map, those that are among the k nearest on every one
    pairs: Integers  # (p, 2) rows i < j that are among each other's k nearest on every map


def shared_neighbors(
    maps: Sequence[Any], n_neighbors: int = 10, *, n_jobs: int | None = None
) -> SharedNeighbors:
    """Count, for each row, the neighbours that it has on every one of several maps.

    ``|N_1(i) & ... & N_M(i)| / k``, with N(i) the k nearest rows on a map. What maps of different methods,
    or of other seeds, all show does not hang on the choice of one of them. For two maps these are the
    shares of :func:`map_agreement`. ``O(M n k log n)`` time, ``O(M n k)`` memory.

    >>> import numpy as np
    >>> Z = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> found = shared_neighbors([Z, Z[[0, 1, 3, 2]]], 1)
    >>> found.shares.tolist(), found.pairs.tolist()
    ([1.0, 1.0, 0.0, 0.0], [[0, 1]])
    """
    tables = [euclidean_rows(Z, f"map {i} of maps", fewest=2) for i, Z in enumerate(maps)]
    require(len(tables) > 0, "maps", "at least one", "none")
    n = len(tables[0])
    require(all(len(Z) == n for Z in tables), "maps", "of the same rows", [Z.shape for Z in tables])
    k = require_count("n_neighbors", n_neighbors, f"from 1 to {n - 1}, the number of other rows", most=n - 1)
    lists = [nearest_among(Z, Z, k, selves=np.arange(n), n_jobs=n_jobs)[0] for Z in tables]
    every = np.sort(np.concatenate(lists, axis=1), axis=1).astype(np.int64)
    common = every[:, len(tables) - 1 :] == every[:, : every.shape[1] - len(tables) + 1]
    first, place = np.nonzero(common)
    second = every[first, place]
    codes = np.minimum(first, second) * n + np.maximum(first, second)
    mutual, times = np.unique(codes, return_counts=True)
    mutual = mutual[times == 2]
    return SharedNeighbors(len(tables), k, common.sum(axis=1) / k, np.column_stack([mutual // n, mutual % n]))
