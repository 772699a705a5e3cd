"""Whether the columns of a table are related at all: a permutation test against shuffled columns.

Two or three columns give good maps even of noise, and so do columns of long tails: such a map draws well what
is not there. So the table is held against tables in which each column is shuffled by itself: every
column keeps its values, and none says anything about another.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import euclidean_distances

from ..._core.errors import TableWarning
from ..._core.runtime import one_blas_thread
from ..._core.values import Floats, Integers
from ...distances import EUCLIDEAN, Metric, distinct_rows, in_units, is_gower, scaled_distance_rows
from ...distances.gower import GowerRows
from ...distances.metrics import BY_DIFFERENCES
from ..evaluation.duplicate_rows import canonical_rows

SHUFFLES = 99
_ROWS, _FEWEST = 400, 60  # sampled from larger tables, fewer of wide ones
_COLUMNS = 2_000  # sampled from wider tables
_WORK = 2e8  # squares of rows times columns, for each shuffled table
_WORK_BY_COLUMN = 2e7  # the same of metrics that are no product of matrices
_SEARCHED = 20_000  # rows among which copies are looked for
_NATURAL = 0.05  # share of copies among rows of unrelated columns, from which on copies are to be expected
_DISTINCT = 30  # rows that are tested without their copies, at least
_SAME = 1e-9  # of the range of a column: columns that differ by less are one, in other units
_NEIGHBOR = 5  # whose distance is measured: the first one is often a copy
_APART = (
    0.5  # share of rows that are not at the place of that neighbour, at least; else a farther one is taken
)
_FARTHEST = 1e6  # units: a cell beyond counts as so far off, and no farther
_DENSEST = 20.0  # logarithm of the largest density that is reported: beyond, it is rounding
_TINY = 1e-7  # of the length of a row: equal rows are so far apart, by rounding
_DIRECTIONS = ("cosine", "correlation")


@dataclass(frozen=True, slots=True)
class Relation:
    """How far the columns of a table are related: 0 not at all, 1 all rows in one place; and by what chance.

    ``p_value`` is the share of tables, the given one among them, whose rows lie as close together.
    ``density`` is how many times as many neighbours a row has within the same distance as it would have if
    the columns were unrelated: in many dimensions a small change of the distance changes it much.
    """

    strength: float
    p_value: float
    density: float = 1.0


def column_relation(X: Floats, random_state: int = 0, metric: Metric = "euclidean") -> Relation | None:
    """Test whether rows lie closer together than unrelated columns would put them (permutation test).

    The measure is the mean over rows of ``d / (d + c)`` with d the distance to the fifth neighbour by
    ``metric``, or to a farther one where most rows have five copies, and c the median of all d: neither long
    tails nor single cells decide it, nor do offsets of the columns or the unit of the table; the scales and
    weights of the columns count, as they do in a map. The strength is by how much it is less than in the mean
    of 99 tables with shuffled columns; a missing value is shuffled like any other. Of tables whose
    columns are independent, one in a hundred has p = 0.01. The density is ``(d' / d)^q``, with d' and d the
    geometric means of the distances to the k-th neighbour in shuffled tables and in this one, and q the
    intrinsic dimension here, ``ln 2 / mean ln(d_2k / d_k)``.
    Columns that are the levels of one nominal column, or one column in other units, are shuffled together;
    copied rows count once, unless columns of few values make them.
    ``O(100 s^2 m)`` for s = 400 rows, fewer where m is large, of which 2,000 are read.

    None where the test is not defined: all rows are equal, all columns are one, or the metric is not one of
    columns (precomputed distances, functions).

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=(200, 4))
    >>> column_relation(noise).p_value > 0.05
    True
    >>> column_relation(noise[:, :1] + 0.1 * noise).p_value
    0.01
    """
    if not _is_of_columns(metric):
        return None
    random = np.random.default_rng(random_state)
    X = _without_copies(X, random_state)
    parts = blocks(X)
    if len(parts) == 1 and X.shape[1] > 1:
        return None
    if len(parts) > _COLUMNS:
        parts = [parts[i] for i in np.sort(random.permutation(len(parts))[:_COLUMNS])]
    by_products = metric in EUCLIDEAN or metric in _DIRECTIONS
    work = (_WORK if by_products else _WORK_BY_COLUMN) / min(X.shape[1], _COLUMNS)
    rows = np.sort(random.permutation(len(X))[: int(np.clip(np.sqrt(work), _FEWEST, _ROWS))])
    table, distances = _distance_function(X, rows, np.concatenate(parts), metric)
    widths = [len(part) for part in parts]
    seed = int(random.integers(2**31))
    for k in dict.fromkeys((_NEIGHBOR, max(_NEIGHBOR, len(rows) // 10), max(_NEIGHBOR, len(rows) // 3))):
        found = _in_all_tables(table, widths, distances, k, seed)
        if (found > 0).mean() > _APART:
            break  # else most rows have more than k copies, as in tables of few levels
    if not found.any():
        return None
    shares = (found / (found + np.median(found[found > 0]))).mean(axis=1).round(9)
    own, others = shares[0], shares[1:]
    strength = 1.0 - own / others.mean() if others.mean() > 0 else 0.0
    density = _density(found[0], distances(table, 2 * k), found[1:])
    return Relation(float(max(0.0, strength)), (1 + int((others <= own).sum())) / (1 + SHUFFLES), density)


def _density(near: Floats, farther: Floats, shuffled: Floats) -> float:
    """Ratio of the density of rows to that of shuffled tables, at least 1.

    ``near`` and ``farther`` are the distances to the k-th and to the 2k-th neighbour.
    """
    apart = near > 0
    if not apart.any() or not (shuffled > 0).any():
        return 1.0
    growth = float(np.log(farther[apart] / near[apart]).mean())
    closer = float(np.log(shuffled[shuffled > 0]).mean() - np.log(near[apart]).mean())
    if growth <= 0 or closer <= 0:
        return 1.0
    return round(float(np.exp(min(_DENSEST, np.log(2.0) / growth * closer))), 6)


def _in_all_tables(
    table: Floats, widths: list[int], distances: Callable[[Floats, int], Floats], k: int, seed: int
) -> Floats:
    """Distances of every row to its k-th neighbour, in the table and in 99 shuffled ones: (100, s)."""
    random = np.random.default_rng(seed)
    with one_blas_thread():
        shuffled = (distances(_shuffle_columns(table, widths, random), k) for _ in range(SHUFFLES))
        return np.array([distances(table, k), *shuffled])


def _is_of_columns(metric: Metric) -> bool:
    if is_gower(metric):
        return True
    return isinstance(metric, str) and (metric in BY_DIFFERENCES or metric in (*EUCLIDEAN, *_DIRECTIONS))


def _without_copies(X: Floats, seed: int) -> Floats:
    """Distinct rows; all of them where columns of few values make duplicates by themselves.

    A copied row has a neighbour at distance 0 that no shuffled table has, and would count as a relation.
    """
    random = np.random.default_rng(seed)
    searched = X if len(X) <= _SEARCHED else X[np.sort(random.permutation(len(X))[:_SEARCHED])]
    distinct = distinct_rows(canonical_rows(searched))
    if distinct is None or len(distinct.rows) < _DISTINCT:
        return X
    parts = blocks(searched)
    order = np.concatenate(parts)
    shuffled = _shuffle_columns(searched[:, order], [len(part) for part in parts], random)
    others = distinct_rows(canonical_rows(shuffled))
    if others is not None and len(others.rows) < (1 - _NATURAL) * len(searched):
        return X
    return searched[distinct.rows]


def _distance_function(
    X: Floats, rows: Integers, columns: Integers, metric: Metric
) -> tuple[Floats, Callable[[Floats, int], Floats]]:
    """The table as it is shuffled, and a function for distances to the k-th neighbor."""
    if is_gower(metric):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)  # whoever maps the table says it
            X = in_units(X, metric)
        return X[np.ix_(rows, columns)], lambda table, k: _kth(_gower(table, columns, metric, X.shape[1]), k)
    X = X[np.ix_(rows, columns)]
    if metric in EUCLIDEAN:
        return _in_units(X), _distances
    if metric in _DIRECTIONS:
        return X, lambda table, k: _distances(_directions(table, metric), k)
    return X, lambda table, k: _kth(_by_metric(table, metric), k)


def _gower(rows: Floats, columns: Integers, metric: Metric, n_columns: int) -> Floats:
    """Gower's distances of rows in their units, the columns back in their places; others are all equal."""
    table = np.zeros((len(rows), n_columns))
    table[:, columns] = rows
    return GowerRows.of(table, metric, 1)(np.arange(len(rows)))  # type: ignore[arg-type]


