"""Modified LLE: locally linear embedding with several weights for each row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from ..._core.runtime import one_blas_thread
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.maps.barycentric import BarycentricMap
from ...embedding.packed_components import rows_of_parts
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg import sum_of_blocks
from .neighborhoods import (
    Neighborhoods,
    OnDisconnected,
    Regularization,
    barycentric_map,
    bottom_coordinates,
    find_neighborhoods,
    require_neighbors,
)

_NOTHING = 1e-12  # length of a vector to reflect at: below it there is nothing to reflect


class ModifiedLLE(Embedder):
    """Every row is several sums of its neighbours at once, with the same weights in the data and in the map.

    Where neighbours are more than directions, many weights give a row nearly as well: those of
    :class:`LLE`, w, and any change of them within the almost null space V (k, s) of the products of
    differences, s chosen row by row so that its share of the spread is below the median over all rows. The
    weights are ``V H + (1 - a) w 1'``, ``a = |V'1| / s^1/2``, H the Householder reflection that takes ``V'1``
    to ``a 1``; the map minimises the squared errors of all these sums, among coordinates of mean 0 and mean
    square 1. Maps are less bent than those of LLE, and hardly depend on the regularisation. A new row is the
    sum of its k nearest fitted rows with the weights of LLE.

    Cost: the search of neighbours, ``O(n k^2 (k + m))`` time for the weights, and a sparse factorisation.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, at least ``n_components``.
    n_components : int
        Dimension of the map.
    regularization : float
        What is added to the diagonal of each local system for w, as a share of its trace.
    on_disconnected : {"bridge", "separate", "largest", "raise"}
        What to do about a graph in parts: join them by their shortest edges, whose ends become neighbours of
        each other; map each by itself, side by side, as dense as the largest, whose eigenvalues are told; fit
        the largest and place the others as new rows (all with a warning); or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Smallest first, the zero of the constant left out.
    eigengap_ : float
        ``1 - a / b``, a the largest of these eigenvalues and b the next: below 0.001, a change of one row may
        turn the map.
    n_separating_ : int
        Coordinates that only separate groups of rows which the graph hardly joins: along these, nine
        of ten neighbours are nearly at one place. A warning tells of them.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Zhang and Wang (2007).

    Examples
    --------
    >>> from isentropic import ModifiedLLE, datasets
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> modified = ModifiedLLE(n_neighbors=12).fit(roll.X)
    >>> modified.embedding_.shape
    (1000, 2)
    >>> bool((modified.transform(roll.X[:5]) == modified.embedding_[:5]).all())
    True
    """

    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    _map: Annotated[BarycentricMap, Sub(BarycentricMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        regularization: Regularization = 1e-3,
        on_disconnected: OnDisconnected = "bridge",
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.regularization = regularization
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, almost null spaces, several weights for each row, the map with the same weights.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        k, share = require_neighbors(self.n_neighbors, d), float(self.regularization)
        lists = find_neighborhoods(data.X, k, self.on_disconnected, n_jobs)
        rows = data.X[lists.fitted]
        blocks = _weight_blocks(rows, lists, _median_shares(rows, lists, d), share)
        Z, results = bottom_coordinates(sum_of_blocks(len(rows), blocks), d, lists.labels)
        new_rows = barycentric_map(data, lists, share, Z, d, n_jobs)
        return self._set_fit(new_rows.Z, new_rows, **results)


def _spectra(X: np.ndarray, lists: Neighborhoods) -> Iterator[tuple[np.ndarray, ...]]:
    """Rows, lists, eigenvalues (largest first, of sum 1 or 0) and vectors of the products of differences."""
    for rows, near in lists.by_size(X.shape[1]):
        gaps = X[rows, None] - X[near]
        gaps /= np.ldexp(1.0, np.frexp(np.abs(gaps).max(axis=(1, 2), keepdims=True))[1])
        with one_blas_thread():
            values, vectors = np.linalg.eigh(gaps @ gaps.transpose(0, 2, 1))
        values = np.maximum(values[:, ::-1], 0)
        values[:, gaps.shape[2] :] = 0  # more neighbours than features
        total = values.sum(axis=1, keepdims=True)
        yield rows, near, values / np.where(total > 0, total, 1), vectors[:, :, ::-1]


def _shares(values: np.ndarray) -> np.ndarray:
    """What is left after the first j eigenvalues, over these: (r, k - 1); 0 where nothing is."""
    left = values[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    first = values.cumsum(axis=1)[:, :-1]
    return left / np.where(first > 0, first, 1)


def _median_shares(X: np.ndarray, lists: Neighborhoods, d: int) -> np.ndarray:
    """Of what the rows' first d eigenvalues leave, over all rows or those of a part by itself."""
    n, k = lists.near.shape
    shares = np.zeros(n)
    if d >= k:
        return shares
    for rows, _, values, _ in _spectra(X, lists):
        shares[rows] = _shares(values)[:, d - 1]
    for part in rows_of_parts(np.zeros(n, np.int64) if lists.labels is None else lists.labels):
        shares[part] = np.median(shares[part])
    return shares


def _weight_blocks(
    X: np.ndarray, lists: Neighborhoods, most: np.ndarray, regularization: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Patches, each row before its neighbours, and ``[-1, W]'[-1, W]`` summed over the weights of the row."""
    for rows, near, values, V in _spectra(X, lists):
        k = near.shape[1]
        shares = _shares(values)
        s = np.maximum(np.count_nonzero((shares < most[rows, None]) | (shares == 0), axis=1), 1)
        null = (np.arange(k) >= k - s[:, None]).astype(float)
        w = _regular_weights(values, V, regularization)
        V = V * null[:, None]
        sums = V.sum(axis=1)
        a = np.linalg.norm(sums, axis=1) / np.sqrt(s)
        h = a[:, None] * null - sums
        length = np.linalg.norm(h, axis=1, keepdims=True)
        h = np.where(length > _NOTHING, h / np.where(length > _NOTHING, length, 1), 0)
        turned = V - 2 * (V @ h[:, :, None]) * h[:, None]
        W = turned + ((1 - a)[:, None] * w)[:, :, None] * null[:, None]
        both = np.concatenate([-null[:, None], W], axis=1)
        yield np.concatenate([rows[:, None], near], axis=1), both @ both.transpose(0, 2, 1)


def _regular_weights(values: np.ndarray, V: np.ndarray, regularization: float) -> np.ndarray:
    """Weights of sum 1 as in LLE, from the eigenpairs; alike where all rows are equal."""
    flat = values[:, :1] == 0
    scaled = V.sum(axis=1) / np.where(flat, 1, values + regularization)
    w = (V @ scaled[:, :, None])[:, :, 0]
    return w / w.sum(axis=1, keepdims=True)
