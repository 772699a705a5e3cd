"""LDA: linear discriminant analysis."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, svd

from ..._core.errors import is_real, require
from ..._core.state import Array, Number, State
from ...embedding.input_rows import checked_components
from ...embedding.maps.linear import LinearEmbedder, padded, require_features
from ...linalg.centred import RANK, CentredRows


class LDA(LinearEmbedder):
    """Directions along which classes lie apart, measured by the spread within them (Fisher, Rao).

    The leading solutions of ``S_b a = lambda S_w a``, S_b the covariance of the class means and S_w that
    within classes, pooled; there are one less than classes. The coordinates have the variance 1 within
    classes. Where S_w has not the rank of the data, as with more features than rows, some direction
    separates any labels perfectly, drawn ones included: there S_w is shrunk towards a multiple of the
    identity, by the amount of Ledoit and Wolf.

    Every row needs a class. -1 is one, with a warning beside two or more others, as it may mark rows without.

    Cost: ``O(n m min(n, m))`` time, ``O(n m)`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features. Coordinates beyond one less than the number of
        classes are zero, with a warning.
    shrinkage : "auto" or float
        From 0, none, to 1, the identity. ``"auto"`` is none where S_w has the rank of the data.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The entry of largest magnitude of each is positive.
    mean_ : array of shape (m,)
    classes_ : array
        What the classes are called.
    explained_variance_ratio_ : array of shape (n_components,)
        Share of the variance between classes.
    shrinkage_ : float
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Fisher (1936); Rao (1948); Ledoit and Wolf (2004).

    Examples
    --------
    >>> from isentropic import LDA, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> LDA().fit(iris.X, iris.y).explained_variance_ratio_.round(3).tolist()
    [0.991, 0.009]
    """

    _learns_from_y = True
    _state = State(explained_variance_ratio_=Array("d"), shrinkage_=Number(0, most=1))

    def __init__(self, n_components=2, *, shrinkage="auto", n_jobs=None):
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Class means, the spread within classes, the directions of the one in units of the other."""
        X, classes = self._labelled(X, y)
        n_components, count = checked_components(self.n_components), len(self.classes_)
        require_features(n_components, X)
        is_auto = isinstance(self.shrinkage, str) and self.shrinkage == "auto"
        in_range = is_auto or (is_real(self.shrinkage) and 0 <= self.shrinkage <= 1)
        require(in_range, "shrinkage", "'auto' or a number from 0 to 1", self.shrinkage)
        require(count > 1, "y", "at least two classes", count, "PCA needs none.")
        centred = CentredRows.of(X)
        directions, variances = self._directions(centred, classes)
        directions = padded(directions, n_components, f"{count} classes lie in {len(directions)} dimensions")
        shares = variances[:n_components] / (variances.sum() or 1.0)
        self.explained_variance_ratio_ = np.pad(shares, (0, n_components - len(shares)))
        self._project(X, centred.mean, directions / centred.unit)
        return self

    def _directions(self, centred: CentredRows, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All of them, and the variance between classes along each; found in the span of the rows."""
        (n, m), axes = centred.rows.shape, centred.axes()[1]
        rows, sizes = centred.rows @ axes.T, np.bincount(classes)
        means = np.array([rows[classes == c].mean(axis=0) for c in range(len(sizes))])
        if not means.any():
            self.shrinkage_ = 0.0
            return np.zeros((0, m)), np.zeros(0)
        rows -= means[classes]
        spreads, turn = _whole_axes(rows / np.sqrt(max(n - len(sizes), 1)))
        if isinstance(self.shrinkage, str):
            singular = spreads[-1] <= RANK * max(spreads[0], np.abs(means).max())
            self.shrinkage_ = ledoit_wolf(rows, m) if singular else 0.0
        else:
            self.shrinkage_ = float(self.shrinkage)
        target = (spreads**2).sum() / m or (means**2).mean()  # equal rows in each class leave no other unit
        variances = (1 - self.shrinkage_) * spreads**2 + self.shrinkage_ * target
        kept = variances > RANK**2 * variances.max()
        whitened = turn[kept].T / np.sqrt(variances[kept])
        _, between, found = svd(np.sqrt(sizes / n)[:, None] * means @ whitened, full_matrices=False)
        count = int(np.count_nonzero(between > RANK * between[0]))
        return found[:count] @ whitened.T @ axes, between[:count] ** 2


def _whole_axes(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular values of n rows of q numbers and all q axes, those without spread included."""
    q = rows.shape[1]
    triangle = np.zeros((q, q))
    triangle[: min(rows.shape)] = qr(rows, mode="r")[0][:q]
    _, spreads, turn = svd(triangle)
    return spreads, turn


def ledoit_wolf(rows: np.ndarray, m: int) -> float:
    """The shrinkage of the covariance of centred rows of m features, given along fewer axes; 1 if zero."""
    n = len(rows)
    values = svd(rows / np.sqrt(n), compute_uv=False) ** 2
    mean = values.sum() / m
    apart = ((values**2).sum() - m * mean**2) / m
    error = ((((rows**2).sum(axis=1)) ** 2).mean() - (values**2).sum()) / (m * n)
    return float(min(max(error, 0.0) / apart, 1.0)) if apart > 0 else 1.0
