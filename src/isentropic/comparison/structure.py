"""Is there anything to show? Whether the columns of a table have anything to do with each other.

Two or three columns give good maps even of noise, and so do columns of long tails: such a map draws well what
is not there. So the table is held against tables in which each column is shuffled by itself: every
column keeps its values, and none says anything about another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import euclidean_distances

from .._values import Floats, Integers

SHUFFLES = 99
_ROWS, _FEWEST = 400, 60  # of more rows so many are drawn, fewer of wide tables
_COLUMNS = 2_000  # of more as many are drawn
_WORK = 2e8  # squares of rows times columns, for each shuffled table
_NEIGHBOR = 5  # whose distance is measured: the first one is often a copy
_FARTHEST = 1e6  # units: a cell beyond counts as so far off, and no farther
_TINY = 1e-7  # of the length of a row: equal rows are so far apart, by rounding


@dataclass(frozen=True, slots=True)
class Relation:
    """How far the columns of a table are related: 0 not at all, 1 all rows in one place; and by what chance.

    ``p_value`` is the share of tables, the given one among them, whose rows lie as close together.
    """

    strength: float
    p_value: float


def column_relation(X: Floats, random_state: int = 0) -> Relation | None:
    """Whether rows lie closer together than columns that are unrelated would put them; None if all are equal.

    The measure is the mean over rows of ``d / (d + c)`` with d the distance to the fifth neighbour and c the
    median of all d: neither long tails nor single cells decide it, nor do offsets of the columns or
    the unit of the table; the scales of the columns count, as they do in a map. The strength is by how much
    it is less than in the mean of 99 tables with shuffled columns. A permutation test:
    of tables whose columns are independent, one in a hundred has p = 0.01. Columns that are the levels of one
    nominal column are shuffled together.
    ``O(100 s^2 m)`` for s = 400 rows, fewer where m is large, of which 2,000 are read.

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=(200, 4))
    >>> column_relation(noise).p_value > 0.05
    True
    >>> column_relation(noise @ np.diag([1, 1, 0, 0]) @ np.ones((4, 4))).p_value
    0.01
    """
    random = np.random.default_rng(random_state)
    n_rows = int(np.clip(np.sqrt(_WORK / min(X.shape[1], _COLUMNS)), _FEWEST, _ROWS))
    rows = np.sort(random.permutation(len(X))[:n_rows])
    parts = blocks(X)
    if len(parts) > _COLUMNS:
        parts = [parts[i] for i in np.sort(random.permutation(len(parts))[:_COLUMNS])]
    table = _in_units(X[rows][:, np.concatenate(parts)])
    widths = [len(part) for part in parts]
    shuffled = (_distances(_shuffled(table, widths, random)) for _ in range(SHUFFLES))
    found = np.array([_distances(table), *shuffled])
    if not found.any():
        return None
    shares = (found / (found + np.median(found[found > 0]))).mean(axis=1).round(9)
    own, others = shares[0], shares[1:]
    strength = 1.0 - own / others.mean() if others.mean() > 0 else 0.0
    return Relation(float(max(0.0, strength)), (1 + int((others <= own).sum())) / (1 + SHUFFLES))


def _in_units(table: Floats) -> Floats:
    """Each column less its median, in one unit for all: the widest column is about 1 wide.

    An offset would drown the digits of distances by a product of matrices, and a mean that one cell pulls
    away is an offset too.
    """
    middle = (len(table) - 1) // 2
    table = np.ldexp(table, -np.frexp(np.abs(table).max())[1])  # so that no difference overflows
    off = table - np.partition(table, middle, axis=0)[middle]
    sizes = np.abs(off)
    widths = [np.median(column[column > 0]) for column in sizes.T if column.any()]
    return np.ascontiguousarray(np.clip(off / max(widths, default=1.0), -_FARTHEST, _FARTHEST))


def _shuffled(table: Floats, widths: list[int], random: np.random.Generator) -> Floats:
    """Each column in an order of its own; columns of one block in the order of its first one."""
    order = random.permuted(np.tile(np.arange(len(table))[:, None], len(widths)), axis=0)
    return np.take_along_axis(table, np.repeat(order, widths, axis=1), axis=0)


def _distances(X: Floats) -> Floats:
    """Of every row to its fifth neighbour, by a product of matrices: digits that it loses decide nothing."""
    k = min(_NEIGHBOR, len(X) - 1)
    found: Floats = np.partition(euclidean_distances(X), k, axis=1)[:, k]  # at 0 stands the row itself
    return np.where(found > _TINY * np.linalg.norm(X, axis=1), found, 0.0)


def blocks(X: Floats) -> list[Integers]:
    """Columns that belong together: neighbours of two values each, of which exactly one is high in each row.

    >>> import numpy as np
    >>> [block.tolist() for block in blocks(np.array([[0.5, 1, 0], [0.1, 0, 1], [0.2, 1, 0]]))]
    [[0], [1, 2]]
    """
    low, high = X.min(axis=0), X.max(axis=0)
    found: list[Integers] = []
    start, m = 0, X.shape[1]
    while start < m:
        found.append(np.arange(start, _end(X, low, high, start, m)))
        start = int(found[-1][-1]) + 1
    return found


def _end(X: Floats, low: Floats, high: Floats, start: int, m: int) -> int:
    """One past the last column of the block that begins here."""
    taken = np.zeros(len(X), np.int64)
    for j in range(start, m):
        up = X[:, j] == high[j]
        if high[j] == low[j] or not (up | (X[:, j] == low[j])).all():
            break
        taken += up
        if taken.max() > 1:
            break
        if taken.min() == 1:
            return j + 1
    return start + 1
