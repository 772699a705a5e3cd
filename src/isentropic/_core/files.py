"""Files: written whole or not at all, several at once; and checks of the JSON that they hold.

A regular file is replaced in one step, by a complete one. What goes to a pipe, a terminal or another
character device is completed elsewhere and then written through: neither is ever replaced. Sockets, block
devices and folders are refused.
"""

from __future__ import annotations

import errno
import math
import os
import secrets
import shutil
import stat
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from .errors import FileFormatError

LEAST_ROOM = 4096  # bytes of any file
_MOST_LINKS = 40  # that are followed, as by Linux
_REFUSED = {
    stat.S_IFDIR: "a folder. Add a file name",
    stat.S_IFSOCK: "a socket. Give it another name",
    stat.S_IFBLK: "a block device. Give it another name",
}
_WRITABLE = (stat.S_IFREG, stat.S_IFIFO, stat.S_IFCHR)


def path_of(text: str | os.PathLike[str]) -> Path:
    """The path that is named, to read or to write; ``~`` is the home folder where there is one.

    ``./~/a.csv`` is in a folder called ``~``, which pathlib's normal form of it does not say.
    """
    path = Path(os.path.expanduser(text))  # pathlib's raises where there is no home
    return path.absolute() if str(path).startswith("~") else path


def real_path(path: str | os.PathLike[str]) -> Path:
    """The path with its links followed; one that leads to itself stays, a path that cannot be is refused."""
    try:
        return Path(os.path.realpath(path_of(path)))  # pathlib's raises for a loop of links
    except ValueError as error:
        raise FileFormatError(f"{path!r} must be a path, got an {error}. Check it.") from error


# ---- which file a path is ------------------------------------------------------------------------


def file_identity(path: str | os.PathLike[str]) -> tuple[object, ...]:
    """Equal for all names of one file: device and inode, or the folder and name where it is to be made."""
    status = _status(path)
    if status is not None:
        return status.st_dev, status.st_ino
    place = real_path(path)
    folder = _status(place.parent)
    return (str(place),) if folder is None else (folder.st_dev, folder.st_ino, place.name)


