"""The heat kernel on the edges of a neighbour graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

from .._core.arguments import require_graph
from .._core.errors import is_real, require
from .._core.values import NeighborGraph
from ..linalg import normalized_adjacency


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
