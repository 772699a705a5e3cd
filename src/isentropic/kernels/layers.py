"""Layers of a network: what a row gives depends on that row only, to the bit."""

from __future__ import annotations

from ._jit import parallel_kernel, rows

_GROUP = 16  # rows that are multiplied together, so that the weights are read once for all of them


@parallel_kernel
def write_layer(X, weights, bias, rectified, out):
    """``x weights + bias`` for every row x, input after input; negative outputs are 0 if ``rectified``."""
    n, m = X.shape
    width = len(bias)
    for g in rows((n + _GROUP - 1) // _GROUP):
        first, last = g * _GROUP, min((g + 1) * _GROUP, n)
        for i in range(first, last):
            out[i] = bias
        for f in range(m):
            for i in range(first, last):
                x = X[i, f]
                if x != 0.0:  # many outputs of the layer before are
                    for c in range(width):
                        out[i, c] += x * weights[f, c]
        if rectified:
            for i in range(first, last):
                for c in range(width):
                    out[i, c] = max(out[i, c], 0.0)
