"""ISOMAP over neighbourhood sizes: which k, and the first short circuit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..._core.errors import is_whole, require, require_count, require_one_of
from ..._core.runtime import generator
from ..._core.values import Floats, Integers, Knn, NeighborGraph, Radius
from ...distances import Metric
from ...geodesics import PairSequence
from ...linalg import Scaling, aligned, fixed_signs, procrustes_correlation, residual_variance, warm_scaling
from ...neighbors import (
    as_rule,
    checked_table,
    directed_within,
    first_neighbors,
    graph_of_lists,
    joined_graph,
    searched_neighbors,
    use_approximate,
)
from ...quality import Curves
from ...quality.inputs import both_sides
from ...quality.ranks.rank_sums import rank_sums

# --------------------------------------------------------------------------------------------------
# ISOMAP over growing neighbourhoods: one search of neighbours, paths from one end, warm block Krylov.


@dataclass(frozen=True, slots=True)
class PathStep:
    """The map of one neighbourhood size, with its graph and geodesics."""

    value: Knn | Radius
    graph: NeighborGraph
    geodesics: np.ndarray  # of all pairs, condensed; in the order that the path has the rows in
    in_order: Scaling  # of the rows in that order
    rows: np.ndarray  # the order

    @property
    def scaling(self) -> Scaling:
        """Coordinates in the order of the table, their signs as those of a fit."""
        Z = np.empty_like(self.in_order.embedding)
        Z[self.rows] = self.in_order.embedding
        return replace(self.in_order, embedding=fixed_signs(Z))


def path_steps(
    X: np.ndarray, values: list[Any], n_components: int, *, random_state: Any = None, **options: Any
) -> Iterator[PathStep]:
    """Maps of growing neighbourhoods; ``options`` are those of a graph.

    Each is that of ISOMAP up to rounding. Neighbours are searched once, for the largest; the eigenvectors of
    one map start the iteration for the next; the order of the rows in which shortest paths are searched is
    found once, and each pair is searched from one end. ``O(n^2 k)`` time a map, ``4.3 n^2`` bytes.
    """
    n_jobs = options["n_jobs"]
    longest, *shorter = _graphs(X, values, random_state, options)
    sequence, start = PairSequence(longest, n_jobs=n_jobs), None
    for value, graph in zip(values, (*reversed(shorter), longest), strict=True):
        G = sequence.all_pairs(graph)
        scaling, start = warm_scaling(G, len(X), n_components, start, n_jobs=n_jobs)
        yield PathStep(value, graph, G, scaling, sequence.rows)


def maps_of_values(
    X: Any, given: list[Any], n_components: int, **options: Any
) -> Iterator[tuple[int, np.ndarray]] | None:
    """The map of each size with its position among them, the smallest size first.

    None where lists would not be those of a fit: searched approximately, or longer than there are rows.
    """
    values = checked_values(given)
    X = checked_table(X, values[-1], options["metric"], fewest=3)
    lists = [value for value in values if isinstance(value, Knn)]
    exact = all(value.k < len(X) and not use_approximate(value, X, options["metric"]) for value in lists)
    if not exact or not 1 < len(values) == len(given):
        return None
    rules = [as_rule(value) for value in given]
    steps = path_steps(X, values, n_components, **options)
    return ((rules.index(step.value), step.scaling.embedding) for step in steps)


def checked_values(given: Any) -> list[Any]:
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
    X: np.ndarray, values: list[Any], random_state: Any, options: dict[str, Any]
) -> Iterator[NeighborGraph]:
    """The graph of each value, the last one first: one search finds the lists of all."""
    largest, metric, n_jobs = values[-1], options["metric"], options["n_jobs"]
    if isinstance(largest, Knn):
        lists = searched_neighbors(X, largest, metric=metric, random_state=random_state, n_jobs=n_jobs)
        for value in reversed(values):
            yield graph_of_lists(X, first_neighbors(lists, value.k), **options)
        return
    edges = directed_within(X, largest, metric, n_jobs)
    for value in reversed(values):
        yield joined_graph(X, _nearer(edges, value.eps), value.kind, **options)


def _nearer(edges: csr_array, eps: float) -> csr_array:
    """The edges shorter than ``eps``; edges of length 0 stay."""
    near = edges.data < eps
    indptr = np.concatenate([[0], np.cumsum(near)])[edges.indptr]
    return csr_array((edges.data[near], edges.indices[near], indptr), shape=edges.shape)


# ---- What a path over the size of the neighbourhood found, value by value ------------------------


_JUMP = 3.0  # times the least rate before: shrinkage falls as neighbourhoods grow, unless paths take a leap
_WORTH = 0.01  # of the sum of all geodesics: what changes less is no short circuit
_NEAR_LEAST = 1.1  # times the least residual variance


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Maps of the same rows over growing neighbourhoods; arrays have one entry for each of ``neighbors``.

    QueryEdges that compare a value with the one before are NaN for the first.
    """

    neighbors: tuple[int | Radius, ...]  # growing
    embeddings: tuple[Floats, ...]  # (n, d) each, as Isomap finds them
    eigenvalues: Floats  # (len, d), largest first
    residual_variance: Floats  # 1 - corr(geodesics, distances in the map)^2
    rnx_auc: Floats  # area under R_NX, over log k: 1 where every neighbourhood of the table is kept
    geodesic_sum: Floats  # over all pairs of rows
    stability: Floats  # Procrustes correlation with the map before
    euclidean_defect: Floats  # (len, 2): bounds of the negative share of the spectrum
    n_parts: Integers  # connected components of the graph, before bridges

    def __len__(self) -> int:
        return len(self.neighbors)

    @property
    def sizes(self) -> Floats:
        """Neighbours, or radii, as numbers."""
        return np.array([v.eps if isinstance(v, Radius) else v for v in self.neighbors], float)

    @property
    def shrinkage(self) -> Floats:
        """``s = 1 - sum G / sum G before``: by how much the geodesics became shorter."""
        sums = self.geodesic_sum
        with np.errstate(invalid="ignore"):  # all rows equal: 0 / 0
            return np.concatenate([[np.nan], 1.0 - sums[1:] / sums[:-1]])

    @property
    def short_circuits(self) -> tuple[int | Radius, ...]:
        """Values at which geodesics shrink against the trend: an edge has leapt from sheet to sheet.

        On a surface s falls as the neighbourhoods grow. The alarm is a step by which all geodesics lose 1% or
        more, and three times as much per step of ``log k`` as in the calmest step before. Steps from a graph
        in parts do not count: they replace bridges. Two steps at least come before an alarm, so a path that
        is short-circuited from its start raises none: see the level of ``residual_variance``.
        """
        steps = np.diff(np.log(self.sizes))
        rates, shrinkage = self.shrinkage[1:] / steps, self.shrinkage[1:]
        counts = self.n_parts[:-1] == 1
        found, calmest = [], np.inf
        for i in np.flatnonzero(counts):
            if shrinkage[i] >= _WORTH and rates[i] > _JUMP * calmest:
                found.append(self.neighbors[i + 1])
            calmest = min(calmest, max(rates[i], 0.0))
        return tuple(found)

    @property
    def chosen(self) -> int | Radius:
        """The least value from which on residual variance stays within 10% of its least, before any alarm."""
        alarms = self.short_circuits
        end = self.neighbors.index(alarms[0]) if alarms else len(self)
        variance = self.residual_variance[:end]
        far = np.flatnonzero(variance > _NEAR_LEAST * variance.min())
        first = far[-1] + 1 if len(far) else 0
        return self.neighbors[first if first < end else int(variance.argmin())]

    @property
    def aligned(self) -> tuple[Floats, ...]:
        """The maps, each turned and mirrored onto the one before: for the eye, and for animation."""
        maps = [self.embeddings[0]]
        for Z in self.embeddings[1:]:
            maps.append(aligned(Z, maps[-1]))
        return tuple(maps)


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
        What to do about a disconnected graph: join them by their shortest edges, or refuse.
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
    values = checked_values(n_neighbors)
    require_count("n_components", n_components)
    require_one_of("on_disconnected", on_disconnected, ("bridge", "raise"))
    X = checked_table(X, values[-1], metric, fewest=3)
    options: dict[str, Any] = {"metric": metric, "on_disconnected": on_disconnected, "n_jobs": n_jobs}
    found = []
    for step in path_steps(X, values, n_components, random_state=random_state, **options):
        variance = residual_variance(step.geodesics, step.in_order.embedding, n_jobs=n_jobs)
        found.append((step.graph.n_components, float(step.geodesics.sum()), variance, step.scaling))
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


def _area(X: np.ndarray, Z: np.ndarray, metric: Metric, random_state: Any, n_jobs: int | None) -> float:
    """The area under R_NX, of all rows or estimated from those that are drawn."""
    drawn = np.sort(generator(random_state).permutation(len(X))[:_RANKED])
    return Curves.of(
        rank_sums(*both_sides(X, Z, metric=metric, n_jobs=n_jobs), 1, drawn, n_jobs=n_jobs)
    ).rnx_auc
