"""Folders of maps: what is in them, what may be written there, and the manifest that lists the files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from .. import __version__
from .._core.errors import FileFormatError, InvalidInputError, notice, plural, require
from .._core.files import atomic_write, file_identity, path_of, real_path
from .._core.models.model_file import MEMBER
from ..tables.partitions import Partition

FORMAT = 1
MANIFEST = "manifest.json"
KEY = b"isentropic"  # of the metadata of an output file


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A file of a source, and the file of its coordinates."""

    name: str  # of the file of the source among all: its path below their folder, without suffix
    source: str  # name of the file
    sha256: str = ""
    output: str = ""  # relative to the folder of the map; none for a file that failed
    rows: int = 0  # that were mapped
    left_out: int = 0  # with missing values
    error: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a folder of a map says of itself."""

    method: str
    model: str  # name of its file
    model_sha256: str
    missing: str
    columns: tuple[str, ...]  # of coordinates
    files: tuple[ManifestFile, ...]

    def write(self, folder: Path) -> None:
        document = {
            "format": FORMAT,
            "isentropic": __version__,
            "method": self.method,
            "model": {"file": self.model, "sha256": self.model_sha256},
            "missing": self.missing,
            "coordinates": list(self.columns),
            "rows": sum(one.rows for one in self.files),
            "files": [_listed(one) for one in self.files],
        }
        with atomic_write(folder / MANIFEST) as file:
            file.write(json.dumps(document, indent=1).encode() + b"\n")


def _listed(one: ManifestFile) -> dict[str, Any]:
    always = {key: getattr(one, key) for key in ("name", "source", "sha256", "output", "rows")}
    return always | {key: getattr(one, key) for key in ("left_out", "error") if getattr(one, key)}


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest in a folder, checked; None where there is none."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        files, model = tuple(_file_of(one) for one in said["files"]), said["model"]
        columns = tuple(map(_text, said["coordinates"]))
        texts = (said["method"], model["file"], model["sha256"], said["missing"])
        method, name, sha256, missing = map(_text, texts)
        _place(name)
        if not columns:
            raise ValueError("coordinates")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileFormatError(
            f"{path} must be the manifest of a map, as isentropic writes it, got a damaged or another one. "
            "Map the source into a new folder."
        ) from error
    return Manifest(method, name, sha256, missing, columns, files)


def _file_of(said: dict[str, Any]) -> ManifestFile:
    texts = {key: _text(said[key]) for key in ("name", "source", "sha256", "output")}
    rows, left_out = said["rows"], said.get("left_out", 0)
    if any(type(count) is not int or count < 0 for count in (rows, left_out)):
        raise ValueError("numbers of rows")
    if texts["output"]:
        _place(texts["output"])
    return ManifestFile(**texts, rows=rows, left_out=left_out, error=_text(said.get("error", "")))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _place(text: str) -> None:
    """Raise unless the path leads below the folder that it is relative to."""
    path = Path(text)
    if not path.parts or path.anchor or ".." in path.parts or "\0" in text:
        raise ValueError("a path below the folder")


def files_of_map(folder: Path) -> list[Path]:
    """The files in a folder that make up a map: manifest, model and coordinates."""
    manifest = read_manifest(folder)
    if manifest is None:
        return [folder / MANIFEST]
    outputs = [folder / one.output for one in manifest.files if one.output]
    return [folder / MANIFEST, folder / manifest.model, *outputs]


def output_metadata(path: Path) -> dict[str, Any] | None:
    """What a file of coordinates of an earlier run says of itself; None for another file."""
    import pyarrow.parquet

    try:
        found = pyarrow.parquet.read_metadata(path)
        said = json.loads((found.metadata or {})[KEY])
        texts = {"key": said["key"], "model": said["model"]}
        return {**texts, "left_out": int(said["left_out"]), "rows": int(found.num_rows)}
    except (OSError, ValueError, KeyError, TypeError):
        return None


# ---- what may be written -------------------------------------------------------------------------


def require_output_folder(
    folder: Path, source: Any, partitions: Sequence[Partition], model_sha256: str | None = None
) -> None:
    """Refuse a place that is read, or that has files of others; with a model also the map of another one."""
    must_be = "a folder, or the name of one to make"
    require(not folder.exists() or folder.is_dir(), "out", must_be, str(folder))
    outputs = [folder / f"{one.name}.parquet" for one in partitions]
    hint = "It would take the place of what is read, or be read the next time: give another folder."
    read = {file_identity(one.path) for one in partitions}
    apart = not any(path.exists() and file_identity(path) in read for path in outputs)
    apart = apart and not _is_read_from(folder, source, partitions)
    require(apart, "out", "another folder than the source's", str(folder), hint)
    made_by = {_model_of(folder, path) for path in outputs if path.exists()}
    try:
        manifest = read_manifest(folder)
    except FileFormatError as error:
        raise _foreign_file(folder, MANIFEST) from error
    made_by |= {manifest.model_sha256} if manifest is not None else set()
    if model_sha256 is not None and made_by - {model_sha256}:
        raise InvalidInputError(
            f"out must be a folder without the map of another model, got {str(folder)!r}. Give "
            "another folder, or remove that one. 'isentropic transform' maps by the model that is there."
        )


def _model_of(folder: Path, path: Path) -> str:
    said = output_metadata(path)
    if said is None:
        raise _foreign_file(folder, path.name)
    return str(said["model"])


def _foreign_file(folder: Path, name: str) -> InvalidInputError:
    return InvalidInputError(
        f"out must be a folder without a file {name} of another kind, got {str(folder)!r}. Give another "
        "folder."
    )


def _is_read_from(folder: Path, source: Any, partitions: Sequence[Partition]) -> bool:
    """Whether files in a folder would be files of the source: it is in a folder or a pattern of it."""
    place = real_path(folder)
    made = [place / f"{one.name}.parquet" for one in partitions]
    for one in source if isinstance(source, list | tuple) else [source]:
        path = path_of(one)
        if path.is_dir():
            if place.is_relative_to(real_path(path)):
                return True
        elif not path.exists():
            pattern = real_path(path).parts
            finds_files = any(_matches(real_path(one.path).parts, pattern) for one in partitions)
            places = made if finds_files else {above for one in made for above in (one, *one.parents)}
            if any(_matches(one.parts, pattern) for one in places):
                return True
    return False


def _matches(path: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a pattern finds a path, part by part; ``**`` stands for any number of folders."""
    if not pattern or not path:
        return not path and all(part == "**" for part in pattern)
    if pattern[0] == "**":
        return _matches(path, pattern[1:]) or _matches(path[1:], pattern)
    return fnmatchcase(path[0], pattern[0]) and _matches(path[1:], pattern[1:])