def are_one_file(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to one file, also to one yet to be made where names differ in case only."""
    one, other = file_identity(first), file_identity(second)
    if one == other:
        return True
    (*folder, name), (*other_folder, other_name) = map(str, one), map(str, other)
    if len(one) != 3 or folder != other_folder or _folded(name) != _folded(other_name):
        return False
    return _takes_for_one(real_path(first).parent, name, other_name)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _takes_for_one(folder: Path, name: str, other: str) -> bool:
    """Whether a folder's file system finds a file under a name that differs in case or accents' form."""
    token = secrets.token_hex(4)
    probe = folder / f".{token}.{name}"
    try:
        probe.touch(exist_ok=False)
        return os.path.lexists(folder / f".{token}.{other}")
    except OSError:  # no files can be made there: the next check says so
        return False
    finally:
        with suppress(OSError):
            probe.unlink()


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return os.stat(path_of(path))
    except (OSError, ValueError):
        return None


# ---- writing ---------------------------------------------------------------------------------------

_waiting: ContextVar[list[_Draft] | None] = ContextVar("waiting", default=None)


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, at_once: bool = False) -> Iterator[IO[bytes]]:
    """A binary file that becomes ``path`` when the block ends well, and vanishes when it does not.

    The bytes go to a temporary file in the same folder, which then takes the name in one step: a
    reader sees the old file or the new one, also after a full disk or Ctrl-C. Mode and owner stay.
    A file that is ``at_once`` does not wait for others within :func:`write_together`.
    """
    with ExitStack() as stack, _explained(path):
        draft = _Draft.of(path)
        stack.callback(draft.discard)
        yield draft.file
        draft.complete()
        waiting = _waiting.get()
        if waiting is None or at_once:
            draft.publish()
        else:
            waiting.append(draft)
            stack.pop_all()


@contextmanager
def write_together() -> Iterator[None]:
    """Files that are written within the block take their names when it ends well, else none of them does."""
    drafts: list[_Draft] = []
    token = _waiting.set(drafts)
    try:
        yield
        # a pipe or a device may still refuse, so it comes before any file is replaced
        for draft in sorted(drafts, key=lambda one: one.temporary is not None):
            with _explained(draft.path):
                draft.publish()
    finally:
        _waiting.reset(token)
        for draft in drafts:
            draft.discard()


def require_writable(path: str | os.PathLike[str], room: int = LEAST_ROOM) -> None:
    """Refuse now, not after an hour's work, a file that could not be written, for lack of ``room`` too."""
    with _explained(path):
        if is_stream(path):  # to open it would be seen at its other end
            return
        temporary = _temporary(real_path(path))
        free = shutil.disk_usage(temporary.parent).free
        if free < room:
            raise OSError(errno.ENOSPC, f"{free // 1024:,} KiB are left of {room // 1024:,} that it takes")
        try:
            with open(temporary, "xb") as file:
                file.write(bytes(LEAST_ROOM))  # a quota shows in no count of what is left
                file.flush()
                os.fsync(file.fileno())
        finally:
            with suppress(OSError):
                temporary.unlink()


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is written under a temporary name, or for a pipe or device under none, until it is complete."""

    path: str | os.PathLike[str]  # as the caller has it
    file: IO[bytes]
    temporary: Path | None

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> _Draft:
        if is_stream(path):
            return cls(path, tempfile.TemporaryFile(), None)
        temporary = _temporary(real_path(path))  # a link keeps pointing where it pointed
        return cls(path, open(temporary, "x+b"), temporary)

    def complete(self) -> None:
        """All bytes are on the disk."""
        self.file.flush()
        if self.temporary is not None:
            os.fsync(self.file.fileno())
            self.file.close()

    def publish(self) -> None:
        if self.temporary is None:
            self.file.seek(0)
            with _opened_stream(self.path) as stream:
                shutil.copyfileobj(self.file, stream)
            return
        target = real_path(self.path)
        _keep_rights(self.temporary, target)
        os.replace(self.temporary, target)

    def discard(self) -> None:
        with suppress(OSError):  # what cannot be flushed to a full disk
            self.file.close()
        if self.temporary is not None:
            with suppress(OSError):  # after the replacement there is nothing left to remove
                self.temporary.unlink()


def _temporary(target: Path) -> Path:
    with suppress(FileNotFoundError):
        os.lstat(target)  # raises for a name that is too long, of which only the end is in the other
    return target.with_name(f".{target.name[-50:]}.{secrets.token_hex(4)}.tmp")


def _keep_rights(temporary: Path, target: Path) -> None:
    """Owner, group and mode of the file that is replaced, as far as this user may set them."""
    status = _status(target)
    if status is None:
        return
    if hasattr(os, "chown"):
        for owner in (status.st_uid, -1):
            with suppress(PermissionError):
                os.chown(temporary, owner, status.st_gid)
                break
    temporary.chmod(stat.S_IMODE(status.st_mode))  # last: a change of owner clears some of it


# ---- pipes and devices -----------------------------------------------------------------------------


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether what is there is written through and not replaced; raises for what is never written."""
    descriptor = _descriptor(path)
    if descriptor is not None:
        os.fstat(descriptor)  # raises where it is closed
        return True
    status, place = _status(path), real_path(path)
    if status is None:
        if os.path.islink(place):
            raise FileFormatError(f"{path} must be a file, got a link that leads to itself. Remove it.")
        return False
    kind = stat.S_IFMT(status.st_mode)
    if kind not in _WRITABLE:
        got = _REFUSED.get(kind, "something else. Give it another name")
        raise FileFormatError(f"{path} must be a file, got {got}.")
    if not os.access(path_of(path), os.W_OK):  # to replace it would take no more than a right to its folder
        raise PermissionError(errno.EACCES, "it is write-protected")
    return kind != stat.S_IFREG


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """The open file of this process that a path such as ``/dev/stdout`` stands for, whatever it leads to."""
    at = str(path_of(path))
    ours = {os.path.realpath(folder) for folder in ("/proc/self/fd", "/dev/fd")}
    with suppress(OSError, ValueError):
        for _ in range(_MOST_LINKS):
            folder, name = os.path.split(at)
            if name.isdecimal() and os.path.realpath(folder) in ours:
                return int(name)
            if not os.path.islink(at):
                break
            at = os.path.join(folder, os.readlink(at))
    return None


def _opened_stream(path: str | os.PathLike[str]) -> IO[bytes]:
    descriptor = _descriptor(path)
    if descriptor is not None:
        return open(os.dup(descriptor), "wb")
    try:
        # without O_NONBLOCK it would wait for a reader of a pipe, who may never come
        opened = os.open(path_of(path), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise FileFormatError(
            f"{path} cannot be written: nobody reads it. Start its reader first."
        ) from error
    os.set_blocking(opened, True)
    return open(opened, "wb")


@contextmanager
def _explained(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the system as one sentence about a path that cannot be written."""
    try:
        yield
    except FileFormatError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        if isinstance(error, FileNotFoundError):
            folder = path_of(path).parent
            folder = real_path(path).parent if folder.is_dir() else folder  # a link may lead to none
            reason = "that folder takes no files" if folder.is_dir() else f"there is no folder {folder}"
        reason = reason[:1].lower() + reason[1:]
        text = f"{path} cannot be written: {reason}. Choose a folder with room where you may write."
        raise FileFormatError(text) from error


# ---- What JSON must hold -------------------------------------------------------------------------


Check = Callable[[Any], bool]


def require_fields(data: Mapping[str, Any], checks: Mapping[str, Check]) -> None:
    """Raise ValueError unless the fields are these, and each passes its check.

    >>> require_fields({"k": 3, "name": 7}, {"k": is_count, "name": is_text})
    Traceback (most recent call last):
    ValueError: its field 'name' does not hold what it should
    """
    strange = sorted(set(data) ^ set(checks))
    if strange:
        raise ValueError(f"its field {strange[0]!r} is {'missing' if strange[0] in checks else 'not known'}")
    for name, check in checks.items():
        if not check(data[name]):
            raise ValueError(f"its field {name!r} does not hold what it should")


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_number(value: Any) -> bool:
    """A finite number that an array can hold; truth values do not count."""
    return math.isfinite(value) if type(value) is float else _is_short(value)


def is_count(value: Any) -> bool:
    return _is_short(value) and value >= 0


def _is_short(value: Any) -> bool:
    """A whole number of 64 bits: JSON has any."""
    return type(value) is int and -(2**63) <= value < 2**63


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_named(value: Any) -> bool:
    """An object."""
    return isinstance(value, dict)


def maybe(check: Check) -> Check:
    """Allow null as well."""
    return lambda value: value is None or check(value)


def several(check: Check, count: int | None = None) -> Check:
    """A list whose entries pass the check, of ``count`` entries if given."""
    return lambda value: isinstance(value, list) and count in (None, len(value)) and all(map(check, value))


def named(check: Check) -> Check:
    """An object whose values pass the check."""
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def record(**checks: Check) -> Check:
    """An object with exactly these fields."""

    def fits(value: Any) -> bool:
        if not isinstance(value, dict) or set(value) != set(checks):
            return False
        return all(check(value[name]) for name, check in checks.items())

    return fits
