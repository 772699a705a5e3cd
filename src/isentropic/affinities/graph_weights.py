"""Weights of the edges of a neighbor graph: heat kernels, adaptive scales, inner products, reconstruction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

from .._core.arguments import as_numbers, as_positions, require_graph, require_neighbors
from .._core.errors import (
    InvalidInputError,
    is_real,
    message,
    require,
    require_count,
    require_number,
    require_one_of,
)
from .._core.runtime import row_blocks
from .._core.state import Array, Double, Text, Whole
from .._core.values import Can, Knn, NeighborGraph, NeighborRule, Neighbors, Pnn
from ..distances import Metric
from ..kernels._jit import threads
from ..kernels.distances.euclidean import gaussian_exponents, inner_products, row_squares
from ..linalg import normalized_adjacency
from ..neighbors import (
    as_rule,
    checked_policy,
    checked_table,
    clipped_neighbors,
    directed_lists,
    distance_graph,
    joined_graph,
    searched_neighbors,
)

# ---- The heat kernel on the edges of a neighbour graph -------------------------------------------


def checked_heat(t: Any, name: str = "t") -> Any:
    """``"auto"`` or a positive number, infinity included."""
    is_auto = isinstance(t, str) and t == "auto"
    hint = "It is in squared units of the data; inf weighs all edges alike."
    require(is_auto or (is_real(t) and bool(t > 0)), name, "'auto' or a positive number", t, hint)
    return t


def heat(graph: NeighborGraph, t: float | str = "auto") -> csr_array:
    """Gaussian weights ``exp(-(d^2 - c) / t)`` of the edges, c the least d^2; affinities stay what they are.

    ``"auto"`` is the mean squared length of an edge, so that units do not matter. The common factor
    ``exp(c / t)`` keeps weights from vanishing all at once.

    >>> import numpy as np
    >>> from isentropic import neighbor_graph
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> heat(neighbor_graph(line, 1), t=np.inf).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    weights = require_graph(graph).weights
    checked_heat(t)
    if graph.is_distance:
        longest = float(weights.max(initial=0.0)) or 1.0
        squared = (weights / longest) ** 2  # no number beyond 1, in any unit
        scale = float(squared.mean()) if isinstance(t, str) else t / longest / longest
        weights = np.exp(-(squared - squared.min(initial=1.0)) / (scale or 1.0))
    shape = (graph.n_rows, graph.n_rows)
    return csr_array((weights, graph.indices, graph.indptr), shape=shape)


def heat_width(graph: NeighborGraph, t: float | str = "auto") -> float:
    """``t`` as a number: ``"auto"`` is the mean squared length of the edges that are no bridges, or 1."""
    if not isinstance(t, str):
        return float(t)
    lengths = graph.weights[~bridging_edges(graph)]
    longest = float(lengths.max(initial=0.0))
    if longest == 0:
        return 1.0
    return float(((lengths / longest) ** 2).mean()) * longest * longest


def bridged_heat(
    graph: NeighborGraph, width: float, *, loops: bool = False, shifted: bool = False
) -> csr_array:
    """``exp(-d^2 / width)`` of the edges; a bridge, whose own length would give 0, weighs as the median edge.

    ``loops`` joins each row with itself, with weight 1. ``shifted`` takes the least d^2 off all, for
    operators that a common factor of the weights does not change: so they do not vanish all at once.

    >>> import numpy as np
    >>> from isentropic import neighbor_graph
    >>> bridged_heat(neighbor_graph(np.array([[0.0], [1.0]]), 1), 1.0, loops=True).toarray().round(2).tolist()
    [[1.0, 0.37], [0.37, 1.0]]
    """
    squared = (graph.weights / np.sqrt(width)) ** 2
    bridging = bridging_edges(graph)
    weights = np.exp(-(squared - (squared[~bridging].min(initial=np.inf) if shifted else 0.0)))
    if bridging.any():
        weights[bridging] = np.median(weights[~bridging])
    W = csr_array((weights, graph.indices, graph.indptr), shape=(graph.n_rows, graph.n_rows))
    return csr_array(W + eye_array(graph.n_rows)) if loops else W


