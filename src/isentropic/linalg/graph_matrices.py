"""Matrices of graphs: the alignment matrix as a sum of small dense blocks, and the normalized adjacency."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array


def sum_of_blocks(n: int, parts: Iterable[tuple[np.ndarray, np.ndarray]]) -> csr_array:
    """``sum_i S_i' B_i S_i``: a part has the rows (r, p) of r blocks, none twice, and the blocks (r, p, p).

    ``O(r p^2)`` time and memory for a part beside the sum. Entries are added in the order of the parts.

    >>> rows, blocks = np.array([[0, 1], [1, 2]]), np.ones((2, 2, 2))
    >>> sum_of_blocks(3, [(rows, blocks)]).toarray().tolist()
    [[1.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]]
    """
    total = csr_array((n, n))
    for rows, blocks in parts:
        p = rows.shape[1]
        rows = rows.astype(np.int32)
        entries = np.repeat(rows, p, axis=1).ravel(), np.tile(rows, (1, p)).ravel()
        total = total + csr_array(coo_array((blocks.ravel(), entries), shape=(n, n)))
    return total


def normalized_adjacency(W: csr_array) -> tuple[csr_array, np.ndarray]:
    """``D^-1/2 W D^-1/2`` and the degrees D, the row sums of W; a row without weight keeps none.

    The normalised Laplacian is the identity less it.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> normalized, degrees = normalized_adjacency(csr_array([[0.0, 4.0], [4.0, 0.0]]))
    >>> normalized.toarray().tolist(), degrees.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [4.0, 4.0])
    """
    degrees = np.asarray(W.sum(axis=1)).ravel()
    root = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    scale = diags_array(root)
    return csr_array(scale @ W @ scale), degrees
