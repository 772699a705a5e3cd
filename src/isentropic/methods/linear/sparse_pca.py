"""Sparse PCA by the generalised power method (GPower)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.linalg import qr

from ..._core.arguments import Real
from ..._core.errors import IsentropicWarning, warn
from ..._core.specs import Array
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, padded, require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg.centering import RANK, CentredRows, short_products

_MOST_ROUNDS = 10_000
_STILL = 1e-9  # step of the unit vector at which a direction has been found


class SparsePCA(SupportsInverse, Embedder):
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

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    explained_variance_ratio_: Annotated[np.ndarray, Array("d")]
    zeros_: Annotated[np.ndarray, Array("d")]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        rho: Annotated[float, Real("a number from 0 to below 1", below=1.0)] = 0.25,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.rho = rho
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Centre; one direction after the other, each projected out; order, place every row.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        require_features(d, data.table)
        centred = CentredRows.of(data.table)
        found = _directions(centred.rows, d, float(self.rho))
        found = found[np.argsort(-_adjusted(centred.rows, found), kind="stable")]
        variances = np.pad(_adjusted(centred.rows, found), (0, d - len(found)))
        components = padded(found, d, f"X has a rank of {len(found)}")
        new_rows = LinearMap.along(data, centred.mean, components)
        return self._set_fit(new_rows.transform(data.table, n_jobs), new_rows,
                             components_=new_rows.components, mean_=new_rows.mean,
                             explained_variance_ratio_=variances / ((centred.rows**2).sum() or 1.0),
                             zeros_=(components == 0).mean(axis=1))  # fmt: skip


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
        warn(text, IsentropicWarning)
    return entries / np.sqrt(entries @ entries)


def _adjusted(rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Squared lengths of the coordinates, what they share with earlier ones left out."""
    if not len(directions):
        return np.zeros(0)
    return np.diag(qr(rows @ directions.T, mode="r")[0][: len(directions)]) ** 2
