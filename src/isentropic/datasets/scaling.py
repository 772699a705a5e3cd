"""Scaling: a centre and a scale per feature. A constant feature becomes 0, never NaN.

The 0/1 features of the levels of one column weigh together as one column does. Each standardised by itself,
a level that one row in a hundred has would lie ten standard deviations from all others, and a column would
count as many times as it has levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._errors import InvalidInputError
from .._values import Floats
from .notices import listed, notice

SCALINGS = ("standard", "minmax", "robust", "none")


@dataclass(frozen=True, slots=True)
class Scale:
    """``(x - centre) / scale`` for each feature; ``scale`` is positive."""

    centre: Floats  # (m,)
    scale: Floats  # (m,)

    def apply(self, X: Floats) -> Floats:
        """Scale the rows in place, and return them."""
        X -= self.centre
        X /= self.scale
        return X


def fit_scale(X: Floats, rule: str, names: Sequence[str], levels: Sequence[slice] = ()) -> Scale:
    """Mean and standard deviation, minimum and range, or median and interquartile range; ``O(n m)``.

    ``levels`` are the features that one column of text became. With shares p of the levels they are divided
    by sqrt(sum p (1 - p)), so that two rows drawn at random lie as far apart as in a standardised column; for
    "minmax" by sqrt(2), so that rows of different levels lie 1 apart.
    """
    m = X.shape[1]
    if rule == "none":
        return Scale(np.zeros(m), np.ones(m))
    if levels:
        return _with_levels(X, rule, names, levels)
    if np.isnan(X.sum()):  # values that are missing: each feature by those that are there
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
            f"features {listed(np.array(names)[~finite])} must span a finite range for scaling {rule!r}, got "
            f"up to {np.abs(X[:, ~finite]).max():.3g}. Give them in other units, or choose scaling='none'."
        )
    flat = scale == 0  # at least half of the values are equal, but not all
    if flat.any() and rule == "robust":
        notice(
            f"features {listed(np.array(names)[flat])} have an interquartile range of 0, so scaling 'robust' "
            "moves them to their median and leaves their spread. scaling='standard' has no such exception."
        )
    return Scale(centre, np.where(flat, 1.0, scale))


def _with_levels(X: Floats, rule: str, names: Sequence[str], levels: Sequence[slice]) -> Scale:
    centre, scale = np.zeros(X.shape[1]), np.full(X.shape[1], np.sqrt(2.0))
    is_number = np.ones(X.shape[1], dtype=bool)
    for column in levels:
        is_number[column] = False
        shares = _shares(X[:, column])
        if rule != "minmax":
            spread = float(np.sqrt((shares * (1.0 - shares)).sum()))
            centre[column], scale[column] = shares, spread or 1.0
    chosen = np.flatnonzero(is_number).tolist()
    if chosen:
        numbers = fit_scale(X[:, chosen], rule, [names[j] for j in chosen])
        centre[chosen], scale[chosen] = numbers.centre, numbers.scale
    return Scale(centre, scale)


def _shares(rows: Floats) -> Floats:
    """Share of the rows that have each level, of those that have any that is known."""
    there = rows[~np.isnan(rows[:, 0])]
    return column_means(there) if len(there) else np.zeros(rows.shape[1])


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
    means[huge] = (X[:, huge] / len(X)).sum(axis=0)
    return means
