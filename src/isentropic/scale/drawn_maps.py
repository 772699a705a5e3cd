"""Rows that are drawn from a source of many files, with their places on a map in as many files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._core.errors import FileFormatError, require
from ..tables.partitions import Partition, partitions_of, require_alike
from ..tables.readers.layout import AUTO, Layout
from ..tables.readers.streams import read_as
from .partition_maps import MANIFEST
from .row_samples import drawn_rows, row_counts, sampled_numbers

DRAWN = 10_000  # rows that stand for all
COMPARED = 2_000  # of them, with all of them


@dataclass(frozen=True, slots=True)
class DrawnMap:
    """Some rows of a source, and their coordinates."""

    rows: pd.DataFrame
    coordinates: pd.DataFrame
    method: str
    n_rows: int  # of the source


def draw_map(source: Any, folder: Path, *, random_state: int = 0, layout: Layout = AUTO) -> DrawnMap:
    """Draw rows of a source and read where a folder of :func:`map_rows` has them."""
    partitions = partitions_of(source, layout)
    manifest = _manifest(folder)
    outputs = _outputs(manifest, partitions, folder)
    columns, counts = list(require_alike(partitions)), row_counts(partitions)
    total = sum(counts)
    require(total >= 3, "source", "of at least 3 rows", total)
    rows = drawn_rows(partitions, counts, DRAWN, columns, random_state)
    numbers = sampled_numbers(total, DRAWN, random_state)
    names = [str(name) for name in manifest["coordinates"]]
    found = pd.concat(list(_coordinates(outputs, counts, numbers, names)))
    there = rows.index.isin(found.index)  # rows with missing values may have been left out
    return DrawnMap(rows[there], found, str(manifest["method"]), total)


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found["files"], list) and isinstance(found["coordinates"], list) and found["method"]:
            return dict(found)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise FileFormatError(
        f"{folder} must be a map in a folder, with its {MANIFEST}. Write it with 'isentropic embed' or "
        "'transform' and --out FOLDER."
    )


def _outputs(manifest: dict[str, Any], partitions: Sequence[Partition], folder: Path) -> list[Path]:
    """The files of the map, one for each of the source: they belong together."""
    listed = manifest["files"]
    names = [one.get("source") for one in listed]
    if names != [one.path.name for one in partitions] or not all(one.get("output") for one in listed):
        raise FileFormatError(
            f"{folder} must have a file for each of the {len(partitions)} files of the source, got another "
            "list in its manifest. Map the source again."
        )
    return [folder / one["output"] for one in listed]


def _coordinates(
    outputs: Sequence[Path], counts: Sequence[int], numbers: np.ndarray, names: list[str]
) -> Iterator[pd.DataFrame]:
    """Coordinates of the drawn rows, by the number of the row through all files."""
    first = 0
    for path, count in zip(outputs, counts, strict=True):
        wanted = numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + count)] - first
        if len(wanted):
            with read_as(path, "a file of coordinates"):
                frame = pd.read_parquet(path)
            yield _of_rows(frame, wanted, count, path)[names].set_axis(
                _numbers_of(frame, wanted, count) + first
            )
        first += count


def _of_rows(frame: pd.DataFrame, wanted: np.ndarray, count: int, path: Path) -> pd.DataFrame:
    if len(frame) == count:
        return frame.iloc[wanted]
    rows = frame.iloc[:, 0]
    if rows.dtype.kind != "i":
        raise FileFormatError(
            f"{path} must have all {count:,} rows of its source, got {len(frame):,}, whose names do not say "
            "which. Map the source with --missing mean."
        )
    return frame[rows.isin(wanted)]


def _numbers_of(frame: pd.DataFrame, wanted: np.ndarray, count: int) -> np.ndarray:
    if len(frame) == count:
        return wanted
    return np.intersect1d(frame.iloc[:, 0].to_numpy(), wanted)
