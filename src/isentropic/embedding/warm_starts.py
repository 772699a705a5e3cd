"""Warm starts: a descent goes on from an earlier map, its rows matched by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._core.arguments import unmasked
from .._core.errors import require
from .._core.state import is_fitted
from ..neighbors import nearest_among
from ..tables.row_names import matched_names, row_names
from .input_rows import metric_of_rows

_NEAR = 5  # rows with a place, between which a row without one begins
_EQUAL = 1e-9  # of the distance of the last of them: a row as near as that is at the same place
_TINY = float(np.finfo(float).tiny)
_KINDS = "a fitted estimator, a DataFrame of coordinates by row name, or an array (n, n_components)"


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Where rows are in an earlier map, and how far to go from there."""

    places: np.ndarray  # (n, d), NaN for rows that the map has not
    steps: int | None = None  # None for as many as the method takes from an earlier map


def previous_embedding(X: Any, init: Any, n_components: int) -> WarmStart | None:
    """Where the rows of ``X`` are in an earlier map: an estimator, coordinates by row name, an array."""
    if init is None:
        return None
    if isinstance(init, WarmStart):
        require(init.places.shape[1] == n_components, "n_components",
                "that of the map, to go on from it", n_components)  # fmt: skip
        return init
    Z = _places_before(X, init, n_components)
    finite = np.isfinite(Z).all(axis=1)
    hint = "Do the names of the rows agree? They are the index of X, and that of the earlier map."
    require(bool(finite.any()), "init", "a map that has rows of X", f"none of {len(Z)}", hint)
    return WarmStart(Z)


def _places_before(X: Any, init: Any, d: int) -> np.ndarray:
    """Coordinates of the rows of ``X`` in an earlier map, NaN for those that it has not."""
    names = row_names(X)
    if hasattr(init, "get_params"):
        require(is_fitted(init), "init", _KINDS, init, "Fit it first.")
        known, Z = getattr(init, "training_row_names", None), init.embedding_
        if known is None or names is None:
            known, Z = None, np.asarray(init.transform(X), float)  # fitted rows have their own places
    else:
        known, Z = row_names(init), _numbers(init)
    must_be = f"a map of {d} coordinates, as n_components says"
    require(Z.ndim == 2 and Z.shape[1] == d, "init", must_be, f"shape {Z.shape}")
    require(bool(np.isfinite(Z).all()), "init", "finite everywhere", "infinite or missing numbers")
    if known is None:
        n = _num_samples(X)
        hint = "Row names, as the index of DataFrames, match rows of other tables."
        require(len(Z) == n, "init", f"a map of the {n} rows of X", f"{len(Z)} rows", hint)
        return Z.copy()
    hint = "Its rows are matched by name: give X as a DataFrame with an index, or an array of all rows."
    require(names is not None, "X", "a table with row names", type(X).__name__, hint)
    assert names is not None
    found = matched_names(names, known, "row names")
    return np.where(found[:, None] >= 0, Z[found], np.nan)


def completed_places(warm: WarmStart, X: np.ndarray, metric: Any, n_jobs: int | None) -> np.ndarray:
    """A place for every row: its own of the map before, else amid those of its nearest rows.

    ``z = sum_j z_j / d_j / sum_j 1 / d_j`` over the five nearest rows that have a place.
    """
    Z = warm.places.copy()
    known = np.isfinite(Z).all(axis=1)
    new, there = np.flatnonzero(~known), np.flatnonzero(known)
    if len(new):
        metric = metric_of_rows(metric)
        queries = X[np.ix_(new, there)] if metric == "precomputed" else X[new]
        near, away = nearest_among(np.ascontiguousarray(queries), X[there], min(_NEAR, len(there)),
                                   metric=metric, n_jobs=n_jobs)  # fmt: skip
        weights = 1.0 / (away / np.maximum(away[:, -1:], _TINY) + _EQUAL)
        weights /= weights.sum(axis=1, keepdims=True)
        Z[new] = np.einsum("ij,ijc->ic", weights, Z[there][near])
    apart = bool(np.ptp(Z, axis=0).any())
    require(apart, "init", "a start that tells rows apart", "the same place for all of them")
    return Z


def _numbers(init: Any) -> np.ndarray:
    try:
        return np.asarray(unmasked("init", init), float)
    except (TypeError, ValueError):
        require(False, "init", _KINDS, init)
        raise
