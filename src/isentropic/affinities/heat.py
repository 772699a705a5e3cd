"""The heat kernel on the edges of a neighbour graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .._errors import is_real, require
from .._values import NeighborGraph


def checked_heat(t: Any) -> Any:
    """``"auto"`` or a positive number, infinity included."""
    is_auto = isinstance(t, str) and t == "auto"
    hint = "It is in squared units of the data; inf weighs all edges alike."
    require(is_auto or (is_real(t) and bool(t > 0)), "t", "'auto' or a positive number", t, hint)
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
    weights = graph.weights
    if graph.is_distance:
        longest = float(weights.max(initial=0.0)) or 1.0
        squared = (weights / longest) ** 2  # no number beyond 1, in any unit
        scale = float(squared.mean()) if isinstance(t, str) else t / longest / longest
        weights = np.exp(-(squared - squared.min(initial=1.0)) / (scale or 1.0))
    shape = (graph.n_rows, graph.n_rows)
    return csr_array((weights, graph.indices, graph.indptr), shape=shape)