def heat_walk(graph: NeighborGraph, width: float, alpha: float) -> tuple[csr_array, np.ndarray, np.ndarray]:
    """A walk by heat weights and loops over ``(q_i q_j)^alpha``, q their sums (Coifman and Lafon).

    In its symmetric form, ``D^1/2 P D^-1/2``; D; and ``q^-alpha``.

    >>> import numpy as np
    >>> from isentropic import neighbor_graph
    >>> heat_walk(neighbor_graph(np.array([[0.0], [1.0]]), 1), np.inf, 0.0)[0].toarray().round(2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    W = bridged_heat(graph, width, loops=True)
    shares = np.asarray(W.sum(axis=1)).ravel() ** -alpha
    scale = diags_array(shares)
    walk, degrees = normalized_adjacency(csr_array(scale @ W @ scale))
    return walk, degrees, shares


def step_weights(
    distances: np.ndarray, width: float, terms: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """``exp(-(d^2 / width + terms - c))`` of new rows (b, k), infinitely far ones 0, and c, the least, (b,).

    c leaves the nearest a weight, however far it is.

    >>> import numpy as np
    >>> step_weights(np.array([[1e3, 1e3, np.inf]]), 1.0)[0].tolist()
    [[1.0, 1.0, 0.0]]
    """
    there = np.isfinite(distances)
    squared = np.where(there, np.where(there, distances, 0.0) / np.sqrt(width), np.inf) ** 2 + terms
    least = squared.min(axis=1, keepdims=True)
    return np.exp(-(squared - least)), least[:, 0]


def bridging_edges(graph: NeighborGraph) -> np.ndarray:
    """Which entries are those of bridges; none where there is nothing else."""
    bridging = np.zeros(len(graph.indices), np.bool_)
    for i, j in (*graph.bridges, *graph.bridges[:, ::-1]):
        start, stop = graph.indptr[i : i + 2]
        bridging[start + np.searchsorted(graph.indices[start:stop], j)] = True
    return bridging & (not bridging.all())


# ---- Adaptive neighbours: affinities that each row shares out by its own distances (CAN, PNN) ----


def neighbor_graph(
    X: np.ndarray,
    neighbors: int | NeighborRule = 10,
    *,
    metric: Metric = "euclidean",
    on_disconnected="bridge",
    random_state=None,
    n_jobs: int | None = None,
) -> NeighborGraph:
    """The symmetric neighbour graph of the rows of ``X``, with its connected components.

    ``neighbors`` is a number of neighbours or one of ``Knn``, ``Radius``, ``Percentile``, ``Can``, ``Pnn``.
    Edges weigh distances, with the last two affinities.
    A graph in several parts is never silent. ``on_disconnected``: ``"bridge"`` adds the shortest edges
    that join the parts, ``"raise"`` refuses, ``"largest"`` and ``"inflate"`` leave the parts to the method.

    Knn, Can, Pnn cost what the neighbour search costs; Radius and Percentile ``O(n^2 m)`` time, in blocks.

    >>> import numpy as np
    >>> from isentropic import Radius, neighbor_graph
    >>> line = np.arange(5.0)[:, None]
    >>> graph = neighbor_graph(line, Radius(1.5))
    >>> graph.indices.tolist(), graph.n_components
    ([1, 0, 2, 1, 3, 2, 4, 3], 1)
    """
    rule = as_rule(neighbors)
    if not isinstance(rule, Can | Pnn):
        return distance_graph(X, rule, metric=metric, on_disconnected=on_disconnected,
                              random_state=random_state, n_jobs=n_jobs)  # fmt: skip
    checked_policy(on_disconnected)
    if isinstance(rule, Pnn) and rule.t is not None:
        require_number("t", rule.t, "a positive number or None", above=0, most=math.inf)
    X = checked_table(X, rule, metric, fewest=3)
    # The next neighbour after the k-th sets the scale of the weights.
    search = Knn(clipped_neighbors(rule.k, len(X) - 2, "the other rows but one") + 1)
    found = searched_neighbors(X, search, metric=metric, random_state=random_state, n_jobs=n_jobs)
    weights = can_weights(found) if isinstance(rule, Can) else pnn_weights(found, rule.t)
    return joined_graph(X, directed_lists(found.indices[:, :-1], weights), rule.kind, metric=metric,
                        on_disconnected=on_disconnected, average=True, exact=found.exact,
                        recall=found.recall, n_jobs=n_jobs)  # fmt: skip


def can_weights(found: Neighbors) -> np.ndarray:
    """``(d_{k+1} - d_j) / (k d_{k+1} - sum d_l)`` over the k nearest, d squared; equally far ones share 1."""
    squared = _of_two(found).distances ** 2
    nearest, after = squared[:, :-1], squared[:, -1:]
    total = (after - nearest).sum(axis=1, keepdims=True)
    return _ratio(after - nearest, total, otherwise=1 / nearest.shape[1])


def pnn_weights(found: Neighbors, t: float | None = None) -> np.ndarray:
    """``(d_{k+1} - d_j) / (d_{k+1} - d_1)`` over the k nearest, d squared; equally far ones all weigh 1.

    With ``t`` it is ``(h_j - h_{k+1}) / (h_1 - h_{k+1})`` for the heat ``h = exp(-d / t)``, which for a large
    t is the same; written so that no heat vanishes.
    """
    squared = _of_two(found).distances ** 2
    nearest, after = squared[:, :-1], squared[:, -1:]
    if t is not None:
        t = require_number("t", t, "a positive number or None", above=0, most=math.inf)
    if t is not None and t < math.inf:
        first = nearest[:, :1]
        left, most = (np.abs(np.expm1((near - after) / t)) for near in (nearest, first))
        falls = _ratio(left, most, otherwise=1.0)
        return np.exp((first - nearest) / t) * falls
    return _ratio(after - nearest, after - nearest[:, :1], otherwise=1.0)


def _of_two(found: Neighbors) -> Neighbors:
    """Lists of at least two neighbours: the last one sets the scale of the weights."""
    k = require_neighbors(found, "found").indices.shape[1]
    require(k >= 2, "found", "lists of at least two neighbours", k)
    return found


def _ratio(numerator: np.ndarray, denominator: np.ndarray, otherwise: float) -> np.ndarray:
    out = np.full(numerator.shape, otherwise)
    return np.divide(numerator, denominator, out=out, where=np.broadcast_to(denominator > 0, out.shape))


# ---- Kernels of kernel methods: what they take for the inner product of two rows -----------------


KERNELS = ("linear", "poly", "rbf", "precomputed")


@dataclass(frozen=True, slots=True)
class InnerProduct:
    """``x'y``, ``(g x'y + c)^p`` or ``exp(-g |x - y|^2)``; or given, and then a row holds the products."""

    kind: Annotated[str, Text(*KERNELS)]
    gamma: Annotated[float, Double(above=0)]
    degree: Annotated[int, Whole(1)]
    coef0: Annotated[float, Double()]
    # taken off every row; empty where products are given
    origin: Annotated[np.ndarray, Array("columns", empty=True)]

    @classmethod
    def of(cls, X: np.ndarray, kind: Any, gamma: Any, degree: Any, coef0: Any) -> InnerProduct:
        """Checked; ``gamma="auto"`` is ``1 / (2 mean squared distance)`` of the rows for rbf, else 1."""
        require_one_of("kernel", kind, KERNELS)
        is_auto = isinstance(gamma, str) and gamma == "auto"
        must_be = "'auto' or a positive number"
        require(is_auto or (is_real(gamma) and 0 < gamma < np.inf), "gamma", must_be, gamma)
        degree = require_count("degree", degree)
        coef0 = require_number("coef0", coef0, "a finite number", above=-np.inf)
        m = 0 if kind == "precomputed" else X.shape[1]
        if is_auto:
            # the mean over pairs of rows is twice the variance
            spread = 2 * float((X - X[0]).var(axis=0, ddof=1).sum()) if kind == "rbf" else 0.0
            gamma = 1 / (2 * spread) if spread > 0 else 1.0
        # Neither the Gaussian nor the centred linear kernel depends on the origin, but their digits do.
        origin = X.mean(axis=0) if kind in ("linear", "rbf") else np.zeros(m)
        return cls(kind, float(gamma), degree, coef0, origin)

    def between(self, X: np.ndarray, Y: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Products of every row of ``X`` with every row of ``Y``; a pair has the same bits in any batch."""
        if self.kind == "precomputed":
            return X
        X, Y, K = X - self.origin, Y - self.origin, np.empty((len(X), len(Y)))
        with threads(n_jobs):
            if self.kind == "rbf":
                gaussian_exponents(X, Y, row_squares(Y), self.gamma, K)
                return np.exp(K, out=K)
            inner_products(X, Y, K)
        return K if self.kind == "linear" else self._powers(K)

    def _powers(self, K: np.ndarray) -> np.ndarray:
        K *= self.gamma
        K += self.coef0
        with np.errstate(over="ignore"):
            powers = K.copy()
            for _ in range(self.degree - 1):
                powers *= K
        hint = "Rescale the features, or take a smaller degree."
        require(bool(np.isfinite(powers).all()), "kernel 'poly'", "finite between all rows", np.inf, hint)
        return powers


