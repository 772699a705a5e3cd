"""PCA, from scikit-learn, with the interface of every method here."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA as _PCA

from ..._core.errors import require, require_flag
from ..._core.state import Array, State
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.linear import LinearEmbedder


class PCA(LinearEmbedder):
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

    _state = State(explained_variance_=Array("d"), explained_variance_ratio_=Array("d"))

    def __init__(self, n_components=2, *, whiten=False, n_jobs=None):
        self.n_components = n_components
        self.whiten = whiten
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Centre, decompose, fix the signs, place every row. ``y`` is not used."""
        X = checked_rows(self, X)
        n_components = checked_components(self.n_components)
        most = min(X.shape)
        require_flag("whiten", self.whiten)
        require(n_components <= most, "n_components", f"at most min(rows, features) = {most}", n_components)
        # The solver is fixed: scikit-learn's choice by size would make results jump with n.
        solver = "covariance_eigh" if X.shape[1] <= 1000 and len(X) >= X.shape[1] else "full"
        centre = X.mean(axis=0)  # before the solver forms products, in which an offset would drown the rest
        with np.errstate(invalid="ignore"):  # constant data: 0 / 0 in the ratios, which are 0 below
            pca = _PCA(n_components, svd_solver=solver).fit(X - centre)
        self.explained_variance_ = pca.explained_variance_
        self.explained_variance_ratio_ = np.nan_to_num(pca.explained_variance_ratio_, nan=0.0)
        self._project(X, centre + pca.mean_, pca.components_, self._scales() if self.whiten else None)
        return self

    def _scales(self) -> np.ndarray:
        deviations = np.sqrt(self.explained_variance_)
        spread = deviations > 1e-12 * deviations.max()  # a direction without variance stays zero
        return np.divide(1.0, deviations, out=np.zeros_like(deviations), where=spread)
