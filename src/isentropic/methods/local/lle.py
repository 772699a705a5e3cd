"""LLE, locally linear embedding, with its modified and Hessian variants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

from ..._core.errors import IsentropicWarning, warn
from ..._core.runtime import one_blas_thread
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...distances import distinct_rows
from ...embedding.components import rows_by_component
from ...embedding.embedder import Embedder
from ...embedding.maps.barycentric import BarycentricMap
from ...embedding.maps.linear import require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg import sum_of_blocks
from .neighborhoods import (
    Neighborhoods,
    OnDisconnected,
    Regularization,
    TangentMap,
    Tangents,
    barycentric_map,
    bottom_coordinates,
    find_neighborhoods,
    reconstruction_weights,
    require_neighbors,
    require_patch_size,
    tangent_blocks,
)


class LLE(Embedder):
    """Locally linear embedding: preserve the weights that reconstruct each row from its neighbours.

    Weights w_ij, of sum 1 over the k neighbours of row i, minimise ``|x_i - sum_j w_ij x_j|^2``; the map
    minimises ``sum_i |z_i - sum_j w_ij z_j|^2`` among coordinates of mean 0 and mean square 1: the bottom
    eigenvectors of ``(I - W)' (I - W)``. A new row is the sum of its k nearest fitted rows with weights found
    likewise, and a fitted one has its own coordinates.

    Cost: the search of neighbours, ``O(n k^2 (k + m))`` time for the weights, and a sparse factorisation.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, at least ``n_components``.
    n_components : int
        Dimension of the map.
    regularization : float
        What is added to the diagonal of each local system, as a share of its trace. With more neighbours than
        features, which is usual on tables, the map depends on it.
    on_disconnected : {"bridge", "separate", "largest", "raise"}
        What to do about a disconnected graph: join its components by their shortest edges, whose ends become
        neighbours of each other; map each component separately and pack the maps, all as dense as the
        largest, whose eigenvalues are reported; fit the largest and map the other rows as new ones (all with
        a warning); or refuse.
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
        Coordinates that only separate groups of rows that the graph hardly connects: along these, nine of ten
        neighbours have nearly the same coordinate. A warning reports them.
    squared_weights_ : float
        Mean of ``sum_j w_ij^2``: 1 / k where neighbours weigh alike; large where weights cancel each other.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Roweis and Saul (2000).

    Examples
    --------
    >>> from isentropic import LLE, datasets
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> lle = LLE(n_neighbors=12).fit(roll.X)
    >>> lle.embedding_.shape
    (1000, 2)
    >>> bool((lle.transform(roll.X[:5]) == lle.embedding_[:5]).all())
    True
    """

    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    squared_weights_: Annotated[float, Number(0)]
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
        """Neighbours, reconstruction weights, the map that preserves them. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        k, share = require_neighbors(self.n_neighbors, d), float(self.regularization)
        lists = find_neighborhoods(data.X, k, self.on_disconnected, n_jobs)
        W = reconstruction_weights(data.X, lists, share)
        apart = csr_array(eye_array(len(lists.fitted)) - W)
        Z, results = bottom_coordinates(apart, d, lists.labels, squared=True)
        results["squared_weights_"] = float((W.data**2).sum() / len(lists.fitted))
        new_rows = barycentric_map(data, lists, share, Z, d, n_jobs)
        return self._set_fit(new_rows.Z, new_rows, **results)


_NOTHING = 1e-12  # length of a vector to reflect at: below it there is nothing to reflect


