"""Degrees and the normalised adjacency of a graph: what its Laplacians are made of."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array


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
