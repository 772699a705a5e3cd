"""ISOMAP-KL: geodesics over divergences between the Gaussians around the rows."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np

from ..._core.errors import require_flag, require_one_of
from ..._core.state import Checked, Double, Flag, Maybe, State, Text, Tuple, Value
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
from ...neighbors import (
    Entries,
    RowIndex,
    clipped_neighbors,
    entry_lists,
    first_neighbors,
    listed_graph,
    nearest_neighbors,
)
from ...selection import Selection, geometric, select
from .geodesic import GeodesicEmbedder

_AUTO = (5, 80, 6)  # least and most neighbours, and how many numbers of them, that "auto" tries


class EntropicIsomap(GeodesicEmbedder):
    """ISOMAP whose edges measure how the data spread around two rows, not how far apart they are.

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
        What to do about a graph in parts, as in ISOMAP. Bridges weigh the divergence between their ends.
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

    metric = "euclidean"
    _state = State(
        neighbors_=Value(Neighbors, n="n", k="k"),
        selection_=Maybe(Value(Selection)),
        _fit_as=Tuple(Text(*EDGE_DIVERGENCES), Checked(checked_regularization), Flag()),
        _floor=Double(above=0),
        _form=Text("full", "low-rank"),
    )
    # In 0.1.0 a row could have a patch of its own size.
    _gone: ClassVar = {"adaptive": False} | dict.fromkeys(
        ("patch_sizes_", "_n_edges", "_sizes_tried", "_flatness"), ...
    )

    def __init__(
        self,
        n_neighbors=20,
        n_components=2,
        *,
        divergence="kl",
        regularization=3.0,
        root=False,
        n_landmarks=None,
        on_disconnected="bridge",
        random_state=None,
        n_jobs=None,
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
        X = self._checked_rows(X)
        tried = self._sizes(len(X))
        found = nearest_neighbors(X, Knn(tried[-1]), random_state=self.random_state, n_jobs=self.n_jobs)
        self.selection_ = self._selection(X, found, tried) if len(tried) > 1 else None
        k = tried[-1] if self.selection_ is None else self.selection_.params["n_neighbors"]
        self.neighbors_ = first_neighbors(found, k)
        graph, patches = self._weighed(X, self.neighbors_, RowProducts(X))
        self._fit_as = self.divergence, self.regularization, self.root
        self._floor, self._form = patches.floor, patches.form
        self._embed_graph(X, graph)
        return self

    def _checked_rows(self, X) -> np.ndarray:
        checked_regularization(self.regularization)
        require_flag("root", self.root)
        if not callable(self.divergence):
            require_one_of("divergence", self.divergence, EDGE_DIVERGENCES, "Or give a function of patches.")
        return super()._checked_rows(X)

    def _sizes(self, n: int) -> list[int]:
        """The numbers of neighbours to try."""
        if isinstance(self.n_neighbors, str) and self.n_neighbors == "auto":
            return list(geometric(min(_AUTO[0], n - 1), min(_AUTO[1], n - 1), _AUTO[2]))
        return [clipped_neighbors(self.n_neighbors, n - 1)]

    def _weighed(
        self, X: np.ndarray, found: Neighbors, products: RowProducts
    ) -> tuple[NeighborGraph, Patches]:
        """The graph of lists of neighbours, its edges weighed by the divergence between patches; these."""
        graph = listed_graph(X, found, on_disconnected=self.on_disconnected, n_jobs=self.n_jobs)
        (n, k), n_edges = found.indices.shape, len(graph.indices) // 2
        form = cheapest_form(n, k + 1, X.shape[1], n_edges, self.regularization)
        patches = Patches(X, found.indices, self.divergence, self.regularization, self.root, noise_floor(X),
                          form, products=products)  # fmt: skip
        return reweighted(graph, partial(patches.weights, n_jobs=self.n_jobs)), patches

    def _selection(self, X: np.ndarray, found: Neighbors, tried: list[int]) -> Selection:
        """The area under R_NX of the map of every size; lists and products of rows serve them all."""
        products = RowProducts(X)

        def mapped(X: np.ndarray, n_neighbors: int) -> np.ndarray:
            graph, patches = self._weighed(X, first_neighbors(found, n_neighbors), products)
            fitted, geodesics, Z, _ = self._mapped(X, graph)

            def place(new: np.ndarray) -> np.ndarray:
                index = RowIndex(X[fitted])
                enter = partial(entered, patches=patches, index=index, graph=geodesics.graph, fitted=fitted,
                                n_jobs=self.n_jobs)  # fmt: skip
                return geodesics.place(new, enter, self.n_jobs)

            return self._all_placed(X, fitted, Z, place)

        # one after the other, each on all threads
        return select(mapped, X, {"n_neighbors": tried}, criterion="rnx_auc", n_jobs=1)

    def _entries(self, X: np.ndarray) -> Entries:
        divergence, regularization, root = self._fit_as
        patches = Patches(self._known.X, self.neighbors_.indices, divergence, regularization, root,
                          self._floor, self._form)  # fmt: skip
        return entered(X, patches, self._fitted_rows(), self.graph_, self._fitted, self.n_jobs)


def entered(
    X: np.ndarray,
    patches: Patches,
    index: RowIndex,
    graph: NeighborGraph,
    fitted: np.ndarray,
    n_jobs: int | None,
) -> Entries:
    """Where new rows enter the graph: by the divergences of their patches to those of their neighbours."""
    found = entry_lists(X, index, graph, Knn(patches.neighbors.shape[1]), n_jobs=n_jobs)
    weights = patches.to_new(X, fitted[found.indices], n_jobs=n_jobs)
    return Entries(found.indices, weights)
