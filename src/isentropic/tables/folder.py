"""The data folder that ``ISENTROPIC_DATA`` points at: CSV and IDX files with a manifest."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from .._core.errors import FileFormatError, listing
from .._core.files import path_of
from .class_labels import in_order
from .raw import RawTable
from .readers.arrays import read_pairs
from .readers.delimited import read_delimited
from .readers.layout import Layout
from .readers.streams import require_file
from .readers.table_files import DELIMITERS, kind_of_file

SETTING = "ISENTROPIC_DATA"
_TARGET = "target"
_MANIFEST = "manifest.json"
_WITH_NAMES = Layout(header=True)
_OPENML = re.compile(r"(?P<name>\S+)( v(?P<version>\d+))?( \(id (?P<id>\d+)\))?( / .*)?")


@dataclass(frozen=True, slots=True)
class FolderSet:
    """One entry of the manifest."""

    name: str
    openml_name: str
    file: str | None  # relative to the folder, a pattern for IDX files; None when it is elsewhere
    n_samples: int
    n_features: int
    n_classes: int
    nominal: dict[str, Any]  # declared levels of each nominal column, or text where the data say which
    variant_of: str | None
    folder: Path

    def files(self) -> list[Path]:
        """Those that hold its rows and labels and are there, by name."""
        return [] if self.file is None else sorted(p for p in self.folder.glob(self.file) if p.is_file())

    def answers(self, word: str) -> bool:
        """Whether OpenML knows this set by the name, the number, or the name@version ``word``."""
        match = _OPENML.fullmatch(self.openml_name)
        return match is not None and word in (
            match["name"],
            match["id"],
            f"{match['name']}@{match['version']}",
        )


def folder_sets() -> tuple[FolderSet, ...]:
    """All sets of the manifest in its order; none when the setting is empty."""
    place = os.environ.get(SETTING, "")
    if not place:
        return ()
    folder = path_of(place)
    manifest = folder / _MANIFEST
    try:
        entries = json.loads(manifest.read_text(encoding="utf-8"))
        known = {entry["name"]: entry for entry in entries}
        return tuple(_folder_set(entry, known, folder) for entry in entries)
    except OSError as error:
        raise FileFormatError(
            f"{SETTING} must be a folder with a manifest.json, got {place!r} ({error.strerror}). Correct or "
            "unset it."
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileFormatError(
            f"{manifest} must be a list of sets with name, file and shape, got something else ({error!r}). "
            f"Correct it, or unset {SETTING}."
        ) from error


def _folder_set(entry: dict[str, Any], known: dict[str, Any], folder: Path) -> FolderSet:
    if not isinstance(entry["file"], str | None):
        raise TypeError(f"a file called {entry['file']!r}")
    nominal = entry.get("nominal_features") or {}
    if isinstance(nominal, str):  # "see NAME"
        nominal = dict.fromkeys(known[nominal.removeprefix("see ")]["nominal_features"], "see data")
    return FolderSet(
        name=entry["name"],
        openml_name=entry.get("openml_name") or "",
        file=entry["file"],
        n_samples=entry["n_samples"],
        n_features=entry["n_features"],
        n_classes=entry["n_classes"],
        nominal=dict(nominal),
        variant_of=entry.get("variant_of"),
        folder=folder,
    )


def manifest_path() -> Path | None:
    """The list of the sets, where there is a data folder."""
    place = os.environ.get(SETTING, "")
    return path_of(place) / _MANIFEST if place else None


def find_set(name: str) -> FolderSet | None:
    """The set of this name, or None."""
    return next((entry for entry in folder_sets() if entry.name == name), None)


def find_openml(word: str) -> FolderSet | None:
    """The set for an OpenML name or number, if the folder has its data."""
    sets = [entry for entry in folder_sets() if entry.file is not None]
    named = [entry for entry in sets if entry.name == word]
    answering = [entry for entry in sets if entry.answers(word)]
    originals = [entry for entry in answering if entry.variant_of is None]
    return next(iter([*named, *originals, *answering]), None)


def read_set(entry: FolderSet) -> RawTable:
    """The table of a set; empty means missing, and the manifest says which columns are nominal."""
    if entry.file is None:
        raise FileFormatError(
            f"{entry.name} must have a file in the data folder, got none: the manifest lists it without one. "
            "Give the path of its file, or openml:NAME."
        )
    if "*" in entry.file:
        return read_pairs(_matching(entry), entry.name)
    path = entry.folder / entry.file
    require_file(path)
    kind = kind_of_file(path)
    if kind not in DELIMITERS:
        raise FileFormatError(f"{path} must be a CSV or TSV file, got {path.name!r}. Correct the manifest.")
    frame = read_delimited(path, DELIMITERS[kind], frozenset({*entry.nominal, _TARGET}), ("",), _WITH_NAMES)
    absent = [column for column in (*entry.nominal, _TARGET) if column not in frame.columns]
    if absent:
        raise FileFormatError(
            f"{path} must have the columns of the manifest, got none called {listing(absent)}."
        )
    declared = {column: _categories(frame[column], levels, path) for column, levels in entry.nominal.items()}
    declared[_TARGET] = _categories(frame[_TARGET], None, path)
    for column, values in declared.items():
        frame[column] = values
    return RawTable(frame, entry.name, _TARGET, declared=True)


def _matching(entry: FolderSet) -> list[Path]:
    try:
        return sorted(entry.folder.glob(str(entry.file)))
    except (NotImplementedError, ValueError) as error:
        raise FileFormatError(
            f"{entry.name} must have a pattern of files in the data folder, got {entry.file!r} ({error}). "
            "Correct the manifest."
        ) from error


def _categories(column: pd.Series, levels: Any, path: Path) -> pd.Categorical:
    if not isinstance(levels, list):
        levels = in_order(column.dropna().unique().tolist())
    strays = set(column.dropna().unique()) - set(levels)
    if strays:
        raise FileFormatError(
            f"{path} must hold the levels of the manifest in {column.name!r}, got {listing(sorted(strays))}. "
            "Correct the manifest."
        )
    return pd.Categorical(column, categories=list(levels))
