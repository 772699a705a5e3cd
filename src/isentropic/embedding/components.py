"""Connected components of a neighbour graph: their coordinates, and rows outside the embedded ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from scipy.linalg import eigh, qr, svd
from scipy.sparse import csr_array

from .._core.errors import DisconnectedGraphWarning, IsentropicWarning, warn
from .._core.specs import Array, StateError
from .._core.state import Sub
from ..linalg import bottom_eigenpairs, fixed_signs
from ..neighbors import RowIndex
from .training_data import Part, TrainingData

# --------------------------------------------------------------------------------------------------
# Eigenvectors of an operator over a graph in parts: which of its many null vectors are the coordinates.


POLICIES = ("bridge", "points", "largest", "raise")


def indicator_coordinates(X: np.ndarray, parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Coordinates that are constant on each component, of weighted mean 0 and mean square 1, uncorrelated.

    The indicators of the parts span the null space, where any rotation is as good: this one has the principal
    axes of the means of the parts, so that parts lie as in the data. ``O(n m + p^2 (p + m))`` time.
    """
    sizes = np.bincount(parts, weights)
    centre = X.mean(axis=0)
    sums = np.stack([np.bincount(parts, weights * column) for column in (X - centre).T], axis=1)
    means = sums / sizes[:, None]
    roots = np.sqrt(sizes / weights.sum())
    across = qr(roots[:, None])[0][:, 1:]  # orthogonal to the constant, in the basis of scaled indicators
    turned = svd(across.T @ (roots[:, None] * means), full_matrices=True)[0]
    return fixed_signs((across @ turned / roots[:, None])[parts])


def component_eigenvectors(
    operator, X: np.ndarray, parts: np.ndarray, count: int, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` smallest eigenpairs after the constant, the null space as :func:`indicator_coordinates`.

    The null vector of a part is the root of the ``weights`` there, 1 where none are given. Parts are counted,
    not eigenvalues that look like 0. There is one value more than vectors if there is one.
    """
    n, n_parts = len(X), int(parts.max()) + 1
    weights = np.ones(n) if weights is None else weights
    known = np.sqrt(weights / weights.sum())
    null = known[:, None] * indicator_coordinates(X, parts, weights)
    few = min(count + 1, n - 1) - (n_parts - 1)
    if few <= 0:
        return np.zeros(min(count + 1, n - 1)), null[:, :count]
    _, vectors = bottom_eigenpairs(operator, n_parts - 1 + few, known=known)
    rest = vectors @ qr(vectors.T @ null)[0][:, n_parts - 1 :]  # Rayleigh-Ritz, what is null left out
    values, mixed = eigh(rest.T @ (operator @ rest))
    found = np.column_stack([null, fixed_signs(rest @ mixed)])
    return np.concatenate([np.zeros(n_parts - 1), values]), found[:, :count]


def warn_of_point_components(n_parts: int, n_components: int) -> None:
    """Warn that a map shows each component as a point."""
    count = min(n_parts - 1, n_components)
    warn(
        f"The neighbour graph is in {n_parts} parts, and each is one point along {count} of {n_components} "
        "coordinates: the map shows which part a row is in, and nothing else. Take "
        "on_disconnected='bridge', less weight of the classes, or more neighbours.",
        DisconnectedGraphWarning,
    )


_APART = 0.1  # of the width of the widest part: the room between two


def rows_by_component(labels: np.ndarray) -> list[np.ndarray]:
    """The rows of each component, in the order of the labels."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def operator_block(operator: csr_array, rows: np.ndarray) -> csr_array:
    """The operator of one component."""
    return operator if len(rows) == operator.shape[0] else csr_array(operator[rows][:, rows])


def pack_components(maps: list[np.ndarray], parts: list[np.ndarray]) -> np.ndarray:
    """Pack the maps of components into one (n, d), side by side along the first coordinate.

    Maps have no unit: each is scaled so that rows are as dense as in the first.

    >>> first, second = np.array([[-1.0], [1.0]]), np.array([[-1.0], [1.0]])
    >>> pack_components([first, second], [np.array([0, 2]), np.array([1, 3])]).round(2).ravel().tolist()
    [-1.0, 1.2, 1.0, 3.2]
    """
    n, d = sum(map(len, parts)), maps[0].shape[1]
    Z = np.empty((n, d))
    scaled = [one * (len(one) / len(maps[0])) ** (1 / d) for one in maps]
    room = _APART * max(float(np.ptp(one[:, 0])) for one in scaled)
    left = float(scaled[0][:, 0].min())
    for one, rows in zip(scaled, parts, strict=True):
        Z[rows] = one
        Z[rows, 0] += left - one[:, 0].min()
        left += float(np.ptp(one[:, 0])) + room
    return Z


@dataclass(frozen=True, eq=False)
class EmbeddedRows(Part):
    """The training rows that have coordinates of their own, to be searched."""

    data: Annotated[TrainingData, Sub(TrainingData)]
    rows: Annotated[np.ndarray, Array("g", dtype=np.int64, below="n")]

    def nearest(self, X: np.ndarray, k: int, n_jobs: int | None) -> np.ndarray:
        """Positions, in ``rows``, of the ``k`` nearest to each new row."""
        return self.index.nearest(X, k, n_jobs=n_jobs)[0]

    @cached_property
    def index(self) -> RowIndex:
        """These rows, prepared for the search of nearest neighbors."""
        if np.array_equal(self.rows, np.arange(self.data.n)):
            return self.data.index
        return RowIndex(self.data.X[self.rows], self.data.metric)

    def _require_sound(self) -> None:
        if self.data.metric != "euclidean" or self.data.X is None:
            raise StateError("data.metric", "must be euclidean, of rows that are kept")


def initial_coordinates(query: Any, Z: np.ndarray, n_components: int) -> np.ndarray:
    """Coordinates of all training rows, zero for those that are not embedded or have too few coordinates.

    ``query`` has the ``rows`` that ``Z`` are the coordinates of, and the training ``data``.
    """
    n, count = Z.shape
    if count < n_components:
        lost = f"the last {n_components - count} of {n_components} coordinates are zero"
        warn(f"X has {n} rows: {lost}.", IsentropicWarning)
    out = np.zeros((query.data.n, n_components))
    out[query.rows, :count] = Z
    return out


def complete_embedding(new_rows: Any, rows: np.ndarray, n_jobs: int | None) -> Any:
    """Complete the map with coordinates of all training rows; equal rows get the mean of theirs.

    Those that are not among the embedded ``rows`` are placed by the map, as new rows are.
    """
    data, Z = new_rows.data, new_rows.Z
    others = np.setdiff1d(np.arange(data.n), rows)
    if len(others):
        Z[others] = new_rows.transform(data.X[others], n_jobs)
    return replace(new_rows, Z=data.merge_duplicates(Z))
