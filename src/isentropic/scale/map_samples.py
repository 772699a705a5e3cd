"""Rows that are drawn from a source of many files, with their places on a map in as many files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._core.errors import FileFormatError, listing, require
from ..tables.partitions import Partition, partitions_of, require_alike
from ..tables.readers.layout import AUTO, Layout
from ..tables.readers.streams import read_as
from .batch_mapping import ModelFile
from .map_folders import MANIFEST, Manifest, ManifestFile, read_manifest
from .row_samples import count_source, read_sample, sampled_numbers
from .saved_model import SavedModel, read_model

if TYPE_CHECKING:
    from ..tables import Preparation

SAMPLED = 10_000  # rows that stand for all
COMPARED = 2_000  # of them, with all of them


@dataclass(frozen=True, slots=True)
class SampledMap:
    """Some rows of a source, and their coordinates."""

    rows: pd.DataFrame
    coordinates: pd.DataFrame
    method: str
    n_rows: int  # of the source
    preparation: Preparation | None = None  # of the model, where the folder has it


def sample_map(
    source: Any,
    folder: Path,
    *,
    random_state: int = 0,
    layout: Layout = AUTO,
    texts: frozenset[str] = frozenset(),
) -> SampledMap:
    """Draw rows of a source and read where a folder of :func:`map_rows` has them.

    Every file of the source is hashed: the map must be of the same bytes. ``texts`` are columns that are
    read to the letter, beside those that are text to the model.
    """
    partitions = partitions_of(source, layout)
    manifest = _manifest(folder)
    columns, found_rows = list(require_alike(partitions)), count_source(partitions)
    counts = found_rows.counts
    _require_same_files(manifest, partitions, counts, folder)
    total = sum(counts)
    require(total >= 3, "source", "of at least 3 rows", total)
    saved = _model(manifest, folder)
    texts |= found_rows.texts if saved is None else found_rows.texts | saved.text_columns
    rows = read_sample(partitions, counts, SAMPLED, columns, random_state, texts)
    numbers = sampled_numbers(total, SAMPLED, random_state)
    found = pd.concat(list(_coordinates(manifest, folder, counts, numbers)))
    there = rows.index.isin(found.index)  # rows with missing values may have been left out
    preparation = None if saved is None else saved.preparation
    return SampledMap(rows[there], found, manifest.method, total, preparation)


def _manifest(folder: Path) -> Manifest:
    found = read_manifest(folder)
    if found is None:
        raise FileFormatError(
            f"{folder} must be a map in a folder, with its {MANIFEST}. Write it with 'isentropic embed' or "
            "'transform' and --out FOLDER."
        )
    return found


def _model(manifest: Manifest, folder: Path) -> SavedModel | None:
    """The model that made a map, if it is in the folder."""
    path = folder / manifest.model
    if not path.is_file() or ModelFile.of(path).sha256 != manifest.model_sha256:
        return None
    return read_model(path)


def _require_same_files(
    manifest: Manifest, partitions: Sequence[Partition], counts: Sequence[int], folder: Path
) -> None:
    """Refuse a map unless it has a file for each of the source, made of the same bytes."""
    listed = manifest.files
    if [one.name for one in listed] != [one.name for one in partitions]:
        reason = "another list in its manifest"
    else:
        pairs = zip(listed, partitions, counts, strict=True)
        reason = next(filter(None, (_difference(*pair) for pair in pairs)), "")
    if reason:
        raise FileFormatError(
            f"{folder} must have a file for each of the {len(partitions)} files of the source, got {reason}. "
            "Map the source again."
        )


def _difference(listed: ManifestFile, partition: Partition, count: int) -> str:
    """How a file of a source differs from what was mapped; nothing where it does not."""
    if not listed.output:
        return f"none for {partition.path.name}, which could not be mapped"
    rows = listed.rows + listed.left_out
    if rows != count:
        return f"{rows:,} rows for {partition.path.name}, which has {count:,}"
    return "" if listed.sha256 == partition.digest() else f"one of another {partition.path.name}"


def _coordinates(
    manifest: Manifest, folder: Path, counts: Sequence[int], numbers: np.ndarray
) -> Iterator[pd.DataFrame]:
    """Coordinates of the drawn rows, by the number of the row through all files."""
    first, names = 0, list(manifest.columns)
    for listed, count in zip(manifest.files, counts, strict=True):
        wanted = numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + count)] - first
        if len(wanted):
            path = folder / listed.output
            frame = _read_coordinates(path, names, listed.rows)
            yield _of_rows(frame, wanted, count, path)[names].set_axis(
                _numbers_of(frame, wanted, count) + first
            )
        first += count


def _read_coordinates(path: Path, names: list[str], count: int) -> pd.DataFrame:
    """The name of each row, and its coordinates."""
    with read_as(path, "a file of coordinates", "Map the source again."):
        frame = pd.read_parquet(path)
    there = list(frame.columns)
    if there[1:] != names or any(frame[name].dtype.kind != "f" for name in names) or len(frame) != count:
        raise FileFormatError(
            f"{path} must have {count:,} rows with a name and coordinates {listing(names)}, got "
            f"{len(frame):,} with {listing(there)}. Map the source again."
        )
    return frame


def _of_rows(frame: pd.DataFrame, wanted: np.ndarray, count: int, path: Path) -> pd.DataFrame:
    if len(frame) == count:
        return frame.iloc[wanted]
    rows = frame.iloc[:, 0]
    if rows.dtype.kind != "i" or not rows.is_unique:
        raise FileFormatError(
            f"{path} must have all {count:,} rows of its source, got {len(frame):,}, whose names do not say "
            "which. Map the source with --missing mean."
        )
    return frame[rows.isin(wanted)]


def _numbers_of(frame: pd.DataFrame, wanted: np.ndarray, count: int) -> np.ndarray:
    if len(frame) == count:
        return wanted
    return np.intersect1d(frame.iloc[:, 0].to_numpy(), wanted)
