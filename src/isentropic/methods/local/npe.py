"""NPE and linear LTSA: the linear forms of LLE and LTSA."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.sparse import csr_array, eye_array

from ..._core.specs import Array, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg import sum_of_blocks
from .neighborhoods import (
    Regularization,
    aligned_directions,
    find_neighborhoods,
    reconstruction_weights,
    require_neighbors,
    require_patch_size,
    tangent_blocks,
)


class NPE(SupportsInverse, Embedder):
    """Linear projection that preserves local reconstruction weights: LLE made linear.

    ``X' (I - W)' (I - W) X a = lambda X' X a`` for the d smallest lambda, X centred, W the weights of
    :class:`LLE`: of sum 1 over the k neighbours of a row, they minimise ``|x_i - sum_j w_ij x_j|^2``. Every
    coordinate has the mean square 1. Solved in the basis of the singular vectors of X, so that collinear
    columns, or more columns than rows, are no case of their own.

    With as many features as rows, less one, the directions can follow any function of the fitted rows: the
    map is that of LLE and says nothing of new rows. A warning says so.

    Cost: the search of neighbours and ``O(n k^2 (k + m) + n m min(n, m))`` time, ``O(n (m + k^2))`` memory.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, at least ``n_components``. A disconnected graph is joined by its shortest
        edges, whose ends become neighbours of each other, with a warning.
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
        Coordinates that only separate groups of rows that the graph hardly connects: along these, nine of ten
        neighbours have nearly the same coordinate. A warning reports them.
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
        """Neighbours, reconstruction weights, the directions that preserve them.

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


class LinearLTSA(SupportsInverse, Embedder):
    """Linear projection that aligns local tangent spaces: LTSA restricted to linear functions.

    ``X' K X a = lambda X' X a`` for the d smallest lambda, X centred, K the sum of ``I - 11'/(k + 1) - UU'``
    over all patches of a row and its k neighbours, U the leading left singular vectors of the patch
    (:class:`LTSA`). Every coordinate has the mean square 1. Solved in the basis of the singular vectors of X,
    so that collinear columns, or more columns than rows, are no case of their own.

    With as many features as rows, less one, the directions can follow any function of the fitted rows: the
    map is that of LTSA and says nothing of new rows. A warning says so.

    Cost: the search of neighbours and ``O(n k^2 (k + m) + n m min(n, m))`` time, ``O(n (m + k^2))`` memory.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, more than ``n_components``. A disconnected graph is joined by its shortest
        edges, whose ends become neighbours of each other, with a warning.
    n_components : int
        Dimension of the map, at most the number of features.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The entry of largest magnitude of each is positive. Zero beyond the rank of X, with a warning.
    mean_ : array of shape (m,)
    eigenvalues_ : array of shape (n_components,)
        Smallest first: how far each direction is from an affine function of the tangents of the patches.
    n_separating_ : int
        Coordinates that only separate groups of rows that the graph hardly connects: along these, nine of ten
        neighbours have nearly the same coordinate. A warning reports them.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Zhang, Yang, Zhao and Ge (2007).

    Examples
    --------
    >>> from isentropic import LinearLTSA, datasets
    >>> aligned = LinearLTSA().fit(datasets.load("builtin:wine").X)
    >>> aligned.embedding_.shape
    (178, 2)
    >>> bool(aligned.eigenvalues_[0] < aligned.eigenvalues_[1])
    True
    """

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    n_separating_: Annotated[int, Whole(0)]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(self, n_neighbors: int = 10, n_components: NComponents = 2, *, n_jobs: NJobs = None):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Patches, their tangents, the directions that fit all of them. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        X, k = data.table, require_patch_size(self.n_neighbors, d + 1, d)
        require_features(d, X)
        lists = find_neighborhoods(X, k, n_jobs=n_jobs)
        blocks = ((patches, tangents.alignments()) for patches, tangents in tangent_blocks(X, lists, d))
        found = aligned_directions(X, sum_of_blocks(data.n, blocks), d)
        new_rows = LinearMap.along(data, found.mean, found.components)
        return self._set_fit(new_rows.transform(X, n_jobs), new_rows, components_=new_rows.components,
                             mean_=new_rows.mean, eigenvalues_=found.eigenvalues,
                             n_separating_=found.n_separating)  # fmt: skip
