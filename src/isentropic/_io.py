"""Save and load of fitted models, and files that are written whole or not at all.

A model file is a skops archive (a zip of JSON and plain arrays, nothing that runs) with one more
member, ``isentropic.json``: the format number, the versions that wrote it and what the caller adds.
Loading trusts the types listed here, never what the file asks for.
"""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np

from . import __version__
from ._errors import FileFormatError, InvalidInputError, IsentropicError, require
from ._runtime import require_memory
from ._values import NeighborGraph

FORMAT = 1
HEADER = "isentropic.json"

_METHOD = re.compile(r"isentropic\.(methods|meta)\.[a-z]\w*\.[A-Z]\w*")
_VALUES = tuple(
    f"isentropic._values.{name}"
    for name in (
        "Can", "Geodesic", "Inflate", "Knn", "Landmarks", "Momentum", "NeighborGraph", "Neighbors",
        "Percentile", "Pnn", "Radius",
    )
)  # fmt: skip
_FITTED = (
    "isentropic.families.rows.KnownRows",
    "isentropic.linalg.scaling.Scaling",
    "isentropic.selection.values.Selection",
    "isentropic.selection.values.Trial",
)
_PLAIN = (
    *(f"builtins.{name}" for name in ("bool", "dict", "float", "int", "list", "set", "str", "tuple")),
    *(f"numpy.{name}" for name in ("bool", "float32", "float64", "int32", "int64", "ndarray")),
)
TRUSTED = frozenset(_VALUES + _FITTED + _PLAIN)  # and every method of this package
# How skops rebuilds each of them. The others can import functions or call constructors.
_LOADERS = frozenset(
    {"DictNode", "JsonNode", "ListNode", "NdArrayNode", "ObjectNode", "SetNode", "TupleNode", "TypeNode"}
)
_PLAIN_ONLY = "A model file holds methods of isentropic, plain values and arrays only."


# ---- files -------------------------------------------------------------------------------------


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file that becomes ``path`` when the block ends well, and vanishes when it does not.

    The bytes go to a temporary file in the same folder, which then takes the name in one step: a
    reader sees the old file or the new one, also after a full disk or Ctrl-C.
    """
    target, temporary = _target_and_temporary(path)
    try:
        with open(temporary, "x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode)
        os.replace(temporary, target)
    except FileFormatError:
        raise
    except OSError as error:
        raise FileFormatError(_unwritable(path, error)) from error
    finally:
        # after the replacement there is nothing left to remove
        with suppress(OSError):
            temporary.unlink()


def require_writable(path: str | Path) -> None:
    """Refuse now, not after an hour's work, a file that could not be written."""
    _, temporary = _target_and_temporary(path)
    try:
        with open(temporary, "xb"):
            pass
        temporary.unlink()
    except OSError as error:
        raise FileFormatError(_unwritable(path, error)) from error


def _target_and_temporary(path: str | Path) -> tuple[Path, Path]:
    target = Path(path).resolve()  # a link keeps pointing where it pointed
    if target.is_dir():
        raise FileFormatError(f"{path} must be a file, got a folder. Add a file name.")
    return target, target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")


