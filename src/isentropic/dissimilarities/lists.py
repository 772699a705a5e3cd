"""The nearest rows by a dissimilarity of classes, without all pairs: merged lists of each class's nearest."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..distances import Metric
from ..neighbors import RowIndex
from .measures import ClassDistance


class ClassIndex:
    """Rows with a class, prepared for searches class by class. ``O(n m)`` memory, a search for each class."""

    def __init__(self, X: np.ndarray, classes: np.ndarray, metric: Metric = "euclidean"):
        self._X, self.classes, self.metric = X, classes, metric

    def among(
        self, k: int, measure: ClassDistance, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k other rows nearest to each by the dissimilarity, and their plain distances, nearest first."""
        rows = np.arange(len(self._X))

        def weigh(d: np.ndarray, tails: np.ndarray) -> np.ndarray:
            return measure.between(d, self.classes[:, None], tails, told=False)

        return self._merged(self._X, k, weigh, rows, n_jobs)[:2]

    def nearest(
        self,
        X: np.ndarray,
        k: int,
        measure: ClassDistance,
        shares: np.ndarray | None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k rows nearest to new ones by the expected dissimilarity, and that; rows by themselves."""

        def weigh(d: np.ndarray, tails: np.ndarray) -> np.ndarray:
            return measure.expected(d, shares, tails)

        indices, _, values = self._merged(X, k, weigh, None, n_jobs)
        return indices, values

    def _merged(self, X, k: int, weigh, selves, n_jobs):
        """Lists of all classes so far, the k least kept: ``O(n k)`` memory whatever the number of classes."""
        parts: list[np.ndarray] = [np.empty((len(X), 0), np.int32), *np.empty((2, len(X), 0))]
        for c, members, index in self._indexes:
            queries = X[:, members] if self.metric == "precomputed" else X
            count = min(k + (selves is not None), len(members))
            found, d = index.nearest(np.ascontiguousarray(queries), count, n_jobs=n_jobs)
            near = members[found].astype(np.int32)
            values = weigh(d, np.full(d.shape, c))
            if selves is not None:
                values[near == selves[:, None]] = np.inf
            parts = [np.concatenate(two, axis=1) for two in zip(parts, (near, d, values), strict=True)]
            order = np.lexsort((parts[0], parts[2]), axis=1)[:, :k]
            parts = [np.take_along_axis(part, order, axis=1) for part in parts]
        return parts

    @cached_property
    def _indexes(self) -> list[tuple[int, np.ndarray, RowIndex]]:
        found = []
        for c in np.unique(self.classes).tolist():
            members = np.flatnonzero(self.classes == c)
            given = self.metric == "precomputed"  # then queries are distances, and the rows are not read
            rows = np.empty((len(members), 0)) if given else self._X[members]
            found.append((c, members, RowIndex(rows, self.metric)))
        return found
