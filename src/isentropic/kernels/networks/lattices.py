"""Rows among the nodes of a lattice: the share of each node in a row, and where the row stands for it."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..distances.euclidean import squared_distance


@kernel
def _soft_shares(squares, precision, shares):
    """Softmax, ``shares[r] ~ exp(-precision/2 squares[r])``; the logarithm of what they were divided by."""
    least = squares[0]
    for r in range(1, len(squares)):
        least = min(least, squares[r])
    total = 0.0
    for r in range(len(squares)):
        shares[r] = np.exp(-0.5 * precision * (squares[r] - least))
        total += shares[r]
    for r in range(len(squares)):
        shares[r] /= total
    return np.log(total) - 0.5 * precision * least


@parallel_kernel
def responsibilities(products, norms, precision, logarithms):
    """Inner products (b, r) of rows and nodes become the shares of the nodes in a row, of sum 1.

    ``|c|^2 - 2 x.c`` stands for ``|x - c|^2``: what is left out is the same for all nodes of a row, and is
    missing in the ``logarithms`` of the sums.
    """
    for i in rows(len(products)):
        shares = products[i]
        for r in range(len(norms)):
            shares[r] = norms[r] - 2.0 * shares[r]
        logarithms[i] = _soft_shares(shares, precision, shares)


@parallel_kernel
def expected_places(X, nodes, places, precision, out):
    """The mean of the nodes' places, weighted by ``exp(-precision/2 |x - node|^2)``, for every row ``x``."""
    for i in rows(len(X)):
        shares = np.empty(len(nodes))
        for r in range(len(nodes)):
            shares[r] = squared_distance(X[i], nodes[r])
        _soft_shares(shares, precision, shares)
        for c in range(places.shape[1]):
            total = 0.0
            for r in range(len(nodes)):
                total += shares[r] * places[r, c]
            out[i, c] = total
