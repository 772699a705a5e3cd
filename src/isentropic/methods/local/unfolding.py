"""What maximum variance unfolding holds fixed, where it starts, and all rows as sums of landmarks."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu
from scipy.spatial.distance import squareform

from ..._core.errors import NegativeEigenvalueWarning
from ..._core.runtime import require_memory
from ..._core.values import NeighborGraph
from ...geodesics import all_pairs, from_rows
from ...linalg import classical_scaling
from .neighborhoods import Neighborhoods


def patch_pairs(lists: Neighborhoods) -> np.ndarray:
    """Pairs of neighbours, and of rows that are in one list, ``eta + eta' eta`` (e, 2): none twice, in order.

    A row and its neighbours keep all distances between them, and so the angles.
    """
    found = []
    for rows, near in lists.by_size(lists.near.shape[1]):
        patch = np.column_stack([rows, near])
        heads, tails = np.triu_indices(patch.shape[1], 1)
        found.append(np.column_stack([patch[:, heads].ravel(), patch[:, tails].ravel()]))
    pairs: np.ndarray = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    return pairs


def pair_graph(n: int, pairs: np.ndarray, lengths: np.ndarray) -> NeighborGraph:
    """The pairs as a graph, which joins all rows, by their lengths."""
    row, column = np.concatenate([pairs, pairs[:, ::-1]]).T
    order = np.lexsort((column, row))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
    weights = np.concatenate([lengths, lengths])[order]
    return NeighborGraph(indptr, column[order].astype(np.int32), weights, "knn", np.zeros(n, np.int32))


def scaled_paths(
    graph: NeighborGraph, rank: int, landmarks: np.ndarray | None, n_jobs: int | None
) -> np.ndarray:
    """Where the unfolding starts: classical scaling of the shortest paths (ISOMAP), of landmarks if given."""
    if landmarks is None:
        count, paths = graph.n_rows, all_pairs(graph, n_jobs=n_jobs)
    else:
        count = len(landmarks)
        paths = squareform(from_rows(graph, landmarks, n_jobs=n_jobs)[:, landmarks], checks=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NegativeEigenvalueWarning)  # a start need not be Euclidean
        return classical_scaling(paths, count, rank, n_jobs=n_jobs).embedding


def landmark_basis(W: csr_array, landmarks: np.ndarray) -> np.ndarray:
    """All rows as sums of landmarks (n, l): those that minimise ``|(I - W) Z|^2`` for the landmarks' places.

    With ``M = (I - W)' (I - W)`` in parts of landmarks and others, ``Q = [I; -M_oo^-1 M_ol]``, sparse.
    """
    n, count = W.shape[0], len(landmarks)
    require_memory(16 * n * count, f"{n:,} rows as sums of {count:,} landmarks", "Take fewer landmarks.")
    apart = csr_array(eye_array(n) - W)
    M = csc_array(apart.T @ apart)
    others = np.setdiff1d(np.arange(n), landmarks)
    basis = np.zeros((n, count))
    basis[landmarks, np.arange(count)] = 1.0
    inner = csc_array(M[others][:, others])
    factors = splu(inner, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    basis[others] = -factors.solve(M[others][:, landmarks].toarray())
    return basis
