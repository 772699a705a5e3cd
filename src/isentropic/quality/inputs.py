"""Inputs of quality measures: distances in the data, and distances on the map."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from .._core.errors import IsentropicWarning, require
from .._core.values import DistanceRows, Floats
from ..distances import Metric, all_equal, scaled_distance_rows
from .measures import Measure


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


# ---- 95% intervals of estimates from sampled pairs or rows (t, Wilson) ---------------------------


_NORMAL = 1.959963984540054  # 97.5% quantile


def interval(
    value: float, batch_values: Iterable[float], least: float = -math.inf, greatest: float = math.inf
) -> tuple[float, float]:
    """95% interval of ``value``, from the same measure of each batch, within its possible values.

    All possible values, where some batch says nothing: one whose distances are all equal, or infinite.
    """
    from scipy.stats import t

    values = np.fromiter(batch_values, float)
    if not np.isfinite(values).all():
        return least, greatest
    spread = values.std(ddof=1) / math.sqrt(len(values))
    half = float(t.ppf(0.975, len(values) - 1) * spread)
    return max(least, value - half), min(greatest, value + half)


def mean_interval(
    row_values: Floats, n_rows: int, least: float = -math.inf, greatest: float = math.inf
) -> tuple[float, float]:
    """95% interval of the mean over ``n_rows`` rows, from the values of rows sampled without replacement."""
    from scipy.stats import t

    n_sampled = len(row_values)
    correction = math.sqrt(max(1.0 - n_sampled / n_rows, 0.0))  # all rows drawn: nothing is left to chance
    half = float(t.ppf(0.975, n_sampled - 1) * row_values.std(ddof=1) / math.sqrt(n_sampled) * correction)
    mean = float(row_values.mean())
    return max(least, mean - half), min(greatest, mean + half)


def wilson(share: float, count: float) -> tuple[float, float]:
    """The 95% interval of a share of so many draws: not empty where all or none of them hit.

    >>> [round(end, 3) for end in wilson(0.9, 10)]
    [0.596, 0.982]
    """
    square = _NORMAL**2 / count
    centre = (share + square / 2) / (1 + square)
    half = _NORMAL / (1 + square) * math.sqrt(share * (1 - share) / count + square / (4 * count))
    return max(0.0, centre - half), min(1.0, centre + half)


def share_interval(share: float, n_sampled: int, n_rows: int) -> tuple[float, float]:
    """The 95% interval of a share of rows that are sampled without replacement."""
    return (share, share) if n_sampled == n_rows else wilson(share, n_sampled / (1 - n_sampled / n_rows))


def mean_measure(row_values: Floats, n_rows: int, sampled: bool, measure: Measure) -> Measure:
    """``measure`` with the mean over rows as its value, and an interval if the rows are sampled."""
    value = float(row_values.mean())
    if not sampled:
        return replace(measure, value=value)
    low, high = mean_interval(row_values, n_rows, *measure.range)
    return replace(measure, value=value, low=low, high=high)
