"""NPY and NPZ: arrays of numbers, one row per entry of the first axis. Nothing is unpickled."""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..._core.errors import FileFormatError, InvalidInputError
from ..._core.files import path_of
from ..._core.runtime import require_memory
from ..notices import listed, no_such_column, notice
from ..raw import RawTable, require_distinct
from .files import kind_of_file
from .streams import opened, read_as, require_start

TARGET = "target"  # name of the column that labels from a file go to
_COLUMN_KINDS = "biufUM"  # of numpy: what a field of a structured array may be


def read_npy(path: Path, target: str | None, name: str) -> RawTable:
    """Rows of one array; features are called ``x0``, ``x1`` ..., or by the fields of a structured array."""
    X = _load_array(path)
    if X.dtype.names is None and target is not None and target not in _names(X, "x"):
        return array_table(X, read_labels(label_file(path, target)), path, name)
    return array_table(X, None, path, name)


def read_npz(path: Path, target: str | None, name: str) -> RawTable:
    """The array ``X`` (or the only one) with the labels ``y``, or those called ``target``."""
    require_start(path, b"PK", "an NPZ file")
    with read_as(path, "a NumPy file"), opened(path) as stream, zipfile.ZipFile(stream) as archive:
        members = {member.removesuffix(".npy"): member for member in archive.namelist()}
        keys = list(members)
        x_key = keys[0] if len(keys) == 1 else "X"
        if x_key not in keys:
            raise InvalidInputError(
                f"{path} must hold one array, or one called 'X', got {listed(keys)}. "
                "Write it as numpy.savez(path, X=..., y=...), or load one of them as a pandas frame."
            )
        X = _load_member(archive, members[x_key], path)
        y_key = target if target is not None else ("y" if "y" in keys else None)
        if y_key in _names(X, "x"):
            y_key = None  # a column of X, which preparation takes out
        elif y_key is not None and y_key not in keys:
            raise no_such_column(
                "target", f"{path.name} or an array in it", y_key, [*keys, *_names(X, "x")[:3]]
            )
        labels = None if y_key is None else _load_member(archive, members[y_key], path)
    unused = [key for key in keys if key not in (x_key, y_key)]
    if unused:
        notice(f"{path.name} holds arrays that are not used: {listed(unused)}.")
    return array_table(X, labels, path, name)


def members_of(path: Path) -> dict[str, npt.NDArray[Any]]:
    """All arrays of an NPZ file, by their names."""
    with read_as(path, "a NumPy file"), opened(path) as stream, zipfile.ZipFile(stream) as archive:
        names = archive.namelist()
        return {name.removesuffix(".npy"): _load_member(archive, name, path) for name in names}


def array_table(
    X: npt.NDArray[Any],
    labels: npt.NDArray[Any] | None,
    path: Path,
    name: str,
    *,
    prefix: str = "x",
    one_unit: bool = False,
) -> RawTable:
    """A table of an array: further axes are flattened, and appear in the names of the features."""
    if X.ndim and not len(X):
        raise InvalidInputError(f"{path} must have at least one row, got shape {X.shape}. Write it again.")
    frame = _frame(X, path, prefix)
    if labels is None:
        return RawTable(frame, name, one_unit=one_unit)
    if labels.shape != (len(X),):
        raise InvalidInputError(
            f"target must be one label for each of the {len(X)} rows of {path.name}, got shape "
            f"{labels.shape}. Check that the two belong together."
        )
    if labels.dtype.kind not in _COLUMN_KINDS:
        raise InvalidInputError(
            f"target must be labels, numbers or text, got dtype {labels.dtype}. Convert it."
        )
    require_distinct([*frame.columns, TARGET], path.name)
    frame[TARGET] = _column(labels, path)
    return RawTable(frame, name, TARGET, one_unit, has_labels=True)


