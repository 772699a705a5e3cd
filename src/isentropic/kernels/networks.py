"""Layers of networks, Adam's step, and distances to the nodes of a lattice."""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .distances.euclidean import squared_distance

# ---- Adam's step, in one pass over the parameters ------------------------------------------------


MEAN, SQUARE = 0.9, 0.999  # what a step leaves of the mean of the gradients, and of that of their squares


def bias_corrections(step: int) -> tuple[float, float]:
    """Corrections of both means after ``step`` steps, ``1 - 0.9^t`` and ``sqrt(1 - 0.999^t)``.

    The first means are of few gradients and zero: they are divided by the share that is not zero.
    """
    return 1.0 - MEAN**step, math.sqrt(1.0 - SQUARE**step)


@kernel
def adam_step(vector, gradients, means, squares, rate, keep, keep_squares, rest, rest_squares, least):
    """``vector -= rate means / (sqrt(squares) + least)`` with means and squares of the gradients that fade.

    All numbers are of the precision of ``vector``: the sums then are too.
    """
    for i in range(len(vector)):
        gradient = gradients[i]
        means[i] = keep * means[i] + rest * gradient
        squares[i] = keep_squares * squares[i] + rest_squares * gradient * gradient
        vector[i] -= rate * means[i] / (np.sqrt(squares[i]) + least)


# --------------------------------------------------------------------------------------------------
# Rows among the nodes of a lattice: the share of each node in a row, and where the row stands for it.


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


# ---- Layers of a network: what a row gives depends on that row only, to the bit ------------------


_GROUP = 16  # rows that are multiplied together, so that the weights are read once for all of them


@parallel_kernel
def write_layer(X, weights, bias, activation, out):
    """``x weights + bias`` for every row x, input after input, and what the units make of it.

    ``activation`` is 0 for nothing, 1 for rectified linear units, 2 for tanh, 3 for the logistic function.
    """
    n, m = X.shape
    width = len(bias)
    for g in rows((n + _GROUP - 1) // _GROUP):
        first, last = g * _GROUP, min((g + 1) * _GROUP, n)
        for i in range(first, last):
            for c in range(width):
                out[i, c] = bias[c]
        for f in range(m):
            for i in range(first, last):
                x = X[i, f]
                if x != 0.0:  # many outputs of the layer before are
                    for c in range(width):
                        out[i, c] += x * weights[f, c]
        if activation == 1:
            for i in range(first, last):
                for c in range(width):
                    out[i, c] = max(out[i, c], 0.0)
        elif activation > 1:
            factor = 4 - activation  # logistic(x) = (1 + tanh(x / 2)) / 2, which never overflows
            for i in range(first, last):
                for c in range(width):
                    bent = np.tanh(out[i, c] * factor / 2)
                    out[i, c] = bent if factor == 2 else (1.0 + bent) / 2
