"""Two long lists of distances, compared by order: Kendall's tau-b and Spearman's rho, exactly.

``O(M log M)`` time and 16 bytes an entry for lists of M entries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..._core.runtime import row_blocks
from ..._core.values import Floats
from ...kernels import inversions
from ...kernels._jit import threads

LONGEST = 2**31  # entries; ranks have 32 bits
_BUCKET = 2**15  # entries of a bucket: its keys and their copies fit the second-level cache
_MOST_BUCKETS = 2**12  # more would be too many places to write to at once
_CHUNK = 2**18  # entries
_MOST_CHUNKS = 64
_STEP = 2**24  # entries between two chances to interrupt
_GROUP_BITS = 16  # ranks of a group differ in the last bits only, so that its counters fit the cache too
_MOST_GROUPS = 2**10  # chunks of the sequence


@dataclass(frozen=True, slots=True)
class RankedList:
    """Ranks of the entries of a list: twice the average position from 0. Comparing it uses it up."""

    ranks: np.ndarray  # (M,) uint32
    spare: np.ndarray  # (M,) uint32, whatever it holds
    tied: int  # pairs of tied entries
    square: float  # sum of squares of the centred ranks


@dataclass(frozen=True, slots=True)
class RankComparison:
    """Order statistics of two lists of ``n`` entries."""

    n: int
    discordant: int  # pairs of entries in opposite order
    tied: tuple[int, int, int]  # pairs tied in the first list, in the second, in both
    squares: tuple[float, float, float]  # of centred ranks: sums of r r, s s and r s

    @property
    def constant(self) -> tuple[bool, bool]:
        """Whether all entries are tied, in the first list and in the second."""
        pairs = self.n * (self.n - 1) // 2
        return self.tied[0] == pairs, self.tied[1] == pairs

    @property
    def kendall_tau(self) -> float:
        """``(concordant - discordant) / sqrt((all - tied_1) (all - tied_2))``; NaN for a constant list."""
        pairs = self.n * (self.n - 1) // 2
        first, second, both = self.tied
        free = (pairs - first) * (pairs - second)
        if free == 0:
            return math.nan
        excess = pairs - first - second + both - 2 * self.discordant
        return max(-1.0, min(1.0, excess / math.sqrt(free)))

    @property
    def spearman_rho(self) -> float:
        """Pearson's correlation of the average ranks; NaN for a constant list."""
        first, second, mixed = self.squares
        if first == 0 or second == 0:
            return math.nan
        return max(-1.0, min(1.0, mixed / math.sqrt(first * second)))


def bytes_to_compare(n_entries: int) -> int:
    """The most memory that ranking one list and comparing another with it takes, the lists included."""
    return 17 * n_entries + 2**26  # 16 bytes an entry, and counts by bucket and chunk


def rank_values(values: Floats, *, n_jobs: int | None = None) -> RankedList:
    """Ranks of a list of numbers, each at least 0.

    >>> import numpy as np
    >>> rank_values(np.array([0.5, 2.0, 0.5, 9.0])).ranks.tolist()
    [1, 4, 1, 6]
    """
    keys, ranks = values.view(np.int64), np.empty(len(values), np.uint32)
    with threads(n_jobs) as n_workers:
        order, bounds = _dealt(keys, np.empty(len(keys), np.uint32), "ranks of pairs")
        tied, squares = np.zeros(len(bounds) - 1, np.int64), np.zeros(len(bounds) - 1)
        for part, mine in _parts(bounds, "ranks of pairs"):
            inversions.rank_buckets(keys, order, mine, n_workers, ranks, tied[part], squares[part])
    return RankedList(ranks, order, int(tied.sum()), float(squares.sum()))


def compare_ranks(values: Floats, other: RankedList, *, n_jobs: int | None = None) -> RankComparison:
    """Compare a list with one that is ranked already; the ranks of that are overwritten.

    >>> import numpy as np
    >>> compare_ranks(np.array([1.0, 2.0, 3.0]), rank_values(np.array([1.0, 3.0, 2.0]))).discordant
    1
    """
    keys = values.view(np.int64)
    with threads(n_jobs) as n_workers:
        order, bounds = _dealt(keys, other.spare, "order of pairs")
        tied, squares = np.zeros((len(bounds) - 1, 2), np.int64), np.zeros((len(bounds) - 1, 2))
        for part, mine in _parts(bounds, "order of pairs"):
            inversions.align_buckets(keys, other.ranks, order, mine, n_workers, tied[part], squares[part])
        discordant = _inversions(order, other.ranks, n_workers)
    own_tied, both_tied = tied.sum(axis=0).tolist()
    square, mixed = squares.sum(axis=0).tolist()
    return RankComparison(
        len(values), discordant, (own_tied, other.tied, both_tied), (square, other.square, mixed)
    )


def compare_row_ranks(values: Floats, others: Floats, *, n_jobs: int | None = None) -> list[RankComparison]:
    """Compare each row of ``values`` with the same row of ``others``: many short lists."""
    n_rows, n = values.shape
    tied, squares = np.zeros((n_rows, 3), np.int64), np.zeros((n_rows, 3))
    sequences, discordant = np.empty((n_rows, n), np.uint32), np.zeros(n_rows, np.int64)
    with threads(n_jobs):
        inversions.align_rows(values.view(np.int64), others.view(np.int64), sequences, tied, squares)
        inversions.row_inversions(sequences, _counter(n), discordant)
    found = zip(discordant.tolist(), tied.tolist(), squares.tolist(), strict=True)
    return [RankComparison(n, count, (a, b, c), (rr, ss, rs)) for count, (a, b, c), (rr, ss, rs) in found]