class ModifiedLLE(Embedder):
    """Modified LLE: preserve several sets of weights that reconstruct each row from its neighbours.

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
        What to do about a disconnected graph: join its components by their shortest edges, whose ends become
        neighbours of each other; map each component separately and pack the maps, all as dense as the
        largest, whose eigenvalues are reported; fit the largest and map the other rows as new ones (all with
        a warning); or refuse.
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
        Coordinates that only separate groups of rows that the graph hardly connects: along these, nine of ten
        neighbours have nearly the same coordinate. A warning reports them.
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
    for part in rows_by_component(np.zeros(n, np.int64) if lists.labels is None else lists.labels):
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


_DEPENDENT = 1e-7  # of a column: what the ones before it leave of it by rounding


class HessianLLE(Embedder):
    """Hessian LLE: coordinates whose second derivatives along the tangents of every patch are near 0.

    A patch is a row and its k neighbours; U are the d leading left singular vectors of the patch around its
    mean. Of ``[1, U, products of two columns of U]``, orthonormalised in this order, the last d (d + 1) / 2
    columns H estimate the second derivatives of a function from its values. The map consists of the bottom
    eigenvectors of the sum of ``HH'`` over all patches, of mean 0 and mean square 1. Where the sheet is not
    convex, as with a hole, it is still found up to an affine map. A new row has the coordinates that the
    patch of its nearest fitted row gives it.

    A patch whose rows are too few or too much alike for second derivatives is aligned as in :class:`LTSA`
    with a warning. Equal rows, which no second derivative tells apart, are tied to each other.

    Cost: the search of neighbours, ``O(n k (d^4 + k (k + m)))`` time for patches, and a sparse factorisation.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, more than ``d + d (d + 1) / 2`` for d components.
    n_components : int
        Dimension of the map, at most the number of features.
    on_disconnected : {"bridge", "separate", "largest", "raise"}
        What to do about a disconnected graph: join its components by their shortest edges, whose ends become
        neighbours of each other; map each component separately and pack the maps, all as dense as the
        largest, whose eigenvalues are reported; fit the largest and map the other rows as new ones (all with
        a warning); or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Smallest first, the zero of the constant left out. Those of a flat sheet are 0.
    eigengap_ : float
        ``1 - a / b``, a the largest of these eigenvalues and b the next: below 0.001, a change of one row may
        turn the map.
    n_separating_ : int
        Coordinates that only separate groups of rows that the graph hardly connects: along these, nine of ten
        neighbours have nearly the same coordinate. A warning reports them.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Donoho and Grimes (2003).

    Examples
    --------
    >>> from isentropic import HessianLLE, datasets
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> hessian = HessianLLE(n_neighbors=12).fit(roll.X)
    >>> hessian.embedding_.shape
    (1000, 2)
    >>> bool((hessian.transform(roll.X[:5]) == hessian.embedding_[:5]).all())
    True
    """

    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    _map: Annotated[TangentMap, Sub(TangentMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        on_disconnected: OnDisconnected = "bridge",
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Patches, their second derivatives, the map in which these are least. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        k = require_patch_size(self.n_neighbors, d + d * (d + 1) // 2 + 1, d)
        require_features(d, data.X)
        lists = find_neighborhoods(data.X, k, self.on_disconnected, n_jobs)
        rows = data.X[lists.fitted]
        curvature = sum_of_blocks(len(rows), _hessians(tangent_blocks(data.X, lists, d), len(rows)))
        Z, results = bottom_coordinates(csr_array(curvature + _ties(rows, lists.labels)), d, lists.labels)
        new_rows = TangentMap.fit(data, lists, Z, d, n_jobs)
        return self._set_fit(new_rows.Z, new_rows, **results)


def _hessians(
    patches: Iterator[tuple[np.ndarray, Tangents]], n: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks ``HH'`` of patches; those of LTSA where columns depend on each other, which is told."""
    poor = 0
    for rows, tangents in patches:
        U = tangents.basis
        r, p, d = U.shape
        first, second = np.triu_indices(d)
        columns = np.concatenate([np.ones((r, p, 1)), U, U[:, :, first] * U[:, :, second]], axis=2)
        blocks = tangents.alignments()
        if columns.shape[2] > p:
            curved = np.zeros(r, bool)
        else:
            with one_blas_thread():
                basis, triangle = np.linalg.qr(columns)
            left = np.abs(np.diagonal(triangle, axis1=1, axis2=2))
            curved = (left > _DEPENDENT * np.linalg.norm(columns, axis=1)).all(axis=1)
            H = basis[curved][:, :, 1 + d :]
            blocks[curved] = H @ H.transpose(0, 2, 1)
        poor += int(np.count_nonzero(~curved))
        yield rows, blocks
    if poor:
        what = f"{poor} of {n} patches are too small, or their rows too much alike, for second derivatives"
        warn(f"{what}: they are aligned as in LTSA.", IsentropicWarning)


def _ties(X: np.ndarray, labels: np.ndarray | None) -> csr_array:
    """The Laplacian of paths through the rows that are equal, and in one part if parts are separate."""
    n, distinct = len(X), distinct_rows(X)
    if distinct is None:
        return csr_array((n, n))
    within = np.ones(n - 1, bool)
    within[distinct.indptr[1:-1] - 1] = False
    if labels is not None:
        within &= labels[distinct.members[:-1]] == labels[distinct.members[1:]]
    ahead, behind = distinct.members[:-1][within], distinct.members[1:][within]
    W = csr_array((np.ones(2 * len(ahead)), (np.r_[ahead, behind], np.r_[behind, ahead])), shape=(n, n))
    return csr_array(diags_array(W.sum(axis=1)) - W)
