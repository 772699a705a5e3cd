"""Affinities of each row to its neighbors: by perplexity (SNE kinds) and fuzzy sets (UMAP)."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import csr_array

from .._core.arguments import as_numbers, require_neighbors
from .._core.errors import PerplexityWarning, require, require_number
from .._core.runtime import require_memory, row_blocks
from .._core.values import Neighbors
from ..kernels._jit import threads
from ..kernels.layouts.bandwidths import perplexity_affinities, smooth_memberships
from ..neighbors import directed_lists, union

# --------------------------------------------------------------------------------------------------
# Conditional Gaussian affinities of given perplexity, as SNE and t-SNE have them, and their joint form.


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


def neighbors_for_perplexity(perplexity: float, n_rows: int) -> int:
    """How many neighbours a perplexity needs: ``3 perplexity``, or all other rows if there are fewer."""
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
    directed = directed_lists(found.indices, P)
    del P  # and its memory, where the caller has no further use for it
    indptr, indices, weights = union(directed, average=True, n_jobs=n_jobs)
    del directed
    if indptr[-1] < 2**31:  # else scipy would hold the indices in 64 bits, too
        indptr = indptr.astype(np.int32)
    weights /= n
    return csr_array((weights, indices, indptr), shape=(n, n))


# --------------------------------------------------------------------------------------------------
# UMAP's fuzzy graph: how much rows belong to the neighbourhoods of each other, and the curve of the map.


_WIDTHS = 3.0  # of the spread: how far the curve is fitted
_POINTS = 300


def memberships(distances: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
    """Smooth k-nearest-neighbour weights ``exp(-(d - rho)_+ / sigma)`` of each row of k distances.

    rho is the least positive one, and sigma such that the weights sum to ``log2 k``. ``O(k)`` a row and step
    of Newton's, each row by itself.

    >>> import numpy as np
    >>> memberships(np.array([[1.0, 2.0, 3.0, 4.0]])).sum().round(6).item()
    2.0
    """
    distances = as_numbers("distances", distances, least=0)
    require(distances.shape[1] > 0, "distances", "lists of at least one neighbour", distances.shape)
    out = np.empty(distances.shape)
    with threads(n_jobs):
        smooth_memberships(np.ascontiguousarray(distances), out)
    return out


def fuzzy_graph(found: Neighbors, *, n_jobs: int | None = None) -> csr_array:
    """The fuzzy simplicial set of neighbour lists: ``a + b - a b`` of the weights of both directions.

    Symmetric, columns in order. ``O(n k)`` time and memory.
    """
    require_neighbors(found, "found")
    # 1 - (1 - a)(1 - b): logarithms add where the union averages, and a missing side counts as 0
    with np.errstate(divide="ignore"):  # a weight of 1 is at -inf
        logs = np.log1p(-memberships(found.distances, n_jobs=n_jobs))
    indptr, indices, halves = union(directed_lists(found.indices, logs), average=True, n_jobs=n_jobs)
    n = len(found.indices)
    return csr_array((-np.expm1(2.0 * halves), indices, indptr), shape=(n, n))


def class_intersection(W: csr_array, same: np.ndarray, far: float) -> csr_array:
    """The intersection of a fuzzy graph with the fuzzy set of classes, as supervised UMAP has it.

    An edge between two classes keeps ``exp(-far)`` of its weight; ``same`` is, for every entry, the
    probability that its ends are of one class. Then each row is scaled to a largest weight of 1, and both
    directions are joined: ``a + b - a b``. ``O(nnz)`` time and memory.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> W = csr_array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> class_intersection(W, np.array([1.0, 0.0, 1.0, 0.0]), np.log(2.0)).toarray().tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    weights = W.data * (same + (1.0 - same) * np.exp(-far))
    most = np.maximum.reduceat(weights, W.indptr[:-1])  # every row has a neighbour
    weights /= np.repeat(np.where(most > 0, most, 1.0), np.diff(W.indptr))
    other = csr_array((weights, W.indices, W.indptr), shape=W.shape).T.tocsr()
    other.sort_indices()  # the same entries as those of W, which is symmetric
    joined = weights + other.data - weights * other.data
    return csr_array((joined, W.indices, W.indptr), shape=W.shape)


def fitted_curve(min_dist: float, spread: float) -> tuple[float, float]:
    """The (a, b) with which ``1 / (1 + a r^(2b))`` is nearest to 1 up to ``min_dist`` and
    ``exp(-(r - min_dist) / spread)`` beyond, by least squares over radii up to three times the spread.

    >>> [round(value, 3) for value in fitted_curve(0.1, 1.0)]
    [1.577, 0.895]
    """
    must_be = "a positive number from 1e-50 to 1e50"  # whose power 2 b is a number too
    spread = require_number("spread", spread, must_be, least=1e-50, most=1e50)
    min_dist = require_number("min_dist", min_dist, "a number of at least 0", least=0)
    require(min_dist <= spread, "min_dist", f"at most the spread {spread:g}", min_dist)
    r = np.linspace(0.0, _WIDTHS, _POINTS)[1:]  # in units of the spread, and past 0, where the curve is 1
    wanted = np.exp(-np.maximum(r - min_dist / spread, 0.0))
    found = least_squares(lambda p: 1.0 / (1.0 + np.exp(p[0]) * r ** (2.0 * p[1])) - wanted, [0.0, 1.0])
    log_a, b = found.x
    return float(np.exp(log_a - 2.0 * b * np.log(spread))), float(b)
