"""Array files: NPY and NPZ, and IDX, the format of MNIST. One row per entry of the first axis.

Nothing is unpickled.
"""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..._core.errors import FileFormatError, InvalidInputError, listing, no_such_column, notice
from ..._core.files import path_of
from ..._core.runtime import require_memory
from ..raw import RawTable, require_distinct
from .streams import open_stream, read_as, require_start
from .table_files import kind_of_file

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
    with read_as(path, "a NumPy file"), open_stream(path) as stream, zipfile.ZipFile(stream) as archive:
        members = {member.removesuffix(".npy"): member for member in archive.namelist()}
        keys = list(members)
        x_key = keys[0] if len(keys) == 1 else "X"
        if x_key not in keys:
            raise InvalidInputError(
                f"{path} must hold one array, or one called 'X', got {listing(keys)}. "
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
        notice(f"{path.name} holds arrays that are not used: {listing(unused)}.")
    return array_table(X, labels, path, name)


def members_of(path: Path) -> dict[str, npt.NDArray[Any]]:
    """All arrays of an NPZ file, by their names."""
    with read_as(path, "a NumPy file"), open_stream(path) as stream, zipfile.ZipFile(stream) as archive:
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
            f"{listing(kinds)}. Write the fields as columns of their own."
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
        from .arrays import read_idx

        return read_idx(path)
    return _load_array(path)


def _load_array(path: Path) -> npt.NDArray[Any]:
    require_start(path, b"\x93NUMPY", "an NPY file")
    with read_as(path, "a NumPy file"), open_stream(path) as stream:
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


# ---- IDX -----------------------------------------------------------------------------------------


_MOST_AXES = 64  # of an array of numpy
_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_images(path: Path, target: str | None, name: str) -> RawTable:
    """One row per image, pixels named ``pixel_ROW_COLUMN``; labels from ``target`` or from the next file."""
    labels_path = labels_beside(path) if target is None else label_file(path, target)
    labels = None if labels_path is None else read_labels(labels_path)
    return array_table(read_idx(path), labels, path, name, prefix="pixel_", one_unit=True)


def labels_beside(path: Path) -> Path | None:
    """The labels of a file of images, where they are next to it under the usual name."""
    name = path.name.replace("images", "labels").replace("idx3", "idx1")
    if name == path.name:
        return None
    plain = name.removesuffix(".gz")
    return next(
        (path.with_name(n) for n in (name, plain, f"{plain}.gz") if path.with_name(n).is_file()), None
    )


def read_idx(path: Path) -> npt.NDArray[Any]:
    """The array in an IDX file; its size must be exactly what its head announces."""
    with open_stream(path) as stream:
        head = stream.read(4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _TYPES:
            raise FileFormatError(
                f"{path} must be an IDX file, which starts with 00 00 and a type, got "
                f"{head.hex(' ') or 'nothing'}. Download it again."
            )
        dtype, n_axes = np.dtype(_TYPES[head[2]]), head[3]
        sizes = stream.read(4 * n_axes)
        if not 1 <= n_axes <= _MOST_AXES or len(sizes) < 4 * n_axes:
            raise FileFormatError(
                f"{path} must announce a shape of 1 to {_MOST_AXES} axes, got {n_axes} axes in "
                f"{len(sizes)} bytes. Download it again."
            )
        shape = tuple(int(size) for size in np.frombuffer(sizes, dtype=">u4"))
        expected = math.prod(shape) * dtype.itemsize
        if expected == 0:
            raise FileFormatError(f"{path} must hold numbers, got the shape {shape}. Download it again.")
        require_memory(expected, f"reading {path.name}", "Use a part of the images.")
        body = stream.read(expected + 1)
    if len(body) != expected:
        got = "more" if len(body) > expected else f"{len(body)}"
        raise FileFormatError(
            f"{path} must hold {expected} bytes for its shape {shape}, got {got}. Download it again."
        )
    return np.frombuffer(body, dtype=dtype).reshape(shape)


def read_pairs(paths: list[Path], name: str) -> RawTable:
    """All images of a folder with their labels, the training part first."""
    images = [path for path in paths if "images" in path.name]
    images.sort(key=lambda path: (not path.name.startswith("train"), path.name))
    parts = [read_images(path, None, name) for path in images]
    if not parts or not all(part.has_labels for part in parts):
        raise FileFormatError(
            f"{name} must be IDX files of images, each with a file of labels, got "
            f"{[path.name for path in paths]}. Complete the data folder."
        )
    frame = pd.concat([part.frame for part in parts], ignore_index=True)
    return RawTable(frame, name, parts[0].target, one_unit=True)
