"""Independent component analysis: FastICA and Infomax."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from sklearn.decomposition import fastica
from sklearn.exceptions import ConvergenceWarning

from ..._core.arguments import Count
from ..._core.errors import IsentropicWarning, warn
from ..._core.specs import Array, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, padded_directions, require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg import fixed_signs
from ...linalg.centering import CentredRows, short_products

# W (r, r) for white rows (n, r), from an orthogonal start; and how many rounds it took
Unmix = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, int]]


@dataclass(frozen=True, slots=True)
class WhiteRows:
    """The leading principal coordinates of rows, each of variance 1."""

    rows: np.ndarray  # (n, r), r at most the rank
    whitening: np.ndarray  # K: (r, m)
    axes: np.ndarray  # (r, m)
    values: np.ndarray  # (r,): singular values

    @classmethod
    def of(cls, centred: CentredRows, n_components: int) -> WhiteRows:
        values, axes = (part[:n_components] for part in centred.axes())
        whitening = np.sqrt(len(centred.rows)) * axes / values[:, None]
        white = fixed_signs(centred.rows @ whitening.T)
        # Signs by the rows, not the features: a start that turns with the rows leads to the same components.
        signs = np.where((white * (centred.rows @ whitening.T)).sum(axis=0) < 0, -1.0, 1.0)
        return cls(white, whitening * signs[:, None], axes * signs[:, None], values)

    def unmixed(self, unmix: Unmix) -> tuple[np.ndarray, int]:
        """W for components of variance 1, and the rounds; a single coordinate is not mixed."""
        found, n_iter = np.eye(len(self.axes)), 0
        if len(self.axes) > 1:
            with short_products(self.rows.size * len(self.axes)):
                found, n_iter = unmix(self.rows, fixed_initialization(len(self.axes)))
        components = self.rows @ found.T
        return found / np.sqrt((components**2).mean(axis=0))[:, None], n_iter


def ordered_components(
    centred: CentredRows, white: WhiteRows, unmixing: np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray]:
    """``W K`` (d, m) and the share of the variance that each component contributes, largest first."""
    n, rank = len(centred.rows), len(white.axes)
    mixing = white.axes.T * white.values / np.sqrt(n) @ np.linalg.pinv(unmixing)  # (m, r)
    order = np.argsort(-(mixing**2).sum(axis=0), kind="stable")
    components = padded_directions(unmixing[order] @ white.whitening, n_components, f"X has a rank of {rank}")
    total = (centred.rows**2).sum() / n
    shares = (mixing[:, order] ** 2).sum(axis=0) / (total or 1.0)
    return components / centred.unit, np.pad(shares, (0, n_components - rank))


def warn_unfinished(n_iter: int, change: float) -> None:
    """Warn that the last round still changed the components."""
    text = f"No independent components after {n_iter} rounds: they still change by {change:.2g}."
    hint = "Normal data have none; for others raise max_iter, or take fewer components."
    warn(f"{text} {hint}", IsentropicWarning)


def fixed_initialization(count: int) -> np.ndarray:
    """A fixed rotation: the axes themselves may be as good as any of several, and then no way leads on."""
    return np.linalg.qr(np.random.default_rng(0).normal(size=(count, count)))[0]


_STILL = 1e-8  # change of the directions at which the iteration ends


class FastICA(SupportsInverse, Embedder):
    """FastICA: linear coordinates that are as far from normal as possible, by a fixed-point iteration.

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
    """How far another round would rotate the directions."""
    Y = white @ W.T
    squashed = np.tanh(Y)
    left, _, right = np.linalg.svd(
        squashed.T @ white / len(white) - (1 - squashed**2).mean(axis=0)[:, None] * W
    )
    return float(np.abs(np.abs((left @ right * W).sum(axis=1)) - 1).max())


_LEAST_CURVATURE = 0.01
_HALVINGS = 30


class InfomaxICA(SupportsInverse, Embedder):
    """Infomax ICA: independent linear coordinates by maximum likelihood, or maximum information.

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
    squashed = np.tanh(Y)
    moments = (1 - squashed**2).mean(axis=0) * (Y**2).mean(axis=0) - (Y * squashed).mean(axis=0)
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
