"""ISOMAP-KL: geodesics over divergences between the Gaussians around the rows."""

from __future__ import annotations

import numpy as np

from .._errors import require_flag, require_one_of
from .._runtime import row_blocks
from .._state import Array, Checked, Double, Flag, Maybe, State, Text, Tuple, Value, Whole
from .._values import Knn, NeighborGraph, Neighbors
from ..divergences import (
    EDGE_DIVERGENCES,
    RowProducts,
    candidate_sizes,
    cheapest_form,
    checked_regularization,
    flat_sizes,
    noise_floor,
    outside_shares,
    patch_gaussians,
    patch_members,
)
from ..families.geodesic import GeodesicEmbedder
from ..families.weights import checked_weights, reweighted
from ..neighbors import (
    Entries,
    clipped_neighbors,
    entry_lists,
    first_neighbors,
    listed_graph,
    nearest_neighbors,
)
from ..selection import Selection, geometric, select

_AUTO = (5, 80, 6)  # least and most neighbours, and how many numbers of them, that "auto" tries
_NEW_AT_ONCE = 64  # new rows whose patches, and those of their neighbours, are held together


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
    adaptive : bool
        Give each row a patch of its own size, ``n_neighbors`` or that over or times root two: the largest
        whose variance outside ``n_components`` directions is not more than the median of all patches. Large
        where the data are flat, small where they are curved. An edge compares its ends at the larger of
        their two sizes. The edges stay those of ``n_neighbors``.
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
    patch_sizes_ : array of shape (n,)
        Rows in the patch of every row: itself and the first of its neighbours.
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
    _state = State(  # the longest list has k neighbours, t sizes of patches were tried
        neighbors_=Value(Neighbors, n="n", k="k"),
        patch_sizes_=Array("n", dtype=np.int64, least=2, below="k + 2"),
        selection_=Maybe(Value(Selection)),
        _fit_as=Tuple(Text(*EDGE_DIVERGENCES), Checked(checked_regularization), Flag()),
        _floor=Double(above=0),
        _form=Text("full", "low-rank"),
        _n_edges=Whole(1, below="k + 1"),
        _sizes_tried=Array("t", dtype=np.int64, least=1, below="k + 1"),
        _flatness=Tuple(Whole(1), Double(0, infinite=True)),
    )

    def __init__(
        self,
        n_neighbors=20,
        n_components=2,
        *,
        divergence="kl",
        regularization=3.0,
        adaptive=False,
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
        self.adaptive = adaptive
        self.root = root
        self.n_landmarks = n_landmarks
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, a Gaussian for each patch, divergences on the edges, geodesics, classical scaling."""
        X = self._checked_rows(X)
        tried = self._candidates(len(X))
        longest = candidate_sizes(tried[-1], len(X) - 1)[-1] if self.adaptive else tried[-1]
        found = nearest_neighbors(X, Knn(int(longest)), random_state=self.random_state, n_jobs=self.n_jobs)
        self.selection_ = self._selection(X, found, tried) if len(tried) > 1 else None
        k = tried[-1] if self.selection_ is None else self.selection_.params["n_neighbors"]
        return self._fit_lists(X, found, k)

    def _fit_lists(self, X: np.ndarray, found: Neighbors, k: int, products: RowProducts | None = None):
        """Everything after the search of neighbours, for one size of patch."""
        self._set_patches(X, found, k)
        graph = listed_graph(X, first_neighbors(found, k), on_disconnected=self.on_disconnected,
                             n_jobs=self.n_jobs)  # fmt: skip
        self._embed_graph(X, self._weighed(X, graph, products or RowProducts(X)))
        return self

    def _is_auto(self) -> bool:
        return isinstance(self.n_neighbors, str) and self.n_neighbors == "auto"

    def _candidates(self, n: int) -> list[int]:
        if self._is_auto():
            return list(geometric(min(_AUTO[0], n - 1), min(_AUTO[1], n - 1), _AUTO[2]))
        return [clipped_neighbors(self.n_neighbors, n - 1)]

    def _selection(self, X: np.ndarray, found: Neighbors, tried: list[int]) -> Selection:
        """The area under R_NX of the map of every candidate; lists and products of rows serve them all."""
        products = RowProducts(X)
        return select(
            lambda X, n_neighbors: self._fit_lists(X, found, n_neighbors, products).embedding_,
            X,
            {"n_neighbors": tried},
            criterion="rnx_auc",
            n_jobs=1,  # one after the other, each on all threads
        )

    def _weighed(self, X: np.ndarray, graph: NeighborGraph, products: RowProducts) -> NeighborGraph:
        """Edges by the divergence between the patches of their ends; what new rows need is kept."""
        members, n_edges = patch_members(self.neighbors_.indices), len(graph.indices) // 2
        self._fit_as = self.divergence, self.regularization, self.root
        self._floor = noise_floor(X)
        n, size = members.shape
        self._form = cheapest_form(n, size, X.shape[1], n_edges, self.regularization)
        self.patch_sizes_ = flat_sizes(X, members, self._sizes_tried, *self._flatness)

        def weigh(heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
            return self._divergences(X, members, self.patch_sizes_, heads, tails, products)

        return reweighted(graph, weigh)

    def _checked_rows(self, X) -> np.ndarray:
        checked_regularization(self.regularization)
        require_flag("adaptive", self.adaptive)
        require_flag("root", self.root)
        if not callable(self.divergence):
            require_one_of("divergence", self.divergence, EDGE_DIVERGENCES, "Or give a function of patches.")
        return super()._checked_rows(X)

    def _set_patches(self, X: np.ndarray, found: Neighbors, k: int) -> None:
        """Neighbour lists as long as the largest patch, and what sets the size of a patch."""
        self._n_edges, self._sizes_tried, self._flatness = k, np.array([k]), (self.n_components, np.inf)
        if self.adaptive:
            self._sizes_tried = candidate_sizes(k, len(X) - 1)
            shares = outside_shares(X, patch_members(found.indices[:, :k]), self.n_components)
            self._flatness = self.n_components, float(np.median(shares))
        self.neighbors_ = first_neighbors(found, int(self._sizes_tried[-1]))

    def _divergences(self, X, members, sizes, heads, tails, products=None) -> np.ndarray:
        """Of pairs of patches, both of the larger of their two sizes: unequal ones differ by that alone."""
        divergence, regularization, root = self._fit_as
        formula = divergence if callable(divergence) else EDGE_DIVERGENCES[divergence]
        common, values = np.maximum(sizes[heads], sizes[tails]), np.empty(len(heads))
        for size in np.unique(common):
            edges = np.flatnonzero(common == size)
            used, ends = np.unique(np.concatenate([heads[edges], tails[edges]]), return_inverse=True)
            patches = patch_gaussians(X, members[used, :size], regularization=regularization, form=self._form,
                                      floor=self._floor, n_edges=len(edges) if products else 0,
                                      products=products, n_jobs=self.n_jobs)  # fmt: skip
            found = formula(patches, ends[: len(edges)], ends[len(edges) :])
            values[edges] = checked_weights(found, len(edges))
        return np.sqrt(values) if root else values

    def _entries(self, X: np.ndarray) -> Entries:
        rule = Knn(self.neighbors_.indices.shape[1])
        found = entry_lists(X, self._fitted_rows(), self.graph_, rule, n_jobs=self.n_jobs)
        weights = np.empty((len(X), min(self._n_edges, found.indices.shape[1])))
        for block in row_blocks(len(X), "divergences of new rows", size=_NEW_AT_ONCE):
            weights[block] = self._weights_of_new(
                X[block], self._fitted[found.indices[block]], weights.shape[1]
            )
        return Entries(found.indices[:, : weights.shape[1]], weights)

    def _weights_of_new(self, X: np.ndarray, neighbors: np.ndarray, n_edges: int) -> np.ndarray:
        """Divergences between the patches of new rows and those of their nearest neighbours."""
        known, tails = np.unique(neighbors[:, :n_edges], return_inverse=True)
        # Fewer rows may be left to be neighbours than at the fit, where only the largest part was fitted.
        available = neighbors.shape[1]
        old = patch_members(self.neighbors_.indices[known, :available], known)
        used = np.unique(np.concatenate([old.ravel(), neighbors.ravel()]))
        rows = np.concatenate([self._known.X[used], X])
        new = patch_members(np.searchsorted(used, neighbors), len(used) + np.arange(len(X)))
        tried = np.minimum(self._sizes_tried, available)
        sizes = np.append(self.patch_sizes_[known], flat_sizes(rows, new, tried, *self._flatness))
        members = np.concatenate([np.searchsorted(used, old), new])
        heads = np.repeat(len(known) + np.arange(len(X)), n_edges)
        sizes = np.minimum(sizes, available + 1)
        return self._divergences(rows, members, sizes, heads, tails.ravel()).reshape(len(X), n_edges)
