"""LLE: locally linear embedding."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.sparse import csr_array, eye_array

from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.maps.barycentric import BarycentricMap
from ...embedding.training_data import NComponents, NJobs, training_data
from .neighborhoods import (
    OnDisconnected,
    Regularization,
    barycentric_map,
    bottom_coordinates,
    find_neighborhoods,
    reconstruction_weights,
    require_neighbors,
)


class LLE(Embedder):
    """Every row is a sum of its neighbours, with the same weights in the data and in the map.

    Weights w_ij, of sum 1 over the k neighbours of row i, minimise ``|x_i - sum_j w_ij x_j|^2``; the map
    minimises ``sum_i |z_i - sum_j w_ij z_j|^2`` among coordinates of mean 0 and mean square 1: the bottom
    eigenvectors of ``(I - W)' (I - W)``. A new row is the sum of its k nearest fitted rows with weights found
    likewise, and a fitted one has its own coordinates.

    Cost: the search of neighbours, ``O(n k^2 (k + m))`` time for the weights, and a sparse factorisation.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, at least ``n_components``.
    n_components : int
        Dimension of the map.
    regularization : float
        What is added to the diagonal of each local system, as a share of its trace. With more neighbours than
        features, which is usual on tables, the map depends on it.
    on_disconnected : {"bridge", "separate", "largest", "raise"}
        What to do about a graph in parts: join them by their shortest edges, whose ends become neighbours of
        each other; map each by itself, side by side, as dense as the largest, whose eigenvalues are told; fit
        the largest and place the others as new rows (all with a warning); or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Smallest first, the zero of the constant left out.
    eigengap_ : float
        ``1 - a / b``, a the largest of these eigenvalues and b the next: below 0.001, a change of one row may
        turn the map.
    n_separating_ : int
        Coordinates that only separate groups of rows which the graph hardly joins: along these, nine of ten
        neighbours are nearly at one place. A warning tells of them.
    squared_weights_ : float
        Mean of ``sum_j w_ij^2``: 1 / k where neighbours weigh alike; large where weights cancel each other.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Roweis and Saul (2000).

    Examples
    --------
    >>> from isentropic import LLE, datasets
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> lle = LLE(n_neighbors=12).fit(roll.X)
    >>> lle.embedding_.shape
    (1000, 2)
    >>> bool((lle.transform(roll.X[:5]) == lle.embedding_[:5]).all())
    True
    """

    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    squared_weights_: Annotated[float, Number(0)]
    _map: Annotated[BarycentricMap, Sub(BarycentricMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        regularization: Regularization = 1e-3,
        on_disconnected: OnDisconnected = "bridge",
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.regularization = regularization
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, the weights of each row's, the map with the same weights. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        k, share = require_neighbors(self.n_neighbors, d), float(self.regularization)
        lists = find_neighborhoods(data.X, k, self.on_disconnected, n_jobs)
        W = reconstruction_weights(data.X, lists, share)
        apart = csr_array(eye_array(len(lists.fitted)) - W)
        Z, results = bottom_coordinates(apart, d, lists.labels, squared=True)
        results["squared_weights_"] = float((W.data**2).sum() / len(lists.fitted))
        new_rows = barycentric_map(data, lists, share, Z, d, n_jobs)
        return self._set_fit(new_rows.Z, new_rows, **results)