# ---- buckets -----------------------------------------------------------------------------------


def _dealt(keys: np.ndarray, order: np.ndarray, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Fill ``order`` with the numbers of the entries by bucket, ascending in each; the bounds of buckets."""
    low, shift = _cells(keys)
    chunks = _even_bounds(len(keys), min(max(len(keys) // _CHUNK, 1), _MOST_CHUNKS))
    counts = np.zeros((len(chunks) - 1, inversions.CELLS), np.int32)
    for part, mine in _parts(chunks, what):
        inversions.cell_counts(keys, low, shift, mine, counts[part])
    bucket_of, first_cells = _buckets(counts.sum(axis=0, dtype=np.int64))
    places, bounds = _places(np.add.reduceat(counts, first_cells, axis=1))
    for part, mine in _parts(chunks, what):
        inversions.deal(keys, low, shift, bucket_of, mine, places[part], order)
    return order, bounds


def _cells(keys: np.ndarray) -> tuple[int, int]:
    """Start and width (as a shift) of the cells, from a sample: they cover all but the extreme keys."""
    sample = np.sort(keys[:: max(1, len(keys) // inversions.CELLS)])
    rest = len(sample) // 1024
    low, high = int(sample[rest]), int(sample[-1 - rest])
    return low, max(0, (high - low).bit_length() - (inversions.CELLS.bit_length() - 1))


def _buckets(cell_sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bucket of each cell, and the first cell of each bucket: cells side by side, about alike in sum."""
    n = int(cell_sizes.sum())
    before = np.minimum(np.cumsum(cell_sizes) - cell_sizes, n - 1)  # so that no empty cells come last, alone
    size = max(_BUCKET, n // _MOST_BUCKETS)
    _, first_cells, bucket_of = np.unique(before // size, return_index=True, return_inverse=True)
    return bucket_of, first_cells


def _places(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries of chunk c and bucket b go, (c, b), and the bounds of the buckets."""
    by_bucket = counts.T.ravel().astype(np.int64)
    places = np.ascontiguousarray((np.cumsum(by_bucket) - by_bucket).reshape(counts.shape[::-1]).T)
    return places, np.append(places[0], by_bucket.sum())


def _even_bounds(n: int, n_parts: int) -> np.ndarray:
    return np.arange(n_parts + 1, dtype=np.int64) * n // n_parts


def _parts(bounds: np.ndarray, what: str) -> Iterator[tuple[slice, np.ndarray]]:
    """Parts of the work between two bounds each, a few at a time, with their bounds."""
    n_parts = len(bounds) - 1
    for part in row_blocks(n_parts, what, size=max(2, n_parts * _STEP // int(bounds[-1]))):
        yield part, bounds[part.start : part.stop + 1]


# ---- inversions --------------------------------------------------------------------------------


def _inversions(sequence: np.ndarray, workspace: np.ndarray, n_workers: int) -> int:
    """Pairs of entries whose ranks are in descending order.

    Between two chunks of the sequence: by groups of ranks, from counts alone. Within a chunk but between
    two groups, and within a group: by counters that stay in the cache.
    """
    n = len(sequence)
    chunks = _even_bounds(n, min(max(n // _BUCKET, 1), _MOST_GROUPS))
    counts = np.zeros((len(chunks) - 1, ((2 * n - 2) >> _GROUP_BITS) + 1), np.int32)
    for part, mine in _parts(chunks, "order of pairs"):
        inversions.cell_counts(sequence, 0, _GROUP_BITS, mine, counts[part])
    places, bounds = _places(counts)
    within_chunks = np.zeros(len(counts), np.int64)
    like = _counter(int(np.diff(chunks).max()))
    for part, mine in _parts(chunks, "order of pairs"):
        inversions.deal_ranks(sequence, _GROUP_BITS, mine, places[part], like, workspace, within_chunks[part])
    within_groups = np.zeros(len(bounds) - 1, np.int64)
    like, n_values = _counter(int(np.diff(bounds).max())), 1 << (_GROUP_BITS - 1)
    for part, mine in _parts(bounds, "order of pairs"):
        inversions.group_inversions(workspace, mine, n_values, n_workers, like, within_groups[part])
    return _between_chunks(counts) + int(within_chunks.sum()) + int(within_groups.sum())


def _counter(most: int) -> np.ndarray:
    """An empty array of the smallest type that can count so far."""
    return np.empty(0, np.uint16 if most < 2**16 else np.int32)


def _between_chunks(counts: np.ndarray) -> int:
    """Inversions between entries of two chunks and two groups, from ``counts[chunk, group]``."""
    seen = np.zeros(counts.shape[1], np.int64)
    total = 0
    for chunk in counts:
        greater = np.cumsum(seen[::-1])[::-1] - seen
        total += int(greater @ chunk)
        seen += chunk
    return total
