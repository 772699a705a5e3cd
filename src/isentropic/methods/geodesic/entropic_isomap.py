"""ISOMAP-KL: geodesics over divergences between the Gaussians around the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Parameter, Switch
from ..._core.errors import require_one_of
from ..._core.specs import Array, Checked, Double, Flag, Maybe, Number, StateError, Text, Tuple
from ..._core.state import Sub, Value
from ..._core.values import Knn, NeighborGraph, Neighbors
from ...divergences import (
    EDGE_DIVERGENCES,
    Patches,
    RowProducts,
    cheapest_form,
    checked_regularization,
    noise_floor,
    reweighted,
)
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_landmarks
from ...embedding.maps.geodesic import GeodesicMap
from ...embedding.training_data import NComponents, NJobs, Part, TrainingData, training_data
from ...neighbors import (
    QueryEdges,
    clipped_neighbors,
    first_neighbors,
    graph_of_lists,
    query_edges,
    searched_neighbors,
)
from ...selection import Selection, geometric, select
from .geodesic_scaling import Policy, embedded_component, geodesic_results, scaled_geodesics

_AUTO = (5, 80, 6)  # least and most neighbours, and how many numbers of them, that "auto" tries


class _Regularization(Parameter):
    def _accepted(self, name: str, value: Any) -> Any:
        checked_regularization(value)
        return value


class _Divergence(Parameter):
    def _accepted(self, name: str, value: Any) -> Any:
        if not callable(value):
            require_one_of(name, value, EDGE_DIVERGENCES, "Or give a function of patches.")
        return value


@dataclass(frozen=True, eq=False)
class PatchEdges(Part):
    """A new row enters the graph at its neighbors, by the divergences of its patch to theirs."""

    data: Annotated[TrainingData, Sub(TrainingData)]
    neighbors: Annotated[np.ndarray, Array("n", "k", dtype=np.int32, below="n")]  # of each row, in its patch
    divergence: Annotated[Any, Text(*EDGE_DIVERGENCES)]
    regularization: Annotated[Any, Checked(checked_regularization)]
    root: Annotated[bool, Flag()]
    floor: Annotated[float, Double(above=0)]  # of variances
    form: Annotated[str, Text("full", "low-rank")]  # of Gaussians

    def of_new(self, X: np.ndarray, paths: GeodesicMap, n_jobs: int | None) -> QueryEdges:
        """The edges of new rows."""
        found = query_edges(X, paths.index, paths.graph, Knn(self.neighbors.shape[1]), n_jobs=n_jobs)
        weights = self._patches.to_new(X, paths.nodes[found.indices], n_jobs=n_jobs)
        return QueryEdges(found.indices, weights)

    @cached_property
    def _patches(self) -> Patches:
        return Patches(self.data.X, self.neighbors, self.divergence, self.regularization, self.root,
                       self.floor, self.form)  # fmt: skip

    def _require_sound(self) -> None:
        if self.data.X is None:
            raise StateError("data.X", "must be there, for the patches of new rows")


class PatchGeodesicMap(GeodesicMap):
    """The out-of-sample map of ISOMAP-KL."""

    edges: Annotated[PatchEdges, Sub(PatchEdges)]


class EntropicIsomap(Embedder):
    """ISOMAP whose edges are divergences between the Gaussians around two rows.

    The patch of a row is the row with its k neighbours, and a Gaussian ``N(mu_i, S_i)`` describes it. An
    edge of the neighbour graph weighs the divergence between the Gaussians of its ends, by default
    ``1/4 [ tr(S_i^-1 S_j + S_j^-1 S_i) + delta'(S_i^-1 + S_j^-1) delta ] - m/2``, ``delta = mu_i - mu_j``:
    the symmetrised Kullback-Leibler divergence. Shortest paths and classical scaling follow as in ISOMAP.
    A new row makes a patch with its neighbours among the fitted rows, and enters the graph by the
    divergences to their patches, by itself.

    Scale the features first: the regularisation adds the same to each, and the neighbours are Euclidean.

    Cost: that of ISOMAP, and ``O(n (k m^2 + m^3) + n k m^2)`` for the divergences, or
    ``O(n k^2 (m + k) + n k^4)`` where that is less (many features); Bhattacharyya and its kin need a
    factorisation an edge, ``O(n k m^3)`` or ``O(n k^4)``. Memory: ``16 n m^2`` or ``8 n (k^2 + n)`` bytes.

    Parameters
    ----------
    n_neighbors : int or "auto"
        Neighbours of each row, and so the size of a patch less one. More than there are other rows: all
        of them, with a warning. ``"auto"`` takes, of six from 5 to 80, the one whose map has the largest
        area under R_NX: no labels, seven times the time.
    n_components : int
        Dimension of the map.
    divergence : str or callable
        ``"kl"`` (symmetrised), ``"bhattacharyya"``, ``"hellinger"``, ``"jeffreys-matusita"``,
        ``"cauchy-schwarz"``, ``"renyi"`` (order 1/2), ``"fisher-rao"`` (of the variances alone), or a
        function of the patches (:class:`isentropic.divergences.Gaussians`) and of two arrays, the
        numbers of the patches at both ends of each edge, that returns one number an edge, the same in
        both directions.
    regularization : float, "oas", "ledoit-wolf" or "reference"
        Fewer rows than features make every covariance S singular. A number c adds ``c tr(S)/m`` to its
        diagonal, three times what a feature varies on average for the default of 3, which had the best mean
        rank of eleven by silhouette and area under R_NX on the tables of the paper (see the guide); the
        names shrink it as Chen et al. or Ledoit and Wolf do; ``"reference"`` adds 0.001
        where it is singular, as the published programs do. At least 1e-12 of the mean variance of the
        data is always added, so that patches of equal rows stay finite.
    root : bool
        Take the square root of the divergence, which is locally a metric.
    n_landmarks : int or Landmarks, optional
        Work through this many rows, spread out by farthest-first choice, instead of all.
    on_disconnected : {"bridge", "largest", "raise", "inflate"} or Inflate
        What to do about a disconnected graph, as in ISOMAP. Bridges weigh the divergence between their ends.
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
        Bounds of the negative share of the spectrum, which no map can show.
    landmarks_ : array or None
        The rows that are landmarks, None for the exact method.
    graph_ : NeighborGraph
        The graph of the fitted rows; its weights are divergences.
    neighbors_ : Neighbors
        The neighbours of every row, nearest first.
    selection_ : Selection or None
        Where k was chosen among several: what was tried, and the score of each.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Cervati Neto and Levada (2020), ISOMAP-KL: a parametric approach for unsupervised metric learning.

    Examples
    --------
    >>> from isentropic import EntropicIsomap, datasets
    >>> wine = datasets.load("builtin:wine", scaling="standard")
    >>> isomap = EntropicIsomap(n_neighbors=40).fit(wine.X)
    >>> isomap.embedding_.shape
    (178, 2)
    >>> bool((isomap.transform(wine.X[:5]) == isomap.embedding_[:5]).all())
    True
    """

    graph_: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    landmarks_: Annotated[np.ndarray | None, Maybe(Array("r", dtype=np.int64, below="n"))]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    euclidean_defect_: Annotated[tuple[float, float], Tuple(Number(), Number())]
    residual_variance_: Annotated[float, Number()]
    neighbors_: Annotated[Neighbors, Value(Neighbors, n="n", k="k")]
    selection_: Annotated[Selection | None, Maybe(Value(Selection))]
    _map: Annotated[PatchGeodesicMap, Sub(PatchGeodesicMap)]

    def __init__(
        self,
        n_neighbors: Any = 20,
        n_components: NComponents = 2,
        *,
        divergence: Annotated[Any, _Divergence()] = "kl",
        regularization: Annotated[Any, _Regularization()] = 3.0,
        root: Annotated[bool, Switch()] = False,
        n_landmarks: Any = None,
        on_disconnected: Annotated[Any, Policy()] = "bridge",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.divergence = divergence
        self.regularization = regularization
        self.root = root
        self.n_landmarks = n_landmarks
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, a Gaussian for each patch, divergences on the edges, geodesics, classical scaling.

        ``y`` is not used.
        """
        data = training_data(self, X)
        checked_landmarks(self.n_landmarks, self.n_components, 0)
        tried = self._sizes(data.n)
        found = searched_neighbors(data.X, Knn(tried[-1]), random_state=self.random_state, n_jobs=self.n_jobs)
        selection = self._selection(data, found, tried) if len(tried) > 1 else None
        k = tried[-1] if selection is None else selection.params["n_neighbors"]
        knn = first_neighbors(found, k)
        Z, paths, results = self._mapped(data, knn, RowProducts(data.X))
        return self._set_fit(Z, paths, neighbors_=knn, selection_=selection, **results)

    def _sizes(self, n: int) -> list[int]:
        """The numbers of neighbours to try."""
        if isinstance(self.n_neighbors, str) and self.n_neighbors == "auto":
            return list(geometric(min(_AUTO[0], n - 1), min(_AUTO[1], n - 1), _AUTO[2]))
        return [clipped_neighbors(self.n_neighbors, n - 1)]

    def _mapped(
        self, data: TrainingData, knn: Neighbors, products: RowProducts
    ) -> tuple[np.ndarray, GeodesicMap, dict[str, Any]]:
        """The map of neighbor lists: patches, divergences on the edges of the graph, geodesics, scaling."""
        policy, n_jobs = self.on_disconnected, self.n_jobs
        graph = graph_of_lists(data.X, knn, on_disconnected=policy, n_jobs=n_jobs)
        patches = self._patches(data.X, knn, len(graph.indices) // 2, products)
        graph = reweighted(graph, partial(patches.weights, n_jobs=n_jobs))
        nodes, graph = embedded_component(graph, policy)
        found = scaled_geodesics(data, nodes, graph, self.n_landmarks, self.n_components, policy,
                                 random_state=self.random_state, n_jobs=n_jobs)  # fmt: skip
        edges = PatchEdges(data, knn.indices, self.divergence, self.regularization, self.root, patches.floor,
                           patches.form)  # fmt: skip
        return geodesic_results(PatchGeodesicMap, data, nodes, edges, found, n_jobs)

    def _patches(self, X: np.ndarray, knn: Neighbors, n_edges: int, products: RowProducts) -> Patches:
        n, k = knn.indices.shape
        form = cheapest_form(n, k + 1, X.shape[1], n_edges, self.regularization)
        return Patches(X, knn.indices, self.divergence, self.regularization, self.root, noise_floor(X), form,
                       products=products)  # fmt: skip

    def _selection(self, data: TrainingData, found: Neighbors, tried: list[int]) -> Selection:
        """Choose the size by the area under R_NX; lists and products of rows are shared."""
        products = RowProducts(data.X)

        def mapped(X: np.ndarray, n_neighbors: int) -> np.ndarray:
            return self._mapped(data, first_neighbors(found, n_neighbors), products)[0]

        # one after the other, each on all threads
        return select(mapped, data.X, {"n_neighbors": tried}, criterion="rnx_auc", n_jobs=1)
