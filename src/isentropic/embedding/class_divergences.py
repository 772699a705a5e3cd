"""Neighbour graphs by a dissimilarity of rows and classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._core.errors import require, require_one_of
from .._core.values import ClassDivergence, NeighborGraph
from ..dissimilarities import (
    Added,
    ClassDistance,
    ClassGaussians,
    ClassIndex,
    WideGaussians,
    checked_dissimilarity,
    class_gaussians,
    fitted_dissimilarity,
    largest_distance,
)
from ..distances import Metric, is_gower
from ..divergences import EDGE_DIVERGENCES, FullForm
from ..divergences.gaussian_divergences import fisher_rao, kl
from ..neighbors import directed_lists, joined_graph

# --------------------------------------------------------------------------------------------------
# Divergences between the Gaussians of classes, and the dissimilarities of rows that are made of them.


DIRECTED = {**EDGE_DIVERGENCES, "directed-kl": kl}  # for methods that do not need one number a pair


def checked_divergence(name: Any, known: Any = EDGE_DIVERGENCES) -> str:
    require_one_of("divergence", name, known)
    return str(name)


def class_divergences(gaussians: ClassGaussians | WideGaussians, divergence: str = "kl") -> np.ndarray:
    """Divergence of each pair of classes, (c, c), 0 on the diagonal. ``O(c m^3 + c^2 m^2)`` time.

    Of Gaussians in r coordinates m is r, but for ``"fisher-rao"``, which takes ``O(c m r^2)``.

    >>> import numpy as np
    >>> one = np.ones((2, 1, 1))
    >>> class_divergences(ClassGaussians(np.array([[0.0], [2.0]]), one, np.array([5, 5]))).tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    c = len(gaussians.means)
    heads, tails = np.nonzero(~np.eye(c, dtype=bool))
    table = np.zeros((c, c))
    if isinstance(gaussians, WideGaussians) and divergence == "fisher-rao":  # not the same in another basis
        table[heads, tails] = fisher_rao(gaussians, heads, tails)
    else:
        inside = gaussians.inside if isinstance(gaussians, WideGaussians) else gaussians
        table[heads, tails] = DIRECTED[divergence](_form(inside), heads, tails)
    finite = bool(np.isfinite(table).all())
    hint = "Scale the features, or leave out those that vary in one class only."
    require(finite, "A divergence between classes", "finite", "infinite or missing numbers", hint)
    return table


def _form(gaussians: ClassGaussians) -> FullForm:
    """In a unit that is a power of two, so that no square is lost; a divergence itself has none."""
    m = gaussians.means.shape[1]
    size = float(np.sqrt(gaussians.covariances[:, np.arange(m), np.arange(m)].mean()))
    unit = float(np.ldexp(1.0, int(np.frexp(size)[1])))
    means = (gaussians.means - gaussians.means.mean(axis=0)) / unit
    return FullForm(means, gaussians.covariances / unit / unit)


def dissimilarity_of(
    choice: Any,
    X: np.ndarray,
    classes: np.ndarray,
    *,
    metric: Metric = "euclidean",
    directed: bool = False,
    n_jobs: int | None = None,
) -> ClassDistance:
    """Any choice of a dissimilarity, its numbers found from a table with classes."""
    choice = checked_dissimilarity(choice)
    if not isinstance(choice, ClassDivergence):
        return fitted_dissimilarity(choice, X, classes, metric=metric, n_jobs=n_jobs)
    must_be = "dis1, dis2 or dis3 for distances that are given, or Gower's, which have no Gaussians"
    require(metric != "precomputed" and not is_gower(metric), "dissimilarity", must_be, choice)
    checked_divergence(choice.divergence, DIRECTED if directed else EDGE_DIVERGENCES)
    table = class_divergences(class_gaussians(X, classes), choice.divergence)
    if choice.scale == "match" and table.any():
        table *= largest_distance(X, metric, n_jobs) / table.max()
    return Added(choice.alpha * table)


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
