"""ZIP archives that hold one table: it is unpacked beside nothing else, and read by its own suffix."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from ..._core.errors import FileFormatError
from ..._core.files import atomic_write
from ..._core.runtime import require_memory
from ..notices import listed, notice
from .streams import opened, read_as

_CHUNK = 1 << 20


@contextmanager
def unzipped(path: Path, is_table: Callable[[Path], bool]) -> Iterator[Path]:
    """The one table of an archive, in a folder of its own that is removed afterwards."""
    with TemporaryDirectory() as folder:
        with read_as(path, "a ZIP archive"), opened(path) as stream, zipfile.ZipFile(stream) as archive:
            member = _member(archive, is_table, path)
            require_memory(member.file_size, f"{member.filename} in {path.name}", "Keep fewer rows in it.")
            file = Path(folder) / (PurePosixPath(member.filename).name or "table")
            _unpack(archive, member, file, path)
        yield file


def _member(archive: zipfile.ZipFile, is_table: Callable[[Path], bool], path: Path) -> zipfile.ZipInfo:
    """The table among the files; what is left out beside it is named."""
    files = [item for item in archive.infolist() if not item.is_dir() and not _is_hidden(item.filename)]
    tables = [item for item in files if is_table(Path(item.filename))]
    if len(tables) != 1:
        got = listed(item.filename for item in tables or files) if files else "an empty one"
        raise FileFormatError(
            f"{path} must be an archive with one table in it, got {got}. Unpack it and name a file."
        )
    if tables[0].flag_bits & 1:
        raise FileFormatError(
            f"{path} must be an archive without a password, got one with. Unpack it and name the file."
        )
    others = [item.filename for item in files if item is not tables[0]]
    beside = f" Left out beside it: {listed(others)}." if others else ""
    notice(f"{path.name} is an archive, of which {tables[0].filename!r} is read.{beside}")
    return tables[0]


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: Path, path: Path) -> None:
    """Write a member to a file, no more than it claims to be."""
    n_bytes = 0
    with archive.open(member) as source, atomic_write(file, at_once=True) as target:
        while chunk := _next_chunk(source, path):
            n_bytes += len(chunk)
            if n_bytes > member.file_size:
                raise FileFormatError(
                    f"{path} must be a whole archive, got more than it says. Write it again."
                )
            target.write(chunk)


def _next_chunk(source: IO[bytes], path: Path) -> bytes:
    with read_as(path, "a ZIP archive"):  # what is damaged is the archive, not the file that is written
        return source.read(_CHUNK)
