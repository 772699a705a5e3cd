"""Conditional Gaussian affinities of given perplexity, as SNE and t-SNE have them, and their joint form."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy.sparse import csr_array

from .._core.arguments import as_numbers, require_neighbors
from .._core.errors import PerplexityWarning, require, require_number
from .._core.runtime import require_memory, row_blocks
from .._core.values import Neighbors
from ..kernels._jit import threads
from ..kernels.layouts.perplexity import perplexity_affinities
from ..neighbors import directed_lists, union

_LISTED = 3  # neighbours a row for each unit of perplexity: beyond, affinities are below 1e-4 of the largest
_EDGE_BYTES = 80  # of an affinity, from the lists to the joint matrix
_ROWS = 4096


def checked_perplexity(perplexity: float, n_rows: int) -> float:
    """A number of at least 1, and at most that of the other rows, with a warning."""
    hint = "It is about the number of neighbours that count."
    perplexity = require_number("perplexity", perplexity, "a number of at least 1", least=1.0, hint=hint)
    if perplexity < n_rows - 1:
        return perplexity
    warnings.warn(
        f"perplexity must be below {n_rows - 1} (the other rows), got {perplexity:g}: "
        "all rows are neighbours alike.",
        PerplexityWarning,
        stacklevel=2,
    )
    return float(n_rows - 1)


def listed_for(perplexity: float, n_rows: int) -> int:
    """How many neighbours stand for all: ``3 perplexity``, or all others where there are no more."""
    return min(math.ceil(_LISTED * perplexity), n_rows - 1)


def conditional_affinities(
    distances: np.ndarray, perplexity: float, *, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """``p_j|i = exp(-d_ij^2 / 2 sigma_i^2) / sum`` of lists (n, k), with the entropy ``log(perplexity)``.

    Also ``log 2 sigma_i^2``. Where more rows than the perplexity are nearest alike, they share 1; where the
    perplexity is k, all do. ``O(n k)`` time, each row by itself.

    >>> import numpy as np
    >>> P, _ = conditional_affinities(np.array([[1.0, 2.0, 3.0]]), 2.0)
    >>> float(np.exp(-(P * np.log(P)).sum()).round(9))
    2.0
    """
    distances = as_numbers("distances", distances, least=0)
    perplexity = require_number("perplexity", perplexity, "a number of at least 1", least=1.0)
    require(distances.shape[1] > 0, "distances", "lists of at least one neighbour", distances.shape)
    P, widths = np.empty(distances.shape), np.empty(len(distances))
    for block in row_blocks(len(distances), "affinities", size=_ROWS, adapt=True):
        with threads(n_jobs):
            lists = np.ascontiguousarray(distances[block])
            widths[block] = perplexity_affinities(lists, float(perplexity), P[block])
    return P, widths


def joint_affinities(found: Neighbors, P: np.ndarray, *, n_jobs: int | None = None) -> csr_array:
    """``p_ij = (p_j|i + p_i|j) / 2 n`` from conditional affinities of lists: symmetric, of sum 1.

    CSR, indices sorted, no diagonal.
    """
    n, k = require_neighbors(found, "found").indices.shape
    P = as_numbers("P", P, least=0)
    require(P.shape == (n, k), "P", f"affinities of shape {(n, k)}, as the lists", P.shape)
    require_memory(_EDGE_BYTES * n * k, f"Affinities of {n:,} rows to {k:,} others each",
                   "Take a smaller perplexity.")  # fmt: skip
    indptr, indices, weights = union(directed_lists(found.indices, P), average=True, n_jobs=n_jobs)
    if indptr[-1] < 2**31:  # else scipy would hold the indices in 64 bits, too
        indptr = indptr.astype(np.int32)
    weights /= n
    return csr_array((weights, indices, indptr), shape=(n, n))
