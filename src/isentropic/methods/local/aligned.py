"""Local methods restricted to linear functions of the features: the directions of least misfit."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ..._core.errors import IsentropicWarning, warn
from ..._core.state import Array, State, Whole
from ...embedding.maps.linear import LinearEmbedder, padded
from ...linalg import eigenpairs_by_rank
from ...linalg.centred import CentredRows
from ...linalg.spectrum import standing_still


class AlignedEmbedder(LinearEmbedder):
    """``X' M X a = lambda X' X a``, X centred, M the operator of a local method, 0 for constants.

    Solved in the basis of the singular vectors of X, so that collinear columns, or more columns than rows,
    are no case of their own. Every coordinate has the mean square 1. ``O(n m min(n, m))`` time beside M.
    """

    _state = State(eigenvalues_=Array("d"), n_separating_=Whole(0))

    def _align(self, X: np.ndarray, operator: csr_array, n_components: int) -> None:
        """The directions of the smallest lambda, zero beyond the rank of X, and the map along them."""
        centred = CentredRows.of(X)
        spreads, axes = centred.axes()
        rank, n = len(spreads), len(X)
        count = min(n_components, rank)
        self.eigenvalues_, self.n_separating_ = np.zeros(n_components), 0
        components = axes[:0]
        if count:
            U = centred.rows @ (axes.T / spreads)
            values, vectors = eigenpairs_by_rank(U.T @ (operator @ U), 0, count - 1)
            self.eigenvalues_[:count] = values
            components = (vectors / spreads[:, None]).T @ axes * (np.sqrt(n) / centred.unit)
            self.n_separating_ = standing_still(np.sqrt(n) * (U @ vectors), operator)
        if rank >= max(n - 1, 2):
            what = "the directions follow any function of these rows, and say nothing of new ones"
            warn(f"X has {n} rows and a rank of {rank}: {what}. Take more rows.", IsentropicWarning)
        self._project(X, centred.mean, padded(components, n_components, f"X has a rank of {rank}"))
