"""The co-ranking matrix: how often a neighbour of rank a in the data has rank b in the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..._core.errors import require_count
from ..._core.runtime import require_memory, row_blocks
from ..._core.values import Integers
from ...distances import Metric, rows_per_block
from ...kernels.ranks.coranks import add_coranks
from ..inputs import both_sides
from .rank_sums import ordered_rows

EXACT_ROWS = 2_001  # "auto" has a cell for each pair of ranks up to there
BINS = 1_000  # and that many of each side beyond


@dataclass(frozen=True, slots=True, eq=False)
class CorankingMatrix:
    """``counts[a, b]``: how many pairs (i, j) have R in bin a and r in bin b.

    Bin a holds the ranks from ``edges[a]`` up to, not including, ``edges[a + 1]``, of 1, ..., n - 1. Without
    bins each rank has its own, and ``edges`` is 1, 2, ..., n.
    """

    counts: Integers  # (b, b) int64
    edges: Integers  # (b + 1,)

    @property
    def n(self) -> int:
        return int(self.edges[-1])

    @property
    def binned(self) -> bool:
        """Whether a cell stands for several ranks."""
        return len(self.counts) < self.n - 1


def coranking_matrix(
    X: Any,
    Z: Any,
    *,
    metric: Metric = "euclidean",
    bins: int | Literal["auto"] | None = "auto",
    n_jobs: int | None = None,
) -> CorankingMatrix:
    """How often each pair of ranks occurs. A perfect map has everything on the diagonal.

    ``O(n^2 m)`` time, and 8 bytes a cell. ``bins=None`` has a cell for each of the (n - 1)^2 pairs of ranks,
    an integer that many bins of equally many ranks on either side, and ``"auto"`` the former up to 2,001
    rows, and 1,000 bins beyond.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> coranking_matrix(X, -X).counts.tolist()
    [[4, 0, 0], [0, 4, 0], [0, 0, 4]]
    """
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    n_bins = _checked_bins(bins, given.n)
    require_memory(
        8 * n_bins**2, f"A co-ranking matrix of {n_bins:,} by {n_bins:,} cells", f"Give bins, such as {BINS}."
    )
    edges = 1 + (np.arange(n_bins + 1) * (given.n - 1)) // n_bins
    counts = np.zeros((n_bins, n_bins), np.int64)
    bin_of = np.repeat(np.arange(n_bins), np.diff(edges))
    for block in row_blocks(given.n, "co-ranking", size=rows_per_block(given.n)):
        rows = np.arange(block.start, block.stop)
        orders_X, orders_Z = (ordered_rows(side, rows, n_jobs=n_jobs)[1] for side in (given, mapped))
        add_coranks(orders_X, orders_Z, bin_of, counts)
    return CorankingMatrix(counts, edges)


def _checked_bins(bins: Any, n: int) -> int:
    if isinstance(bins, str) and bins == "auto":
        return n - 1 if n <= EXACT_ROWS else BINS
    if bins is None:
        return n - 1
    return require_count("bins", bins, f"'auto', None, or an integer from 1 to {n - 1}", most=n - 1)
