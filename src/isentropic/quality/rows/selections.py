"""Is a selection that was drawn around a part of a map a group of the data too?

A map may draw one group in two places, or lay strangers over it. The nearest rows in the data know: who is
outside and has most of them inside was left out; who is inside and has most of them outside is a stranger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._core.arguments import unmasked
from ..._core.errors import InvalidInputError, require
from ..._core.values import Integers, Neighbors

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SelectionCheck:
    """What the nearest rows in the data say of a selection."""

    kept: float  # share of the nearest rows of the selected ones that are selected too
    chance: float  # what as many rows drawn at random would have
    left_out: Integers  # rows outside with more than half of their nearest rows inside
    strangers: Integers  # rows inside with more than half of their nearest rows outside


def check_selection(neighbors: Neighbors | Any, rows: Any) -> SelectionCheck:
    """Hold a selection against the nearest rows in the data. ``O(n k)``.

    Parameters
    ----------
    neighbors : Neighbors, or array (n, k) of positions
        The nearest rows of every row in the data, itself not among them.
    rows : array of bool (n,), or positions
        The selection, of at least one row.

    Examples
    --------
    Five rows are neighbours of each other, and so are five others. Of the first five the lasso missed
    the last, and it caught one of the others:

    >>> import numpy as np
    >>> near = np.array([[j for j in range(5) if j != i] for i in range(5)])
    >>> near = np.concatenate([near, near + 5])
    >>> found = check_selection(near, [0, 1, 2, 3, 5])
    >>> found.kept, found.left_out, found.strangers
    (0.6, array([4]), array([5]))
    """
    indices, inside = _checked(neighbors, rows)
    shares = inside[indices].mean(axis=1)
    return SelectionCheck(
        kept=float(shares[inside].mean()),
        chance=(int(inside.sum()) - 1) / (len(inside) - 1),
        left_out=np.flatnonzero(~inside & (shares > 0.5)),
        strangers=np.flatnonzero(inside & (shares < 0.5)),
    )


def corrected_selection(neighbors: Neighbors | Any, rows: Any) -> Integers:
    """The selection with those who belong to it, and without strangers.

    First rows that were left out are added, again and again until nobody is; then strangers leave, until
    there are none. Neither depends on an order of rows, and what leaves in the end calls nobody in: the
    corrected selection has neither strangers nor rows that were left out. Joining comes first, because of
    a group that a map cut in half every row has half of its neighbours on either side, and if those inside
    could leave at once, the group would as often vanish as become whole. ``O(n k)`` for each round.

    Parameters are those of :func:`check_selection`.

    >>> import numpy as np
    >>> near = np.array([[j for j in range(5) if j != i] for i in range(5)])
    >>> near = np.concatenate([near, near + 5])
    >>> corrected_selection(near, [0, 1, 2, 3, 5])
    array([0, 1, 2, 3, 4])
    """
    indices, inside = _checked(neighbors, rows)
    inside = inside.copy()
    for joining in (True, False):
        while True:
            shares = inside[indices].mean(axis=1)
            moved = ~inside & (shares > 0.5) if joining else inside & (shares < 0.5)
            if not moved.any():
                break
            inside[moved] = joining
    return np.flatnonzero(inside)


def row_flags(name: str, rows: Any, n: int) -> Flags:
    """``rows``, given as flags or as positions, as flags of ``n`` rows."""
    given = np.asarray(unmasked(name, rows))
    if given.shape == (0,):
        return np.zeros(n, dtype=bool)  # an empty list, which numpy takes for floats
    if given.dtype == bool:
        require(given.shape == (n,), name, f"one flag for each of {n} rows", f"shape {given.shape}")
        return given
    is_positions = given.ndim == 1 and given.dtype.kind in "iu"
    require(is_positions, name, "flags or positions of rows", f"{given.dtype} of shape {given.shape}")
    if len(given) and not (0 <= given.min() and given.max() < n):
        raise InvalidInputError(
            f"{name} must be positions from 0 to {n - 1}, got {given.min()} to {given.max()}. "
            "Positions count the rows of the table, whatever its index says."
        )
    flags = np.zeros(n, dtype=bool)
    flags[given] = True
    return flags


def _checked(neighbors: Any, rows: Any) -> tuple[Integers, Flags]:
    given = neighbors.indices if isinstance(neighbors, Neighbors) else neighbors
    indices = np.asarray(unmasked("neighbors", given))
    lists = indices.ndim == 2 and indices.shape[1] >= 1 and indices.dtype.kind in "iu"
    require(lists, "neighbors", "positions of rows (n, k)", f"{indices.dtype} of shape {indices.shape}")
    n = len(indices)
    known = n > 1 and 0 <= int(indices.min()) and int(indices.max()) < n
    require(known, "neighbors", f"positions of {n} rows", f"{indices.min()} to {indices.max()}")
    inside = row_flags("rows", rows, n)
    require(bool(inside.any()), "rows", "at least one row", "none")
    return indices, inside
