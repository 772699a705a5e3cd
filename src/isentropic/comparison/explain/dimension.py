"""Intrinsic dimension: maximum likelihood (Levina and Bickel), two nearest neighbors (Facco et al.)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.errors import require_count
from ..._core.values import Floats
from ...distances import Metric, distance_rows, measurable_rows
from ...neighbors import nearest_among

_ROWS = 5_000  # whose neighbours are read, of more rows
_RETAINED = 0.9  # share of the ratios that the two-neighbour fit reads: the largest ones are outliers


@dataclass(frozen=True, slots=True)
class Dimensions:
    """Estimates of the intrinsic dimension; None where there are too few different rows."""

    maximum_likelihood: float | None
    two_nearest: float | None


def intrinsic_dimension(
    X: Any,
    *,
    metric: Metric = "euclidean",
    n_neighbors: int = 20,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Dimensions:
    """Levina and Bickel's estimate, averaged as MacKay and Ghahramani say, and that of Facco et al.

    With ``T_j`` the distance of a row to its j-th neighbour, the first is
    ``1 / mean (1 / (k - 1) sum_{j < k} ln(T_k / T_j))`` with the mean over rows; the second is the slope
    through the origin of ``-ln(1 - F)`` over ``ln mu``, with ``mu = T_2 / T_1`` and F its distribution, the
    largest tenth left out. The first sees neighbourhoods of k rows, the second the smallest there are: noise
    raises it more. Both fall short of high dimensions, of which few rows say little. Equal rows
    count once. ``O(s n m)`` time for s rows, at most 5,000 of which are read.

    References: Levina and Bickel (2005), MacKay and Ghahramani (2005), Facco et al. (2017).

    >>> import numpy as np
    >>> plane = np.random.default_rng(0).uniform(size=(1000, 2)) @ np.ones((2, 5)) * [1, 2, 3, 4, 5]
    >>> round(intrinsic_dimension(plane).maximum_likelihood, 1)  # one line, in fact
    1.0
    """
    n_neighbors = require_count("n_neighbors", n_neighbors, least=2)
    if isinstance(metric, str) and metric == "precomputed":
        return _of_distances(_nearest_given(X, n_neighbors))
    X = np.unique(measurable_rows(X, metric), axis=0)
    k = min(n_neighbors, len(X) - 1)
    if k < 3:
        return Dimensions(None, None)
    rows = np.arange(len(X))
    if len(X) > _ROWS:
        rows = np.sort(np.random.default_rng(random_state).permutation(len(X))[:_ROWS])
    _, distances = nearest_among(X[rows], X, k, metric=metric, selves=rows, n_jobs=n_jobs)
    return _of_distances(distances)


def _nearest_given(X: Any, n_neighbors: int) -> Floats:
    """Distances of each row to its nearest ones, of a matrix of distances; equal rows count once."""
    given = distance_rows(X, "precomputed")
    D = given.rows(np.arange(given.n))
    first = np.array([not (D[i, :i] == 0).any() for i in range(len(D))])
    D = np.sort(D[first][:, first], axis=1)
    return np.asarray(D[:, 1 : 1 + n_neighbors])


def _of_distances(distances: Floats) -> Dimensions:
    if distances.shape[1] < 3:
        return Dimensions(None, None)
    distances = distances[distances[:, 0] > 0]  # rows so near that their distance is rounded to 0
    if len(distances) < 4:
        return Dimensions(None, None)
    return Dimensions(_maximum_likelihood(distances), _two_nearest(distances))


def _maximum_likelihood(distances: Floats) -> float | None:
    logs = np.log(distances[:, -1:] / distances[:, :-1])
    mean = float(logs.mean())
    return 1.0 / mean if mean > 0 else None


def _two_nearest(distances: Floats) -> float | None:
    logs = np.sort(np.log(distances[:, 1] / distances[:, 0]))
    n_retained = max(2, int(_RETAINED * len(logs)))
    survival = -np.log1p(-np.arange(1, n_retained + 1) / len(logs))
    logs = logs[:n_retained]
    square = float(logs @ logs)
    return float(logs @ survival) / square if square > 0 else None
