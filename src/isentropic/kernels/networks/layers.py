"""Layers of a network: what a row gives depends on that row only, to the bit."""

from __future__ import annotations

import numpy as np

from .._jit import parallel_kernel, rows

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
