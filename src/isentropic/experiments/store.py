"""A folder of outcomes: one file for each task, whole or not there, shared by any number of processes."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec, resolve_name
from pathlib import Path

from .. import __version__
from .._core.cache import KEY_DIGITS, ResultCache, code_fingerprint
from .._core.files import is_number, is_text, named, path_of, require_fields
from .tasks import Outcome, Task

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ABSENT = "no file"  # the mark of a source that is built in or not here
_LONGEST = 120  # letters of a name before its key
_ABOVE = ("cli", "report", "plot", "experiments")  # folders that what a method computes does not depend on


@dataclass(frozen=True, slots=True)
class OutcomeStore:
    """Outcomes as files ``words-key.json``, each sealed by its checksum and written in one step.

    The key holds what the numbers depend on: the words of the task, the content of its data, our code below
    the experiments and that of the work itself, the versions of libraries. A process that works on a task
    holds a claim on it: a lock (flock) that the system takes back when the process ends, however it ends.
    """

    folder: Path
    _files: ResultCache

    @classmethod
    def at(cls, folder: str | Path) -> OutcomeStore:
        """Make the folder, and refuse now one that takes no files; claims of the dead are removed."""
        files = ResultCache.at(folder)
        place = path_of(folder)
        for path in place.glob(f".*-{'[0-9a-f]' * KEY_DIGITS}.claim"):
            if _is_claim(path):
                _release(path, _locked(path))
        return cls(place, files)

    def read(self, task: Task) -> Outcome | None:
        """What was kept of a task; None, with a warning, where the file is not as it was written."""
        return self._files.get(_name(task), key_of(task), lambda text: _outcome_of(text, task))

    def write(self, task: Task, outcome: Outcome) -> None:
        """Keep it: a reader, or the next start, sees all of it or nothing."""
        fields = {"task": json.loads(task.words()), "measures": dict(outcome.measures)}
        fields |= {"seconds": outcome.seconds, "reason": outcome.reason}
        self._files.put(_name(task), key_of(task), json.dumps(fields, allow_nan=False))

    @contextmanager
    def claimed(self, task: Task) -> Iterator[bool]:
        """Whether the task is ours alone within the block: False where another process, or thread, has it."""
        path = self.folder / f".{_name(task)}-{key_of(task)}.claim"
        file = _locked(path)
        try:
            yield file is not None
        finally:
            _release(path, file)


def key_of(task: Task) -> str:
    """Of a task: equal where its numbers must be equal."""
    content = [source_mark(source) for source in task.data]
    parts = [task.words(), list(task.data), content, work_mark(task.work), __version__]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:KEY_DIGITS]


def _name(task: Task) -> str:
    return "-".join((task.source, task.table, task.dataset, task.method, task.protocol))[:_LONGEST]


def _outcome_of(text: str, task: Task) -> Outcome:
    fields = json.loads(text)
    checks = {"measures": named(is_number), "seconds": is_number, "reason": is_text}
    require_fields(fields, {"task": lambda words: words == json.loads(task.words()), **checks})
    return Outcome(fields["measures"], fields["seconds"], fields["reason"])


# ---- claims ------------------------------------------------------------------------------------


def _is_claim(path: Path) -> bool:
    """Whether a file of such a name can be a claim: an empty one, no link."""
    with suppress(OSError):  # who had it is done
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and not status.st_size
    return False


def _locked(path: Path) -> int | None:
    """The file, open and locked; None where another has the lock."""
    while True:
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        if not _lock(file):
            os.close(file)
            return None
        with suppress(OSError):
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        os.close(file)  # who had it removed the name in between: it is a lock of nothing


def _release(path: Path, file: int | None) -> None:
    """Give back a lock that is ours."""
    if file is not None:
        with suppress(OSError):
            path.unlink()  # before the lock goes: a lock of a name that is gone is none
        os.close(file)


def _lock(file: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


# ---- what the numbers depend on ----------------------------------------------------------------


def source_mark(source: str) -> str:
    """Of the content of a source of data; of one that is built in or not here, its name says all."""
    digests = [_digest(str(path), *_state(path)) for path in _paths(source)]
    return hashlib.sha256("".join(digests).encode()).hexdigest() if digests else ABSENT


def _paths(source: str) -> list[Path]:
    if source.startswith("builtin:"):
        return []
    from ..tables.folder import find_openml, find_set  # here: who waits for a worker waits for its imports

    word = source.removeprefix("openml:")
    entry = find_set(source) if word == source else find_openml(word)
    if entry is not None and entry.file is not None:
        return entry.files()
    path = Path(source)
    return [path] if path.is_file() else []


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=4096)
def _digest(path: str, changed: int, size: int) -> str:
    """Of a file, read once for each state of it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def work_mark(work: str) -> str:
    """Of the code behind a work: all of ours below the experiments, its own module, and what that imports."""
    found = hashlib.sha256(code_fingerprint(*_ABOVE).encode())
    for content in sorted(
        path.name.encode() + path.read_bytes() for path in _modules(work.partition(":")[0])
    ):
        found.update(content)
    return found.hexdigest()


def _modules(module: str) -> set[Path]:
    """Files of a module and of those that it imports, at its top or within functions.

    Of our own they are followed within the experiments, as the mark has all others already, and of any other
    package within that.
    """
    here, own = __package__, module.partition(".")[0]
    within = (f"{here}.",) if own == here.partition(".")[0] else (f"{here}.", f"{own}.")
    known: dict[str, Path] = {}
    left = [module]
    while left:
        name = left.pop()
        path = None if name in known else _path_of(name)
        if path is not None:
            known[name] = path
            left += _imported(name, path, within)
    return set(known.values())


def _path_of(module: str) -> Path | None:
    with suppress(ImportError, ValueError):
        spec = find_spec(module)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            return Path(spec.origin)
    return None


def _imported(module: str, path: Path, within: tuple[str, ...]) -> Iterator[str]:
    """Modules that a file imports, by their full names; those of other packages are left out."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if f"{alias.name}.".startswith(within))
        elif isinstance(node, ast.ImportFrom):
            name = resolve_name("." * node.level + (node.module or ""), package)
            if f"{name}.".startswith(within):
                yield name
                origin = _path_of(name)
                if origin is not None and origin.name == "__init__.py":  # a name in it may be a module
                    yield from (f"{name}.{alias.name}" for alias in node.names)
