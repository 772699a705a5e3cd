"""Sizes of patches by how flat the data are around each row: large where flat, small where curved."""

from __future__ import annotations

import numpy as np

from .._runtime import row_blocks
from .patch_rows import BLOCK_NUMBERS


def candidate_sizes(k: int, available: int) -> np.ndarray:
    """Numbers of neighbours from k over root two to k times root two, as far as rows go."""
    steps = np.rint(k * np.sqrt(2.0) ** np.arange(-1, 2)).astype(int)
    return np.unique(np.clip(steps, min(2, available), available))


def outside_shares(X: np.ndarray, members: np.ndarray, n_directions: int) -> np.ndarray:
    """Share of each patch's variance outside its leading directions, in [0, 1]; 0 for equal rows."""
    shares = np.empty(len(members))
    size = max(1, BLOCK_NUMBERS // (members.shape[1] * X.shape[1]))
    for block in row_blocks(len(members), "flatness", size=size):
        C = X[members[block]]
        C -= C.mean(axis=1, keepdims=True)
        few_rows = C.shape[1] <= C.shape[2]  # the smaller of both products has the same eigenvalues
        products = C @ C.swapaxes(1, 2) if few_rows else C.swapaxes(1, 2) @ C
        values = np.maximum(np.linalg.eigvalsh(products), 0.0)
        total, outside = values.sum(axis=1), values[:, :-n_directions].sum(axis=1)
        shares[block] = np.divide(outside, total, out=np.zeros_like(total), where=total > 0)
    return shares


def flat_sizes(
    X: np.ndarray, members: np.ndarray, candidates: np.ndarray, n_directions: int, limit: float
) -> np.ndarray:
    """Rows of the largest patch of each row with a share outside of at most ``limit``, else of the smallest.

    ``members`` lists the row and its neighbours, nearest first. ``O(n k^2 m)`` time for each candidate.
    """
    sizes = np.full(len(members), candidates[0] + 1)
    for k in candidates[1:]:
        flat = outside_shares(X, members[:, : k + 1], n_directions) <= limit
        sizes[flat] = k + 1
    return sizes
