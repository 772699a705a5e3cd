"""A directed CSR graph and its transpose, both with sorted indices, joined row by row."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows


@kernel
def _joined_row(i, indptr, indices, weights, t_indptr, t_indices, t_weights, average, out, out_weights):
    """Merge row i of both; returns the length. Arrays of length 0 only count."""
    a, b, size = indptr[i], t_indptr[i], 0
    while a < indptr[i + 1] or b < t_indptr[i + 1]:
        from_a = a < indptr[i + 1] and (b >= t_indptr[i + 1] or indices[a] <= t_indices[b])
        from_b = b < t_indptr[i + 1] and (a >= indptr[i + 1] or t_indices[b] <= indices[a])
        if len(out) > 0:
            left = weights[a] if from_a else 0.0
            right = t_weights[b] if from_b else 0.0
            out[size] = indices[a] if from_a else t_indices[b]
            out_weights[size] = 0.5 * (left + right) if average else max(left, right)
        size += 1
        a += from_a
        b += from_b
    return size


@parallel_kernel
def joined_sizes(indptr, indices, weights, t_indptr, t_indices, t_weights):
    """How many entries each row of the union has."""
    sizes = np.empty(len(indptr) - 1, np.int64)
    nothing = np.empty(0, indices.dtype)
    no_weights = np.empty(0)
    for i in rows(len(sizes)):
        sizes[i] = _joined_row(np.int64(i), indptr, indices, weights, t_indptr, t_indices, t_weights, False,
                               nothing, no_weights)  # fmt: skip
    return sizes


@parallel_kernel
def joined_rows(indptr, indices, weights, t_indptr, t_indices, t_weights, average, out_ptr, out, out_weights):
    """The union: the weight of an edge is that of either side, or the average with 0 for a missing side."""
    for i in rows(len(out_ptr) - 1):
        a, b = out_ptr[i], out_ptr[i + 1]
        if b > a:
            _joined_row(np.int64(i), indptr, indices, weights, t_indptr, t_indices, t_weights, average,
                        out[a:b], out_weights[a:b])  # fmt: skip
