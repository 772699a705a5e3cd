"""Weights and shares of columns in the distance between rows, and a common factor of all columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..._core.errors import is_real, require
from ..._core.gower import Gower
from ..._core.values import Floats, Table
from ..notices import no_such_column
from .columns import first_features

_MOST_ENTRIES = 20_000_000  # of a table whose principal component is found from all rows


# ---- weights -----------------------------------------------------------------------------------


def require_weights(
    weights: Mapping[str, float] | None, columns: Sequence[str], table: str
) -> dict[str, float]:
    """The weights by name of column, checked: positive numbers for columns that are features."""
    is_mapping = weights is None or isinstance(weights, Mapping)
    require(is_mapping, "weights", "a mapping from columns to numbers", weights)
    for name, weight in (weights or {}).items():
        if name not in columns:
            raise no_such_column("weights", table, str(name), columns)
        hint = f"Leave a column out with drop=[{name!r}]."
        must_be = "a positive number"
        require(is_real(weight) and 0 < weight < np.inf, f"weight of {name!r}", must_be, weight, hint)
    return {name: float(weight) for name, weight in (weights or {}).items()}


def balancing_weights(X: Floats, metric: Gower, asked: Sequence[float]) -> tuple[float, ...] | None:
    """Weights of Gower's metric by which every column has the same mean over pairs, times ``asked``.

    ``w_j = a_j / mean d_j``, over pairs of rows that both have a value; 0 for a constant column. They are
    scaled to a mean of 1. None where all columns are constant. ``O(n m log n)``.
    """
    means = mean_differences(X, metric)
    weights = np.divide(asked, means, out=np.zeros(len(means)), where=means > 0)
    total = weights.sum()
    return tuple((weights * (len(weights) / total)).tolist()) if total > 0 else None


def mean_differences(X: Floats, metric: Gower) -> Floats:
    """Mean over pairs of rows of each column's part ``d_j`` of Gower's distance; NaN is a missing value.

    Numbers by sorting, ``sum_i (2 i - n - 1) x_(i)``, levels by their frequencies: ``O(n m log n)``.
    """
    means = np.zeros(X.shape[1])
    for j, column in enumerate(X.T):
        there = column[~np.isnan(column)]
        values, codes, counts = np.unique(there, return_inverse=True, return_counts=True)
        n = len(there)
        if len(values) < 2:
            continue
        if j in metric.levels:
            means[j] = 1.0 - (counts / n * ((counts - 1) / (n - 1))).sum()
            continue
        if j in metric.ordered:
            there = codes.astype(np.float64)
        low, high = float(there.min()), float(there.max())
        if high - low == np.inf:  # halves have a range; those of the least numbers would have none
            there, low, high = there / 2, low / 2, high / 2
        places = np.sort((there - low) / (high - low))
        means[j] = 2.0 * ((2.0 * np.arange(n) - n + 1) * places).sum() / (n * (n - 1.0))
    return means


# ---- shares ------------------------------------------------------------------------------------


def shares_by_column(table: Table) -> dict[str, float]:
    """Share of each feature column in the mean difference between rows, in the order of the columns.

    For Gower's metric of the mean distance, for others of the mean squared distance, which is the variance
    after scaling. All shares add up to 1; they are 0 where all rows are equal. A distance matrix has none.
    """
    if table.preparation is None or not table.preparation.columns or table.metric == "precomputed":
        return {}
    columns, nominal = table.preparation.columns, table.preparation.nominal
    if isinstance(table.metric, Gower):
        weights = table.metric.weights or np.ones(table.X.shape[1])
        parts = np.asarray(weights) * mean_differences(table.X, table.metric)
    else:
        parts = _variances(table.X)
    firsts = first_features(columns, nominal)
    sums = np.add.reduceat(parts, firsts)
    total = sums.sum()
    shares = sums / total if total > 0 else np.zeros(len(sums))
    return {column.name: float(share) for column, share in zip(columns, shares, strict=True)}


def _variances(X: Floats) -> Floats:
    """Of each feature, over the values that are there, in a unit in which no square overflows."""
    holes = np.isnan(X)
    unit = max(float(np.abs(X).max(initial=0.0, where=~holes)), np.finfo(float).tiny)
    scaled = X / unit
    if not holes.any():
        return np.asarray(scaled.var(axis=0))
    present = (x[~hole] for x, hole in zip(scaled.T, holes.T, strict=True))
    return np.array([x.var() if len(x) else 0.0 for x in present])


# ---- one direction that all columns share --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CommonFactor:
    """The first principal component of a table, as a direction that all columns may share."""

    share: float  # of the variance
    same_sign: bool  # all columns rise together along it
    n_columns: int  # that vary


def common_factor(X: Floats) -> CommonFactor | None:
    """How much of the variance lies along one direction, and whether all columns rise together along it.

    Columns are standardised first, as one with large numbers would be a direction by itself. None for fewer
    than three columns that vary, for missing values, and for fewer than three rows. ``O(n m min(n, m))``.
    """
    n, m = X.shape
    if n < 3 or m < 3 or np.isnan(X).any():
        return None
    if n * m > _MOST_ENTRIES:
        X = X[:: -(-n * m // _MOST_ENTRIES)]
    centred = X / max(float(np.abs(X).max()), np.finfo(float).tiny)
    centred = centred - centred.mean(axis=0)
    spread = np.sqrt((centred**2).mean(axis=0))
    varies = spread > 1e-12 * spread.max(initial=0.0)
    if varies.sum() < 3:
        return None
    Y = centred[:, varies] / spread[varies]
    gram = Y @ Y.T if len(Y) < Y.shape[1] else Y.T @ Y
    values, vectors = np.linalg.eigh(gram)
    loadings = Y.T @ vectors[:, -1] if len(Y) < Y.shape[1] else vectors[:, -1]
    same_sign = bool((loadings > 0).all() or (loadings < 0).all())
    return CommonFactor(float(values[-1] / np.trace(gram)), same_sign, int(varies.sum()))
