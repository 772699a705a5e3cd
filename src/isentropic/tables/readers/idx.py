"""IDX, the format of MNIST: images as rows of pixels, with their labels in a second file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..._core.errors import FileFormatError
from ..._core.runtime import require_memory
from ..raw import RawTable
from .arrays import array_table, label_file, read_labels
from .streams import opened

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
    with opened(path) as stream:
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
