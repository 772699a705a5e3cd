"""Two caches on disk: compiled kernels, and :class:`ResultCache` of comparisons and studies.

Compiled kernels are in a folder of our own, safe to read from and never needed. They run as machine code. So
a folder counts only if it is this user's and nobody else may write to it, and so does every file. What cannot
be kept is compiled anew: nothing here fails a call.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Self, TypeVar

from .errors import FileFormatError, StoredRunWarning
from .files import atomic_write, path_of, require_writable
from .runtime import logger, require_memory

try:
    import fcntl
except ImportError:  # Windows: every process compiles what it needs
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".nbc"  # of all that is kept
_DAY = 86_400.0
_KEPT_DAYS = 30  # without use
_DIGEST_BYTES = hashlib.sha256().digest_size
_PROBE = b"\0" * 65_536  # a disk that is full takes an empty file


@cache
def cache_folder(given: str = "") -> Path | None:
    """The first usable folder: ``given``, the user's cache folder, or a private temporary one.

    One that cannot be written to still counts if it holds something. None: there is no place at all.
    """
    for folder in _places(given):
        if _is_ours(folder) and (_is_writable(folder) or any(folder.iterdir())):
            return folder
    _say_once("Compiled kernels cannot be kept: no folder for them can be written to.")
    return None


def read_cached(folder: Path, name: str) -> bytes | None:
    """The data stored under a name; None if missing, damaged, or of another name or user."""
    try:
        with (folder / name).open("rb") as file:
            status = os.fstat(file.fileno())
            content = file.read()
    except OSError:
        return None
    digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if not _owned(status) or _digest(name, data) != digest:
        return None
    if time.time() - status.st_mtime > _DAY:  # in use, so kept on
        with suppress(OSError):
            os.utime(folder / name)
    return data


def keep(folder: Path, name: str, data: bytes) -> None:
    """Keep ``data`` under a name: whole or not at all, whoever else writes at the same time."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with atomic_write(folder / name, at_once=True) as file:  # no result of the command that compiles it
            (folder / file.name).chmod(0o600)  # others may not write, whatever the mask says
            file.write(_digest(name, data) + data)
    except OSError as error:
        reason = error.__cause__ if isinstance(error.__cause__, OSError) else error
        _say_once(f"Compiled kernels cannot be kept in {folder}: {reason.strerror or reason}.")
    else:
        _prune(folder)


def _digest(name: str, data: bytes) -> bytes:
    """Digest of the data and their name: a kernel under a wrong name would run with wrong arguments."""
    return hashlib.sha256(name.encode() + b"\n" + data).digest()


@cache
def _prune(folder: Path) -> None:
    """Remove our files that nobody has used for a month, once in a process that writes."""
    oldest = time.time() - _KEPT_DAYS * _DAY
    with suppress(OSError):
        for path in (*folder.glob(f"*{SUFFIX}"), *folder.glob(f".*{SUFFIX}.*.tmp")):
            with suppress(OSError):  # another process may have removed it
                if path.lstat().st_mtime < oldest:
                    path.unlink()


@cache
def _say_once(what: str) -> None:
    logger.warning("%s They are compiled in memory, anew in every process. Free or name a folder: "
                   "NUMBA_CACHE_DIR=FOLDER.", what)  # fmt: skip


def _places(given: str) -> Iterator[Path]:
    if given:
        yield Path(given).absolute() / "isentropic"
    with suppress(RuntimeError, OSError):  # no home
        yield _of_user() / "kernels"
    with suppress(OSError):  # no folder for temporary files
        user = os.geteuid() if hasattr(os, "geteuid") else "cache"
        yield Path(tempfile.gettempdir()) / f"isentropic-{user}"


def _of_user() -> Path:
    """The cache folder of the system, in a home that exists; None without one."""
    home = Path.home().resolve(strict=True)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "isentropic" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "isentropic"
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else home / ".cache") / "isentropic"


def _is_ours(folder: Path) -> bool:
    """Whether a folder, made if missing, belongs to this user and nobody else can write to it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _owned(status)


def _owned(status: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):  # Windows: folders of a user are closed to others
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(_PROBE)
            file.flush()
    except OSError:
        return False
    return True


# ---- compiled kernels: who compiles, and from what ----------------------------------------------

_KERNELS = Path(__file__).parents[1] / "kernels"
_LONGEST_WAIT, _LOOK = 60.0, 0.02  # seconds for another process, and between two looks at it


def claim(folder: Path, name: str) -> int | None:
    """Claim the work on what will be kept under a name; wait while another process has it, a minute at most.

    A claim is a lock of one byte of a file. It ends by :func:`end_claim` or with the process, however that
    ends. None where there are no locks; the work is then done without.
    """
    file = _file_of_claims(folder)
    if file is None:
        return None
    place = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    until = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < until:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            return place
        except (BlockingIOError, PermissionError):  # as locks of another process are told
            time.sleep(_LOOK)
        except OSError:  # a disk without locks
            return None
    return None


def end_claim(folder: Path | None, claimed: int | None) -> None:
    """Let others have what this process has claimed."""
    file = None if folder is None or claimed is None else _file_of_claims(folder)
    if file is not None and claimed is not None:
        with suppress(OSError):
            fcntl.lockf(file, fcntl.LOCK_UN, 1, claimed)


@cache
def _file_of_claims(folder: Path) -> int | None:
    """Open for as long as the process runs: to close it would end all claims."""
    if fcntl is None:
        return None
    with suppress(OSError):
        return os.open(folder / ".claims", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return None


@cache
def source_digest(source: Path) -> str:
    """Digest of a file and of the kernels that it imports, and so on: compiled code inlines them."""
    folder = _package_of(source)
    found, open_ends = {source}, [source]
    while open_ends:
        new = {path for path in _imported_files(open_ends.pop()) if folder in path.parents} - found
        found |= new
        open_ends += new
    parts = (
        path.relative_to(folder).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest()
        for path in sorted(found)
    )
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _package_of(source: Path) -> Path:
    """Our kernels, which use nothing above them; of another file the outermost package that it is in."""
    if _KERNELS in source.parents:
        return _KERNELS
    folder = source.parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


@cache
def _imported_files(source: Path) -> frozenset[Path]:
    """Files that a file imports by ``from .name import``, at any number of dots."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(source.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = source.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            found.update({base.with_suffix(".py"), *(base / f"{alias.name}.py" for alias in node.names)})
    return frozenset(path for path in found if path.is_file())


