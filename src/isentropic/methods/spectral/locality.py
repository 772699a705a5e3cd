"""Locality preserving directions: Laplacian eigenmaps restricted to linear functions of some features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import svd
from scipy.sparse import csr_array

from ...linalg import eigenpairs_by_rank
from ...linalg.centred import RANK
from ...linalg.spectrum import separating


class Directions(NamedTuple):
    """What changes least along the edges of a graph."""

    centre: np.ndarray  # (m,) the mean weighted by the degrees
    components: np.ndarray  # (d, m), zero beyond the rank
    eigenvalues: np.ndarray  # (d,) smallest first, zero beyond the rank
    rank: int
    n_separating: int


def locality_directions(
    X: np.ndarray, adjacency: csr_array, degrees: np.ndarray, n_components: int
) -> Directions:
    """``X' L X a = lambda X' D X a``, X centred by D, a of mean square 1 weighted by D.

    ``I - U' D^-1/2 W D^-1/2 U`` is the problem in the singular vectors U of ``D^1/2 X``: no squared condition
    number, and any rank. ``O(n m min(n, m) + nnz r)`` time.
    """
    middle, total = X.mean(axis=0), degrees.sum()
    centre = middle + degrees @ (X - middle) / total
    U, spreads, axes = svd(np.sqrt(degrees / total)[:, None] * (X - centre), full_matrices=False)
    rank = int(np.count_nonzero(spreads > RANK * spreads[0]))
    count = min(n_components, rank)
    eigenvalues, components = np.zeros(n_components), np.zeros((n_components, X.shape[1]))
    n_separating = 0
    if count:
        U = U[:, :rank]
        last = min(count, rank - 1)  # one more, to see the gap behind the last
        values, vectors = eigenpairs_by_rank(np.eye(rank) - U.T @ (adjacency @ U), 0, last)
        eigenvalues[:count] = values[:count]
        components[:count] = (vectors[:, :count] / spreads[:rank, None]).T @ axes[:rank]
        n_separating = separating(values, count, size=1.0)
    return Directions(centre, components, eigenvalues, rank, n_separating)
