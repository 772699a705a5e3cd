"""Projections and hashes of rows, row by row: each result depends on its own row only."""

from __future__ import annotations

import numpy as np

from .._jit import parallel_kernel, rows
from ..elementary import mixed


@parallel_kernel
def project_squared(distances, means, projection):
    """Gower's out-of-sample formula: ``-1/2 sum_j (d_j^2 - means_j) projection_j`` of rows ``distances``."""
    n_rows, n_references = distances.shape
    n_components = projection.shape[1]
    out = np.empty((n_rows, n_components))
    for i in rows(n_rows):
        for c in range(n_components):
            total = 0.0
            for j in range(n_references):
                total += (distances[i, j] * distances[i, j] - means[j]) * projection[j, c]
            out[i, c] = -0.5 * total
    return out


@parallel_kernel
def through_neighbors(indices, distances, to_references, out):
    """``out[i, l]``: least ``distances[i, s] + to_references[l, indices[i, s]]`` over the neighbours s."""
    for i in rows(len(indices)):
        for reference in range(len(to_references)):
            least = np.inf
            for s in range(indices.shape[1]):
                least = min(least, distances[i, s] + to_references[reference, indices[i, s]])
            out[i, reference] = least


@parallel_kernel
def row_hashes(bits):
    """A 64-bit hash of every row of doubles, given as their bits; rows with equal values have equal ones."""
    out = np.empty(len(bits), np.uint64)
    for i in rows(len(bits)):
        value = np.uint64(0x9E3779B97F4A7C15)
        for f in range(bits.shape[1]):
            pattern = bits[i, f]
            if pattern == np.uint64(0x8000000000000000):  # -0.0, which equals 0.0
                pattern = np.uint64(0)
            value = mixed(value ^ pattern) + np.uint64(f)
        out[i] = value
    return out


@parallel_kernel
def project_centred(X, mean, projection):
    """``(x - mean) projection`` for every row ``x``."""
    n_components = projection.shape[1]
    out = np.empty((len(X), n_components))
    for i in rows(len(X)):
        for c in range(n_components):
            total = 0.0
            for f in range(len(mean)):
                total += (X[i, f] - mean[f]) * projection[f, c]
            out[i, c] = total
    return out
