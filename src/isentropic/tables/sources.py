"""Sources by name: built-in, data folder, OpenML, a file or a frame."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from .._core.errors import FileFormatError, InvalidInputError, nearest
from .._core.files import path_of
from .builtin import BUILTIN, read_builtin, require_fixed_size
from .folder import SETTING, FolderSet, find_openml, find_set, folder_sets, manifest_path, read_set
from .openml import read_openml
from .raw import RawTable, checked
from .readers.arrays import label_candidates
from .readers.arrow import without_arrow_types
from .readers.files import SHEETS, kind_of_file, read_file, without_sheet
from .readers.idx import labels_beside
from .readers.layout import AUTO, Layout
from .tidy import tidied

_PREFIX = re.compile(r"(?P<prefix>[A-Za-z]{2,}):(?P<name>.*)", re.DOTALL)  # not C:\table.csv


@dataclass(frozen=True, slots=True)
class Entry:
    """One set at hand. ``source`` is what :func:`load` takes; features are counted before encoding."""

    source: str
    n_samples: int
    n_features: int
    n_classes: int | None  # None where the target is a number
    origin: str  # "builtin" or "folder"
    note: str = ""


def catalogue() -> tuple[Entry, ...]:
    """The built-in sets, and those of the data folder whose files are there.

    >>> from isentropic.datasets import catalogue
    >>> iris = catalogue()[0]
    >>> iris.source, iris.n_samples, iris.n_features, iris.n_classes
    ('builtin:iris', 150, 4, 3)
    """
    built_in = [
        Entry(f"builtin:{name}", b.n_samples, b.n_features, b.n_classes, "builtin", b.note)
        for name, b in BUILTIN.items()
    ]
    return (*built_in, *(_entry(item) for item in folder_sets() if item.file is not None))


def _entry(item: FolderSet) -> Entry:
    return Entry(item.name, item.n_samples, item.n_features, item.n_classes, "folder", item.openml_name)


def read_source(
    source: Any,
    target: str | None,
    text_columns: frozenset[str],
    n_samples: int | None,
    random_state: int,
    layout: Layout = AUTO,
) -> RawTable:
    """The columns of any source: names that differ, at least one row, and no rows that are none."""
    is_builtin = isinstance(source, str) and source.startswith("builtin:")
    if is_builtin or not isinstance(source, str | os.PathLike):
        layout.require_none("a source that is no text file")
    if is_builtin:
        return checked(read_builtin(source.removeprefix("builtin:"), n_samples, random_state))
    require_fixed_size(n_samples, repr(source) if isinstance(source, str | os.PathLike) else "a table")
    if isinstance(source, pd.DataFrame):
        return checked(RawTable(without_arrow_types(source), "table"))
    if isinstance(source, os.PathLike):
        return _read_path(path_of(source), target, text_columns, layout)
    # polars, Arrow and others speak it; a Series too, which has no columns
    if hasattr(source, "__arrow_c_stream__") and hasattr(source, "columns"):
        from .readers.arrow import frame_of_stream

        return checked(RawTable(frame_of_stream(source), "table"))
    if not isinstance(source, str):
        raise InvalidInputError(
            "source must be text, a path, a frame (pandas, polars, Arrow) or a sparse matrix, got "
            f"{type(source).__name__}. Give an array as pandas.DataFrame(X), a lazy frame once it is "
            "collected."
        )
    return checked(_read_named(source, target, text_columns, layout))


def _read_path(path: Path, target: str | None, text_columns: frozenset[str], layout: Layout) -> RawTable:
    """The table in a file, without rows that are none, where a format has such."""
    raw = checked(read_file(path, target, text_columns, layout))
    return tidied(raw) if kind_of_file(path) in SHEETS else raw


def _read_named(source: str, target: str | None, text_columns: frozenset[str], layout: Layout) -> RawTable:
    match = _PREFIX.fullmatch(source)
    entry = _set_of(source)
    if entry is not None:
        layout.require_none("a set of the data folder")
        return read_set(entry)
    if match is not None and match["prefix"] == "openml":
        layout.require_none("a set of OpenML")
        return read_openml(match["name"])
    path = path_of(source)
    is_bare = path.name == source and kind_of_file(path) is None
    if os.path.exists(path):  # pathlib's raises where a folder is closed or a name too long
        return _read_path(path, target, text_columns, layout)
    if match is not None:
        raise _unknown_prefix(source, match["prefix"])
    if is_bare:
        raise _unknown_name(source)
    return read_file(path, target, text_columns, layout)  # says why the file cannot be read


def input_files(source: str, target: str | None = None) -> list[Path]:
    """Every file that reading a source opens: of its table, its labels, and the list of sets."""
    if source.startswith("builtin:"):
        return []
    entry, manifest = _set_of(source), manifest_path()
    if entry is not None and manifest is not None:
        return [*entry.files(), manifest]
    path = without_sheet(path_of(source))[0]
    kind = kind_of_file(path)
    if target is not None and kind in (".idx", ".npy"):
        return [path, *label_candidates(path, target)]
    beside = labels_beside(path) if kind == ".idx" else None
    return [path] if beside is None else [path, beside]


def _set_of(source: str) -> FolderSet | None:
    """The set of the data folder that a source names, if it is one."""
    match = _PREFIX.fullmatch(source)
    if match is not None and match["prefix"] == "openml":
        return find_openml(match["name"])
    path = path_of(source)
    is_bare = path.name == source and kind_of_file(path) is None
    return find_set(source) if is_bare else None


def _unknown_prefix(source: str, prefix: str) -> InvalidInputError:
    is_address = prefix in ("http", "https", "ftp", "file")
    hint = "Download the file first." if is_address else nearest(prefix, ["builtin", "openml"]).strip()
    return InvalidInputError(
        f"source must start with builtin: or openml:, or be a file, got {source!r}. {hint}".strip()
    )


def _unknown_name(source: str) -> FileFormatError:
    at_hand = [entry.source for entry in catalogue()]
    words = {name.removeprefix("builtin:"): name for name in reversed(at_hand)}
    guess = nearest(source, words)
    for word, full in words.items():
        guess = guess.replace(repr(word), repr(full))
    where = "" if os.environ.get(SETTING) else f" {SETTING} is not set, so there is no data folder."
    return FileFormatError(
        f"source must be a file, a set of the data folder, builtin:NAME or openml:NAME, got {source!r}. "
        f"{guess}isentropic.datasets.catalogue() lists the sets at hand.{where}"
    )
