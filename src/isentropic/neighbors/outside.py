"""The nearest row of another part: by a tree of boxes, matrix products or whole rows of distances."""

from __future__ import annotations

import numpy as np

from ..distances import EUCLIDEAN, Metric, distances_between, rows_per_block
from ..kernels._jit import threads
from ..kernels.bridges import refined_outside
from .boxes import BoxTree, worth_comparing
from .index import Products

_ENOUGH = 64  # queries, to judge by them what a tree is worth


class OutsideIndex:
    """Finds the row of another part nearest to a row, equally far ones by index. ``O(n m)`` memory.

    Lengths are squared distances for the Euclidean metric, which spares roots that may tie, else distances.
    """

    def __init__(self, data: np.ndarray, metric: Metric = "euclidean"):
        self.metric = metric
        self.is_squared = metric in EUCLIDEAN
        self._data = data
        self._tree = BoxTree(data) if self.is_squared else None
        self._products: Products | None = None
        self.rows_at_once = 256 if self.is_squared else rows_per_block(len(data))

    def nearest(self, chosen, labels, limits, n_jobs) -> tuple[np.ndarray, np.ndarray]:
        """For the chosen rows, the nearest row of another part and the length of that edge.

        -1 and the limit where none is within it. A search that is no faster for a limit may ignore it.
        """
        if not self.is_squared:
            return self._by_rows(chosen, labels, n_jobs)
        if self._tree is None:
            return self._by_products(chosen, labels, n_jobs)
        near, lengths, compared = self._tree.nearest_outside(chosen, labels, limits, n_jobs)
        if len(chosen) >= _ENOUGH and compared > worth_comparing(*self._data.shape):
            self._tree = None
        return near, lengths

    def _by_products(self, chosen, labels, n_jobs):
        near, lengths = np.empty(len(chosen), np.int64), np.empty(len(chosen))
        self._products = self._products or Products(self._data)
        for block, *estimates in self._products.blocks(self._data[chosen]):
            with threads(n_jobs):
                refined_outside(*estimates, labels[chosen[block]], labels, near[block], lengths[block])
        return near, lengths

    def _by_rows(self, chosen, labels, n_jobs):
        D = distances_between(self._data[chosen], self._data, self.metric, n_jobs)
        D = np.where(labels[chosen][:, None] == labels, np.inf, D)  # a copy: these may be rows of the caller
        near = D.argmin(axis=1)
        return near, D[np.arange(len(D)), near]
