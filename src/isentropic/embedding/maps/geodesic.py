"""The map of a graph: classical scaling of its shortest paths, of all pairs or through landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._core.runtime import row_blocks
from ..._core.values import Inflate, Landmarks, NeighborGraph
from ...distances import Metric
from ...geodesics import all_pairs, from_neighbors, from_rows
from ...kernels._jit import threads
from ...kernels.rows.placement import through_neighbors
from ...linalg import (
    Scaling,
    classical_scaling,
    fixed_signs,
    positive_scaling,
    residual_variance,
    warm_scaling,
)
from ...neighbors import Entries, warn_of_isolated
from ..landmarks import chosen_landmarks, scaled_by_landmarks

_PLACED_AT_ONCE = 256  # new rows whose distances to all fitted rows are held together
_ERROR = 1e-7  # of a vector that another one led to


@dataclass(frozen=True, slots=True)
class GeodesicMap:
    """A graph and the scaling of its paths: all that the place of a new row depends on (Gower's formula)."""

    graph: NeighborGraph
    scaling: Scaling
    unreachable: float  # what stands for a path that there is not
    landmarks: np.ndarray | None = None  # rows of the graph; None for the exact method
    geodesics: np.ndarray | None = None  # from the landmarks to all rows of the graph

    def place(
        self,
        X: np.ndarray,
        enter: Callable[[np.ndarray], Entries],
        n_jobs: int | None,
        blend: Callable[[np.ndarray, np.ndarray], None] | None = None,
    ) -> np.ndarray:
        """Coordinates of new rows; ``enter`` says where, and at what distance, they enter the graph.

        ``blend(rows, paths)`` changes the lengths of their paths in place, as those of the fit were.
        """
        Z = np.empty((len(X), self.scaling.embedding.shape[1]))
        isolated = 0
        for block in row_blocks(len(X), "placing rows", size=_PLACED_AT_ONCE):
            entries = enter(X[block])
            isolated += entries.isolated
            G = self._geodesics_of_new(entries, n_jobs)
            G[np.isinf(G)] = self.unreachable
            if blend is not None:
                blend(X[block], G)
            Z[block] = self.scaling.place(G, n_jobs=n_jobs)
        warn_of_isolated(isolated, len(X))
        return Z

    def _geodesics_of_new(self, entries: Entries, n_jobs: int | None) -> np.ndarray:
        if self.geodesics is None:
            return from_neighbors(self.graph, entries.indices, entries.distances, n_jobs=n_jobs)
        G = np.empty((len(entries.indices), len(self.geodesics)))
        with threads(n_jobs):
            through_neighbors(entries.indices, entries.distances, self.geodesics, G)
        return G


def exact_map(
    graph: NeighborGraph,
    n_components: int,
    policy: Any,
    n_jobs: int | None,
    blend: Callable[[np.ndarray, np.ndarray | None], None] | None = None,
    *,
    positive: bool = False,
) -> tuple[GeodesicMap, np.ndarray, float]:
    """Scaling of all paths, the coordinates of all rows of the graph, and the residual variance.

    ``blend(paths, landmarks)`` changes the lengths of paths in place: of all pairs where landmarks are None.
    """
    G = all_pairs(graph, n_jobs=n_jobs)
    unreachable = _inflated(G, graph, policy)
    if blend is not None:
        blend(G, None)
    scaled = positive_scaling if positive else classical_scaling
    scaling = scaled(G, graph.n_rows, n_components, n_jobs=n_jobs)
    variance = residual_variance(G, scaling.embedding, n_jobs=n_jobs)
    return GeodesicMap(graph, scaling, unreachable), scaling.embedding, variance


def warm_map(
    graph: NeighborGraph,
    G: np.ndarray,
    rows: np.ndarray,
    n_components: int,
    start: np.ndarray,
    n_jobs: int | None,
) -> tuple[GeodesicMap, np.ndarray, float, np.ndarray]:
    """As :func:`exact_map` of a connected graph, from eigenvectors near its own; and those of the next one.

    ``G`` are its geodesics, condensed or square, in the order of ``rows``.
    """
    scaling, vectors = warm_scaling(G, graph.n_rows, n_components, start[rows], error=_ERROR, n_jobs=n_jobs)
    variance = residual_variance(G, scaling.embedding, n_jobs=n_jobs)
    back = np.argsort(rows)
    signs = np.where(fixed_signs(scaling.embedding[back]) == scaling.embedding[back], 1.0, -1.0).min(axis=0)
    scaling = replace(scaling, embedding=scaling.embedding[back] * signs, means=scaling.means[back],
                      projection=scaling.projection[back] * signs)  # fmt: skip
    return GeodesicMap(graph, scaling, np.inf), scaling.embedding, variance, vectors[back]


def landmark_map(
    graph: NeighborGraph,
    rows: np.ndarray,
    landmarks: Landmarks,
    n_components: int,
    policy: Any,
    *,
    metric: Metric,
    random_state: Any,
    n_jobs: int | None,
    positive: bool = False,
    blend: Callable[[np.ndarray, np.ndarray | None], None] | None = None,
    paths: Callable[[np.ndarray], np.ndarray] | None = None,
) -> tuple[GeodesicMap, np.ndarray, float]:
    """As :func:`exact_map` through some of the ``rows`` of the graph, spread out over all (landmark MDS).

    ``paths`` gives the geodesics from landmarks to all rows, where they need not be searched for.
    """
    chosen = chosen_landmarks(rows, landmarks.n, landmarks.rule, metric=metric, random_state=random_state,
                              n_jobs=n_jobs)  # fmt: skip
    G = from_rows(graph, chosen, n_jobs=n_jobs) if paths is None else paths(chosen)
    unreachable = _inflated(G, graph, policy)
    plain = G if blend is None else G.copy()  # new rows enter by paths, which are blended after that
    if blend is not None:
        blend(G, chosen)
    scaled = positive_scaling if positive else classical_scaling
    scaling, Z, variance = scaled_by_landmarks(G, chosen, n_components, scaled, n_jobs=n_jobs)
    return GeodesicMap(graph, scaling, unreachable, chosen, plain), Z, variance


def _inflated(G: np.ndarray, graph: NeighborGraph, policy: Any) -> float:
    """Missing paths become a multiple of the longest one (they exist under that policy only)."""
    policy = Inflate() if policy == "inflate" else policy
    if not isinstance(policy, Inflate) or graph.n_components == 1:
        return np.inf
    unreachable = policy.factor * float(np.max(G, where=np.isfinite(G), initial=0.0))
    np.copyto(G, unreachable, where=np.isinf(G))
    return unreachable
