"""Agreement of two or more maps of the same rows: shared neighbors, and how far points move.

Movement is measured once one map is turned onto the other (orthogonal Procrustes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.arguments import as_numbers
from .._core.errors import require, require_count
from .._core.values import Floats, Integers
from ..distances import euclidean_rows
from ..linalg import aligned, around_mean, procrustes_correlation, unit_exponent
from ..neighbors import nearest_among
from ..tables.class_labels import Names, matched_names, row_names


@dataclass(frozen=True, slots=True, eq=False)
class Movement:
    """Movement of the rows that two maps share, as shares of the width of the first map."""

    rows_before: Integers  # (s,) of the first map
    rows: Integers  # (s,) of the second map, the same rows
    distances: Floats  # (s,) from the old to the new place, in the units of the maps
    width: float  # of the first map, along its widest coordinate
    correlation: float  # of Procrustes: 1 where the maps differ by motion, mirroring and size only
    aligned: Floats  # (n, d): the second map, all its rows, turned and moved onto the first

    @property
    def shares(self) -> Floats:
        """Distance that each shared row moved, as a share of the width."""
        return self.distances / self.width if self.width else np.zeros_like(self.distances)

    @property
    def median(self) -> float:
        """Half of the shared rows moved less than this share of the width."""
        return float(np.median(self.shares))

    @property
    def worst(self) -> float:
        """The farthest that a row moved, as a share of the width."""
        return float(self.shares.max())


def aligned_distance(previous: Any, current: Any) -> Movement:
    """Distance that each row moved between two maps, after the second is aligned with the first.

    ``|z_i R + t - z'_i|`` with the rotation or mirroring R and the shift t of the least sum of squares over
    the rows that both maps have; sizes are kept. ``O(n d^2)`` time.

    Parameters
    ----------
    previous, current : fitted estimator, DataFrame or array (n, d)
        Rows are matched by name where both have names: the index of a DataFrame, or of the one that an
        estimator was fitted to. Else both have the same rows in the same order.

    Returns
    -------
    Movement
        For each row, and ``median`` and ``worst`` as shares of the width of the first map.

    Examples
    --------
    >>> import pandas as pd
    >>> before = pd.DataFrame([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]], index=["a", "b", "c"])
    >>> after = pd.DataFrame([[7.0, 1.0], [5.0, 1.0], [5.0, 5.0]], index=["c", "a", "b"])
    >>> moved = aligned_distance(before, after)  # turned by a quarter, and moved
    >>> moved.rows.tolist(), round(moved.worst, 9)
    ([1, 2, 0], 0.0)
    """
    (before, old_names), (after, new_names) = _map_of(previous, "previous"), _map_of(current, "current")
    must_be = f"a map of as many dimensions as the first, {before.shape[1]}"
    require(after.shape[1] == before.shape[1], "current", must_be, after.shape[1])
    rows_before, rows = _common_rows(old_names, new_names, len(before), len(after))
    # One unit for both, in which nothing that is squared overflows or vanishes.
    exponent = unit_exponent(float(max(np.abs(before).max(), np.abs(after).max())))
    before, after = np.ldexp(before, -exponent), np.ldexp(after, -exponent)
    turned = aligned(after, before[rows_before], rows)
    distances = np.linalg.norm(turned[rows] - before[rows_before], axis=1)
    width = float(np.ptp(before, axis=0).max())
    hint = "Its rows are all at one place, so that nothing is a share of its width."
    require(width > 0 or not distances.any(), "previous", "a map wider than a point", width, hint)
    correlation = procrustes_correlation(after[rows], before[rows_before])
    with np.errstate(over="ignore"):
        found = [np.ldexp(values, exponent) for values in (distances, width, turned)]
    finite = all(bool(np.isfinite(values).all()) for values in found)
    require(finite, "current", "a map at distances below 1.8e308", "others", "Scale both maps.")
    return Movement(rows_before, rows, found[0], float(found[1]), correlation, found[2])


def _map_of(given: Any, name: str) -> tuple[Floats, Names | None]:
    """Coordinates, and the names of their rows if there are any."""
    Z = getattr(given, "embedding_", given)
    names = getattr(given, "training_row_names", None) if Z is not given else row_names(given)
    must_be = "a fitted estimator, a DataFrame of coordinates or an array (n, d)"
    require(not isinstance(Z, str), name, must_be, given)
    Z = as_numbers(name, Z, None)
    require(Z.ndim == 2 and Z.size > 0, name, must_be, Z.shape if Z.ndim else given)
    return Z.copy(), names


def _common_rows(
    old_names: Names | None, new_names: Names | None, n_before: int, n_after: int
) -> tuple[Integers, Integers]:
    """The rows that both maps have, of the first and of the second, in the order of the first."""
    if old_names is None or new_names is None:
        must_be = f"a map of the same {n_before} rows, or one with row names"
        hint = "Give DataFrames whose index names the rows."
        require(n_before == n_after, "current", must_be, f"{n_after} rows", hint)
        return np.arange(n_before), np.arange(n_before)
    found = matched_names(old_names, new_names, "names of rows")
    hint = f"The first map has rows such as {old_names[0]!r}, the second {new_names[0]!r}."
    require(bool((found >= 0).any()), "current", "a map that has rows of the first", "none of them", hint)
    rows_before = np.flatnonzero(found >= 0)
    return rows_before, found[rows_before]


# ---- two maps ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """Mean share of neighbourhoods of one group that two maps have in common."""

    name: Any
    n_rows: int
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class MapAgreement:
    """Neighbourhoods and positions that two maps of the same rows have in common.

    A row that moved far together with its neighbours agrees; one that changed its neighbours does not,
    however little it moved. ``moved`` is what remains between the maps after one was turned, mirrored,
    moved and sized onto the other, as a share of the width of the first (the longest side of its frame).
    """

    n_neighbors: int
    shares: Floats  # (n,) of the k nearest on the first map, those among the k nearest on the second
    moved: Floats  # (n,)
    correlation: float  # of Procrustes: 1, one map; 0, nothing in common

    @property
    def mean(self) -> float:
        """Mean of the shares: 1 for equal neighbourhoods."""
        return float(self.shares.mean())

    @property
    def chance(self) -> float:
        """The mean for maps that have nothing to do with each other: k / (n - 1)."""
        return self.n_neighbors / (len(self.shares) - 1)

    def by_group(self, groups: Any) -> tuple[GroupAgreement, ...]:
        """The mean share of each group, that of most change first; ``groups`` names that of each row."""
        given = np.asarray(groups)
        n = len(self.shares)
        require(given.shape == (n,), "groups", f"one for each of {n} rows", f"shape {given.shape}")
        found, codes, counts = np.unique(given, return_inverse=True, return_counts=True)
        means = np.bincount(codes, self.shares) / counts
        order, names = np.argsort(means, kind="stable"), found.tolist()
        return tuple(GroupAgreement(names[i], int(counts[i]), float(means[i])) for i in order)


def map_agreement(
    first: Any, second: Any, *, n_neighbors: int = 10, n_jobs: int | None = None
) -> MapAgreement:
    """Compare two maps of the same rows, of any numbers of dimensions.

    For each row the share |N(first) ∩ N(second)| / k of its k nearest others that both maps agree on. The
    data are not asked: which of two maps is right is for :func:`compare_quality` to say. Cost: ``O(n log
    n)`` for maps of few dimensions.

    >>> import numpy as np
    >>> Z = np.random.default_rng(0).normal(size=(200, 2))
    >>> turned = map_agreement(Z, 3.0 * Z[:, ::-1] + 1.0)
    >>> turned.mean, round(turned.correlation, 9), bool(turned.moved.max() < 1e-9)
    (1.0, 1.0, True)
    >>> shuffled = map_agreement(Z, Z[np.random.default_rng(1).permutation(200)])
    >>> abs(shuffled.mean - shuffled.chance) < 0.02
    True
    """
    A, B = euclidean_rows(first, "first", fewest=3), euclidean_rows(second, "second", fewest=3)
    n = len(A)
    require(len(B) == n, "second", f"a map of the same {n} rows", f"{len(B)} rows")
    k = require_count("n_neighbors", n_neighbors, f"from 1 to {n - 1}, the number of other rows", most=n - 1)
    near, there = (
        nearest_among(Z, Z, k, metric="euclidean", selves=np.arange(n), n_jobs=n_jobs)[0] for Z in (A, B)
    )
    return MapAgreement(k, _shared(near, there), *_moved(A, B))


def _shared(near: np.ndarray, there: np.ndarray) -> Floats:
    """Members that two lists of a row have in common: those that come twice in both together."""
    both = np.sort(np.concatenate([near, there], axis=1), axis=1)
    shares: Floats = (both[:, 1:] == both[:, :-1]).sum(axis=1) / near.shape[1]
    return shares


def _moved(A: Floats, B: Floats) -> tuple[Floats, float]:
    d = max(A.shape[1], B.shape[1])
    wide, other = (np.pad(Z, ((0, 0), (0, d - Z.shape[1]))) for Z in (A, B))
    size, its_size = (float(np.linalg.norm(around_mean(Z))) for Z in (wide, other))
    best = procrustes_correlation(wide, other) * size / its_size if its_size > 0 else 1.0  # the least squares
    movement = aligned_distance(wide, best * other)
    return movement.shares, procrustes_correlation(wide, other)


# ---- several maps --------------------------------------------------------------------------------


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
