"""Classical scaling of geodesics, exact or through landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._core.arguments import Parameter
from ..._core.values import Inflate, Landmarks, NeighborGraph
from ...distances import Metric
from ...embedding.input_rows import checked_landmarks
from ...embedding.landmarks import choose_landmarks, landmark_scaling
from ...embedding.maps.geodesic import GeodesicMap
from ...embedding.training_data import TrainingData
from ...geodesics import all_pairs, from_rows
from ...linalg import (
    Scaling,
    classical_scaling,
    fixed_signs,
    positive_scaling,
    residual_variance,
    warm_scaling,
)
from ...neighbors import checked_policy, subgraph

_ERROR = 1e-7  # of a vector that another one led to

# Changes the lengths of paths in place, of all pairs or from landmarks; returns what does so for new rows.
Blend = Callable[[np.ndarray, np.ndarray | None], Any]


class Policy(Parameter):
    """What to do about a disconnected graph."""

    def _accepted(self, name: str, value: Any) -> Any:
        checked_policy(value)
        return value


@dataclass(frozen=True, slots=True)
class ScaledPaths:
    """A graph, the scaling of its paths, and the coordinates of its nodes."""

    graph: NeighborGraph
    scaling: Scaling
    unreachable: float  # what stands for a path that there is not
    Z: np.ndarray
    residual_variance: float
    landmarks: np.ndarray | None = None  # rows of the graph; None for the exact method
    geodesics: np.ndarray | None = None  # from the landmarks to all rows of the graph
    lengths: Any = None  # what changes the lengths of the paths of new rows


def is_disconnected(graph: NeighborGraph) -> bool:
    """Whether the graph was not connected, and no edges were added."""
    return graph.n_components > 1 and len(graph.bridges) == 0


def embedded_component(
    graph: NeighborGraph, policy: Any, rows: np.ndarray | None = None
) -> tuple[np.ndarray, NeighborGraph]:
    """The rows that are embedded, and their graph: the largest component where the policy asks for it.

    ``rows`` are those of the graph, where these are not all.
    """
    nodes = np.arange(graph.n_rows) if rows is None else rows
    if is_disconnected(graph) and policy == "largest":
        largest = np.flatnonzero(graph.components == 0)
        return nodes[largest], subgraph(graph, largest)
    return nodes, graph


def scaled_geodesics(
    data: TrainingData,
    nodes: np.ndarray,
    graph: NeighborGraph,
    n_landmarks: Any,
    n_components: int,
    policy: Any,
    *,
    random_state: Any,
    n_jobs: int | None,
    positive: bool = False,
    blend: Blend | None = None,
    paths: Callable[[np.ndarray], np.ndarray] | None = None,
) -> ScaledPaths:
    """Geodesics of the graph and their classical scaling, of all pairs or through landmarks.

    ``paths`` gives the geodesics from landmarks to all nodes, where they need not be searched for.
    """
    landmarks = checked_landmarks(n_landmarks, n_components, len(nodes))
    if landmarks is None:
        return exact_map(graph, n_components, policy, n_jobs, blend, positive=positive)
    table = data.table if len(nodes) == data.n else data.table[nodes]
    if data.precomputed and len(nodes) < table.shape[1]:
        table = np.ascontiguousarray(table[:, nodes])
    return landmark_map(graph, table, landmarks, n_components, policy, metric=data.metric, blend=blend,
                        paths=paths, positive=positive, random_state=random_state, n_jobs=n_jobs)  # fmt: skip


def geodesic_results(
    kind: type[GeodesicMap],
    data: TrainingData,
    nodes: np.ndarray,
    edges: Any,
    found: ScaledPaths,
    n_jobs: int | None,
) -> tuple[np.ndarray, GeodesicMap, dict[str, Any]]:
    """The embedding of all rows, the out-of-sample map of this kind, and the public results of a fit."""
    paths = kind(
        data, found.graph, nodes, edges, found.scaling, found.unreachable, found.landmarks, found.lengths
    )
    if found.geodesics is not None:
        vars(paths)["landmark_geodesics"] = found.geodesics
    public = {
        "graph_": found.graph,
        "landmarks_": None if found.landmarks is None else nodes[found.landmarks],
        "eigenvalues_": found.scaling.eigenvalues,
        "euclidean_defect_": found.scaling.euclidean_defect,
        "residual_variance_": found.residual_variance,
    }
    return paths.complete(found.Z, n_jobs), paths, public


def exact_map(
    graph: NeighborGraph,
    n_components: int,
    policy: Any,
    n_jobs: int | None,
    blend: Blend | None = None,
    *,
    positive: bool = False,
) -> ScaledPaths:
    """Scaling of all paths, the coordinates of all rows of the graph, and the residual variance.

    ``blend(paths, landmarks)`` changes the lengths of paths in place: of all pairs where landmarks are None.
    """
    G = all_pairs(graph, n_jobs=n_jobs)
    unreachable = _inflated(G, graph, policy)
    lengths = None if blend is None else blend(G, None)
    scaled = positive_scaling if positive else classical_scaling
    scaling = scaled(G, graph.n_rows, n_components, n_jobs=n_jobs)
    variance = residual_variance(G, scaling.embedding, n_jobs=n_jobs)
    return ScaledPaths(graph, scaling, unreachable, scaling.embedding, variance, lengths=lengths)


def warm_map(
    graph: NeighborGraph,
    G: np.ndarray,
    rows: np.ndarray,
    n_components: int,
    start: np.ndarray,
    n_jobs: int | None,
) -> tuple[ScaledPaths, np.ndarray]:
    """As :func:`exact_map` of a connected graph, from eigenvectors near its own; and those of the next one.

    ``G`` are its geodesics, condensed or square, in the order of ``rows``.
    """
    scaling, vectors = warm_scaling(G, graph.n_rows, n_components, start[rows], error=_ERROR, n_jobs=n_jobs)
    variance = residual_variance(G, scaling.embedding, n_jobs=n_jobs)
    back = np.argsort(rows)
    signs = np.where(fixed_signs(scaling.embedding[back]) == scaling.embedding[back], 1.0, -1.0).min(axis=0)
    scaling = replace(scaling, embedding=scaling.embedding[back] * signs, means=scaling.means[back],
                      projection=scaling.projection[back] * signs)  # fmt: skip
    return ScaledPaths(graph, scaling, np.inf, scaling.embedding, variance), vectors[back]


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
    blend: Blend | None = None,
    paths: Callable[[np.ndarray], np.ndarray] | None = None,
) -> ScaledPaths:
    """As :func:`exact_map` through some of the ``rows`` of the graph, spread out over all (landmark MDS).

    ``paths`` gives the geodesics from landmarks to all rows, where they need not be searched for.
    """
    chosen = choose_landmarks(rows, landmarks.n, landmarks.rule, metric=metric, random_state=random_state,
                              n_jobs=n_jobs)  # fmt: skip
    G = from_rows(graph, chosen, n_jobs=n_jobs) if paths is None else paths(chosen)
    unreachable = _inflated(G, graph, policy)
    plain = G if blend is None else G.copy()  # new rows enter by paths, which are blended after that
    lengths = None if blend is None else blend(G, chosen)
    scaled = positive_scaling if positive else classical_scaling
    scaling, Z, variance = landmark_scaling(G, chosen, n_components, scaled, n_jobs=n_jobs)
    return ScaledPaths(graph, scaling, unreachable, Z, variance, chosen, plain, lengths)


def _inflated(G: np.ndarray, graph: NeighborGraph, policy: Any) -> float:
    """Replace missing paths by a multiple of the longest one."""
    policy = Inflate() if policy == "inflate" else policy
    if not isinstance(policy, Inflate) or graph.n_components == 1:
        return np.inf
    unreachable = policy.factor * float(np.max(G, where=np.isfinite(G), initial=0.0))
    np.copyto(G, unreachable, where=np.isinf(G))
    return unreachable
