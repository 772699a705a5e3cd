"""Isomap, and rows appended to a fitted one."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..._core.arguments import Switch, checked_parameters
from ..._core.errors import message, require, require_flag
from ..._core.specs import Absent, Array, Maybe, Number, Text, Tuple
from ..._core.state import Sub, Value, is_fitted
from ..._core.values import Knn, NeighborGraph, Neighbors
from ...distances import is_gower, metric_name
from ...embedding.embedder import Embedder, all_or_nothing
from ...embedding.input_rows import checked_landmarks, checked_rows, require_dense_rows
from ...embedding.maps.geodesic import GeodesicMap, NeighborEdges, NeighborGeodesicMap
from ...embedding.training_data import MetricParameter, NComponents, NJobs, training_data
from ...geodesics import GrowingPaths, PairSequence, grown_rows
from ...linalg import rotation
from ...neighbors import (
    appended_lists,
    as_rule,
    conformal_graph,
    graph_of_lists,
    graph_of_rows,
    lists_of_graph,
    use_approximate,
)
from .geodesic_scaling import (
    Policy,
    ScaledPaths,
    embedded_component,
    geodesic_results,
    is_disconnected,
    scaled_geodesics,
    warm_map,
)
from .neighborhood_sizes import maps_of_values

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
    """Whether ``partial_fit`` is available: not for precomputed distances or Gower's metric."""
    if model.metric == "precomputed" or is_gower(model.metric):
        must_be = "one that more rows do not change, for these to be appended"
        raise AttributeError(message("metric", must_be, metric_name(model.metric), _ANEW))
    return True


@dataclass(eq=False)
class Growth:
    """State for the next ``partial_fit``, never saved. ``paths`` are repaired in place: take them out."""

    lists: Neighbors | None = None
    vectors: np.ndarray | None = None
    paths: GrowingPaths | None = None


def growth_of(paths: GeodesicMap) -> Growth:
    """The state that an earlier call left at the map; empty after a fit or a file."""
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
    """Whether the graph has the neighbor lists that the parameters ask for."""
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
    """Scale the paths, from the last eigenvectors; with the share of repaired distances (None for all)."""
    growth = growth_of(paths)
    known, growth.paths = growth.paths, None  # a call that is interrupted leaves them changed
    start = _start(paths, graph, n_components)
    known = known if known is not None and known.graph is paths.graph else None
    G, rows, grown, affected = _grown(known, graph, n_jobs)
    found, vectors = warm_map(graph, G, rows, n_components, start, n_jobs)
    return found, Growth(vectors=vectors, paths=grown), affected


class LandmarkPaths:
    """Geodesics from landmarks, repaired for rows that still are landmarks; ``affected`` is their share."""

    def __init__(self, before: GeodesicMap, graph: NeighborGraph, n_jobs: int | None):
        self.before, self.graph, self.n_jobs = before, graph, n_jobs
        self.affected: float | None = None

    def __call__(self, chosen: np.ndarray) -> np.ndarray:
        before = self.before
        G, self.affected = grown_rows(before.landmark_geodesics, before.landmarks, before.graph, self.graph,
                                      chosen, n_jobs=self.n_jobs)  # fmt: skip
        return G


def repairs_landmarks(paths: GeodesicMap) -> bool:
    """Whether there are geodesics from landmarks to repair."""
    return "landmark_geodesics" in vars(paths) and not is_disconnected(paths.graph)


def turned(paths: Any, Z: np.ndarray, old: np.ndarray) -> tuple[Any, np.ndarray]:
    """Rotate and mirror a map onto the coordinates of the old rows (Procrustes)."""
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
    """Initial eigenvectors: those of the last map, new rows at the mean of neighbours; others random."""
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