def _frame(X: npt.NDArray[Any], path: Path, prefix: str) -> pd.DataFrame:
    if X.dtype.names is not None:
        _require_columns(X, path)
        try:
            return pd.DataFrame({field: _column(X[field], path) for field in X.dtype.names})
        except (pd.errors.OutOfBoundsDatetime, TypeError) as error:  # TypeError: of no unit
            raise InvalidInputError(
                f"{path} must hold dates that fit 64 bits of seconds, got one that does not ({error}). "
                "Write the years as numbers."
            ) from error
    if X.ndim < 2:
        raise InvalidInputError(
            f"{path} must hold rows and features, got an array of shape {X.shape}. "
            "Give X of shape (n, m); labels go to target=..."
        )
    if X.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{path} must hold numbers, got dtype {X.dtype}. Convert it: X.astype(float)."
        )
    return pd.DataFrame(_native(X).reshape(len(X), math.prod(X.shape[1:])), columns=_names(X, prefix))


def _native(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _column(values: npt.NDArray[Any], path: Path) -> npt.NDArray[Any]:
    """Numbers, dates or text in the byte order of the machine; raises for text that is none."""
    native = _native(values)
    if native.dtype.kind == "U" and native.dtype.itemsize:
        codes = np.ascontiguousarray(native).view(np.uint32)
        if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes <= 0xDFFF))).any():
            raise FileFormatError(
                f"{path} must hold text, got characters that do not exist. Write it again as UTF-8 text."
            )
    return native


def _require_columns(X: npt.NDArray[Any], path: Path) -> None:
    """Raise unless every field of a structured array is a column."""
    kinds = [X.dtype[field] for field in X.dtype.names or ()]
    if X.ndim != 1 or not all(dtype.kind in _COLUMN_KINDS and dtype.shape == () for dtype in kinds):
        raise InvalidInputError(
            f"{path} must hold rows with a number or text in each field, got shape {X.shape} and fields "
            f"{listed(kinds)}. Write the fields as columns of their own."
        )


def _names(X: npt.NDArray[Any], prefix: str) -> list[str]:
    if X.dtype.names is not None:
        return list(X.dtype.names)
    return [prefix + "_".join(map(str, position)) for position in np.ndindex(*X.shape[1:])]


def label_candidates(path: Path, target: str) -> list[Path]:
    """Files that a target may be: as named first, then next to the rows."""
    # pathlib's is_file raises where a name is too long
    return [one for one in (path_of(target), path.parent / target) if os.path.isfile(one)]


def label_file(path: Path, target: str) -> Path:
    """The file of labels: as named, or next to the rows."""
    found = label_candidates(path, target)
    if found:
        return found[0]
    raise InvalidInputError(
        f"target must be a file of labels (IDX or NPY) for {path.name}, got {target!r}, which is no file. "
        "Check its path."
    )


def read_labels(path: Path) -> npt.NDArray[Any]:
    """The array in an IDX or NPY file."""
    if kind_of_file(path) == ".idx":
        from .idx import read_idx

        return read_idx(path)
    return _load_array(path)


def _load_array(path: Path) -> npt.NDArray[Any]:
    require_start(path, b"\x93NUMPY", "an NPY file")
    with read_as(path, "a NumPy file"), opened(path) as stream:
        _require_array(stream, path.stat().st_size, path)
        stream.seek(0)
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _load_member(archive: zipfile.ZipFile, member: str, path: Path) -> npt.NDArray[Any]:
    with archive.open(member) as stream:
        _require_array(stream, archive.getinfo(member).file_size, path)
    with archive.open(member) as stream:
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _require_array(stream: IO[bytes], size: int, path: Path) -> None:
    """Raise unless the head of an array announces numbers, as many as there are and the budget allows."""
    version = np.lib.format.read_magic(stream)
    # the head of version 3 differs from that of 2 in the letters that names may have
    is_first = version == (1, 0)
    read_head = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_head(stream)
    if dtype.hasobject:
        raise FileFormatError(
            f"{path} must hold plain numbers, got pickled objects, which may run code and are never "
            "loaded. Save it as numbers: numpy.save(path, X.astype(float))."
        )
    if any(type(length) is not int or length < 0 for length in shape):
        raise FileFormatError(
            f"{path} must announce a shape of whole numbers from 0, got {shape}. Write or download it again."
        )
    expected, found = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if expected != found:
        raise FileFormatError(
            f"{path} must hold {expected} bytes for its shape {shape}, got {found}. Write or download it "
            "again."
        )
    require_memory(2 * expected, f"reading {path.name}", "Keep fewer columns or rows in the file.")
