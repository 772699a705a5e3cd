"""What a spectrum says of coordinates: how far the next one is, and which only separate groups of rows."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from .._core.errors import DisconnectedGraphWarning, warn

_FAR_BELOW = 100  # times: an eigenvalue so far below the next one is that of parts that hardly hold together
_STILL = 0.5  # of the share of rows that are joined: a third of their gaps along an evenly filled coordinate
_MOST = 0.9  # of the neighbours
_ZERO = 1e-14  # of the size of the operator: what rounding leaves of an eigenvalue of 0


def padded(values: np.ndarray, count: int) -> np.ndarray:
    """As many values as there are coordinates: 0 for those that so few rows do not have."""
    return np.concatenate([values, np.zeros(count - len(values))])


def eigengap(values: np.ndarray, count: int) -> float:
    """How far the last of ``count`` eigenvalues is below the next one, as a share of that; 1 without a next.

    >>> eigengap(np.array([1.0, 3.0, 4.0]), 2)
    0.25
    """
    if len(values) == count:
        return 1.0
    last, following = np.maximum(values[count - 1 : count + 1], 0)
    return float(max(1 - last / following, 0.0)) if following > 0 else 0.0


def separating(values: np.ndarray, n_components: int, *, size: float) -> int:
    """How many of the coordinates only separate groups of rows that few edges join, told by a warning.

    Theirs are the eigenvalues, smallest first, before the last gap of more than a hundredfold (eigengap), and
    those that are 0 but for rounding. ``values`` has one more than there are coordinates, if there is one.

    Of a Laplacian: its eigenvalue is the mean squared gap of neighbours, by their weights, so that it says
    itself how still they stand; along a strip of any length the second is at most four times the first.

    >>> separating(np.array([0.3, 0.5, 0.6]), 2, size=1.0)
    0
    """
    least = max(_ZERO * size, np.finfo(float).tiny)
    floored = np.maximum(values, least)
    gaps = np.flatnonzero(floored[1:] > _FAR_BELOW * floored[:-1])
    zeros = np.count_nonzero(values[:n_components] <= least)
    count = max(int(gaps[-1]) + 1 if len(gaps) else 0, int(zeros))
    return told(count, n_components)


def standing_still(Z: np.ndarray, pattern: csr_array) -> int:
    """How many of the coordinates only separate groups of rows that few edges join, told by a warning.

    Those along which nearly all rows that an entry of the pattern joins are at one place, compared with rows
    that fill the coordinate evenly. Of local sums and tangents, whose eigenvalues do not say it
    (:func:`separating`): they measure how a coordinate bends, and a sheet that is long, or flat, has small
    ones though its neighbours are apart.
    """
    pairs = coo_array(pattern)
    heads, tails = pairs.coords
    gaps = np.abs(Z[heads[heads != tails]] - Z[tails[heads != tails]])
    if not len(gaps):
        return 0
    share = pattern.nnz / len(Z) ** 2
    still = np.quantile(gaps, _MOST, axis=0) <= _STILL * share * np.sqrt((Z**2).mean(axis=0))
    return told(int(np.count_nonzero(still)), Z.shape[1])


def told(count: int, n_components: int) -> int:
    """The number of coordinates that only separate groups, with the warning if there are some."""
    if count:
        what = "coordinate only separates" if count == 1 else "coordinates only separate"
        warn(
            f"{count} of {n_components} {what} groups of rows that the neighbour graph hardly joins: rows of "
            "a group lie at nearly one place along it. Take more neighbours, or map each group by itself.",
            DisconnectedGraphWarning,
        )
    return count
