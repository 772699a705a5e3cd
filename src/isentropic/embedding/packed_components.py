"""A graph in parts: the map of each by itself, and how they are laid side by side."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, qr, svd
from scipy.sparse import csr_array

from .._core.errors import DisconnectedGraphWarning, warn
from ..linalg import bottom_eigenpairs, fixed_signs

# --------------------------------------------------------------------------------------------------
# Eigenvectors of an operator over a graph in parts: which of its many null vectors are the coordinates.


POLICIES = ("bridge", "points", "largest", "raise")


def indicator_coordinates(X: np.ndarray, parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """One less coordinates than parts, constant on each, of weighted mean 0 and mean square 1, uncorrelated.

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


def eigenvectors_of_parts(
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


def warn_of_points(n_parts: int, n_components: int) -> None:
    """Say that a map shows parts as points."""
    count = min(n_parts - 1, n_components)
    warn(
        f"The neighbour graph is in {n_parts} parts, and each is one point along {count} of {n_components} "
        "coordinates: the map shows which part a row is in, and nothing else. Take "
        "on_disconnected='bridge', less weight of the classes, or more neighbours.",
        DisconnectedGraphWarning,
    )


_APART = 0.1  # of the width of the widest part: the room between two


def rows_of_parts(labels: np.ndarray) -> list[np.ndarray]:
    """The rows of each part, in the order of the labels."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def operator_block(operator: csr_array, rows: np.ndarray) -> csr_array:
    """The operator of one part; all of it where there are no others."""
    return operator if len(rows) == operator.shape[0] else csr_array(operator[rows][:, rows])


def side_by_side(maps: list[np.ndarray], parts: list[np.ndarray]) -> np.ndarray:
    """One map (n, d) of all parts, in a row along the first coordinate, none over another.

    Maps have no unit: each is scaled so that rows are as dense as in the first.

    >>> first, second = np.array([[-1.0], [1.0]]), np.array([[-1.0], [1.0]])
    >>> side_by_side([first, second], [np.array([0, 2]), np.array([1, 3])]).round(2).ravel().tolist()
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
