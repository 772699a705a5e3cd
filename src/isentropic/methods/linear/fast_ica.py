"""FastICA, from scikit-learn, with the interface of every method here."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Annotated

import numpy as np
from sklearn.decomposition import fastica
from sklearn.exceptions import ConvergenceWarning

from ..._core.arguments import Count
from ..._core.specs import Array, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg.centering import CentredRows
from .independent import WhiteRows, ordered_components, warn_unfinished

_STILL = 1e-8  # change of the directions at which the iteration ends


class FastICA(SupportsInverse, Embedder):
    """Coordinates as independent, that is as far from normal, as linear ones can be: a fixed-point iteration.

    The leading d principal coordinates are made white and then turned, so that ``E[log cosh z_j]`` is
    farthest from that of a normal variable. So the map lies in the plane of PCA, and cannot show what that
    does not hold. Independent components have no order, sign or scale: here the one that contributes most to
    the variance comes first, the largest entry of a direction is positive, and the variance is 1.

    Cost: ``O(n m min(n, m) + i n d^2)`` time for i rounds, ``O(n m)`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features. Coordinates beyond the rank are zero, with a
        warning.
    max_iter : int
        Rounds at most; if they do not suffice there is a warning.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The unmixing matrix.
    mixing_ : array of shape (m, n_components)
        Its pseudoinverse: what each component adds to the features.
    mean_ : array of shape (m,)
    explained_variance_ratio_ : array of shape (n_components,)
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hyvärinen (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import FastICA
    >>> sources = np.random.default_rng(0).laplace(size=(500, 2))
    >>> Z = FastICA().fit_transform(sources @ [[1, 1], [0, 2]])
    >>> bool((np.abs(np.corrcoef(Z.T, sources.T)[:2, 2:]).max(axis=1) > 0.99).all())
    True
    """

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    mixing_: Annotated[np.ndarray, Array("m", "d")]
    explained_variance_ratio_: Annotated[np.ndarray, Array("d")]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        max_iter: Annotated[int, Count()] = 1000,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Whiten, unmix, order by what the components contribute to the variance, place every row.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        require_features(d, data.table)
        centred = CentredRows.of(data.table)
        white = WhiteRows.of(centred, d)
        unmixing, n_iter = white.unmixed(partial(fixed_point, max_iter=int(self.max_iter)))
        components, shares = ordered_components(centred, white, unmixing, d)
        new_rows = LinearMap.along(data, centred.mean, components)
        return self._set_fit(new_rows.transform(data.table, n_jobs), new_rows,
                             components_=new_rows.components, mean_=new_rows.mean,
                             mixing_=np.linalg.pinv(new_rows.components), explained_variance_ratio_=shares,
                             n_iter_=n_iter)  # fmt: skip


def fixed_point(white: np.ndarray, start: np.ndarray, max_iter: int) -> tuple[np.ndarray, int]:
    """W for white rows by Hyvärinen's iteration, and its rounds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, W, _, n_iter = fastica(
            white, whiten=False, fun="logcosh", w_init=start, max_iter=max_iter, tol=_STILL,
            return_n_iter=True, compute_sources=True,
        )  # fmt: skip
    change = _change(white, W)
    if n_iter >= max_iter and change > _STILL:
        warn_unfinished(n_iter, change)
    return W, n_iter


def _change(white: np.ndarray, W: np.ndarray) -> float:
    """How far one more round would turn the directions."""
    Y = white @ W.T
    slopes = np.tanh(Y)
    left, _, right = np.linalg.svd(slopes.T @ white / len(white) - (1 - slopes**2).mean(axis=0)[:, None] * W)
    return float(np.abs(np.abs((left @ right * W).sum(axis=1)) - 1).max())
