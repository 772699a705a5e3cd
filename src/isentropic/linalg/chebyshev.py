"""Chebyshev polynomials of a symmetric matrix, which filter vectors; and the matrices of graphs for them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import coo_array, csr_array, diags_array

from ..kernels._jit import share, threads

FIRST_BORDER = 0.9  # of eigenvalues: what the first filter lets through
DEGREE = 32  # products with the matrix before the vectors are made orthogonal again
_ROWS_OF_PART = 8192  # of the matrix, that a thread multiplies at a time


def polynomial(A: Any, V: np.ndarray, border: float, degree: int, n_jobs: int | None = 1) -> np.ndarray:
    """``T_m((2 A + 1 - border) / (1 + border)) V``, T_m the Chebyshev polynomial, by its recurrence.

    Threads share parts of the rows, each with its part of the recurrence, so that no sum is made otherwise.
    """
    scale, shift = 2.0 / (1.0 + border), (1.0 - border) / (1.0 + border)
    parts = _parts_of_rows(A)
    before, now = np.array(V, order="C"), np.empty(V.shape)

    def first(i: int) -> None:
        rows, block = parts[i]
        now[rows] = scale * (block @ V) + shift * V[rows]

    def step(i: int, before: np.ndarray, now: np.ndarray) -> None:
        rows, block = parts[i]
        before[rows] = 2.0 * (scale * (block @ now) + shift * now[rows]) - before[rows]

    with threads(n_jobs):
        share(first, len(parts))
        for _ in range(degree - 1):
            share(partial(step, before=before, now=now), len(parts))
            before, now = now, before
    return now


def _parts_of_rows(A: Any) -> list[tuple[slice, Any]]:
    """Some rows of a sparse matrix after others, each part a view; any other operator as a whole."""
    if not isinstance(A, csr_array):
        return [(slice(None), A)]
    parts = []
    for start in range(0, A.shape[0], _ROWS_OF_PART):
        ends = A.indptr[start : start + _ROWS_OF_PART + 1]
        entries = slice(ends[0], ends[-1])
        part = csr_array((A.data[entries], A.indices[entries], ends - ends[0]), (len(ends) - 1, A.shape[1]))
        parts.append((slice(start, start + len(ends) - 1), part))
    return parts


def orthogonal(V: np.ndarray, known: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what the columns span, without the known direction."""
    V = V / np.linalg.norm(V, axis=0)
    V = np.linalg.qr(V - np.outer(known, known @ V))[0]
    return np.linalg.qr(V - np.outer(known, known @ V))[0]  # again: the first leaves rounding of the known


def ritz_pairs(A: csr_array, V: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ritz values, largest first, their vectors, and the norms of the residuals (Rayleigh and Ritz)."""
    products = A @ V
    values, turned = eigh(V.T @ products)
    values, turned = values[::-1], turned[:, ::-1]
    V = V @ turned
    return values, V, np.linalg.norm(products @ turned - V * values, axis=0)


# ---- matrices of graphs --------------------------------------------------------------------------


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
