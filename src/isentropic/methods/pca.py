"""PCA, from scikit-learn, with the interface of every method here."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA as _PCA
from sklearn.utils.validation import check_is_fitted

from .._errors import require
from .._state import Array, State
from ..families.embedder import Embedder
from ..families.rows import checked_components, checked_coordinates, checked_rows
from ..kernels._jit import threads
from ..kernels.placement import project_centred
from ..linalg import fixed_signs


class PCA(Embedder):
    """Directions of largest variance: ``z = C (x - mean)``, C the leading eigenvectors of the covariance.

    The baseline of every comparison. Fitted by scikit-learn; a row gets the same coordinates in any batch.

    Cost: ``O(n m min(n, m))`` time, ``O(n m)`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most ``min(n, m)``.
    whiten : bool
        Scale every coordinate to unit variance.
    n_jobs : int, optional
        Threads of ``transform``. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The entry of largest magnitude of each is positive.
    mean_ : array of shape (m,)
    explained_variance_ : array of shape (n_components,)
    explained_variance_ratio_ : array of shape (n_components,)
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Pearson (1901).

    Examples
    --------
    >>> from isentropic import PCA, datasets
    >>> pca = PCA().fit(datasets.load("builtin:iris").X)
    >>> pca.explained_variance_ratio_.round(3).tolist()
    [0.73, 0.229]
    """

    _state = State(
        components_=Array("d", "m"),
        mean_=Array("m"),
        explained_variance_=Array("d"),
        explained_variance_ratio_=Array("d"),
        _projection=Array("m", "d"),
    )

    def __init__(self, n_components=2, *, whiten=False, n_jobs=None):
        self.n_components = n_components
        self.whiten = whiten
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Centre, decompose, fix the signs, place every row."""
        X = checked_rows(self, X)
        n_components = checked_components(self.n_components)
        most = min(X.shape)
        require(n_components <= most, "n_components", f"at most min(rows, features) = {most}", n_components)
        # The solver is fixed: scikit-learn's choice by size would make results jump with n.
        solver = "covariance_eigh" if X.shape[1] <= 1000 and len(X) >= X.shape[1] else "full"
        centre = X.mean(axis=0)  # before the solver forms products, in which an offset would drown the rest
        with np.errstate(invalid="ignore"):  # constant data: 0 / 0 in the ratios, which are 0 below
            pca = _PCA(n_components, svd_solver=solver).fit(X - centre)
        self.mean_ = centre + pca.mean_
        self.components_ = fixed_signs(pca.components_.T).T
        self.explained_variance_ = pca.explained_variance_
        self.explained_variance_ratio_ = np.nan_to_num(pca.explained_variance_ratio_, nan=0.0)
        self._projection = self._scaled_directions()
        self._n_features_out = n_components
        self.embedding_ = self._placed(X)
        return self

    def transform(self, X) -> np.ndarray:
        """Coordinates of rows, each by itself."""
        check_is_fitted(self)
        return checked_coordinates(self._placed(checked_rows(self, X, fitting=False)))

    def _scaled_directions(self) -> np.ndarray:
        projection = np.ascontiguousarray(self.components_.T)
        if self.whiten:
            deviations = np.sqrt(self.explained_variance_)
            spread = deviations > 1e-12 * deviations.max()  # a direction without variance stays zero
            projection *= np.divide(1.0, deviations, out=np.zeros_like(deviations), where=spread)
        return projection

    def _placed(self, X: np.ndarray) -> np.ndarray:
        with threads(self.n_jobs):
            return project_centred(X, self.mean_, self._projection)
