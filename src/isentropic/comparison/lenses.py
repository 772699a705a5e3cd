"""How far the drawn rows are from each other in the data, as bytes for a page: all pairs, or landmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._core.values import Floats, Integers
from ..distances import Metric, condensed_distances, distances_between, metric_name

EXACT_ROWS = 3_000  # whose pairs fit a page: 4.5 million bytes
MOST_LANDMARKS = 256
_LANDMARK_BYTES = 2_600_000
STEPS = 254  # of a byte, from no distance to the largest


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """Distances in the data in 254 equal steps up to ``top``, each at most half a step from the truth."""

    metric: str
    codes: np.ndarray  # bytes: (n (n - 1) / 2,) of all pairs i < j, row after row; or (l, n) of landmarks
    top: float
    landmarks: Integers | None = None  # (l,) positions; None where all pairs are there

    @property
    def error(self) -> float:
        """The most that one stored distance is off."""
        return self.top / (2 * STEPS)


def lens(X: Floats, landmarks: Integers, metric: Metric = "euclidean") -> Lens:
    """All pairs of up to 3,000 rows, ``O(n^2 m)``; of more rows the distances to landmarks, ``O(l n m)``.

    Through landmarks L the distance of i and j lies from max |d(i, L) - d(j, L)| to min d(i, L) + d(j, L).

    >>> import numpy as np
    >>> found = lens(np.array([[0.0], [1.0], [4.0]]), np.array([0]))
    >>> found.codes.tolist(), found.top
    ([64, 254, 190], 4.0)
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    few = len(X) <= EXACT_ROWS
    D = condensed_distances(X, metric, None) if few else distances_between(X[landmarks], X, metric, None)
    top = float(D.max()) if D.size else 0.0
    codes = np.rint(D * (STEPS / (top or 1.0))).astype(np.uint8)
    return Lens(metric_name(metric), codes, top, None if few else np.asarray(landmarks))


def landmark_count(n: int) -> int:
    """As many as the page has room for, of rows that are too many for all pairs."""
    return min(MOST_LANDMARKS, max(1, _LANDMARK_BYTES // max(n, 1)))
