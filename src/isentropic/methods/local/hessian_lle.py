"""Hessian LLE: Hessian eigenmaps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array, diags_array

from ..._core.errors import IsentropicWarning, warn
from ..._core.runtime import one_blas_thread
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...distances import distinct_rows
from ...embedding.embedder import Embedder
from ...embedding.maps.linear import require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg import sum_of_blocks
from .neighborhoods import OnDisconnected, bottom_coordinates, find_neighborhoods
from .tangents import TangentMap, Tangents, require_patch_size, tangent_blocks

_DEPENDENT = 1e-7  # of a column: what the ones before it leave of it by rounding


class HessianLLE(Embedder):
    """Coordinates of least curvature: in every patch, second derivatives along its tangents are near 0.

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
        What to do about a graph in parts: join them by their shortest edges, whose ends become neighbours of
        each other; map each by itself, side by side, as dense as the largest, whose eigenvalues are told; fit
        the largest and place the others as new rows (all with a warning); or refuse.
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
        Coordinates that only separate groups of rows which the graph hardly joins: along these, nine
        of ten neighbours are nearly at one place. A warning tells of them.
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
