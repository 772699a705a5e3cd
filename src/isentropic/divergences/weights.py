"""Edges of a graph, weighed anew by what lies around their ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._core.errors import TableWarning, require, warn
from .._core.values import NeighborGraph

_LEAST, _MOST = 1e-140, 1e150  # whose squares are numbers: scaling takes those of whole paths
_ROUNDING = 1e-10  # nats: patches of the same rows are so far apart, or less
_ALL_ALIKE = (
    "All neighbourhoods hold the same rows: every divergence is 0 up to rounding, and so is the extent of "
    "the map. Take fewer neighbours, or a smaller percentile."
)


def reweighted(graph: NeighborGraph, weigh: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> NeighborGraph:
    """The same edges, bridges included; ``weigh(heads, tails)`` is asked once for each, heads < tails.

    An edge of length 0 keeps it: equal rows have equal surroundings, and rounding must not part them.
    """
    rows = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))
    upper = rows < graph.indices
    heads, tails = rows[upper], graph.indices[upper].astype(np.int64)
    values = np.where(graph.weights[upper] > 0, checked_weights(weigh(heads, tails), len(heads)), 0.0)
    most = float(values.max(initial=0.0))
    must_be = f"0 on every edge, or between {_LEAST:g} and {_MOST:g} on the longest"
    hint = "Standardise the features, or set parameters in the units of the data."
    require(most == 0 or _LEAST < most < _MOST, "A divergence", must_be, most, hint)
    if most < _ROUNDING and graph.weights.any():
        warn(_ALL_ALIKE, TableWarning)
    weights = np.empty(len(rows))
    weights[upper] = values
    weights[~upper] = values[np.lexsort((heads, tails))]  # the same edges, in the order of their other end
    return replace(graph, weights=weights)


def checked_weights(values: np.ndarray, count: int) -> np.ndarray:
    """Weights that a path can add up: one for each edge, finite, not negative."""
    values = np.asarray(values, float)
    require(values.shape == (count,), "A divergence", f"one number for each of {count} edges", values.shape)
    least, most = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    must_be = "finite and at least 0 on every edge"
    fits = least >= 0 and most < np.inf and not np.isnan(values).any()
    require(fits, "A divergence", must_be, (least, most), "Standardise the features, or regularize more.")
    return values
