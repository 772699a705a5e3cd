"""ISOMAP over growing neighbourhoods: which k, and where the first short circuit comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .._errors import is_whole, require, require_count, require_one_of
from .._runtime import generator
from .._values import Knn, NeighborGraph, Radius
from ..distances import Metric
from ..geodesics import PairSequence
from ..linalg import Scaling, fixed_signs, procrustes_correlation, residual_variance, warm_scaling
from ..neighbors import (
    checked_table,
    directed_within,
    first_neighbors,
    joined_graph,
    listed_graph,
    nearest_neighbors,
)
from ..quality import Curves
from ..quality.inputs import both_sides
from ..quality.rank_sums import rank_sums
from .path_values import Path

_RANKED = 500  # rows that are drawn for the area under R_NX: it is known to about 0.01 then


def isomap_path(
    X: Any,
    n_neighbors: Sequence[int | Knn | Radius] = (5, 6, 7, 8, 10, 12, 14, 17, 20, 24),
    *,
    n_components: int = 2,
    metric: Metric = "euclidean",
    on_disconnected: str = "bridge",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Path:
    """ISOMAP for each size of the neighbourhood: the maps, and how geodesics change from one to the next.

    Each map is that of ``Isomap(n_neighbors=k).fit(X)``. Neighbours are searched once, for the largest; the
    eigenvectors of one map start the iteration for the next; the order of the rows in which shortest paths
    are searched is found once, and each pair is searched from one end.

    Cost: ``O(n^2 k)`` time for each value, some 0.5 of a fit, and ``4.3 n^2`` bytes.

    Parameters
    ----------
    X : array of shape (n, m), or (n, n) with ``metric="precomputed"``
    n_neighbors : sequence of int, or of Radius
        Sizes of the neighbourhood; the path goes upwards. More than 10,000 rows are searched approximately,
        and lists then are the beginnings of the longest, which a fit would have searched by itself.
    n_components : int
        Dimension of the maps.
    metric : str or callable
        As of :class:`~isentropic.Isomap`.
    on_disconnected : {"bridge", "raise"}
        What to do about a graph in parts: join them by their shortest edges, or refuse.
    random_state : int, RandomState or None
        Of approximate neighbours, and of the 500 rows from which ``rnx_auc`` is estimated if there are more.
    n_jobs : int, optional
        Threads. The result does not depend on them.

    Returns
    -------
    Path

    References
    ----------
    Balasubramanian and Schwartz (2002). Choo et al. (2010).

    Examples
    --------
    >>> from isentropic import datasets, isomap_path
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> path = isomap_path(roll.X, [6, 8, 10])
    >>> path.neighbors, path.short_circuits
    ((6, 8, 10), ())
    >>> bool(path.residual_variance.max() < 0.01)
    True
    """
    values = _checked_values(n_neighbors)
    require_count("n_components", n_components)
    require_one_of("on_disconnected", on_disconnected, ("bridge", "raise"))
    X = checked_table(X, values[-1], metric, fewest=3)
    options: dict[str, Any] = {"metric": metric, "on_disconnected": on_disconnected, "n_jobs": n_jobs}
    longest, *shorter = _graphs(X, values, random_state, options)
    sequence = PairSequence(longest, n_jobs=n_jobs)
    found, start = [], None
    for graph in (*reversed(shorter), longest):
        G = sequence.all_pairs(graph)
        scaling, start = warm_scaling(G, len(X), n_components, start, n_jobs=n_jobs)
        variance = residual_variance(G, scaling.embedding, n_jobs=n_jobs)
        found.append((graph.n_components, float(G.sum()), variance, _in_rows(scaling, sequence.rows)))
    parts, sums, variances, scalings = zip(*found, strict=True)
    maps = tuple(scaling.embedding for scaling in scalings)
    pairs = pairwise(maps)
    return Path(
        neighbors=tuple(value if isinstance(value, Radius) else value.k for value in values),
        embeddings=maps,
        eigenvalues=np.array([scaling.eigenvalues for scaling in scalings]),
        residual_variance=np.array(variances),
        rnx_auc=np.array([_area(X, Z, metric, random_state, n_jobs) for Z in maps]),
        geodesic_sum=np.array(sums),
        stability=np.array([np.nan, *(procrustes_correlation(*pair) for pair in pairs)]),
        euclidean_defect=np.array([scaling.euclidean_defect for scaling in scalings]),
        n_parts=np.array(parts),
    )


def _checked_values(given: Any) -> list[Any]:
    """Growing numbers of neighbours, or growing radii, without repeats."""
    must_be = "several numbers of neighbours, or several Radius"
    require(
        isinstance(given, list | tuple | range | np.ndarray) and len(given) > 0, "n_neighbors", must_be, given
    )
    for value in given:
        require(is_whole(value) or isinstance(value, Knn | Radius), "n_neighbors", must_be, given)
    radii = [value for value in given if isinstance(value, Radius)]
    if radii:
        require(len(radii) == len(given), "n_neighbors", must_be, given, "Take two paths.")
        return sorted(set(radii), key=lambda radius: radius.eps)
    rules = [value if isinstance(value, Knn) else Knn(int(value)) for value in given]
    for rule in rules:
        require_count("n_neighbors", rule.k)
    alike = len({(rule.approximate, rule.exact_below) for rule in rules}) == 1
    require(alike, "n_neighbors", "of one kind of search", given)
    return sorted(set(rules), key=lambda rule: rule.k)


def _graphs(
    X: np.ndarray, values: list[Any], random_state, options: dict[str, Any]
) -> Iterator[NeighborGraph]:
    """The graph of each value, the last one first: one search finds the lists of all."""
    largest, metric, n_jobs = values[-1], options["metric"], options["n_jobs"]
    if isinstance(largest, Knn):
        lists = nearest_neighbors(X, largest, metric=metric, random_state=random_state, n_jobs=n_jobs)
        for value in reversed(values):
            yield listed_graph(X, first_neighbors(lists, value.k), **options)
        return
    edges = directed_within(X, largest, metric, n_jobs)
    for value in reversed(values):
        yield joined_graph(X, _nearer(edges, value.eps), value.kind, **options)


def _nearer(edges: csr_array, eps: float) -> csr_array:
    """The edges shorter than ``eps``; edges of length 0 stay."""
    near = edges.data < eps
    indptr = np.concatenate([[0], np.cumsum(near)])[edges.indptr]
    return csr_array((edges.data[near], edges.indices[near], indptr), shape=edges.shape)


def _in_rows(scaling: Scaling, rows: np.ndarray) -> Scaling:
    """Coordinates in the order of the table, their signs as those of a fit."""
    Z = np.empty_like(scaling.embedding)
    Z[rows] = scaling.embedding
    return replace(scaling, embedding=fixed_signs(Z))


def _area(X: np.ndarray, Z: np.ndarray, metric: Metric, random_state: Any, n_jobs: int | None) -> float:
    """The area under R_NX, of all rows or estimated from those that are drawn."""
    drawn = np.sort(generator(random_state).permutation(len(X))[:_RANKED])
    return Curves.of(
        rank_sums(*both_sides(X, Z, metric=metric, n_jobs=n_jobs), 1, drawn, n_jobs=n_jobs)
    ).rnx_auc
