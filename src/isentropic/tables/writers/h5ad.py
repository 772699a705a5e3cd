"""Maps as h5ad, the file of AnnData: what scanpy and its kin open.

The layout is AnnData's own, version 0.1.0 of the file and 0.2.0 of its arrays and frames: ``X`` the features,
``obs`` what is known of each row, ``obsm["X_isentropic_NAME"]`` the coordinates of each map.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from io import BytesIO
from typing import IO, Any

import numpy as np
import pandas as pd

from ..._core.extras import require_extra

PREFIX = "X_isentropic_"


def write_h5ad(
    file: IO[bytes],
    rows: pd.DataFrame,
    maps: Mapping[str, np.ndarray],
    X: np.ndarray | None = None,
    feature_names: Sequence[str] = (),
    about: Mapping[str, str] | None = None,
) -> None:
    """Write coordinates ``maps`` of the rows whose names are the first column of ``rows``, the others beside.

    Names of rows that repeat are written as they are; AnnData warns of them.
    """
    require_extra("h5ad", "An h5ad file")
    import h5py

    buffer = BytesIO()  # h5py leaves a broken file open where a disk is full
    with h5py.File(buffer, "w") as store:
        _marked(store, "anndata", "0.1.0")
        if X is not None:
            _write_array(store, "X", np.asarray(X, float))
        _write_frame(store, "obs", rows.iloc[:, 1:], [str(name) for name in rows.iloc[:, 0]])
        features = feature_names if X is not None else ()
        _write_frame(store, "var", pd.DataFrame(index=range(len(features))), list(features))
        obsm = _group(store, "obsm")
        for name, coordinates in maps.items():
            _write_array(obsm, _key(PREFIX + name), coordinates)
        for name in ("layers", "obsp", "varm", "varp"):
            _group(store, name)
        about_group = _group(_group(store, "uns"), "isentropic")
        for name, text in (about or {}).items():
            _marked(about_group.create_dataset(name, data=text, dtype=h5py.string_dtype()), "string", "0.2.0")
    file.write(buffer.getbuffer())


def free_name(name: str, taken: Container[str]) -> str:
    """``name`` for a column beside those that are taken, with ``_`` at its end where it is one of them.

    >>> free_name("row", ["row", "row_"])
    'row__'
    """
    while name in taken:
        name += "_"
    return name


def _key(name: str) -> str:
    """A name without the mark of folders in HDF5."""
    return name.replace("/", "_")


def _marked(part: Any, kind: str, version: str) -> Any:
    part.attrs["encoding-type"], part.attrs["encoding-version"] = kind, version
    return part


def _group(parent: Any, name: str) -> Any:
    return _marked(parent.create_group(name), "dict", "0.1.0")


def _write_array(parent: Any, name: str, values: np.ndarray) -> None:
    _marked(parent.create_dataset(name, data=values, compression="gzip"), "array", "0.2.0")


def _write_words(parent: Any, name: str, words: Sequence[str]) -> None:
    import h5py

    kind = h5py.string_dtype()
    # half a character, as a damaged name may end in, is no UTF-8
    safe = [word.encode(errors="backslashreplace").decode() for word in words]
    _marked(
        parent.create_dataset(name, data=np.array(safe, object), shape=(len(safe),), dtype=kind),
        "string-array",
        "0.2.0",
    )


def _write_frame(store: Any, name: str, frame: pd.DataFrame, index: Sequence[str]) -> None:
    """Columns of numbers, flags or classes; words are classes, in their order, as AnnData keeps them."""
    import h5py

    group = _marked(store.create_group(name), "dataframe", "0.2.0")
    group.attrs["_index"] = "_index"
    columns: list[str] = []
    for column in frame.columns:
        columns.append(free_name(_key(str(column)), ["_index", *columns]))  # the word is AnnData's
    group.attrs.create("column-order", np.array(columns, object), dtype=h5py.string_dtype())
    _write_words(group, "_index", index)
    for column, (_, values) in zip(columns, frame.items(), strict=True):
        if values.dtype.kind in "iufb":
            _write_array(group, column, values.to_numpy())
            continue
        codes, classes = pd.factorize(values.astype(object), sort=False)
        words = [str(one) for one in classes]
        order = np.argsort(words, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        part = _marked(group.create_group(column), "categorical", "0.2.0")
        part.attrs["ordered"] = False
        _write_array(part, "codes", np.where(codes < 0, -1, place[codes]) if len(order) else codes)
        _write_words(part, "categories", [words[i] for i in order])
