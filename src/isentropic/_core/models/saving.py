"""Save and load of fitted models.

A model file is a zip of JSON and plain arrays, nothing that runs: see :mod:`.model_file`. It ends in a
checksum of all its bytes, which is compared before anything is rebuilt. Loading rebuilds the methods of the
registry, each as it declares its state, never what the file asks for.

The checksum, SHA-256, is the comment of the zip archive, so that any program still opens the file. It finds
damage and careless edits. It is no signature: whoever computes it anew is believed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from ... import __version__
from ..errors import (
    FileFormatError,
    InvalidInputError,
    IsentropicError,
    MemoryBudgetError,
    printable,
    require,
)
from ..files import atomic_write, path_of
from ..runtime import require_memory
from ..state import StateError, is_fitted, is_model, require_state
from .model_file import MEMBER, ModelReader, ModelWriter, UntrustedTypeError

FORMAT = 1
_JSON_COST = 64  # bytes of memory that a byte of JSON may take as objects: 44 as lists in lists
_MARK = b"sha256:"
_DIGITS = 2 * hashlib.sha256().digest_size
_BLOCK = 2**20  # bytes
_LONGEST_REASON = 500  # characters

_AGAIN = "Save the model again, or get another copy."
_OTHER_VERSION = "Fit the model again, and save it with this version."


# ---- models ------------------------------------------------------------------------------------


def save(model: Any, path: str | Path, *, extra: dict[str, Any] | None = None) -> None:
    """Write a fitted model to ``path``; ``extra`` is JSON that travels with it.

    Only what :func:`load` will trust is written: a model with a callable parameter is refused.

    >>> import isentropic, numpy as np, tempfile, pathlib
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> model = isentropic.make("pca").fit(X)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.isentropic"
    >>> isentropic.save(model, file)
    >>> bool(np.all(isentropic.load(file).transform(X) == model.transform(X)))
    True
    """
    fitted = is_model(type(model)) and is_fitted(model)
    require(fitted, "model", "a fitted estimator of isentropic", model)
    for name, value in model.get_params(deep=False).items():
        hint = "Give a name where the method takes one, or keep the model in this process."
        require(not callable(value), name, "a plain value in a model that is saved", value, hint)
    try:
        require_state(model)
    except StateError as error:  # what would not load is not saved
        raise InvalidInputError(f"The model cannot be saved: {error}. Fit it again.") from error
    header = {"format": FORMAT, "versions": _versions(), "extra": extra or {}}
    with atomic_write(path) as file:
        ModelWriter(file).write(model, header)
        _write_checksum(file)


def load(path: str | Path) -> Any:
    """Read a model that :func:`save` wrote. Nothing in the file is executed.

    A file that was damaged or edited is refused: it ends in a checksum of its bytes (SHA-256). That is no
    signature, and does not protect from someone who edits a file and computes the checksum anew.
    """
    return load_with_extra(path)[0]


def load_with_extra(path: str | Path) -> tuple[Any, dict[str, Any]]:
    """A saved model and the JSON that was saved with it."""
    try:
        with open(path_of(path), "rb") as file:
            _require_archive(file, path)
            checked = _has_checksum(file)
            with ZipFile(file) as archive:
                require_memory(_unpacked_size(archive), f"The model {path}", "Load it where there is more.")
                header = _header(archive, path, checked)
                model = ModelReader(archive, header).read()
                require_state(model)
                return model, header["extra"]
    except IsentropicError:
        raise
    except (ChecksumError, UntrustedTypeError) as error:
        raise FileFormatError(refusal(path, str(error))) from error
    except StateError as error:
        next_step = _OTHER_VERSION if error.missing else _AGAIN
        raise FileFormatError(refusal(path, f"it is damaged ({error})", next_step)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileFormatError(f"{path} cannot be read: {reason}. Check the path of the model.") from error
    except MemoryError as error:
        hint = "Load it where there is more."
        raise MemoryBudgetError(f"The model {path} does not fit into memory. {hint}") from error
    except Exception as error:  # a damaged archive can fail anywhere
        raise FileFormatError(refusal(path, f"it is damaged ({error})")) from error


def refusal(path: str | Path, reason: str, next_step: str = _AGAIN) -> str:
    """What to say of a file that is no model, or a damaged one."""
    return f"{path} must be a model saved by isentropic, but {shortened(printable(reason))}. {next_step}"


def shortened(reason: str) -> str:
    """A reason that may quote what a file holds."""
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}..."


def _require_archive(file: IO[bytes], path: str | Path) -> None:
    start = file.read(4)
    if not start:
        raise FileFormatError(refusal(path, "it is empty"))
    if start[:1] == b"\x80":
        raise FileFormatError(refusal(path, "it is a pickle, which could run anything when opened"))
    if start != b"PK\x03\x04":
        raise FileFormatError(refusal(path, "it is a file of another kind"))


def _unpacked_size(archive: ZipFile) -> int:
    """Bytes of memory that reading may take. Each member is read once, however many parts name it."""
    members = archive.infolist()
    text = sum(member.file_size for member in members if member.filename.endswith(".json"))
    return 2 * sum(member.file_size for member in members) + _JSON_COST * text


def _header(archive: ZipFile, path: str | Path, checked: bool) -> dict[str, Any]:
    """What the file says of itself. ``checked``: it ends in a checksum, and is as it was written."""
    names = archive.namelist()
    if MEMBER not in names:
        raise FileFormatError(refusal(path, "another program wrote it"))
    if len(set(names)) < len(names):
        raise StateError("", "has two members of one name")
    _require_stored(archive, [archive.getinfo(MEMBER)])  # before anything is unpacked
    text = archive.read(MEMBER).decode("utf-8")  # json would guess among several encodings
    header: dict[str, Any] = json.loads(text, object_pairs_hook=_distinct)
    try:
        number, writer, extra = header["format"], header["versions"]["isentropic"], header["extra"]
    except (KeyError, TypeError) as error:
        raise StateError(MEMBER, f"has no format, versions or extra ({error!r})") from error
    if type(number) is not int or number < 1 or type(extra) is not dict:
        raise StateError(MEMBER, "must have a positive number as its format and a dictionary as its extra")
    if number > FORMAT:
        raise FileFormatError(
            f"{path} must have a model format up to {FORMAT}, got {str(number)[:60]}. It was saved by "
            f"isentropic {printable(writer)[:60]}: install that version or a later one."
        )
    if not checked:
        raise FileFormatError(refusal(path, "its checksum is missing: it was cut off or edited"))
    _require_stored(archive, archive.infolist())
    return header


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of readers, some take the first of two equal keys and some the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key of its JSON comes twice")
    return found


def _require_stored(archive: ZipFile, members: list[ZipInfo]) -> None:
    """Members are as large as they say, and none lies in another: the file bounds what reading it takes."""
    stored = all(one.compress_type == ZIP_STORED and one.compress_size == one.file_size for one in members)
    size = sum(one.file_size for one in members)
    if not stored or size > archive.start_dir:  # the end of the members
        raise StateError("", "has members that are larger than the file")


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    libraries = {name: version(name) for name in ("numpy", "scikit-learn")}
    return {"isentropic": __version__, "python": platform.python_version(), **libraries}


# ---- the checksum ------------------------------------------------------------------------------


class ChecksumError(ValueError):
    """A file is not as it was written."""

    def __init__(self) -> None:
        super().__init__("its content does not match its checksum: it was damaged or edited")


def _write_checksum(file: IO[bytes]) -> None:
    """End a zip archive, open for reading and writing, with the checksum of its bytes."""
    with ZipFile(file, "a") as archive:
        archive.comment = _MARK + b"0" * _DIGITS
    end = file.seek(-_DIGITS, os.SEEK_END)
    digits = _checksum(file, end)
    file.seek(end)
    file.write(digits)


def _has_checksum(file: IO[bytes]) -> bool:
    """Whether a file ends in a checksum; raises :class:`ChecksumError` for one of other content."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _DIGITS - len(_MARK)))
    mark, digits = file.read(len(_MARK)), file.read()
    if mark != _MARK:
        return False
    if digits != _checksum(file, size - _DIGITS):
        raise ChecksumError
    return True


def _checksum(file: IO[bytes], end: int) -> bytes:
    """Of the first ``end`` bytes, as digits."""
    found, left = hashlib.sha256(), file.seek(0) + end
    while left and (block := file.read(min(left, _BLOCK))):
        found.update(block)
        left -= len(block)
    return found.hexdigest().encode()
