"""Stratified samples of rows: in proportion from each class, or from each tenth of a column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._core.values import Floats, Integers, Table
from ...distances import rows_of

_TENTHS = 10


def stratified_rows(strata: Integers, most: int, seed: int) -> Integers:
    """Sample ``most`` rows from all strata in proportion, at least one of each; in order.

    Of the same strata and seed, fewer rows are among those that are more.

    >>> import numpy as np
    >>> found = stratified_rows(np.array([0, 0, 0, 0, 0, 1]), 3, seed=0)
    >>> len(found), 5 in found
    (3, True)
    """
    n = len(strata)
    if n <= most:
        return np.arange(n)
    random = np.random.default_rng(seed)
    # Rows in random order within their stratum, placed evenly from 0 to 1: the first `most` of all have each
    # stratum in proportion. The first row of every stratum comes before everything else.
    order = random.permutation(n)
    order = order[np.argsort(strata[order], kind="stable")]
    sizes = np.bincount(strata)
    sizes = sizes[sizes > 0]
    within = np.concatenate([np.arange(size) for size in sizes])
    place = (within + 0.5) / np.repeat(sizes, sizes)
    place[within == 0] = 0.0
    return np.sort(order[np.argsort(place, kind="stable")[:most]])


def strata_of(X: Floats, classes: Integers | None, target: Floats | None = None) -> Integers:
    """Strata of the rows: classes; without them tenths of the target, or of the column that varies most.

    Rows of no class, -1, are a stratum too.
    """
    if classes is not None:
        codes = np.asarray(classes, np.int64)
        return codes - min(0, int(codes.min()))
    numbers = target
    if numbers is None:  # what is missing counts as 0
        numbers = X[:, int(np.argmax(np.nan_to_num(np.nanvar(X, axis=0))))]
    numbers = np.nan_to_num(numbers)
    borders = np.quantile(numbers, np.linspace(0, 1, _TENTHS + 1)[1:-1])
    return np.searchsorted(borders, numbers)


def select_rows(table: Table, rows: Integers) -> Table:
    """Select rows of a table, in the given order."""
    return replace(
        table,
        X=np.ascontiguousarray(rows_of(table.X, rows, table.metric)),
        y=None if table.y is None else table.y[rows],
        row_names=tuple(table.row_names[row] for row in rows),
        other_columns=None if table.other_columns is None else table.other_columns.iloc[rows],
    )
