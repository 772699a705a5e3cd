"""How well a map keeps the order of neighbours: topological product, König's measure, Retained-Structure.

Both sides are ranked row by row, by distance, ties by row number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.errors import UndefinedMeasureError, message, require, require_count
from ..._core.runtime import require_memory, row_blocks
from ...distances import Metric, rows_per_block
from ...kernels._jit import threads
from ...kernels.distances.pairs import rank_differences
from ..inputs import both_sides
from .neighborhoods import konig_measures, order_terms, product_measures
from .rank_sums import OrderReading, ordered_rows


def topological_product(X: Any, Z: Any, *, metric: Metric = "euclidean", n_jobs: int | None = None) -> float:
    """Topological product of Bauer and Pawelzik: 0 is perfect, negative means too few output dimensions.

    ``P = 1/(n (n-1)) sum_j sum_k 1/(2k) sum_{l<=k} log(Q1 Q2)`` with, around row j, x_l and z_l its l-th
    nearest rows in ``X`` and in ``Z``, ``Q1 = d(z_l) / d(x_l)`` in X and ``Q2 = d(z_l) / d(x_l)`` in Z.
    Terms with a distance of 0 are left out; :func:`~isentropic.quality.assess` says how many.
    ``O(n^2 m)`` time, ``O(n)`` memory.

    >>> topological_product([[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]])
    0.0
    """
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    found = product_measures(
        order_terms(given, mapped, reading=OrderReading(0), n_jobs=n_jobs), given.n, False
    )
    if not found:
        must_be = "tables of which some rows differ, or the topological product is undefined"
        raise UndefinedMeasureError(message("X and Z", must_be, "equal rows only"))
    return found["topological_product"].value


def konig_measure(
    X: Any, Z: Any, *, k1: int = 4, k2: int = 10, metric: Metric = "euclidean", n_jobs: int | None = None
) -> float:
    """König's measure of the ``k1`` nearest rows in ``X``, from 0 to 1.

    Each scores 3 where it has the same rank in ``Z``, 2 if it is among the ``k1`` nearest there, 1 if it is
    among the ``k2`` nearest; the mean over all, divided by 3. Of few rows all others are taken, and the mean
    is over these: a perfect map has 1, of three rows too.
    ``O(n^2 m)`` time, ``O(n)`` memory.

    >>> konig_measure([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [6.0], [14.0]], k1=2, k2=3)
    1.0
    """
    k1, k2 = require_count("k1", k1), require_count("k2", k2)
    require(k1 <= k2, "k2", f"at least k1, {k1}", k2)
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    reading = OrderReading(0, k1, k2)
    terms = order_terms(given, mapped, reading=reading, n_jobs=n_jobs)
    return konig_measures(terms, given.n, False, reading)["konig_measure"].value


@dataclass(frozen=True, slots=True, eq=False)
class RetainedStructure:
    """``differences[i, j]``: rank of row j around row i in the map, less that in the data.

    Positive where the map puts j further off, negative where it puts it nearer. ``error`` is the sum of
    the magnitudes, 0 for a map that keeps every rank.
    """

    differences: np.ndarray  # (n, n) int32
    error: int


def retained_structure(
    X: Any, Z: Any, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> RetainedStructure:
    """Retained-Structure of Hajderanj: the matrix of rank differences, and its error.

    ``O(n^2 m)`` time and 4 n^2 bytes; :func:`~isentropic.quality.assess` gives the error alone in ``O(n)``.

    >>> retained_structure([[0.0], [1.0], [3.0]], [[0.0], [4.0], [3.0]]).differences.tolist()
    [[0, 1, -1], [1, 0, -1], [0, 0, 0]]
    """
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    hint = "assess() gives its error without the matrix."
    require_memory(4 * given.n**2, "The matrix of rank differences", hint)
    out = np.zeros((given.n, given.n), np.int32)
    for block in row_blocks(given.n, "order of neighbours", size=max(rows_per_block(given.n) // 4, 1)):
        rows = np.arange(block.start, block.stop)
        orders_X, orders_Z = (ordered_rows(side, rows, n_jobs=n_jobs)[1] for side in (given, mapped))
        with threads(n_jobs):
            rank_differences(orders_X, orders_Z, out[block])
    return RetainedStructure(out, int(np.abs(out, dtype=np.int64).sum()))
