"""How many of the neighbours that a map shows are none, row by row."""

from __future__ import annotations

import numpy as np

from .._values import Floats
from ..neighbors import nearest_among
from ..quality import Quality

_BLOCK = 4_096  # rows whose differences are held at a time


def false_shares(X: Floats, Z: Floats, quality: Quality, n_jobs: int | None = None) -> Floats:
    """Of each compared row: the share of its k nearest rows in the map that are not so in the data.

    One that is as near in the data as the k-th there is none that is false: which of equal ones are counted
    among the k nearest is chance.
    """
    rows, k = quality.rows, quality.n_neighbors[0]
    farthest = nearest_among(X[rows], X, k, selves=rows, n_jobs=n_jobs)[1][:, -1]
    near = nearest_among(Z[rows], Z, k, selves=rows, n_jobs=n_jobs)[0]
    apart = np.empty((len(rows), k))
    for j in range(k):
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            apart[part, j] = np.linalg.norm(X[rows[part]] - X[near[part, j]], axis=1)
    return (apart > farthest[:, None] * (1 + 1e-9)).mean(axis=1)
