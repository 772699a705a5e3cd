"""Local methods restricted to linear functions of the features: the directions of least misfit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..._core.errors import IsentropicWarning, warn
from ...embedding.maps.linear import padded
from ...linalg import eigenpairs_by_rank
from ...linalg.centred import CentredRows
from ...linalg.eigen import standing_still


class AlignedDirections(NamedTuple):
    """Directions of least misfit."""

    mean: np.ndarray  # (m,)
    components: np.ndarray  # (d, m), zero beyond the rank
    eigenvalues: np.ndarray  # (d,) smallest first, zero beyond the rank
    n_separating: int


def aligned_directions(X: np.ndarray, operator: csr_array, n_components: int) -> AlignedDirections:
    """``X' M X a = lambda X' X a``, X centred, M the operator of a local method, 0 for constants.

    Solved in the basis of the singular vectors of X, so that collinear columns, or more columns than rows,
    are no case of their own. Every coordinate has the mean square 1. ``O(n m min(n, m))`` time beside M.
    """
    centred = CentredRows.of(X)
    spreads, axes = centred.axes()
    rank, n = len(spreads), len(X)
    count = min(n_components, rank)
    eigenvalues, n_separating, components = np.zeros(n_components), 0, axes[:0]
    if count:
        U = centred.rows @ (axes.T / spreads)
        values, vectors = eigenpairs_by_rank(U.T @ (operator @ U), 0, count - 1)
        eigenvalues[:count] = values
        components = (vectors / spreads[:, None]).T @ axes * (np.sqrt(n) / centred.unit)
        n_separating = standing_still(np.sqrt(n) * (U @ vectors), operator)
    if rank >= max(n - 1, 2):
        what = "the directions follow any function of these rows, and say nothing of new ones"
        warn(f"X has {n} rows and a rank of {rank}: {what}. Take more rows.", IsentropicWarning)
    components = padded(components, n_components, f"X has a rank of {rank}")
    return AlignedDirections(centred.mean, components, eigenvalues, n_separating)
