"""Sparse PCA by the generalised power method (GPower)."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import qr

from ..._core.errors import IsentropicWarning, require_number
from ..._core.state import Array, State
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.linear import LinearEmbedder, padded, require_features
from ...linalg.centred import RANK, CentredRows, short_products

_MOST_ROUNDS = 10_000
_STILL = 1e-9  # step of the unit vector at which a direction has been found


class SparsePCA(LinearEmbedder):
    """Directions of large variance that few features make up: PCA whose axes can be read.

    One after the other, ``max_x sum_j ([|a_j' x| - g]_+)^2`` over unit vectors x, a_j the centred columns
    and g = rho times the length of the longest; the direction has the entries ``[|a_j' x| - g]_+ sign(a_j'
    x)``, and is projected out before the next (generalised power method). Every step raises the criterion.
    Unlike a penalty in units of the data, rho means the same in any unit, and at 0 this is PCA.

    Cost: ``O(n m min(n, m))`` once and ``O(m min(n, m))`` a step; ``O(n m)`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features.
    rho : float
        From 0, all features, to just below 1, one feature for each direction.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        Of length 1, in general not orthogonal. The entry of largest magnitude of each is positive.
    mean_ : array of shape (m,)
    explained_variance_ratio_ : array of shape (n_components,)
        Of the coordinates, what they share with earlier ones left out (adjusted variance); largest first.
    zeros_ : array of shape (n_components,)
        Share of the features that each direction leaves out.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Journée, Nesterov, Richtárik and Sepulchre (2010); Zou, Hastie and Tibshirani (2006).

    Examples
    --------
    >>> from isentropic import SparsePCA, datasets
    >>> sparse = SparsePCA(rho=0.4).fit(datasets.load("builtin:wine").X)
    >>> bool((sparse.zeros_ > 0.2).all())
    True
    """

    _state = State(explained_variance_ratio_=Array("d"), zeros_=Array("d"))

    def __init__(self, n_components=2, *, rho=0.25, n_jobs=None):
        self.n_components = n_components
        self.rho = rho
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Centre; one direction after the other, each projected out; order, place every row.

        ``y`` is not used.
        """
        rho = require_number("rho", self.rho, "a number from 0 to below 1", below=1.0)
        X = checked_rows(self, X)
        n_components = checked_components(self.n_components)
        require_features(n_components, X)
        centred = CentredRows.of(X)
        found = _directions(centred.rows, n_components, rho)
        found = found[np.argsort(-_adjusted(centred.rows, found), kind="stable")]
        variances = np.pad(_adjusted(centred.rows, found), (0, n_components - len(found)))
        components = padded(found, n_components, f"X has a rank of {len(found)}")
        self.explained_variance_ratio_ = variances / ((centred.rows**2).sum() or 1.0)
        self.zeros_ = (components == 0).mean(axis=1)
        self._project(X, centred.mean, components)
        return self


def _directions(rows: np.ndarray, count: int, rho: float) -> np.ndarray:
    """Unit vectors (count, m), fewer where nothing is left."""
    if len(rows) > rows.shape[1]:
        rows = qr(rows, mode="r")[0][: rows.shape[1]]  # fewer rows with the same products of columns
    least = RANK * np.sqrt((rows**2).sum())
    found: list[np.ndarray] = []
    while len(found) < count and np.sqrt((rows**2).sum()) > least:
        with short_products(rows.size):
            direction = power_direction(rows, rho)
        found.append(direction)
        rows = rows - np.outer(rows @ direction, direction)
    return np.array(found).reshape(-1, rows.shape[1])


def power_direction(rows: np.ndarray, rho: float) -> np.ndarray:
    """One direction (m,), from the longest column on."""
    lengths = np.sqrt((rows**2).sum(axis=0))
    longest = int(lengths.argmax())
    x, threshold = rows[:, longest] / lengths[longest], rho * lengths[longest]
    for _ in range(_MOST_ROUNDS):
        products = x @ rows
        entries = np.sign(products) * np.maximum(np.abs(products) - threshold, 0.0)
        before, x = x, rows @ entries
        x = x / np.sqrt(x @ x)
        if np.abs(x - before).max() <= _STILL:
            break
    else:
        text = f"A direction still turns after {_MOST_ROUNDS} rounds, by {np.abs(x - before).max():.2g}."
        warnings.warn(text, IsentropicWarning, stacklevel=4)
    return entries / np.sqrt(entries @ entries)


def _adjusted(rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Squared lengths of the coordinates, what they share with earlier ones left out."""
    if not len(directions):
        return np.zeros(0)
    return np.diag(qr(rows @ directions.T, mode="r")[0][: len(directions)]) ** 2