class Isomap(Embedder):
    """Isomap: unroll a curved surface by preserving distances along the neighbour graph.

    With G the lengths of the shortest paths over the neighbour graph, the coordinates are the leading
    eigenvectors of ``-1/2 H (G ∘ G) H``, each times the root of its eigenvalue. A new row x enters the
    graph through its neighbours, ``g = min_j (d(x, x_j) + G_j)``, and gets
    ``y = -1/2 L^(-1/2) V' (g^2 - mean of each row of G^2)``, by itself.

    Cost: ``O(n^2 (k + log n))`` time and ``4 n^2`` bytes; with l landmarks ``O(l n (k + log n))`` and
    ``8 l n`` bytes. ``partial_fit`` keeps ``10 n^2`` bytes where memory has room, and no file takes them: one
    more row then costs ``O(n^2)`` time, a quarter of that of a fit or less.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of each row. More than there are other rows: all of them, with a warning.
    n_components : int
        Dimension of the map.
    neighbors : Knn, Radius or Percentile, optional
        Takes the place of ``n_neighbors``.
    metric : str or callable
        Any metric of scikit-learn, or ``"precomputed"``: X is then a square matrix of distances, and
        the rows given to ``transform`` are distances to the fitted rows.
    n_landmarks : int or Landmarks, optional
        Work through this many rows, spread out by farthest-first choice, instead of all. As many as
        there are rows, or more, is the exact method.
    conformal : bool
        C-ISOMAP: an edge weighs ``d_ij / sqrt(M_i M_j)``, M the mean distance of a row to its neighbours, so
        that regions of any density are of one size. The map then has no unit.
    positive : bool
        Kernel ISOMAP: classical scaling of ``G + c``, c the least constant (Cailliez) that leaves no
        eigenvalue negative. On curved graphs it is large, and blows up the map; a warning says by how much.
    on_disconnected : {"bridge", "largest", "raise", "inflate"} or Inflate
        What to do about a disconnected graph: join them by their shortest edges; fit the largest and place
        the other rows as new ones; refuse; or replace missing distances by 10 (or ``Inflate(factor)``) times
        the largest one.
    random_state : int, RandomState or None
        For random landmarks and approximate neighbours. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. None is all cores, or one inside a parallel worker. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Largest first; coordinates of a negative one are zero, with a warning.
    residual_variance_ : float
        ``1 - corr(G, D_Z)^2`` over all pairs of rows (with landmarks: of a landmark and a row).
    euclidean_defect_ : (float, float)
        Bounds of the share of the spectrum of ``-1/2 H (G ∘ G) H`` that is negative, and that no map
        in any number of dimensions can show. ``isentropic.linalg.euclidean_defect`` is exact, for small n.
    landmarks_ : array or None
        The rows that are landmarks, None for the exact method.
    graph_ : NeighborGraph
        The graph of the fitted rows; its weights are the conformal ones where these are asked for.
    update_ : Update
        After ``partial_fit``: what was done, the share of old distances searched again, and the seconds.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Tenenbaum, de Silva and Langford (2000). de Silva and Tenenbaum (2003). Choi and Choi (2007).

    Examples
    --------
    >>> from isentropic import Isomap, datasets
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> isomap = Isomap(n_neighbors=10).fit(roll.X)
    >>> isomap.embedding_.shape
    (1000, 2)
    >>> bool(isomap.residual_variance_ < 0.01)
    True
    >>> bool((isomap.transform(roll.X[:5]) == isomap.embedding_[:5]).all())
    True
    """

    graph_: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    landmarks_: Annotated[np.ndarray | None, Maybe(Array("r", dtype=np.int64, below="n"))]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    euclidean_defect_: Annotated[tuple[float, float], Tuple(Number(), Number())]
    residual_variance_: Annotated[float, Number()]
    update_: Annotated[Update, Absent(Value(Update))]
    _map: Annotated[NeighborGeodesicMap, Sub(NeighborGeodesicMap)]

    def __init__(
        self,
        n_neighbors: int | None = 10,
        n_components: NComponents = 2,
        *,
        neighbors: Any = None,
        metric: MetricParameter = "euclidean",
        n_landmarks: Any = None,
        conformal: Annotated[bool, Switch()] = False,
        positive: Annotated[bool, Switch()] = False,
        on_disconnected: Annotated[Any, Policy()] = "bridge",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.neighbors = neighbors
        self.metric = metric
        self.n_landmarks = n_landmarks
        self.conformal = conformal
        self.positive = positive
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Graph, geodesics, classical scaling. ``y`` is not used."""
        data, policy, n_jobs = training_data(self, X), self.on_disconnected, self.n_jobs
        checked_landmarks(self.n_landmarks, self.n_components, 0)
        rule = self._rule()
        graph = graph_of_rows(data.table, rule, metric=self.metric, on_disconnected=policy,
                               random_state=self.random_state, n_jobs=n_jobs)  # fmt: skip
        scales = None
        if self.conformal:
            graph, scales = conformal_graph(graph, rule.k if isinstance(rule, Knn) else None)
        nodes, graph = embedded_component(graph, policy)
        found = scaled_geodesics(data, nodes, graph, self.n_landmarks, self.n_components, policy,
                                 positive=self.positive, random_state=self.random_state,
                                 n_jobs=n_jobs)  # fmt: skip
        edges = NeighborEdges(rule, None if scales is None else scales[nodes])
        Z, paths, public = geodesic_results(NeighborGeodesicMap, data, nodes, edges, found, n_jobs)
        return self._set_fit(Z, paths, **public)

    @available_if(takes_tables)
    @all_or_nothing
    def partial_fit(self, X, y=None, *, align_to_previous: bool = False):
        """Append rows: the map is that of ``fit`` on all rows so far, up to rounding.

        ``align_to_previous`` turns and mirrors the new map about its middle so that the old rows stay where
        they were as far as they can (Procrustes); its axes then are no longer those of ``eigenvalues_``. A
        first call is ``fit``. ``update_`` says what was done. ``y`` is not used. A call that fails, or that
        Ctrl-C ends, changes nothing.
        """
        began = time.perf_counter()
        require_flag("align_to_previous", align_to_previous)
        kind: Kind = "fit"
        affected = 1.0
        if not is_fitted(self):
            self.fit(X)
        else:
            checked_parameters(self)
            checked_landmarks(self.n_landmarks, self.n_components, 0)
            X, old = checked_new_rows(self, X), self.embedding_
            kind, affected = self._append(np.concatenate([self._map.data.X, X]))
            if align_to_previous:
                self._map, self.embedding_ = turned(self._map, self.embedding_, old)
        self.update_ = Update(kind, affected, time.perf_counter() - began)
        return self

    def _append(self, table: np.ndarray) -> tuple[Kind, float]:
        """Fit the old and new rows together, reusing results of the old ones."""
        before, n_jobs, policy = self._map, self.n_jobs, self.on_disconnected
        if not can_append(before, table, self._rule(), self.metric, self.conformal):
            names = getattr(self, "feature_names_in_", None)
            self.fit(table)  # which forgets the names that an array has not
            if names is not None:
                self.feature_names_in_ = names
            return "refit", 1.0
        graph, lists = appended_graph(before, table, policy, n_jobs)
        data, growth, affected = replace(before.data, n=len(table), X=table), Growth(), None
        nodes, graph = embedded_component(graph, policy)
        apart = is_disconnected(graph) or len(nodes) < len(table)
        if self.n_landmarks is None and not self.positive and not apart:
            found, growth, affected = appended_paths(before, graph, self.n_components, n_jobs)
        else:
            again = self.n_landmarks is not None and before.landmarks is not None and not apart
            paths = LandmarkPaths(before, graph, n_jobs) if again and repairs_landmarks(before) else None
            found = scaled_geodesics(data, nodes, graph, self.n_landmarks, self.n_components, policy,
                                     positive=self.positive, random_state=self.random_state, n_jobs=n_jobs,
                                     paths=paths)  # fmt: skip
            affected = None if paths is None else paths.affected
        Z, grown, public = geodesic_results(NeighborGeodesicMap, data, nodes, before.edges, found, n_jobs)
        if found.graph is graph and len(nodes) == len(table):
            growth.lists = lists
        vars(grown)["_growth"] = growth
        self._set_fit(Z, grown, **public)
        return ("appended", 1.0) if affected is None else ("repaired", affected)

    def _rule(self) -> Any:
        given: Any = self.n_neighbors if self.neighbors is None else self.neighbors
        return as_rule(given)

    def _maps_over(self, X, sets, n_jobs):
        """Maps of several neighbourhood sizes together, each with its position in ``sets``; or None.

        None where these sets, or the other parameters, ask for what only a fit of its own does.
        """
        if type(self) is not Isomap:  # which may fit otherwise
            return None
        names = {name for params in sets for name in params}
        plain = not (self.conformal or self.positive) and self.n_landmarks is None
        asked = names == {"neighbors"} or (names == {"n_neighbors"} and self.neighbors is None)
        if not (plain and asked and self.on_disconnected in ("bridge", "raise")):
            return None
        given = [value for params in sets for value in params.values()]
        return maps_of_values(X, given, self.n_components, metric=self.metric,
                              on_disconnected=self.on_disconnected, n_jobs=n_jobs)  # fmt: skip
