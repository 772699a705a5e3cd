"""SLLE: locally linear embedding whose neighbours are chosen by classes (1-SLLE, ESLLE, stochastic SLLE)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, eye_array

from ..._core.errors import require_count, require_flag, require_number, require_one_of
from ..._core.state import Flag, Number, State
from ...dissimilarities import ClassIndex, checked_dissimilarity
from ...embedding.classes.class_divergences import dissimilarity_of
from ...embedding.classes.supervised import ClassLearner
from ...embedding.input_rows import checked_components
from ...embedding.parts import POLICIES, eigenvectors_of_parts, warn_of_points
from ...linalg.spectrum import eigengap, padded
from ...neighbors import clipped_neighbors, component_labels, directed_lists, joined_graph, union
from .local import BarycentricEmbedder, NeighborLists, reconstruction_weights


class SupervisedLLE(ClassLearner, BarycentricEmbedder):
    """LLE in which the neighbours of a row are the nearest by a dissimilarity that counts classes.

    ``"dis3"`` (SLLE): ``d + mu max d`` between classes; ``Dis3(1.0)`` is 1-SLLE. ``"dis1"`` is enhanced SLLE,
    and ``"divergence"`` (stochastic SLLE) adds ``alpha s DE``, DE the divergence between the Gaussians of two
    classes. The dissimilarity chooses neighbours only; the weights that make a row the sum of them are those
    of the data, and the map follows as in LLE.

    Where no neighbour is of another class the graph is in parts, one a class at least, and any layout of
    these solves the problem: the shortest edges between parts join them, or (``"points"``) each is a point.

    A new row needs no label: it is the sum of its nearest fitted rows, whatever their class.

    Cost: a search in each class, ``O(n^2 m)`` for the largest distance of up to 20,000 rows (of more, the
    diagonal of the box around them), ``O(n k^2 (k + m))`` for the weights, and a sparse factorisation.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, at least ``n_components``. Classes of fewer rows have neighbours in others.
    n_components : int
        Dimension of the map.
    dissimilarity : {"dis1", "dis2", "dis3", "divergence"}, Dis1, Dis2, Dis3 or ClassDivergence
        As above, with other numbers where a value is given: ``Dis3(mu)``, ``Dis1(alpha, beta)``,
        ``ClassDivergence(alpha, divergence, scale)``, whose divergence may be ``"directed-kl"`` too. On most
        tables a mu of 0.2 chooses the same neighbours as 1.
    regularization : float
        What is added to the diagonal of each local system, as a share of its trace.
    convex : bool
        Negative weights of new rows become 0, so that none is placed outside its neighbours.
    on_disconnected : {"bridge", "points", "largest", "raise"}
        What to do about a graph in parts: join them by their shortest edges in the data; leave them, each a
        point in the layout of their means; fit the largest and place the others as new rows; or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    classes_ : array
        What the classes are called.
    eigenvalues_ : array of shape (n_components,)
        Smallest first, the zero of the constant left out.
    eigengap_ : float
        ``1 - a / b``, a the largest of these eigenvalues and b the next.
    n_separating_ : int
        Coordinates that only separate groups of rows which the graph hardly joins. A warning tells of them.
    crossing_ : float
        Share of neighbours that are of another class: 0 means that the graph is in classes.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    de Ridder and others (2003). Zhang (2009). Cervati Neto (2024).

    Examples
    --------
    >>> import warnings
    >>> from isentropic import Dis3, SupervisedLLE, datasets
    >>> iris = datasets.load("builtin:iris", scaling="standard")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # of a graph in parts: the classes
    ...     slle = SupervisedLLE(dissimilarity=Dis3(1.0)).fit(iris.X[::2], iris.y[::2])
    >>> slle.crossing_
    0.0
    >>> slle.transform(iris.X[1::2]).shape  # without labels
    (75, 2)
    """

    _state = State(crossing_=Number(0, most=1), _fit_convex=Flag())

    def __init__(
        self,
        n_neighbors=10,
        n_components=2,
        *,
        dissimilarity="dis3",
        regularization=1e-3,
        convex=False,
        on_disconnected="bridge",
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.dissimilarity = dissimilarity
        self.regularization = regularization
        self.convex = convex
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Neighbours by the dissimilarity, the weights of each row's, the map with the same weights."""
        d, share = self._checked()
        X, codes = self._taught(X, y)
        rows = np.flatnonzero(codes >= 0)
        lists, parts, crossing = self._listed_by_class(X[rows], codes[rows], rows)
        W = reconstruction_weights(X, lists, share)
        apart = csr_array(eye_array(len(lists.fitted)) - W)
        operator = csr_array(apart.T @ apart)
        self._learn(X, codes, self.n_neighbors)
        found = {"crossing_": crossing, "_fit_convex": bool(self.convex), **self._sums(lists, share)}
        if self.on_disconnected == "points" and parts.max() > 0:
            self._embed_parts(X, lists.fitted, operator, parts, d, found)
        else:
            self._embed(X, lists.fitted, operator, d, **found)
        return self

    def _checked(self) -> tuple[int, float]:
        """The dimension and the regularisation, after all other parameters."""
        d = checked_components(self.n_components)
        checked_dissimilarity(self.dissimilarity)
        require_flag("convex", self.convex)
        require_one_of("on_disconnected", self.on_disconnected, POLICIES)
        must_be = f"an integer of at least n_components = {d}"
        require_count("n_neighbors", self.n_neighbors, must_be, least=d)
        return d, require_number("regularization", self.regularization, "a positive number", above=0)

    def _listed_by_class(self, X, classes, rows) -> tuple[NeighborLists, np.ndarray, float]:
        """Lists of the rows with a class, the part that each is in, and the share of crossing neighbours."""
        k = clipped_neighbors(self.n_neighbors, len(X) - 1)
        measure = dissimilarity_of(self.dissimilarity, X, classes, directed=True, n_jobs=self.n_jobs)
        near, lengths = ClassIndex(X, classes).among(k, measure, self.n_jobs)
        crossing = float((classes[near] != classes[:, None]).mean())
        directed = directed_lists(near, lengths)
        if self.on_disconnected == "points":
            indptr, indices, _ = union(directed, average=False, n_jobs=self.n_jobs)
            return (
                NeighborLists(rows, near, np.empty((0, 2), int)),
                component_labels(indptr, indices),
                crossing,
            )
        graph = joined_graph(X, directed, "knn", on_disconnected=self.on_disconnected, n_jobs=self.n_jobs)
        if self.on_disconnected != "largest":
            return NeighborLists(rows, near, graph.bridges), graph.components, crossing
        nodes = np.flatnonzero(graph.components == 0)
        near = np.searchsorted(nodes, near[nodes])  # lists never lead out of a part
        return NeighborLists(rows[nodes], near, graph.bridges), graph.components[nodes], crossing

    def _embed_parts(self, X, fitted, operator, parts, n_components: int, found: dict) -> None:
        """Each part is a point, as the equations have it, in the layout of the means of the parts."""
        n = len(fitted)
        count = min(n_components, n - 1)
        values, vectors = eigenvectors_of_parts(operator, X[fitted], parts, count)
        warn_of_points(int(parts.max()) + 1, n_components)
        found |= {
            "eigenvalues_": padded(values[:count], n_components),
            "eigengap_": eigengap(values, count),
            "n_separating_": min(int(parts.max()), count),
        }
        self._keep(X, fitted, np.sqrt(n) * vectors, n_components, **found)

    def _weights_of_new(self, X: np.ndarray, near: np.ndarray) -> np.ndarray:
        weights = super()._weights_of_new(X, near)
        if not self._fit_convex:
            return weights
        weights = np.maximum(weights, 0.0)  # they are of sum 1: some are positive
        return weights / weights.sum(axis=1, keepdims=True)
