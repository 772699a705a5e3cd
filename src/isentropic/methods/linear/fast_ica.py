"""FastICA, from scikit-learn, with the interface of every method here."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.decomposition import fastica
from sklearn.exceptions import ConvergenceWarning

from .independent import IndependentEmbedder

_STILL = 1e-8  # change of the directions at which the iteration ends


class FastICA(IndependentEmbedder):
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

    def __init__(self, n_components=2, *, max_iter=1000, n_jobs=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def _unmixing(self, white: np.ndarray, start: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, W, _, self.n_iter_ = fastica(
                white, whiten=False, fun="logcosh", w_init=start, max_iter=self.max_iter, tol=_STILL,
                return_n_iter=True, compute_sources=True,
            )  # fmt: skip
        change = _change(white, W)
        if self.n_iter_ >= self.max_iter and change > _STILL:
            self._warn_unfinished(change)
        return W


def _change(white: np.ndarray, W: np.ndarray) -> float:
    """How far one more round would turn the directions."""
    Y = white @ W.T
    slopes = np.tanh(Y)
    left, _, right = np.linalg.svd(slopes.T @ white / len(white) - (1 - slopes**2).mean(axis=0)[:, None] * W)
    return float(np.abs(np.abs((left @ right * W).sum(axis=1)) - 1).max())
