"""PCA, from scikit-learn, with the interface of every method here."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from sklearn.decomposition import PCA as _PCA

from ..._core.arguments import Switch
from ..._core.errors import require
from ..._core.specs import Array
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap
from ...embedding.training_data import NComponents, NJobs, training_data


class PCA(SupportsInverse, Embedder):
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
        Of length 1, or divided by the deviation where coordinates are whitened. The entry of largest
        magnitude of each is positive.
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

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    explained_variance_: Annotated[np.ndarray, Array("d")]
    explained_variance_ratio_: Annotated[np.ndarray, Array("d")]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        whiten: Annotated[bool, Switch()] = False,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.whiten = whiten
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Centre, decompose, fix the signs, place every row. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        X, most = data.table, min(data.table.shape)
        require(d <= most, "n_components", f"at most min(rows, features) = {most}", d)
        # The solver is fixed: scikit-learn's choice by size would make results jump with n.
        solver = "covariance_eigh" if X.shape[1] <= 1000 and len(X) >= X.shape[1] else "full"
        centre = X.mean(axis=0)  # before the solver forms products, in which an offset would drown the rest
        with np.errstate(invalid="ignore"):  # constant data: 0 / 0 in the ratios, which are 0 below
            pca = _PCA(d, svd_solver=solver).fit(X - centre)
        scales = _to_unit_variance(pca.explained_variance_) if self.whiten else np.ones(d)
        new_rows = LinearMap.along(data, centre + pca.mean_, pca.components_ * scales[:, None])
        return self._set_fit(new_rows.transform(X, n_jobs), new_rows, components_=new_rows.components,
                             mean_=new_rows.mean, explained_variance_=pca.explained_variance_,
                             explained_variance_ratio_=np.nan_to_num(pca.explained_variance_ratio_, nan=0.0)
                             )  # fmt: skip


def _to_unit_variance(variances: np.ndarray) -> np.ndarray:
    """The factor of each coordinate; one without variance stays zero."""
    deviations = np.sqrt(variances)
    spread = deviations > 1e-12 * deviations.max()
    return np.divide(1.0, deviations, out=np.zeros_like(deviations), where=spread)
