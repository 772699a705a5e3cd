"""A folder of Runs: each is written when it is done, and found again by what it was computed from."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .. import __version__
from .._errors import FileFormatError, IsentropicError, StoredRunWarning
from .._io import atomic_write, require_writable
from .._runtime import require_memory
from .._values import Floats
from .runs import SEAL, Run

T = TypeVar("T")
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")
_DIGITS = 20  # of the key in the name of a file
_PER_BYTE = 8  # bytes that a byte of a file takes as it is read
_LEAST_RUN = 10_000  # bytes of a file, and for each row of the table
_PER_ROW = 100
_OLD = 3600.0  # seconds after which a temporary file is a leftover of a process that was killed


def fingerprint(X: Floats, y: Any) -> str:
    """Of a table: equal for equal numbers in an equal shape."""
    found = hashlib.sha256(repr((X.shape, str(X.dtype))).encode())
    found.update(np.ascontiguousarray(X).tobytes())
    if y is not None:
        found.update(repr(np.asarray(y).tolist()).encode())
    return found.hexdigest()


def key_of(data: str, method: str, settings: Mapping[str, Any], seed: int) -> str:
    """Of a Run: what its numbers depend on, our code and the libraries below it included."""
    parts = {"data": data, "method": method, "settings": settings, "seed": seed, "version": __version__}
    parts["code"] = code_mark()
    text = json.dumps(parts, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def as_written(value: Any) -> str:
    """A parameter in a key; an array by its numbers, of which ``repr`` leaves out those of a long one."""
    return fingerprint(value, None) if isinstance(value, np.ndarray) else repr(value)


@cache
def code_mark() -> str:
    """Of every file of ours and the versions of the libraries: another one may give other numbers.

    The version alone would not do: between two releases the code changes and the version does not.
    """
    found = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for path in sorted(folder.rglob("*.py")):
        found.update(str(path.relative_to(folder)).encode())
        found.update(path.read_bytes())
    for name in _LIBRARIES:
        found.update(f"{name} {version(name)}".encode())
    return found.hexdigest()


@dataclass(frozen=True, slots=True)
class Store:
    """Runs as files ``method-key.json``, each whole or not there; without a folder nothing is kept."""

    folder: Path | None

    @classmethod
    def at(cls, folder: str | Path | None, n_rows: int = 0) -> Store:
        """Make the folder, and refuse now one that takes no files, or not the rows of all runs."""
        if folder is None:
            return cls(None)
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            reason = str(getattr(error, "strerror", None) or error).lower()
            raise FileFormatError(f"{path} cannot be a folder of runs: {reason}. Choose another.") from error
        require_writable(path / "run.json", _LEAST_RUN + _PER_ROW * n_rows)
        _sweep(path)
        return cls(path)

    def read(self, method: str, key: str) -> Run | None:
        """The Run of this key, unless it failed or is not there: failures are tried again."""
        run = self.kept(method, key, lambda text: _run_of(text, method))
        return None if run is None or run.failed else run

    def write(self, key: str, run: Run) -> None:
        """Write a Run in one step: a reader, or the next start, sees all of it or nothing."""
        self.keep(run.method, key, run.to_json())

    def kept(self, name: str, key: str, parse: Callable[[str], T]) -> T | None:
        """What was kept under this name and key; None, with a warning, where it is not as it was written."""
        path = self._path(name, key)
        if path is None or not os.path.lexists(path):
            return None
        try:
            return parse(_opened(path, key))
        except (IsentropicError, OSError, ValueError) as error:
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else error
            text = f"{path} is computed again: it must be a result that was kept here, but {reason}."
            warnings.warn(text, StoredRunWarning, stacklevel=3)
            return None

    def keep(self, name: str, key: str, text: str) -> None:
        """Write JSON in one step, in place of what was there under this name and key."""
        path = self._path(name, key)
        if path is None or (os.path.lexists(path) and not path.is_file()):
            return  # what is in its place, as reading has told, is not ours to remove
        with atomic_write(path) as file:
            file.write(_sealed(text, key).encode())

    def _path(self, method: str, key: str) -> Path | None:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", method)
        return None if self.folder is None else self.folder / f"{name}-{key}.json"


# ---- seals -------------------------------------------------------------------------------------

# A file ends in the checksum of all before it and of the key: what was changed by hand, and the file of
# another run, linked or renamed, do not pass. It is no signature: whoever computes it anew is believed.


def _sealed(text: str, key: str) -> str:
    return f'{text[:-1]}, "{SEAL}": "{_seal(text, key)}"}}'


def _seal(text: str, key: str) -> str:
    return hashlib.sha256(f"{key}\n{text}".encode()).hexdigest()


def _opened(path: Path, key: str) -> str:
    """The text of a file; raises unless it is the one that was written for this key."""
    if not path.is_file():
        raise ValueError("it is no file, so that it is not kept either")
    hint = "Remove it."
    require_memory(_PER_BYTE * path.stat().st_size, f"reading {path.name}", hint)
    content = path.read_text(encoding="utf-8")
    start, mark, end = content.rpartition(f', "{SEAL}": "')
    if not mark or end != f'{_seal(start + "}", key)}"}}':
        raise ValueError("its content does not match its checksum")
    return f"{start}}}"


def _run_of(text: str, method: str) -> Run:
    run = Run.from_json(text)
    if run.method != method:
        raise ValueError(f"it is of {run.method!r}")
    return run


def _sweep(folder: Path) -> None:
    """Remove what a killed process left of the Run that it was writing."""
    for path in folder.glob(f".*-{'[0-9a-f]' * _DIGITS}.json.*.tmp"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink()
