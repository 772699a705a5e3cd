"""A spectral start: leading eigenvectors of a graph of affinities, one part of the graph after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from ..linalg import leading_eigenvectors, normalized_adjacency
from ..neighbors import component_labels

WIDTH = 10.0  # of a start, along its widest coordinate
_LONELY = 1e-2  # the radius of a part whose middle is that of another, in widths


def spectral_start(W: csr_array, d: int, layout_of_parts: Callable[[], np.ndarray]) -> np.ndarray:
    """Laplacian eigenmaps of the graph ``W``, 10 wide; of a graph in parts each has its own, around the
    middle of its rows in a layout, which is asked for then, and no wider than its nearest part is far.

    ``O(nnz)`` a product with the graph and vector, some hundreds of products.
    """
    labels = component_labels(W.indptr, W.indices, W.data > 0)
    if labels.max() == 0:
        return wide(_eigenmap(W, d))
    layout = layout_of_parts()
    sizes = np.bincount(labels)
    middles = np.column_stack([np.bincount(labels, weights=column) for column in layout.T]) / sizes[:, None]
    middles = wide(middles)
    order = np.argsort(labels, kind="stable")
    Z = np.empty_like(layout)
    for part, rows in enumerate(np.split(order, np.cumsum(sizes)[:-1])):
        gaps = np.linalg.norm(np.delete(middles, part, axis=0) - middles[part], axis=1)
        radius = max(0.5 * float(gaps.min()), _LONELY * WIDTH)
        Z[rows] = middles[part]
        if len(rows) > 1:
            Z[rows] += wide(_eigenmap(csr_array(W[rows][:, rows]), d)) * (2.0 * radius / WIDTH)
    return Z


def wide(Z: np.ndarray) -> np.ndarray:
    """Centred, and 10 wide along the widest coordinate."""
    Z = Z - (Z.max(axis=0) + Z.min(axis=0)) / 2
    widest = float(np.ptp(Z, axis=0).max())
    return Z * (WIDTH / widest) if widest > 0 else Z


def _eigenmap(W: csr_array, d: int) -> np.ndarray:
    """Coordinates of a connected graph; zero where it has too few rows for them."""
    n = W.shape[0]
    count = min(d, n - 1)
    adjacency, degrees = normalized_adjacency(W)
    Z = np.zeros((n, d))
    Z[:, :count] = leading_eigenvectors(adjacency, count, known=np.sqrt(degrees))
    return Z
