"""SLLE: locally linear embedding whose neighbours are chosen by classes (1-SLLE, ESLLE, stochastic SLLE)."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_array, eye_array

from ..._core.arguments import Choice, Switch
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...dissimilarities import ClassIndex
from ...embedding.class_model import dissimilarity_of
from ...embedding.components import POLICIES, component_eigenvectors, warn_of_point_components
from ...embedding.embedder import Embedder
from ...embedding.maps.barycentric import BarycentricMap
from ...embedding.training_data import NComponents, NJobs, labelled_training_data
from ...linalg.eigen import eigengap, padded
from ...neighbors import clipped_neighbors, component_labels, directed_lists, joined_graph, union
from .neighborhoods import (
    Neighborhoods,
    Regularization,
    barycentric_map,
    bottom_coordinates,
    reconstruction_weights,
    require_neighbors,
)


class SupervisedLLE(Embedder):
    """LLE that prefers neighbours of the same class, by a dissimilarity that counts classes.

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
        What to do about a disconnected graph: join them by their shortest edges in the data; leave them, each
        a point in the layout of their means; fit the largest and place the others as new rows; or refuse.
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
        Coordinates that only separate groups of rows that the graph hardly connects. A warning reports them.
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

    _learns_from_y = True
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    crossing_: Annotated[float, Number(0, most=1)]
    _map: Annotated[BarycentricMap, Sub(BarycentricMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        dissimilarity: Any = "dis3",
        regularization: Regularization = 1e-3,
        convex: Annotated[bool, Switch()] = False,
        on_disconnected: Annotated[str, Choice(*POLICIES)] = "bridge",
        n_jobs: NJobs = None,
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
        data, d, n_jobs = labelled_training_data(self, X, y), self.n_components, self.n_jobs
        k, share = require_neighbors(self.n_neighbors, d), float(self.regularization)
        rows, labels = data.X[data.labelled], data.labels[data.labelled]
        measure = dissimilarity_of(self.dissimilarity, rows, labels, directed=True, n_jobs=n_jobs)
        near, lengths = ClassIndex(rows, labels).among(clipped_neighbors(k, len(rows) - 1), measure, n_jobs)
        crossing = float((labels[near] != labels[:, None]).mean())
        lists, parts = joined_lists(rows, data.labelled, near, lengths, self.on_disconnected, n_jobs)
        W = reconstruction_weights(data.X, lists, share)
        apart = csr_array(eye_array(len(lists.fitted)) - W)
        operator = csr_array(apart.T @ apart)
        if self.on_disconnected == "points" and parts.max() > 0:
            Z, results = coordinates_of_points(operator, data.X[lists.fitted], parts, d)
        else:
            Z, results = bottom_coordinates(operator, d)
        new_rows = barycentric_map(data, lists, share, Z, d, n_jobs, convex=bool(self.convex))
        return self._set_fit(new_rows.Z, new_rows, crossing_=crossing, **results)


def joined_lists(
    X: np.ndarray, rows: np.ndarray, near: np.ndarray, lengths: np.ndarray, policy: str, n_jobs: int | None
) -> tuple[Neighborhoods, np.ndarray]:
    """Neighbor lists of the ``rows`` with a class, ``X``, joined as the policy says, and their components."""
    directed = directed_lists(near, lengths)
    if policy == "points":
        indptr, indices, _ = union(directed, average=False, n_jobs=n_jobs)
        return Neighborhoods(rows, near, np.empty((0, 2), int)), component_labels(indptr, indices)
    graph = joined_graph(X, directed, "knn", on_disconnected=policy, n_jobs=n_jobs)
    if policy != "largest":
        return Neighborhoods(rows, near, graph.bridges), graph.components
    nodes = np.flatnonzero(graph.components == 0)
    near = np.searchsorted(nodes, near[nodes])  # lists never lead out of a part
    return Neighborhoods(rows[nodes], near, graph.bridges), graph.components[nodes]


def coordinates_of_points(
    operator: csr_array, X: np.ndarray, parts: np.ndarray, n_components: int
) -> tuple[np.ndarray, dict[str, Any]]:
    """Coordinates constant on each component, laid out as the means of the components; and results."""
    n = len(X)
    count = min(n_components, n - 1)
    values, vectors = component_eigenvectors(operator, X, parts, count)
    warn_of_point_components(int(parts.max()) + 1, n_components)
    return np.sqrt(n) * vectors, {
        "eigenvalues_": padded(values[:count], n_components),
        "eigengap_": eigengap(values, count),
        "n_separating_": min(int(parts.max()), count),
    }
