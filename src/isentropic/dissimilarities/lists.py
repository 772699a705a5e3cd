"""The nearest rows by a dissimilarity of classes, without all pairs: merged lists of each class's nearest."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._core.runtime import row_blocks
from ..distances import Metric, distances_between, rows_per_block
from ..neighbors import RowIndex, lists_in_rows
from .measures import MOST_SPREAD, ClassDistance, Directed, directed_distances, same_class


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

    def listed(
        self, k: int, measure: ClassDistance, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k other rows nearest to each by the dissimilarity, and that, nearest first."""
        near, lengths = self.among(k, measure, n_jobs)
        return near, measure.between(lengths, self.classes[:, None], self.classes[near])

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


class DirectedIndex:
    """Rows with a class, searched by dis4: every row is measured, ``O(n m)`` time for each."""

    def __init__(self, X: np.ndarray, classes: np.ndarray, metric: Metric = "euclidean"):
        self._X, self._classes, self._metric = X, classes, metric

    def listed(self, k: int, measure: Directed, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The k other rows nearest to each, and how far they are, nearest first."""
        same = (self._classes[:, None] == np.unique(self._classes)).astype(float)
        return self._lists(self._X, k, measure, same, np.arange(len(self._X)), n_jobs)

    def nearest(
        self, X: np.ndarray, k: int, measure: Directed, shares: np.ndarray | None, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k rows nearest to new ones by the expected dissimilarity, and that; rows by themselves."""
        return self._lists(X, k, measure, shares, np.full(len(X), -1), n_jobs)

    def _lists(self, X, k: int, measure: Directed, shares, selves, n_jobs) -> tuple[np.ndarray, np.ndarray]:
        rows, levels = measure.split(self._X)
        queries, own = measure.split(X)
        indices, values = np.empty((len(X), k), np.int32), np.empty((len(X), k))
        for block in row_blocks(len(X), "neighbours", size=rows_per_block(len(rows))):
            d = distances_between(queries[block], rows, self._metric, n_jobs)
            tails = np.broadcast_to(self._classes, d.shape)
            share = same_class(None if shares is None else shares[block], tails)
            # of a new row that lies absurdly far outside, the factor ends before it is no number
            heads = np.clip(own[block], levels.min() - MOST_SPREAD, levels.max() + MOST_SPREAD)[:, None]
            D = np.ascontiguousarray(directed_distances(d, share, heads, levels))
            lists_in_rows(D, selves[block], indices[block], values[block], n_jobs)
        return indices, values
