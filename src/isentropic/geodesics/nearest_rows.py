"""Neighbour lists by geodesic distance, without the distances to all other rows."""

from __future__ import annotations

import numpy as np

from .._core.arguments import as_numbers, require_graph
from .._core.errors import require, require_count
from .._core.runtime import row_blocks
from .._core.values import NeighborGraph, Neighbors
from ..kernels._jit import threads
from ..kernels.paths.near_paths import nearest_by_paths

_BLOCK = 256  # sources in the first call; the next ones take as many as fit a quarter of a second


def nearest_in_graph(
    graph: NeighborGraph, k: int, extras: np.ndarray | None = None, *, n_jobs: int | None = None
) -> Neighbors:
    """The ``k`` nearest rows of every row of a connected graph by shortest paths, with early termination.

    ``extras`` holds a number of at least 0 for every edge, which is added to the distance between its two
    ends and to no path over it. Dijkstra's algorithm from each row ends where no other row can be nearer:
    about ``O(k e log k)`` time a row, e the edges of a row; ``O(n k)`` memory.

    >>> import numpy as np
    >>> from isentropic import Radius, neighbor_graph
    >>> graph = neighbor_graph(np.array([[0.0], [1.0], [3.0], [6.0]]), Radius(3.5))
    >>> found = nearest_in_graph(graph, 2)
    >>> found.indices.tolist(), found.distances.tolist()
    ([[1, 2], [0, 2], [1, 0], [2, 1]], [[1.0, 3.0], [1.0, 2.0], [2.0, 3.0], [3.0, 5.0]])
    """
    require_graph(graph, distances=True)
    k = require_count("k", k, most=graph.n_rows - 1)
    if extras is None:
        extras = np.zeros(len(graph.weights))
    extras = as_numbers("extras", extras, 1, least=0)
    fits = len(extras) == len(graph.weights)
    require(fits, "extras", f"a number for each of {len(graph.weights)} edges", len(extras))
    selves = np.arange(graph.n_rows)
    indices, distances = _listed(graph, graph.indptr, graph.indices, graph.weights, extras, selves, k, n_jobs)
    return Neighbors(indices, distances, "geodesic", exact=graph.exact, recall=graph.recall)


def nearest_by_entries(
    graph: NeighborGraph,
    entries: np.ndarray,
    distances: np.ndarray,
    extras: np.ndarray,
    k: int,
    *,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` rows of a connected graph nearest to new rows, which enter it by their neighbours, (b, e).

    ``extras`` are added to the distances from a new row to those neighbours, and to no path over them.
    """
    b, e = entries.shape
    starts = np.arange(0, b * e + 1, e)
    nobody = np.full(b, -1)
    seeds = entries.ravel().astype(np.int32)
    return _listed(graph, starts, seeds, distances.ravel(), extras.ravel(), nobody, k, n_jobs)


def _listed(graph, seed_ptr, seeds, starts, extras, selves, k, n_jobs) -> tuple[np.ndarray, np.ndarray]:
    found, lengths = np.empty((len(selves), k), np.int32), np.empty((len(selves), k))
    for block in row_blocks(len(selves), "shortest paths", size=_BLOCK, adapt=True):
        with threads(n_jobs) as n_workers:
            nearest_by_paths(
                graph.indptr, graph.indices, graph.weights, seed_ptr[block.start : block.stop + 1], seeds,
                starts, extras, selves[block], n_workers, found[block], lengths[block],
            )  # fmt: skip
    return found, lengths
