"""SEt-SNE: supervised entropic t-SNE."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.spatial.distance import cdist

from ..._core.errors import require_one_of
from ..._core.state import Array, Double, State, Text, Tuple
from ..._core.values import NeighborGraph
from ...dissimilarities import checked_scale
from ...divergences import EDGE_DIVERGENCES, Patches, RowProducts, cheapest_form, noise_floor, reweighted
from ...embedding.classes.fitted_classes import FittedClasses
from ...neighbors import RowIndex, replaced_among, replaced_neighbors
from .class_maps import GraphStudentMap, edges_of, graph_of_map

_REGULARIZATION = 3.0  # of patches: the mean variance times that, on their diagonals


class SEtSNE(GraphStudentMap):
    """t-SNE in which near rows are as far apart as the Gaussians around them, more so between two classes.

    The patch of a row is the row with its k neighbours, and KL the symmetrised divergence between the
    Gaussians of two patches. Squared distances are ``min(d^2, KL)`` between neighbours of one class,
    ``d^2 + KL`` between neighbours of two, and ``d^2`` between rows that are no neighbours. Affinities and
    descent are t-SNE's. A new row has no class: it makes a patch with its k nearest rows, its distances to
    these are the expectations ``p min(d^2, KL) + (1 - p) (d^2 + KL)``, p the probability that both are of one
    class, and it goes down its own part of the cost.

    Nats come to squared lengths here, so that the unit of the data matters: standardise the features, or take
    ``scale="match"``. The classes shape the map: with labels at random it looks separated, too. Believe it
    as far as rows that it has not seen are placed with their class, and beside that of permuted labels.

    Cost: that of t-SNE, and ``O(n (k m^2 + m^3) + n k m^2)`` for the divergences, or ``O(n k^3)`` and a k^2
    for each edge where rows have more features than neighbours.

    Parameters
    ----------
    perplexity : float, optional
        About how many neighbours count. None is 30, or a third of the other rows where there are fewer.
    n_components : int
        Dimension of the map.
    n_neighbors : int, optional
        Neighbours in a patch. None is the root of the number of rows.
    divergence : str
        Between the Gaussians of two patches: ``"kl"``, the symmetrised one, ``"bhattacharyya"``,
        ``"cauchy-schwarz"`` or another that ``isentropic.divergences.EDGE_DIVERGENCES`` names.
    scale : {"match"}, optional
        ``"match"`` multiplies divergences so that their mean over edges between classes is that of d^2.
        None takes nats as they are, as published.
    low_dimensional : {"euclidean", "graph"}
        What the weights of the map are made of. ``"graph"``, for reproduction: the same distances in the map,
        with patches and classes, found again in each step, from a start at random; ``O(n^2)`` a step. The
        published programs took 50 steps at a perplexity of 20.
    unlabelled : {"votes", "posterior", "neutral"}
        What is guessed of rows without a class, new ones and those of ``y`` where it is missing: the shares
        of the classes among the k nearest rows, the posterior of a Gaussian for each class, or nothing, so
        that all are of their class.
    max_iter : int
        Steps in all.
    random_state : int, RandomState or None
        For the approximate search, and the start of a ``"graph"``. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    kl_divergence_ : float
        ``sum p log(p / q)`` of the map.
    repulsion_ : {"exact", "fields"}
        How the push of all pairs was summed.
    n_iter_ : int
    classes_ : array
        What the classes are called.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Cervati Neto (2024), section 3.3.2.

    Examples
    --------
    >>> from isentropic import SEtSNE, datasets
    >>> iris = datasets.load("builtin:iris", scaling="standard")
    >>> tsne = SEtSNE(max_iter=250).fit(iris.X, iris.y)
    >>> tsne.embedding_.shape, tsne.transform(iris.X[:5] + 0.01).shape
    ((150, 2), (5, 2))
    """

    _state = State(
        _patch_rows=Array("n", "k", dtype=np.int32, below="n"),
        _fit_as=Tuple(Text(*EDGE_DIVERGENCES), Double(above=0), Double(above=0), Text("full", "low-rank")),
    )

    def __init__(
        self,
        perplexity=None,
        n_components=2,
        *,
        n_neighbors=None,
        divergence="kl",
        scale=None,
        low_dimensional="euclidean",
        unlabelled="votes",
        max_iter=750,
        random_state=None,
        n_jobs=None,
    ):
        self.perplexity = perplexity
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.divergence = divergence
        self.scale = scale
        self.low_dimensional = low_dimensional
        self.unlabelled = unlabelled
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Patches, distances and divergences on edges, the nearest by both, affinities, descent."""
        X, codes = self._taught(X, y)
        require_one_of("divergence", self.divergence, EDGE_DIVERGENCES)
        checked_scale(self.scale)
        k, frame = self._n_edges(len(X)), self._frame(len(X))
        classes = self._classes_of(X, codes, k)
        found, graph = self._plain_graph(X, frame.listed + k, k, frame.seed)
        patches = _patches_of(X, found.indices[:, :k], self.divergence, graph)
        squares, factor = self._squares(graph, patches, classes)
        graph = replace(graph, weights=np.sqrt(squares))
        lists = replaced_neighbors(found, graph, frame.listed, RowIndex(X), n_jobs=self.n_jobs)
        given = self._given(X, frame, lists)
        self._embed(given, classes, k, self._squares_in_map)
        self._patch_rows = patches.neighbors
        self._fit_as = self.divergence, factor, patches.floor, patches.form
        return self

    def _squares(
        self, graph: NeighborGraph, patches: Patches, classes: FittedClasses
    ) -> tuple[np.ndarray, float]:
        """What squared distances become on the edges of a graph, and the factor of divergences in them."""
        d2 = graph.weights**2
        nats = reweighted(graph, partial(patches.weights, n_jobs=self.n_jobs)).weights
        same = classes.same(*edges_of(graph))
        factor = 1.0
        if self.scale is not None and (between := float(((1.0 - same) * nats).sum())) > 0:
            factor = float(((1.0 - same) * d2).sum()) / between or 1.0
        return _expected_squares(d2, factor * nats, same), factor

    def _squares_in_map(self, Z: np.ndarray, classes: FittedClasses, k: int) -> np.ndarray:
        """The same distances in a map: all pairs, squared."""
        found, graph = graph_of_map(Z, k, self.n_jobs)
        D2 = cdist(Z, Z, "sqeuclidean")
        squares, _ = self._squares(graph, _patches_of(Z, found.indices, self.divergence, graph), classes)
        D2[edges_of(graph)] = squares
        return D2

    def _listed_among_fitted(self, X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        divergence, factor, floor, form = self._fit_as
        rows, edges = self._known.X, self._patch_rows.shape[1]
        near, d = self._row_index().nearest(X, min(k + edges, len(rows)), n_jobs=self.n_jobs)
        patches = Patches(rows, self._patch_rows, divergence, _REGULARIZATION, False, floor, form)
        first = near[:, :edges].astype(np.int64)
        nats = factor * patches.to_new(X, first, n_jobs=self.n_jobs)
        same = self._same_as_new(X, first)
        values = np.sqrt(_expected_squares(d[:, :edges] ** 2, nats, same))
        return replaced_among(near, d, values, k, len(rows), n_jobs=self.n_jobs)


def _patches_of(X: np.ndarray, lists: np.ndarray, divergence: str, graph: NeighborGraph) -> Patches:
    """A Gaussian for each row and its neighbours, ready for the edges of their graph."""
    (n, k), n_edges = lists.shape, len(graph.indices) // 2
    form = cheapest_form(n, k + 1, X.shape[1], n_edges, _REGULARIZATION)
    return Patches(X, np.ascontiguousarray(lists), divergence, _REGULARIZATION, False, noise_floor(X), form,
                   products=RowProducts(X))  # fmt: skip


def _expected_squares(d2: np.ndarray, nats: np.ndarray, same: np.ndarray) -> np.ndarray:
    """``p min(d^2, KL) + (1 - p) (d^2 + KL)``, p the probability of one class."""
    return same * np.minimum(d2, nats) + (1.0 - same) * (d2 + nats)
