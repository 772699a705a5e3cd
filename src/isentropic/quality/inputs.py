"""Inputs of quality measures: distances in the data, and distances on the map."""

from __future__ import annotations

import warnings
from typing import Any

from .._core.errors import IsentropicWarning, require
from .._core.values import DistanceRows
from ..distances import Metric, all_equal, scaled_distance_rows


def both_sides(
    X: Any, Z: Any, *, metric: Metric = "euclidean", fewest: int = 3, n_jobs: int | None = None
) -> tuple[DistanceRows, DistanceRows]:
    """``X`` by ``metric`` and ``Z`` by Euclidean distance; either may be a :class:`DistanceRows` already."""
    given = scaled_distance_rows(X, metric, n_jobs=n_jobs)
    mapped = scaled_distance_rows(Z, name="Z", n_jobs=n_jobs)
    require(given.n == mapped.n, "Z", f"a table with as many rows as X, {given.n}", mapped.n)
    require(given.n >= fewest, "X", f"a table of at least {fewest} rows", given.n)
    for side, name in ((given, "X"), (mapped, "Z")):
        if all_equal(side):
            warnings.warn(
                f"All rows of {name} are equal: ranks there are by row number, and mean nothing.",
                IsentropicWarning,
                stacklevel=3,
            )
    return given, mapped
