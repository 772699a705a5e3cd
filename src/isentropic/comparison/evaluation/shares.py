"""How many of the neighbours that a map shows are none, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.values import Floats, Integers
from ...distances import EUCLIDEAN, Metric, distances_between, pair_distances
from ...neighbors import nearest_among
from ...quality import Quality

_BLOCK = 4_096  # rows whose differences are held at a time


def false_shares(
    X: Floats, Z: Floats, quality: Quality, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Floats:
    """Of each compared row: the share of its k nearest rows in the map that are not so in the data.

    One that is as near in the data as the k-th there is none that is false: which of equal ones are counted
    among the k nearest is chance.
    """
    rows, k = quality.rows, quality.n_neighbors[0]
    farthest = nearest_among(X[rows], X, k, metric=metric, selves=rows, n_jobs=n_jobs)[1][:, -1]
    near = nearest_among(Z[rows], Z, k, selves=rows, n_jobs=n_jobs)[0]
    apart = np.empty((len(rows), k))
    measure = pair_distances(X, metric, n_jobs)
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        for j in range(k):
            apart[part, j] = _apart(X, rows[part], near[part, j], metric, measure)
    return (apart > farthest[:, None] * (1 + 1e-9)).mean(axis=1)


def _apart(X: Floats, first: Integers, second: Integers, metric: Metric, measure: Any) -> Floats:
    if metric in EUCLIDEAN:
        return np.linalg.norm(X[first] - X[second], axis=1)
    if measure is not None:
        return np.asarray(measure(first, second))
    pairs = zip(first, second, strict=True)
    return np.array([distances_between(X[i : i + 1], X[j : j + 1], metric, 1)[0, 0] for i, j in pairs])
