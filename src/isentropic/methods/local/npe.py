"""NPE: neighbourhood preserving embedding, the linear form of LLE."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.sparse import csr_array, eye_array

from ..._core.specs import Array, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from .neighborhoods import Regularization, find_neighborhoods, reconstruction_weights, require_neighbors
from .tangents import aligned_directions


class NPE(SupportsInverse, Embedder):
    """Directions along which every row is the sum of its neighbours that it is in the data: LLE made linear.

    ``X' (I - W)' (I - W) X a = lambda X' X a`` for the d smallest lambda, X centred, W the weights of
    :class:`LLE`: of sum 1 over the k neighbours of a row, they minimise ``|x_i - sum_j w_ij x_j|^2``. Every
    coordinate has the mean square 1. Solved in the basis of the singular vectors of X, so that collinear
    columns, or more columns than rows, are no case of their own.

    With as many features as rows, less one, the directions can follow any function of the fitted rows: the
    map is that of LLE and says nothing of new rows. A warning tells.

    Cost: the search of neighbours and ``O(n k^2 (k + m) + n m min(n, m))`` time, ``O(n (m + k^2))`` memory.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, at least ``n_components``. A graph in parts is joined by its shortest edges,
        whose ends become neighbours of each other, with a warning.
    n_components : int
        Dimension of the map, at most the number of features.
    regularization : float
        What is added to the diagonal of each local system, as a share of its trace.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The entry of largest magnitude of each is positive. Zero beyond the rank of X, with a warning.
    mean_ : array of shape (m,)
    eigenvalues_ : array of shape (n_components,)
        Smallest first: how far rows are from the sums of their neighbours along each direction.
    n_separating_ : int
        Coordinates that only separate groups of rows which the graph hardly joins: along these, nine
        of ten neighbours are nearly at one place. A warning tells of them.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    He, Cai, Yan and Zhang (2005).

    Examples
    --------
    >>> from isentropic import NPE, datasets
    >>> npe = NPE().fit(datasets.load("builtin:wine").X)
    >>> npe.embedding_.shape
    (178, 2)
    >>> bool(npe.eigenvalues_[0] < npe.eigenvalues_[1] < 1)
    True
    """

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    n_separating_: Annotated[int, Whole(0)]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        regularization: Regularization = 1e-3,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.regularization = regularization
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, the weights of each row's, the directions that keep to the weights.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        X, k = data.table, require_neighbors(self.n_neighbors, d)
        require_features(d, X)
        W = reconstruction_weights(X, find_neighborhoods(X, k, n_jobs=n_jobs), float(self.regularization))
        apart = csr_array(eye_array(data.n) - W)
        found = aligned_directions(X, csr_array(apart.T @ apart), d)
        new_rows = LinearMap.along(data, found.mean, found.components)
        return self._set_fit(new_rows.transform(X, n_jobs), new_rows, components_=new_rows.components,
                             mean_=new_rows.mean, eigenvalues_=found.eigenvalues,
                             n_separating_=found.n_separating)  # fmt: skip
