"""Nearest neighbours: exact by tree or brute force, or approximate, always in the same order.

Neighbours come nearest first, equally far ones by index, whatever found them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._core.errors import NeighborsClippedWarning, require, require_count
from .._core.runtime import require_memory
from .._core.sparse_rows import SparseRows
from .._core.values import Knn, Neighbors
from ..distances import Metric, measurable_rows, metric_name
from .approximate import approximate_neighbors, can_descend
from .index import RowIndex, is_long, prefers_boxes

_EDGE_BYTES = 60  # of a directed edge, from the lists to the symmetric graph
_SPARSER = "Take a smaller radius or percentile, or a number of neighbours."


def nearest_neighbors(
    X: Any, rule: int | Knn, *, metric: Metric = "euclidean", random_state=None, n_jobs: int | None = None
) -> Neighbors:
    """The ``rule.k`` nearest other rows of every row of ``X`` (a distance matrix when precomputed).

    ``X`` may be sparse for ``metric="cosine"``: exactly, by the products of entries that meet in a column, in
    blocks of rows; an empty row is at distance 1 from all but other empty ones.

    Tree: ``O(n log n)`` for few features or levels. Brute force: ``O(n^2 m)``. Approximate: about
    ``O(n^1.1 m)``.
    """
    if not isinstance(rule, Knn):
        rule = Knn(require_count("rule", rule, "Knn(k), or a number of neighbours"))
    X = measurable_rows(X, metric)
    require(len(X) >= 2, "X", "a table of at least 2 rows", len(X))
    return searched_neighbors(X, rule, metric=metric, random_state=random_state, n_jobs=n_jobs)


def searched_neighbors(
    X: Any, rule: Knn, *, metric: Metric = "euclidean", random_state=None, n_jobs: int | None = None
) -> Neighbors:
    """As :func:`nearest_neighbors`, of rows that were checked and are in the units of the metric."""
    k = clipped_neighbors(rule.k, len(X) - 1)
    require_edge_memory(len(X) * k, "Take fewer neighbours.")
    if use_approximate(rule, X, metric):
        return approximate_neighbors(X, k, metric=metric, random_state=random_state, n_jobs=n_jobs)
    indices, distances = nearest_among(X, X, k, metric=metric, selves=np.arange(len(X)), n_jobs=n_jobs)
    return Neighbors(indices, distances, metric_name(metric), exact=True)


def require_edge_memory(n_edges: int, alternative: str = _SPARSER) -> None:
    """Refuse a graph of about so many directed edges that it does not fit the memory budget."""
    require_memory(_EDGE_BYTES * n_edges, f"A graph of about {n_edges:,} directed edges", alternative)


def clipped_neighbors(
    k: int, available: int, who: str = "the other rows", *, name: str = "n_neighbors"
) -> int:
    """``k``, or as many as there are, with a warning that calls it by the ``name`` the user knows."""
    k = require_count(name, k)
    if k <= available:
        return k
    warnings.warn(
        f"{name} must be at most {available} ({who}), got {k}: {available} are used.",
        NeighborsClippedWarning,
        stacklevel=2,
    )
    return available


def use_approximate(rule: Knn, X: np.ndarray, metric: Metric) -> bool:
    """Whether ``rule`` searches these rows approximately."""
    asked = rule.approximate
    is_choice = isinstance(asked, bool | np.bool_) or (isinstance(asked, str) and asked == "auto")
    require(is_choice, "approximate", "True, False or 'auto'", asked)
    require_count("exact_below", rule.exact_below, least=0)
    if asked == "auto" and isinstance(X, SparseRows):
        return False
    if asked == "auto":
        short = len(X) > rule.exact_below and not is_long(rule.k, len(X))
        return short and can_descend(metric) and not prefers_boxes(X, metric)
    known = can_descend(metric) and not isinstance(X, SparseRows)
    what = "sparse rows" if isinstance(X, SparseRows) else f"the metric {metric_name(metric)!r}"
    must_be = f"False for {what}, which the approximate search does not know"
    require(not asked or known, "approximate", must_be, asked)
    return bool(asked)


def nearest_among(
    queries: np.ndarray,
    data: np.ndarray,
    k: int,
    *,
    metric: Metric = "euclidean",
    selves: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` rows of ``data`` nearest to each query, exactly; ``selves[i]`` is no neighbour of query i."""
    return RowIndex(data, metric).nearest(queries, k, selves=selves, n_jobs=n_jobs)


def class_votes(near: np.ndarray, n_classes: int) -> np.ndarray:
    """How many of a row's neighbours are of each class, (b, c); ``near`` (b, k) are their classes.

    ``argmax`` is the k-NN vote, with ties for the class that sorts first, as in scikit-learn.

    >>> class_votes(np.array([[0, 1, 1, 1]]), 3).tolist()
    [[1, 3, 0]]
    """
    votes = np.zeros((len(near), n_classes), np.int64)
    np.add.at(votes, (np.arange(len(near))[:, None], near), 1)
    return votes