# ---- ``ResultCache``: results as JSON files with checksums, by a key of what they were computed from ----


T = TypeVar("T")
CHECKSUM_FIELD = "seal"  # the field that the folder adds to what is kept
KEY_DIGITS = 20  # in the name of a file
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")
_PER_BYTE = 8  # bytes that a byte of a file takes as it is read
_LEAST_RUN = 10_000  # bytes of a file, and for each row of the table
_PER_ROW = 100
_OLD = 3600.0  # seconds after which a temporary file is a leftover of a process that was killed


@cache
def code_fingerprint(*without: str) -> str:
    """Hash of our code and of the versions of the libraries: another one may give other numbers.

    The version alone would not do: between two releases the code changes and the version does not.
    ``without`` names folders of ours that the numbers do not depend on.
    """
    found = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for path in sorted(folder.rglob("*.py")):
        if path.relative_to(folder).parts[0] in without:
            continue
        found.update(str(path.relative_to(folder)).encode())
        found.update(path.read_bytes())
    for name in _LIBRARIES:
        found.update(f"{name} {version(name)}".encode())
    return found.hexdigest()


@dataclass(frozen=True, slots=True)
class ResultCache:
    """JSON as files ``name-key.json``, each complete or absent; without a folder nothing is stored."""

    folder: Path | None

    @classmethod
    def at(cls, folder: str | Path | None, n_rows: int = 0) -> Self:
        """Open the folder; refuse now one that takes no files, or has no room for all runs."""
        if folder is None:
            return cls(None)
        path = path_of(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            reason = str(getattr(error, "strerror", None) or error).lower()
            raise FileFormatError(f"{path} cannot be a folder of runs: {reason}. Choose another.") from error
        require_writable(path / "run.json", _LEAST_RUN + _PER_ROW * n_rows)
        _remove_leftovers(path)
        return cls(path)

    def get(self, name: str, key: str, parse: Callable[[str], T]) -> T | None:
        """The result under this name and key; None, with a warning, where it is not as it was written."""
        path = self._path(name, key)
        if path is None or not os.path.lexists(path):
            return None
        try:
            return parse(_read_checked(path, key))
        except Exception as error:  # what was not written by us can fail anywhere
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else error
            text = f"{path} is computed again: it must be a result that was kept here, but {reason}."
            warnings.warn(text, StoredRunWarning, stacklevel=3)
            return None

    def put(self, name: str, key: str, text: str) -> None:
        """Write JSON in one step, in place of what was there under this name and key."""
        path = self._path(name, key)
        if path is None or path.is_symlink() or (path.exists() and not path.is_file()):
            return  # what is in its place, as reading has told, is not ours to remove, nor where a link leads
        with atomic_write(path) as file:
            file.write(_with_checksum(text, key).encode())

    def _path(self, method: str, key: str) -> Path | None:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", method)
        return None if self.folder is None else self.folder / f"{name}-{key}.json"


# ---- seals -------------------------------------------------------------------------------------

# A file ends in the checksum of all before it and of the key: what was changed by hand, and the file of
# another run, linked or renamed, do not pass. It is no signature: whoever computes it anew is believed.


def _with_checksum(text: str, key: str) -> str:
    return f'{text[:-1]}, "{CHECKSUM_FIELD}": "{_checksum(text, key)}"}}'


def _checksum(text: str, key: str) -> str:
    return hashlib.sha256(f"{key}\n{text}".encode()).hexdigest()


def _read_checked(path: Path, key: str) -> str:
    """Text of a file; raises unless it is the one that was written for this key."""
    if not path.is_file():
        raise ValueError("it is no file, so that it is not kept either")
    hint = "Remove it."
    require_memory(_PER_BYTE * path.stat().st_size, f"reading {path.name}", hint)
    content = path.read_text(encoding="utf-8")
    start, mark, end = content.rpartition(f', "{CHECKSUM_FIELD}": "')
    if not mark or end != f'{_checksum(start + "}", key)}"}}':
        raise ValueError("its content does not match its checksum")
    return f"{start}}}"


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed process left of the Run that it was writing."""
    for path in folder.glob(f".*-{'[0-9a-f]' * KEY_DIGITS}.json.*.tmp"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink()