def _by_metric(rows: Floats, metric: Metric) -> Floats:
    return scaled_distance_rows(rows, metric, n_jobs=1).rows(np.arange(len(rows)))


def _directions(rows: Floats, metric: Metric) -> Floats:
    """Rows of length 1; those without a direction stay 0."""
    rows = rows - rows.mean(axis=1, keepdims=True) if metric == "correlation" else rows
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def _kth(distances: Floats, k: int) -> Floats:
    k = min(k, len(distances) - 1)
    found: Floats = np.partition(distances, k, axis=1)[:, k]  # at 0 stands the row itself
    return found


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


def _shuffle_columns(table: Floats, widths: list[int], random: np.random.Generator) -> Floats:
    """Shuffle each column by itself; columns of one block together."""
    order = random.permuted(np.tile(np.arange(len(table))[:, None], len(widths)), axis=0)
    return np.take_along_axis(table, np.repeat(order, widths, axis=1), axis=0)


def _distances(X: Floats, k: int) -> Floats:
    """Of every row to its k-th neighbour, by a product of matrices: digits that it loses decide nothing."""
    found = _kth(euclidean_distances(X), k)
    return np.where(found > _TINY * np.linalg.norm(X, axis=1), found, 0.0)


def blocks(X: Floats) -> list[Integers]:
    """Columns that belong together: the levels of one nominal column, and one column in other units.

    Levels are neighbours of two values each, of which exactly one is high in each row.

    >>> import numpy as np
    >>> [block.tolist() for block in blocks(np.array([[0.5, 1, 0], [0.1, 0, 1], [0.2, 1, 0]]))]
    [[0], [1, 2]]
    >>> [block.tolist() for block in blocks(np.array([[1, 7, 10.0], [2, 1, 20], [4, 3, 40]]))]
    [[0, 2], [1]]
    """
    low, high = X.min(axis=0), X.max(axis=0)
    found: dict[bytes, Integers] = {}
    start, m = 0, X.shape[1]
    while start < m:
        block = np.arange(start, _end(X, low, high, start, m))
        start = int(block[-1]) + 1
        key = _form(X[:, block]) if m <= _COLUMNS else str(start).encode()
        found[key] = np.concatenate([found[key], block]) if key in found else block
    return list(found.values())


def _form(block: Floats) -> bytes:
    """Equal for columns that differ by an offset, a factor or a sign only."""
    column = np.ldexp(block[:, 0], -np.frexp(np.nanmax(np.abs(block[:, 0]), initial=0.0))[1])
    there = column[~np.isnan(column)]
    span = np.ptp(there) if len(there) else 0.0
    if span == 0 or block.shape[1] > 1:
        return block.tobytes()
    first = there[0]
    scaled = (column - first) / span
    sign = 1.0 if np.nanmax(scaled) >= -np.nanmin(scaled) else -1.0
    return (np.round(sign * scaled / _SAME) + 0.0).tobytes()


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
