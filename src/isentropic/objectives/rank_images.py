"""Rank images of a map: what its distances would be, were its rows in the order of the data."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array

from .._core.runtime import require_memory
from ..kernels._jit import threads
from ..kernels.pairs.rank_images import condensed_ranks, rank_images
from .listed_stress import ListedPairs
from .same_degree import AllPairs


class RankImages:
    """The cost of the ranks within k of a map, and what rank images (Guttman) want of its distances.

    ``(1 - a) zeta_1 + a zeta_2``, a the ``leniency``: see :class:`isentropic.RankVisu`. ``2 n^2`` bytes and
    ``O(n^2 log n)`` a map.

    >>> import numpy as np
    >>> from scipy.spatial.distance import pdist
    >>> Z = np.random.default_rng(0).normal(size=(9, 2))
    >>> cost, wanted = RankImages(AllPairs(9, pdist(Z) ** 3), 4)(Z)
    >>> first = slice(0, wanted.indptr[1])
    >>> lengths = np.linalg.norm(Z[0] - Z[wanted.indices[first]], axis=1)
    >>> cost, bool(np.allclose(wanted.wanted[first], lengths))
    (0.0, True)
    """

    def __init__(self, pairs: AllPairs, k: int, leniency: float = 0.0, *, n_jobs: int | None = None):
        n = pairs.n
        dtype = np.uint16 if n <= 2**16 else np.int32
        require_memory(n * n * np.dtype(dtype).itemsize, f"Ranks of {n:,} rows", "Take fewer rows.")
        self.k, self.leniency, self.n_jobs = k, float(leniency), n_jobs
        self.ranks = np.empty((n, n), dtype)
        with threads(n_jobs) as workers:
            condensed_ranks(pairs.distances, workers, self.ranks)
        self.near = np.argsort(self.ranks, axis=1, kind="stable")[:, 1 : k + 1]  # the first is the row itself

    def __call__(self, Z: np.ndarray) -> tuple[float, ListedPairs]:
        """The cost of the map ``Z`` (n, d), and its rank images."""
        n = len(Z)
        shape = (n, 2 * self.k)
        partners, wanted, weights = np.empty(shape, np.int64), np.empty(shape), np.empty(shape)
        with threads(self.n_jobs) as workers:
            costs = rank_images(self.ranks, self.near, Z, self.leniency, workers, partners, wanted, weights)
        return math.fsum(costs), _symmetric(partners, wanted, weights)


def _symmetric(partners: np.ndarray, wanted: np.ndarray, weights: np.ndarray) -> ListedPairs:
    """What both rows of a pair want, by weight: ``W = w + w'``, ``T = (w t + w' t') / W``."""
    n = len(partners)
    rows = np.repeat(np.arange(n), partners.shape[1])
    some = weights.ravel() > 0

    both = weights + 1j * weights * wanted  # in one array, for one pattern of entries
    one = csr_array((both.ravel()[some], (rows[some], partners.ravel()[some])), shape=(n, n))
    total = (one + one.T).tocsr()
    total.sort_indices()
    W = total.data.real.copy()
    return ListedPairs(total.indptr.astype(np.int64), total.indices.astype(np.int32), total.data.imag / W, W)
