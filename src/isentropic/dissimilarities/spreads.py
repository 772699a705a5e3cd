"""How far apart the rows of a table are on the whole: mean squared and largest distance, in blocks."""

from __future__ import annotations

import numpy as np

from .._core.runtime import row_blocks
from ..distances import EUCLIDEAN, Metric, distances_between, rows_per_block

_PAIRS = 20_000  # rows of which all pairs are measured; beyond, the box around them bounds their distances


def mean_squared_distance(X: np.ndarray, metric: Metric, n_jobs: int | None = None) -> float:
    """Mean of d^2 over the pairs of rows; 1 where all are 0. Euclidean: ``2 n / (n - 1)`` times the variance.

    >>> import numpy as np
    >>> round(mean_squared_distance(np.array([[0.0], [1.0], [3.0]]), "euclidean"), 12)
    4.666666666667
    """
    n = len(X)
    if metric in EUCLIDEAN:
        centred = X - X.mean(axis=0)
        unit = float(np.abs(centred).max()) or 1.0
        mean, longest = 2 / (n - 1) * float(((centred / unit) ** 2).sum()), unit
    else:
        sums, longest = 0.0, largest_distance(X, metric, n_jobs) or 1.0
        for block in row_blocks(n, "distances", size=rows_per_block(n)):
            sums += float(((distances_between(X[block], X, metric, n_jobs) / longest) ** 2).sum())
        mean = sums / (n * (n - 1))
    return mean * longest * longest or 1.0


def largest_distance(X: np.ndarray, metric: Metric, n_jobs: int | None = None) -> float:
    """Largest distance between two rows; of more than 20,000 rows the diagonal of their box."""
    n = len(X)
    if metric in EUCLIDEAN and n > _PAIRS:
        return float(np.linalg.norm(np.ptp(X, axis=0)))
    blocks = row_blocks(n, "distances", size=rows_per_block(n))
    return max(float(distances_between(X[block], X, metric, n_jobs).max()) for block in blocks)
