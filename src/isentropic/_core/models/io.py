"""Save and load of fitted models.

A model file is a zip of JSON and plain arrays, nothing that runs: see :mod:`.model_file`. It ends in a
checksum of all its bytes, which is compared before anything is rebuilt. Loading rebuilds the methods of the
registry, each as it declares its state, never what the file asks for.

Methods that are not made of parts yet are written by skops, with one more member, ``isentropic.json``: the
format number, the versions that wrote it and what the caller adds.
"""

from __future__ import annotations

import json
import platform
from importlib import import_module
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile

from ... import __version__
from ..errors import FileFormatError, InvalidInputError, IsentropicError, MemoryBudgetError, require
from ..files import atomic_write, path_of
from ..runtime import require_memory
from ..state import StateError, estimators, is_fitted, is_model, require_state, uses_parts
from ..values import STAGES, NeighborGraph, Neighbors
from .archive import ArchiveReader, OutdatedModelError, parsed, unpacked_size
from .checksum import ChecksumError, has_checksum, write_checksum
from .model_file import MEMBER, ModelReader, ModelWriter, UntrustedTypeError

FORMAT = 2  # of skops
PARTS_FORMAT = 3
_WITHOUT_CHECKSUM = 1  # the format of files that end in none
HEADER = "isentropic.json"

# The modules of the values that a model may hold, by the names of the classes; no class has two.
VALUES = {
    **{kind.__name__: kind.__module__ for kind in (*STAGES.values(), NeighborGraph, Neighbors)},
    "InnerProduct": "isentropic.affinities.graph_weights",
    **dict.fromkeys(("ClassGaussians", "WideGaussians"), "isentropic.dissimilarities.classes"),
    **dict.fromkeys(
        ("Added", "Directed", "Exponential", "Shrunk"), "isentropic.dissimilarities.class_dissimilarities"
    ),
    "SparseRows": "isentropic._core.sparse_rows",
    "GowerUnits": "isentropic.distances.gower",
    "KnownRows": "isentropic.embedding.input_rows",
    "Layers": "isentropic.embedding.maps.network",
    "Scaling": "isentropic.linalg.scaling",
    **dict.fromkeys(("Selection", "Trial"), "isentropic.selection.parameter_search"),
}
_AGAIN = "Save the model again, or get another copy."
_OTHER_VERSION = "Fit the model again, and save it with this version."


# ---- models ------------------------------------------------------------------------------------


def save(model: Any, path: str | Path, *, extra: dict[str, Any] | None = None) -> None:
    """Write a fitted model to ``path``; ``extra`` is JSON that travels with it.

    Only what :func:`load` will trust is written: a model with a callable parameter is refused.

    >>> import isentropic, numpy as np, tempfile, pathlib
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> model = isentropic.make("pca").fit(X)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.skops"
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
    of_parts = any(uses_parts(type(each)) for each in (model, *vars(model).values()))
    header = {"format": PARTS_FORMAT if of_parts else FORMAT, "versions": _versions(), "extra": extra or {}}
    with atomic_write(path) as file:
        if of_parts:
            ModelWriter(file).write(model, header)
        else:
            _write_by_skops(model, file, header)
        write_checksum(file)


def _write_by_skops(model: Any, file: IO[bytes], header: dict[str, Any]) -> None:
    from skops import io as skops_io

    skops_io.dump(model, file)
    with ZipFile(file, "a") as archive:
        archive.writestr(HEADER, json.dumps(header, indent=2))


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
            checked = has_checksum(file)
            with ZipFile(file) as archive:
                require_memory(unpacked_size(archive), f"The model {path}", "Load it where there is more.")
                header = _header(archive, path, checked)
                return _model(archive, header), header["extra"]
    except IsentropicError:
        raise
    except (ChecksumError, UntrustedTypeError) as error:
        raise FileFormatError(refusal(path, str(error))) from error
    except OutdatedModelError as error:
        raise FileFormatError(refusal(path, str(error), _OTHER_VERSION)) from error
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
    return f"{path} must be a model saved by isentropic, but {reason}. {next_step}"


def _require_archive(file: IO[bytes], path: str | Path) -> None:
    start = file.read(4)
    if not start:
        raise FileFormatError(refusal(path, "it is empty"))
    if start[:1] == b"\x80":
        raise FileFormatError(refusal(path, "it is a pickle, which could run anything when opened"))
    if start != b"PK\x03\x04":
        raise FileFormatError(refusal(path, "it is a file of another kind"))


def _header(archive: ZipFile, path: str | Path, checked: bool) -> dict[str, Any]:
    """What the file says of itself. ``checked``: it ends in a checksum, and is as it was written."""
    names = archive.namelist()
    member = MEMBER if MEMBER in names else HEADER
    if member not in names:
        raise FileFormatError(refusal(path, "another program wrote it"))
    if len(set(names)) < len(names):
        raise StateError("", "has two members of one name")
    newest = PARTS_FORMAT if member == MEMBER else FORMAT
    header: dict[str, Any] = parsed(archive.read(member))
    try:
        number, writer, extra = header["format"], header["versions"]["isentropic"], header["extra"]
    except (KeyError, TypeError) as error:
        raise StateError(member, f"has no format, versions or extra ({error!r})") from error
    if type(number) is not int or number < 1 or type(extra) is not dict:
        raise StateError(member, "must have a positive number as its format and a dictionary as its extra")
    if number > newest:
        raise FileFormatError(
            f"{path} must have a model format up to {newest}, got {number}. It was saved by isentropic "
            f"{writer}: install that version or a later one."
        )
    if number > _WITHOUT_CHECKSUM and not checked:
        raise FileFormatError(refusal(path, "its checksum is missing: it was cut off or edited"))
    if member == MEMBER:
        _require_stored(archive, number)
    return header


def _require_stored(archive: ZipFile, number: int) -> None:
    """Members are as large as they say, and none lies in another: the file bounds what reading it takes."""
    if number != PARTS_FORMAT:
        raise StateError(MEMBER, f"must have the format {PARTS_FORMAT}, got {number}")
    members = archive.infolist()
    stored = all(one.compress_type == ZIP_STORED and one.compress_size == one.file_size for one in members)
    size = sum(one.file_size for one in members)
    if not stored or size > archive.start_dir:  # the end of the members
        raise StateError("", "has members that are larger than the file")


def _model(archive: ZipFile, header: dict[str, Any]) -> Any:
    if "model" in header:
        model = ModelReader(archive, header).read()
    else:
        model = ArchiveReader(archive, _trusted).read()
    if not is_model(type(model)):
        kind = type(model)
        raise UntrustedTypeError(f"{kind.__module__}.{kind.__name__}")
    require_state(model)
    return model


def _trusted(name: str) -> type | None:
    """The class of this name, if it is one of ours that a model may hold.

    It is found by its own name: in which module it stood when the file was written does not matter, so that
    modules can move. Nothing that a file names is imported.
    """
    package, kind = name.partition(".")[0], name.rpartition(".")[2]
    module = VALUES.get(kind) or estimators().get(kind)
    if module is None or module.partition(".")[0] != package:
        return None
    found: type = getattr(import_module(module), kind)
    return found


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    libraries = {name: version(name) for name in ("numpy", "scikit-learn", "skops")}
    return {"isentropic": __version__, "python": platform.python_version(), **libraries}
