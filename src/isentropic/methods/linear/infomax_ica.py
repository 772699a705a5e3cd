"""Infomax ICA with the extended rule."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from ..._core.arguments import Count
from ..._core.specs import Array, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg.centering import CentredRows
from .independent import WhiteRows, ordered_components, warn_unfinished

_STILL = 1e-8  # largest entry of the relative gradient at which the iteration ends
_LEAST_CURVATURE = 0.01
_HALVINGS = 30


class InfomaxICA(SupportsInverse, Embedder):
    """Coordinates as independent as linear ones can be: maximum likelihood, or information passed on.

    After whitening, ``max log |det W| + mean log p(W x)``. The density of a component is heavy- or
    light-tailed, ``log p = -y^2/2 ∓ log cosh y``, as its own moments say (the extended rule); with heavy
    tails alone, uniform sources would stay mixed. Quasi-Newton steps along the relative gradient, halved
    while the likelihood falls. Minimum mutual information has the same solution. Order, sign and scale are
    those of ``FastICA``.

    Cost: ``O(n m min(n, m) + i n d^2)`` time for i steps, about 15; ``O(n m)`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features. Coordinates beyond the rank are zero, with a
        warning.
    max_iter : int
        Steps at most; if they do not suffice there is a warning.
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
        They need not add up to that of the plane: the coordinates may be slightly correlated.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Bell and Sejnowski (1995); Lee, Girolami and Sejnowski (1999); Ablin, Cardoso and Gramfort (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import InfomaxICA
    >>> sources = np.random.default_rng(0).uniform(size=(500, 2))
    >>> Z = InfomaxICA().fit_transform(sources @ [[1, 1], [0, 2]])
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
        max_iter: Annotated[int, Count()] = 500,
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
        unmixing, n_iter = white.unmixed(partial(most_likely, max_iter=int(self.max_iter)))
        components, shares = ordered_components(centred, white, unmixing, d)
        new_rows = LinearMap.along(data, centred.mean, components)
        return self._set_fit(new_rows.transform(data.table, n_jobs), new_rows,
                             components_=new_rows.components, mean_=new_rows.mean,
                             mixing_=np.linalg.pinv(new_rows.components), explained_variance_ratio_=shares,
                             n_iter_=n_iter)  # fmt: skip


def most_likely(white: np.ndarray, start: np.ndarray, max_iter: int) -> tuple[np.ndarray, int]:
    """W for white rows by quasi-Newton steps, and how many.

    The tails are chosen anew for the first half of the steps only, so that it ends.
    """
    W, tails = start, tails_of(white @ start.T)
    for step in range(max_iter):
        Y = white @ W.T
        if 2 * step < max_iter:
            tails = tails_of(Y)
        gradient = relative_gradient(Y, tails)
        largest = float(np.abs(gradient).max())
        if largest <= _STILL:
            return W, step + 1
        moved = _descended(white, W, quasi_newton_step(Y, tails, gradient), tails)
        if moved is None:
            break
        W = moved
    if largest > np.sqrt(_STILL):  # below that it is rounding that stops the search
        warn_unfinished(step + 1, largest)
    return W, step + 1


def tails_of(Y: np.ndarray) -> np.ndarray:
    """1 for each column with heavy tails, -1 for light ones: ``sign E[sech^2 y] E[y^2] - E[y tanh y]``."""
    slopes = np.tanh(Y)
    moments = (1 - slopes**2).mean(axis=0) * (Y**2).mean(axis=0) - (Y * slopes).mean(axis=0)
    return np.where(moments < 0, -1.0, 1.0)


def loss(Y: np.ndarray, W: np.ndarray, tails: np.ndarray) -> float:
    """Minus the mean log-likelihood, but for a constant."""
    cosh = np.logaddexp(Y, -Y) - np.log(2)  # its logarithm
    return float((Y**2 / 2 + tails * cosh).sum(axis=1).mean() - np.linalg.slogdet(W)[1])


def relative_gradient(Y: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """``E[psi(y) y'] - I`` with ``psi(y) = y ± tanh(y)``: the gradient of the loss for ``W <- (I + D) W``."""
    return (Y + tails * np.tanh(Y)).T @ Y / len(Y) - np.eye(Y.shape[1])


def quasi_newton_step(Y: np.ndarray, tails: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Minus the gradient through the Hessian of independent components: a 2×2 block for each pair."""
    curvatures = (1 + tails * (1 - np.tanh(Y) ** 2)).mean(axis=0)
    h = np.outer(curvatures, (Y**2).mean(axis=0))
    # The smaller eigenvalue of each block [[h_ij, 1], [1, h_ji]]; blocks that are not positive are shifted.
    least = (h + h.T - np.sqrt((h - h.T) ** 2 + 4)) / 2
    h = h + np.maximum(_LEAST_CURVATURE - least, 0.0)
    step = -(h.T * gradient - gradient.T) / (h * h.T - 1)
    np.fill_diagonal(step, -np.diag(gradient) / (1 + np.diag(h)))
    return step


def _descended(white: np.ndarray, W: np.ndarray, step: np.ndarray, tails: np.ndarray) -> np.ndarray | None:
    """The first of ever shorter steps that lowers the loss; None if there is none."""
    before = loss(white @ W.T, W, tails)
    for _ in range(_HALVINGS):
        moved = W + step @ W
        if loss(white @ moved.T, moved, tails) < before:
            return moved
        step = step / 2
    return None
