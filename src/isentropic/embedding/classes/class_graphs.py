"""Neighbour graphs by a dissimilarity of rows and classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._core.values import NeighborGraph
from ...dissimilarities import ClassDistance, ClassIndex
from ...distances import Metric
from ...neighbors import directed_lists, joined_graph


def class_graph(
    X: np.ndarray,
    classes: np.ndarray,
    measure: ClassDistance,
    k: int,
    *,
    metric: Metric = "euclidean",
    on_disconnected="bridge",
    n_jobs: int | None = None,
) -> NeighborGraph:
    """The union of the k nearest of each row by the dissimilarity, weighed by it, repaired by the policy.

    A bridge joins the two rows of its parts that are nearest in the data.
    """
    near, lengths = ClassIndex(X, classes, metric).among(k, measure, n_jobs)
    graph = joined_graph(X, directed_lists(near, lengths), "knn", metric=metric,
                         on_disconnected=on_disconnected, n_jobs=n_jobs)  # fmt: skip
    return replace(graph, weights=weighed(graph, measure, classes))


def weighed(graph: NeighborGraph, measure: ClassDistance, classes: np.ndarray) -> np.ndarray:
    """The dissimilarities of the ends of all edges, from their lengths in the data."""
    heads = np.repeat(classes, np.diff(graph.indptr))
    return measure.between(graph.weights, heads, classes[graph.indices])