def _unwritable(path: str | Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    if isinstance(error, FileNotFoundError):
        folder = Path(path).parent
        reason = "that folder takes no files" if folder.is_dir() else f"there is no folder {folder}"
    reason = reason[:1].lower() + reason[1:]
    return f"{path} cannot be written: {reason}. Choose a folder with room where you may write."


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
    from skops import io as skops_io

    require(hasattr(model, "get_params"), "model", "a fitted estimator", model)
    for name, value in model.get_params(deep=False).items():
        hint = "Give a name where the method takes one, or keep the model in this process."
        require(not callable(value), name, "a plain value in a model that is saved", value, hint)
    header = json.dumps({"format": FORMAT, "versions": _versions(), "extra": extra or {}}, indent=2)
    with atomic_write(path) as file:
        try:
            skops_io.dump(model, file)
        except TypeError as error:
            raise InvalidInputError(f"The model cannot be saved: {error}. {_PLAIN_ONLY}") from error
        with ZipFile(file, "a") as archive:
            foreign = _untrusted(json.loads(archive.read("schema.json")))
            if foreign:
                raise InvalidInputError(
                    f"The model cannot be saved: it holds {', '.join(foreign)}. {_PLAIN_ONLY}"
                )
            archive.writestr(HEADER, header)


def load(path: str | Path) -> Any:
    """Read a model that :func:`save` wrote. Nothing in the file is executed."""
    return load_with_extra(path)[0]


def load_with_extra(path: str | Path) -> tuple[Any, dict[str, Any]]:
    """A saved model and the JSON that was saved with it."""
    try:
        with open(path, "rb") as file:
            _require_archive(file, path)
            with ZipFile(file) as archive:
                size = sum(member.file_size for member in archive.infolist())
                require_memory(2 * size, f"The model {path}", "Load it where there is more.")
                extra = _extra(archive, path)
                _require_trusted(archive, path)
            return _model(file), extra
    except IsentropicError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileFormatError(f"{path} cannot be read: {reason}. Check the path of the model.") from error
    except Exception as error:  # a damaged archive can fail anywhere
        raise FileFormatError(_refusal(path, f"it is damaged ({error})")) from error


def _refusal(path: str | Path, reason: str) -> str:
    next_step = "Save the model again, or get another copy."
    return f"{path} must be a model saved by isentropic, but {reason}. {next_step}"


def _require_archive(file: IO[bytes], path: str | Path) -> None:
    start = file.read(4)
    if not start:
        raise FileFormatError(_refusal(path, "it is empty"))
    if start[:1] == b"\x80":
        raise FileFormatError(_refusal(path, "it is a pickle, which could run anything when opened"))
    if start != b"PK\x03\x04":
        raise FileFormatError(_refusal(path, "it is a file of another kind"))


def _extra(archive: ZipFile, path: str | Path) -> dict[str, Any]:
    if HEADER not in archive.namelist():
        raise FileFormatError(_refusal(path, "another program wrote it"))
    header = json.loads(archive.read(HEADER))
    number, writer = header["format"], header["versions"]["isentropic"]
    if number > FORMAT:
        raise FileFormatError(
            f"{path} must have a model format up to {FORMAT}, got {number}. It was saved by isentropic "
            f"{writer}: install that version or a later one."
        )
    return dict(header["extra"])


def _require_trusted(archive: ZipFile, path: str | Path) -> None:
    schema = json.loads(archive.read("schema.json"))
    foreign = _untrusted(schema)
    if not foreign and not _is_method(_type_name(schema)):
        foreign = [_type_name(schema)]
    if foreign:
        raise FileFormatError(_refusal(path, f"it asks for {', '.join(foreign)}, which is not trusted"))


def _untrusted(schema: dict[str, Any]) -> list[str]:
    """Names of the types in a skops schema that are not on the list, by any way of rebuilding them."""
    found = set()
    nodes: list[Any] = [schema]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes.extend(node)
        elif isinstance(node, dict):
            nodes.extend(node.values())
            name = _type_name(node)
            if "__loader__" in node and not (_is_trusted(name) and node["__loader__"] in _LOADERS):
                found.add(name)
    return sorted(found)


def _is_trusted(name: str) -> bool:
    return name in TRUSTED or _is_method(name)


def _is_method(name: str) -> bool:
    """Whether a name is that of an estimator which a module of ``isentropic.methods`` defines."""
    if not _METHOD.fullmatch(name):
        return False
    module, _, kind = name.rpartition(".")
    try:
        found = getattr(import_module(module), kind, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module and hasattr(found, "_require_sound")


def _type_name(node: dict[str, Any]) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _model(file: IO[bytes]) -> Any:
    from skops import io as skops_io

    # Everything in the file has passed the test above; skops wants the names.
    model = skops_io.load(file, trusted=skops_io.get_untrusted_types(file=file))
    for value in vars(model).values():
        if isinstance(value, NeighborGraph):
            _require_sound_graph(value)
    model._require_sound()
    return model


def _require_sound_graph(graph: NeighborGraph) -> None:
    # kernels follow these indices without checking bounds
    starts = graph.indptr
    types = (starts.dtype, graph.indices.dtype, graph.weights.dtype)
    if types != (np.int64, np.int32, np.float64):
        raise ValueError("its graph has numbers of another type")
    rising = len(starts) > 0 and starts[0] == 0 and bool(np.all(np.diff(starts) >= 0))
    if not (rising and starts[-1] == len(graph.indices) == len(graph.weights)):
        raise ValueError("the rows of its graph do not add up")
    if graph.indices.size and not (graph.indices.min() >= 0 and graph.indices.max() < graph.n_rows):
        raise ValueError("its graph points outside the rows")
    if graph.weights.size and not graph.weights.min() >= 0:
        raise ValueError("its graph has edges without a length")


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    libraries = {name: version(name) for name in ("numpy", "scikit-learn", "skops")}
    return {"isentropic": __version__, "python": platform.python_version(), **libraries}