def require_model_place(path: Path) -> None:
    """Refuse to write a model over a file that is no model."""
    hint = "Give another name for the model, or move that file away."
    is_free = not path.exists() or _is_model(path)
    require(is_free, "--save", "a new file, or one that isentropic saved a model in", str(path), hint)


def _is_model(path: Path) -> bool:
    try:
        with ZipFile(path) as archive:
            return MEMBER in archive.namelist()
    except (OSError, BadZipFile, ValueError):
        return False


def make_folder(path: str | Path) -> Path:
    """Make a folder, and those above it, where they are missing."""
    folder = path_of(path).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileFormatError(f"{folder} cannot be made: {error.strerror}. Choose another place.") from error
    return folder


def remove_outputs_without_source(folder: Path, earlier: Manifest | None, outputs: Iterable[str]) -> None:
    """Remove files of an earlier run that are not among the outputs, and say how many."""
    kept = {file_identity(folder / name) for name in outputs}
    removed = 0
    for one in earlier.files if earlier is not None else ():
        path = folder / one.output
        is_gone = bool(one.output) and path.is_file() and file_identity(path) not in kept
        if is_gone and output_metadata(path) is not None:
            path.unlink()
            removed += 1
    if removed:
        files = plural(removed, "file")
        notice(f"{files} of coordinates removed from {folder}, as the source has no such files any more.")
