"""Scaling: a centre and a scale per feature, rows as shares, profiles or directions, weights of columns.

A constant feature becomes 0, never NaN. The features that one column becomes weigh together as one column
does. The 0/1 features of its levels, each standardised by itself, would set a level that one row in a hundred
has ten standard deviations from all others, and a column would count as many times as it has levels. The same
holds for a value and the flag that it was missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..._core.errors import InvalidInputError, is_real, listing, no_such_column, notice, plural, require
from ..._core.values import Floats, Gower, Table
from .columns import Column, first_features

_SMALL = 2.0**-100  # exact as a factor: sums of numbers times it are finite
SCALINGS = ("standard", "minmax", "robust", "none")


class Part(NamedTuple):
    """Features that belong together: a number, levels (0/1), a place on a circle, a flag of holes (0/1)."""

    kind: str  # "number", "levels", "cycle" or "flag"
    span: slice


@dataclass(frozen=True, slots=True)
class Scale:
    """``(x - centre) / scale`` for each feature; ``scale`` is positive."""

    centre: Floats  # (m,)
    scale: Floats  # (m,)

    def apply(self, X: Floats) -> Floats:
        """Scale the rows in place, and return them."""
        try:
            with np.errstate(over="raise"):
                X -= self.centre
                X /= self.scale
        except FloatingPointError:
            raise InvalidInputError(
                "features must span a finite range once they are scaled, got values beyond 1e308 times their "
                "spread. Give them in other units, or choose "
                "scaling='none'."
            ) from None
        return X


def fit_scale(X: Floats, rule: str, names: Sequence[str], groups: Sequence[tuple[Part, ...]] = ()) -> Scale:
    """Mean and standard deviation, minimum and range, or median and interquartile range; ``O(n m)``.

    ``groups`` are the features that one column became, where it is more than a number. Levels with shares p
    are divided by sqrt(sum p (1 - p)), so that two rows drawn at random lie as far apart as in a standardised
    column; for "minmax" by sqrt(2), so that rows of different levels lie 1 apart. A value that was missing
    lies as far from the others as two of them from each other. A date's days, and its place in each cycle,
    have equal parts. All features of a column together have variance 1.
    """
    m = X.shape[1]
    if rule == "none":
        return Scale(np.zeros(m), np.ones(m))
    if groups:
        return _with_groups(X, rule, names, groups)
    with np.errstate(over="ignore", invalid="ignore"):
        has_holes = bool(np.isnan(X.sum()))
    if has_holes:  # values that are missing: each feature by those that are there
        there = (column[~np.isnan(column)][:, None] for column in X.T)
        parts = [fit_scale(part, rule, [name]) for part, name in zip(there, names, strict=True)]
        return Scale(
            *(np.concatenate(one) for one in zip(*((s.centre, s.scale) for s in parts), strict=True))
        )
    low, high = X.min(axis=0), X.max(axis=0)
    constant = low == high
    with np.errstate(over="ignore", invalid="ignore"):
        centre, scale = _centre_and_scale(X, rule, low, high)
    centre[constant], scale[constant] = low[constant], 1.0  # exactly 0: a rounded mean would leave a trace
    finite = np.isfinite(centre) & np.isfinite(scale)
    if not finite.all():
        raise InvalidInputError(
            f"features {listing(np.array(names)[~finite])} must span a finite range for scaling {rule!r}, "
            f"got up to {np.abs(X[:, ~finite]).max():.3g}. Give them in other units, or choose "
            "scaling='none'."
        )
    flat = scale == 0  # at least half of the values are equal, but not all
    if flat.any() and rule == "robust":
        notice(
            f"features {listing(np.array(names)[flat])} have an interquartile range of 0, so scaling "
            "'robust' moves them to their median and leaves their spread. scaling='standard' has no such "
            "exception."
        )
    return Scale(centre, np.where(flat, 1.0, scale))


def weighted_scale(scale: Scale, weights: Sequence[float], firsts: npt.NDArray[np.int64]) -> Scale:
    """The same, with the squared differences of each column multiplied by its weight."""
    widths = np.diff([*firsts.tolist(), len(scale.scale)])
    return Scale(scale.centre, scale.scale / np.sqrt(np.repeat(weights, widths)))


def _with_groups(X: Floats, rule: str, names: Sequence[str], groups: Sequence[tuple[Part, ...]]) -> Scale:
    centre, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    is_number = np.ones(X.shape[1], dtype=bool)
    for parts in groups:
        span = slice(parts[0].span.start, parts[-1].span.stop)
        group = _group_scale(X[:, span], parts, rule, names[span])
        centre[span], scale[span], is_number[span] = group.centre, group.scale, False
    chosen = np.flatnonzero(is_number).tolist()
    if chosen:
        numbers = fit_scale(X[:, chosen], rule, [names[j] for j in chosen])
        centre[chosen], scale[chosen] = numbers.centre, numbers.scale
    return Scale(centre, scale)


def _group_scale(rows: Floats, parts: tuple[Part, ...], rule: str, names: Sequence[str]) -> Scale:
    """Each part by the spread of what was there, then all by one number, so that they weigh as one column."""
    rows = rows[~np.isnan(rows[:, 0])]
    was_there = rows[:, -1] == 0.0 if parts[-1].kind == "flag" else np.ones(len(rows), dtype=bool)
    centre, scale = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    own = [slice(a - parts[0].span.start, b - parts[0].span.start) for a, b in map(_ends, parts)]
    for part, span in zip(parts, own, strict=True):
        if part.kind == "number":
            one = fit_scale(rows[was_there, span], rule, names[span])
        elif part.kind == "cycle":
            one = _circle_scale(rows[was_there, span], rule)
        else:
            one = _indicator_scale(rows[:, span], part.kind, rule)
        centre[span], scale[span] = one.centre, one.scale
    if len(parts) > 1:
        scaled = (rows - centre) / scale
        total = sum(_weight(scaled[:, a], was_there, p.kind, rule) for p, a in zip(parts, own, strict=True))
        scale *= np.sqrt(total) if total > 0 else 1.0
    return Scale(centre, scale)


def _ends(part: Part) -> tuple[int, int]:
    return part.span.start, part.span.stop


def _indicator_scale(rows: Floats, kind: str, rule: str) -> Scale:
    """Scale of levels, or of the flag of a missing value: sqrt(2) from the rest, as two random rows are."""
    shares = column_means(rows) if len(rows) else np.zeros(rows.shape[1])
    if rule == "minmax":
        return Scale(np.zeros_like(shares), np.full_like(shares, np.sqrt(2.0) if kind == "levels" else 1.0))
    spread = float(np.sqrt((shares * (1.0 - shares)).sum())) if kind == "levels" else np.sqrt(0.5)
    return Scale(shares, np.full_like(shares, spread or 1.0))


def _circle_scale(places: Floats, rule: str) -> Scale:
    """Scale of points on a circle: variance 1 of both coordinates together, or opposite points 1 apart."""
    if rule == "minmax":
        return Scale(np.zeros(2), np.full(2, 2.0))
    return Scale(places.mean(axis=0), np.full(2, float(np.sqrt(places.var(axis=0).sum())) or 1.0))


def _weight(scaled: Floats, was_there: npt.NDArray[np.bool_], kind: str, rule: str) -> float:
    """Weight of a part in the squared spread of the column, relative to the values that were there."""
    if rule == "minmax":
        return float((scaled.min(axis=0) < scaled.max(axis=0)).any())
    variance = float(scaled.var(axis=0).sum())
    if kind == "flag":
        return variance
    known = float(scaled[was_there].var(axis=0).sum())
    return variance / known if known > 0 else 0.0


def _centre_and_scale(X: Floats, rule: str, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    if rule == "minmax":
        return low.copy(), high - low
    if rule == "robust":
        lower, middle, upper = np.percentile(X, [25, 50, 75], axis=0)
        return middle, upper - lower
    centre, spread = column_means(X), high - low
    unit = np.where(spread > 0, spread, 1.0)  # squares of shares neither overflow nor vanish
    squares = np.zeros_like(centre)
    for start in range(0, len(X), 4096):  # blocks, so that no second table is held
        share = (X[start : start + 4096] - centre) / unit
        squares += np.einsum("ij,ij->j", share, share)
    return centre, unit * np.sqrt(squares / len(X))


def column_means(X: Floats) -> Floats:
    """Means of the columns, finite for finite values."""
    with np.errstate(over="ignore", invalid="ignore"):
        means: Floats = X.mean(axis=0)
    huge = ~np.isfinite(means)
    if huge.any():
        shares = X[:, huge] * _SMALL  # a mean that is rounded may lie above all values, and overflow
        means[huge] = np.clip(shares.mean(axis=0), shares.min(axis=0), shares.max(axis=0)) / _SMALL
    return means


# ---- rows as profiles ----------------------------------------------------------------------------


ROWS = ("auto", "values", "shares", "profiles", "unit")


def require_numbers(columns: Sequence[Column], rows: str) -> None:
    """Raise where a column is no number, so that the values of a row cannot be added."""
    others = [column.name for column in columns if column.kind != "number"]
    if others:
        raise InvalidInputError(
            f"every feature must be a number for rows={rows!r}, got {listing(others)}. Leave them out: "
            f"drop=[{listing(others)}]."
        )


def row_profiles(X: Floats, rows: str) -> Floats:
    """Each row by itself: divided by its sum, minus its mean over its spread, or divided by its length.

    NaN is a missing value, left out of sums. A row of zeros, or of equal values for profiles, becomes 0.
    """
    if rows == "values":
        return X
    if rows == "shares" and bool((X < 0).any()):
        raise InvalidInputError(
            f"values must be 0 or more for rows='shares', got {np.nanmin(X):g}. Choose rows='profiles', or "
            "leave out the columns with negative values: drop=[...]."
        )
    unit = np.nanmax(np.abs(X), axis=1, keepdims=True)
    shares = np.divide(X, unit, out=np.where(np.isnan(X), np.nan, 0.0), where=unit > 0)  # no sum overflows
    if rows == "profiles":
        shares -= np.nanmean(shares, axis=1, keepdims=True)
    size = _SIZES[rows](shares)
    flat = size[:, 0] <= 1e-14
    if flat.any():
        notice(f"{plural(int(flat.sum()), 'row')} without differences become 0 for rows={rows!r}.")
    return np.asarray(np.divide(shares, size, out=np.where(np.isnan(X), np.nan, 0.0), where=size > 1e-14))


_SIZES: dict[str, Callable[[Floats], Floats]] = {
    "shares": lambda X: np.nansum(X, axis=1, keepdims=True),
    "profiles": lambda X: np.sqrt(np.nanmean(X**2, axis=1, keepdims=True)),
    "unit": lambda X: np.sqrt(np.nansum(X**2, axis=1, keepdims=True)),
}


# ---- weights of columns --------------------------------------------------------------------------

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
    """Variance of each feature over its known values, in a unit in which no square overflows."""
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
    """Share of variance along the first direction, and whether all columns rise together along it.

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
