"""A graph in parts: the map of each by itself, and how they are laid side by side."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

_APART = 0.1  # of the width of the widest part: the room between two


def rows_of_parts(labels: np.ndarray) -> list[np.ndarray]:
    """The rows of each part, in the order of the labels."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def block(operator: csr_array, rows: np.ndarray) -> csr_array:
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
