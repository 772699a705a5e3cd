"""Rows appended to a map of a neighbor graph, from the lists, paths and eigenvectors of the map before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np

from ..._core.errors import message, require
from ..._core.specs import Number, Text
from ..._core.values import Knn, NeighborGraph, Neighbors
from ...distances import is_gower, metric_name
from ...embedding.input_rows import checked_rows, require_dense_rows
from ...embedding.maps.geodesic import GeodesicMap
from ...geodesics import GrowingPaths, PairSequence, grown_rows
from ...linalg import rotation
from ...neighbors import appended_lists, graph_of_lists, lists_of_graph, use_approximate
from .geodesic_scaling import ScaledPaths, is_in_parts, warm_map

_VECTORS = 8  # of the last map, that the next one starts from


Kind = Literal["fit", "repaired", "appended", "refit"]


@dataclass(frozen=True, slots=True)
class Update:
    """How the last ``partial_fit`` found its map.

    ``kind`` is ``"fit"`` for the first rows, ``"refit"`` where all was done anew. Else neighbour lists were
    updated, and the eigenvectors of the map before started the next; shortest paths were all searched
    (``"appended"``) or those that lost an edge (``"repaired"``). ``affected`` is the share of the distances
    between old rows that were searched again, 1 for all of them.
    """

    kind: Annotated[Kind, Text("fit", "repaired", "appended", "refit")]
    affected: Annotated[float, Number(0, most=1)]
    seconds: Annotated[float, Number(0)]


_ANEW = "The distances between all rows are needed: fit them anew, or place new ones by transform."


def takes_tables(model: Any) -> bool:
    """Rows of given distances, or in the ranges of all, cannot be appended: ``partial_fit`` is no method."""
    if model.metric == "precomputed" or is_gower(model.metric):
        must_be = "one that more rows do not change, for these to be appended"
        raise AttributeError(message("metric", must_be, metric_name(model.metric), _ANEW))
    return True


@dataclass(eq=False)
class Growth:
    """What the next call starts from; never saved. ``paths`` are repaired in place: take them out before."""

    lists: Neighbors | None = None
    vectors: np.ndarray | None = None
    paths: GrowingPaths | None = None


def growth_of(paths: GeodesicMap) -> Growth:
    """What an earlier call left at the map; nothing after a fit, or a file."""
    found: Growth = vars(paths).get("_growth") or Growth()
    return found


def checked_new_rows(model: Any, X: Any) -> np.ndarray:
    """Rows that can be appended to those of a fitted model."""
    must_be = "that of a table, for rows to be appended"
    given = model._map.data.precomputed
    require(not given, "metric of the fitted rows", must_be, "precomputed", _ANEW)
    require_dense_rows(model)
    rows: np.ndarray = checked_rows(model, X, metric=model.metric, fitting=False)
    return rows


def can_append(paths: GeodesicMap, table: np.ndarray, rule: Any, metric: Any, conformal: bool) -> bool:
    """Whether the lists of the fitted rows are in the graph, and still what the parameters ask for."""
    known, n = paths.edges.rule, paths.graph.n_rows
    same = isinstance(known, Knn) and known == rule and metric == paths.data.metric
    reweighted = conformal or paths.edges.scales is not None
    whole = n == paths.data.n and paths.graph.exact and not reweighted
    return same and whole and known.k < n and not use_approximate(known, table, metric)


def appended_graph(
    paths: GeodesicMap, table: np.ndarray, policy: Any, n_jobs: int | None
) -> tuple[NeighborGraph, Neighbors]:
    """The neighbor graph of all rows, from the lists of the old ones; and the lists."""
    metric, lists = paths.data.metric, growth_of(paths).lists
    if lists is None:
        lists = lists_of_graph(paths.data.X, paths.graph, paths.edges.rule.k, metric=metric, n_jobs=n_jobs)
    lists = appended_lists(table, lists, metric=metric, n_jobs=n_jobs)
    graph = graph_of_lists(table, lists, metric=metric, on_disconnected=policy, n_jobs=n_jobs)
    return graph, lists


def appended_paths(
    paths: GeodesicMap, graph: NeighborGraph, n_components: int, n_jobs: int | None
) -> tuple[ScaledPaths, Growth, float | None]:
    """The map from the last eigenvectors, and the share of distances that were repaired; None for all."""
    growth = growth_of(paths)
    known, growth.paths = growth.paths, None  # a call that is interrupted leaves them changed
    start = _start(paths, graph, n_components)
    known = known if known is not None and known.graph is paths.graph else None
    G, rows, grown, affected = _grown(known, graph, n_jobs)
    found, vectors = warm_map(graph, G, rows, n_components, start, n_jobs)
    return found, Growth(vectors=vectors, paths=grown), affected


class LandmarkPaths:
    """Geodesics from landmarks; those of rows that still are landmarks are repaired, a share ``affected``."""

    def __init__(self, before: GeodesicMap, graph: NeighborGraph, n_jobs: int | None):
        self.before, self.graph, self.n_jobs = before, graph, n_jobs
        self.affected: float | None = None

    def __call__(self, chosen: np.ndarray) -> np.ndarray:
        before = self.before
        G, self.affected = grown_rows(before.landmark_geodesics, before.landmarks, before.graph, self.graph,
                                      chosen, n_jobs=self.n_jobs)  # fmt: skip
        return G


def repairs_landmarks(paths: GeodesicMap) -> bool:
    """Whether the geodesics from landmarks are there to be repaired."""
    return "landmark_geodesics" in vars(paths) and not is_in_parts(paths.graph)


def turned(paths: Any, Z: np.ndarray, old: np.ndarray) -> tuple[Any, np.ndarray]:
    """A map turned and mirrored so that the old rows stay where they were as far as they can (Procrustes)."""
    if old.shape[1] != Z.shape[1]:
        return paths, Z  # other components than before: there is nothing to turn onto
    turn = rotation(Z[: len(old)], old)
    scaling = replace(
        paths.scaling, embedding=paths.scaling.embedding @ turn, projection=paths.scaling.projection @ turn
    )
    found = replace(paths, scaling=scaling)
    caches = {name: value for name, value in vars(paths).items() if name not in vars(found)}
    vars(found).update(caches)
    return found, Z @ turn


def _start(paths: GeodesicMap, graph: NeighborGraph, d: int) -> np.ndarray:
    """Vectors of the map before, new rows at the mean of their neighbours; others are random."""
    n, growth = graph.n_rows, growth_of(paths)
    start = np.random.default_rng(0).uniform(-1, 1, (n, _VECTORS * -(-(d + 6) // _VECTORS)))
    known = paths.scaling.embedding if growth.vectors is None else growth.vectors
    n_known, width = known.shape
    if n_known == paths.data.n and width <= start.shape[1]:
        size = np.linalg.norm(known, axis=0)
        start[:n_known, :width] = known / np.where(size > 0, size, 1.0)
        for row in range(n_known, n):
            near = graph.indices[graph.indptr[row] : graph.indptr[row + 1]]
            start[row, :width] = start[near[near < row], :width].sum(axis=0) / max((near < row).sum(), 1)
    return start


def _grown(
    paths: GrowingPaths | None, graph: NeighborGraph, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray, GrowingPaths | None, float | None]:
    """All geodesics, the order of their rows, what repairs them next time, and the share repaired now.

    Where memory has no room for whole rows, nothing is kept; where nothing is repaired, the share is None.
    """
    affected = None
    if paths is not None and paths.has_room(graph.n_rows):
        affected = paths.grow(graph, n_jobs=n_jobs)
    elif GrowingPaths.fit_memory(graph.n_rows):
        paths = GrowingPaths(graph, n_jobs=n_jobs)
    else:
        sequence = PairSequence(graph, n_jobs=n_jobs)
        return sequence.all_pairs(graph), sequence.rows, None, None
    return paths.distances, paths.rows, paths, affected
