"""Samples of rows of any number of files, that depend on the numbers of the rows alone.

A row is drawn if the hash of its number is among the smallest, so that files and batches change nothing, and
a smaller sample is a part of a larger one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._core.errors import require_count
from .._core.runtime import get_config, require_memory
from ..tables.partitions import Partition, batch_rows, partitions_of, require_alike

_BLOCK = 2**20  # rows whose hashes are held together
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # of splitmix64


def sampled_numbers(n_rows: int, size: int, random_state: int = 0) -> np.ndarray:
    """Numbers of ``size`` of ``n_rows`` rows, ascending; those of a smaller sample are among them.

    ``O(n)`` time, ``O(size)`` memory.

    >>> few, more = sampled_numbers(1000, 3), sampled_numbers(1000, 5)
    >>> set(few.tolist()) < set(more.tolist())
    True
    """
    if size >= n_rows:
        return np.arange(n_rows, dtype=np.int64)
    numbers, hashes = np.empty(0, np.int64), np.empty(0, np.uint64)
    for start in range(0, n_rows, _BLOCK):
        block = np.arange(start, min(start + _BLOCK, n_rows), dtype=np.int64)
        numbers = np.concatenate([numbers, block])
        hashes = np.concatenate([hashes, _hashes(block, random_state)])
        if len(hashes) > size:
            smallest = np.argpartition(hashes, size - 1)[:size]  # of different numbers, hashes differ
            numbers, hashes = numbers[smallest], hashes[smallest]
    return np.sort(numbers)


def _hashes(numbers: np.ndarray, random_state: int) -> np.ndarray:
    """The output of splitmix64 that each number selects: a permutation of 64 bits."""
    with np.errstate(over="ignore"):
        seed = np.array([random_state], np.uint64) * np.uint64(_FIRST)
        bits = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(_STEP) + seed
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(_FIRST)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(_SECOND)
    return bits ^ (bits >> np.uint64(31))


def sample_rows(source: Any, size: int, *, random_state: int = 0) -> pd.DataFrame:
    """Draw rows of a folder, a pattern or files; the index has their numbers, counted through all files.

    Files are read once, in batches. Text files are parsed twice, as their rows have to be counted first, and
    their bytes are scanned three times for the encoding: for the names, the count and the rows. A column that
    does not look like numbers in every batch of every text file is text in all of them.

    >>> import pandas as pd, tempfile, pathlib
    >>> from isentropic import scale
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for part in range(3):
    ...     pd.DataFrame({"x": range(100)}).to_csv(folder / f"{part}.csv", index=False)
    >>> scale.sample_rows(folder, 4).index.tolist()
    [33, 53, 203, 254]
    """
    size = require_count("size", size)
    random_state = require_count("random_state", random_state, least=0, most=2**32 - 1)
    partitions = partitions_of(source)
    columns = list(require_alike(partitions))
    rows = count_source(partitions)
    return read_sample(partitions, rows.counts, size, columns, random_state, rows.texts)


@dataclass(frozen=True, slots=True)
class SourceRows:
    """Rows of each file of a source, and its columns whose text has to be kept to the letter.

    The latter are those that look like numbers in some batches of text files alone, or are text in a file of
    another kind: '01' is 1 in a batch of numbers, and '01' beside 'x2'. Kept, they are the same in any files
    and batches.
    """

    counts: list[int]
    texts: frozenset[str]


def count_source(partitions: Sequence[Partition]) -> SourceRows:
    """Count the rows of each file; text files are read for it."""
    known: dict[Any, int] = {}
    kinds: dict[str, set[str]] = {}
    counts = []
    for number, partition in enumerate(partitions):
        if partition.path not in known:
            known[partition.path] = partition.count_rows(kinds)
        counts.append(known[partition.path])
        _report("counting rows", number + 1, len(partitions))
    texts = (name for name, found in kinds.items() if "text" in found or len(found) > 1)
    return SourceRows(counts, frozenset(texts))


def read_sample(
    partitions: Sequence[Partition],
    counts: Sequence[int],
    size: int,
    columns: Sequence[str],
    random_state: int,
    texts: frozenset[str] = frozenset(),
) -> pd.DataFrame:
    """The rows of a sample as one frame, in the order of the rows."""
    total = sum(counts)
    numbers = sampled_numbers(total, size, random_state)
    what, hint = f"A sample of {len(numbers):,} rows", "Draw fewer rows."
    require_memory(32 * len(numbers) * len(columns), what, hint)
    frames = list(_sample_frames(partitions, counts, numbers, columns, texts))
    return pd.concat(frames) if frames else pd.DataFrame(columns=list(columns))


def _sample_frames(
    partitions: Sequence[Partition],
    counts: Sequence[int],
    numbers: np.ndarray,
    columns: Sequence[str],
    texts: frozenset[str],
) -> Iterator[pd.DataFrame]:
    first, rows = 0, batch_rows(len(columns))
    for place, (partition, count) in enumerate(zip(partitions, counts, strict=True)):
        wanted = numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + count)] - first
        if len(wanted):
            for frame in partition.batches(rows, columns, texts):
                start, stop = frame.index[0], frame.index[-1] + 1
                mine = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, stop)]
                if len(mine):
                    yield frame.iloc[mine - start].set_axis(pd.Index(mine + first))
        first += count
        _report("drawing rows", place + 1, len(partitions))


def _report(what: str, done: int, total: int) -> None:
    progress = get_config().progress
    if progress is not None:
        progress(what, done, total)
