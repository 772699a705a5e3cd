"""Rows as shares, profiles or directions: what is left of a row when its size is taken out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..._core.errors import InvalidInputError
from ..._core.values import Floats
from ..notices import listed, notice, plural
from .columns import Column

ROWS = ("auto", "values", "shares", "profiles", "unit")
ROW_TEXTS = {  # what is done to the values of a row, in words
    "values": "",
    "shares": "divided by the sum of the row",
    "profiles": "minus the mean of the row, divided by its standard deviation",
    "unit": "divided by the length of the row",
}


def require_numbers(columns: Sequence[Column], rows: str) -> None:
    """Raise where a column is no number, so that the values of a row cannot be added."""
    others = [column.name for column in columns if column.kind != "number"]
    if others:
        raise InvalidInputError(
            f"every feature must be a number for rows={rows!r}, got {listed(others)}. Leave them out: "
            f"drop=[{listed(others)}]."
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