# ---- Barycentric weights: a row as a sum of its neighbours, as locally linear embedding has it ----


_NUMBERS_AT_ONCE = 2**22  # in the differences of a block of rows


def barycentric_weights(
    rows: np.ndarray, indices: np.ndarray, X: np.ndarray, regularization: float
) -> np.ndarray:
    """Weights w, of sum 1, that minimise ``|x - sum_j w_j x_j|^2`` over k rows of ``X`` for each row x.

    ``(C + r trace(C) I) w = 1``, C the products of the differences ``x - x_j``; rows that are all equal to x
    weigh alike. ``O(k^2 (k + m))`` time a row, each by itself.

    >>> import numpy as np
    >>> X = np.array([[0.0], [4.0]])
    >>> barycentric_weights(np.array([[1.0]]), np.array([[0, 1]]), X, 1e-9).round(3).tolist()
    [[0.75, 0.25]]
    """
    X, rows = as_numbers("X", X), as_numbers("rows", rows)
    require(rows.shape[1] == X.shape[1], "rows", f"of {X.shape[1]} columns, as X", rows.shape)
    indices = as_positions("indices", indices, len(X), ndim=2)
    fits = len(indices) == len(rows) and indices.shape[1] > 0
    require(fits, "indices", f"a list of rows of X for each of {len(rows)} rows", indices.shape)
    regularization = require_number("regularization", regularization, "a number of at least 0")
    n, k = indices.shape
    weights = np.empty((n, k))
    size = max(1, _NUMBERS_AT_ONCE // (k * max(X.shape[1], k)))
    for block in row_blocks(n, "barycentric weights", size=size):
        gaps = rows[block, None] - X[indices[block]]
        C = gaps @ gaps.transpose(0, 2, 1)
        trace = np.trace(C, axis1=1, axis2=2)
        C[:, np.arange(k), np.arange(k)] += np.where(trace > 0, regularization * trace, 1.0)[:, None]
        # in units of their own: the scale of a table is none of the weights
        C /= np.where(trace > 0, trace, 1.0)[:, None, None]
        try:
            found = np.linalg.solve(C, np.ones((len(C), k, 1)))[:, :, 0]
        except np.linalg.LinAlgError as error:
            must_be = "large enough that the weights are unique"
            hint = "Take 1e-3 where there are more neighbours than dimensions."
            text = message("regularization", must_be, regularization, hint)
            raise InvalidInputError(text) from error
        weights[block] = found / found.sum(axis=1, keepdims=True)
    return weights
