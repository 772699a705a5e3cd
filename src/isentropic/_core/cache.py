"""A folder of our own for compiled kernels, safe to read from and never needed.

What is read here is run as machine code. So a folder counts only if it is this user's and nobody else may
write to it, and so does every file. What cannot be kept is compiled anew: nothing here fails a call.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from .files import atomic_write
from .runtime import logger

SUFFIX = ".nbc"  # of all that is kept
_DAY = 86_400.0
_KEPT_DAYS = 30  # without use
_DIGEST_BYTES = hashlib.sha256().digest_size
_PROBE = b"\0" * 65_536  # a disk that is full takes an empty file


@cache
def cache_folder(given: str = "") -> Path | None:
    """The first that works of: ``given``, the user's cache folder, a private one among the temporary ones.

    One that cannot be written to still counts if it holds something. None: there is no place at all.
    """
    for folder in _places(given):
        if _is_ours(folder) and (_is_writable(folder) or any(folder.iterdir())):
            return folder
    _say_once("Compiled kernels cannot be kept: no folder for them can be written to.")
    return None


def read_cached(folder: Path, name: str) -> bytes | None:
    """What was kept under a name; None if there is none, it is damaged, of another name or another user."""
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
    """Of what is kept and of its name: a kernel under the name of another would be run with its arguments."""
    return hashlib.sha256(name.encode() + b"\n" + data).digest()


@cache
def _prune(folder: Path) -> None:
    """Once in a process that writes: remove what nobody has used for a month, of what is named as ours."""
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
    """Where the system wants caches, in a home that exists: none is made up."""
    home = Path.home().resolve(strict=True)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "isentropic" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "isentropic"
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else home / ".cache") / "isentropic"


def _is_ours(folder: Path) -> bool:
    """Whether a folder, made if need be, is a true one of this user's that nobody else can write to."""
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
