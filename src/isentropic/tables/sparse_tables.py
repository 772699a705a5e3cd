"""Sparse tables: reduced to principal components without becoming dense, or kept for comparison by cosine."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._core.errors import FileFormatError, InvalidInputError, notice, plural, require, require_count
from .._core.files import path_of
from .._core.runtime import require_memory
from .._core.sparse_rows import LARGEST, SPARSE_METRIC, SparseRows
from .._core.values import Floats, Table
from .prepare.column_scaling import Scale
from .prepare.preparation import Preparation, Reduction
from .prepare.roles import Roles
from .raw import RawTable
from .readers.streams import require_file
from .readers.table_files import table_name

RANK = 50  # components where none are asked for
_PARTS = frozenset({"format.npy", "shape.npy", "data.npy"})  # that scipy.sparse.save_npz writes in any case
_ROUNDING = 1e-13  # of the largest variance: what is below is rounding
_COMPRESSED = ("csr", "csc")
_VARIANCE = "its variance around the mean"


def sparse_source(source: Any) -> tuple[Any, str] | None:
    """A sparse matrix by rows and its name, where the source is one or a file of scipy.sparse.save_npz."""
    if isinstance(source, pd.DataFrame):
        return None
    if not isinstance(source, str | os.PathLike):
        from scipy import sparse

        return (_checked(source, "the sparse table"), "table") if sparse.issparse(source) else None
    path = path_of(source)
    if path.suffix.lower() != ".npz" or not os.path.isfile(path):
        return None
    require_file(path)
    return (_read(path), table_name(path)) if _is_sparse_file(path) else None


def _is_sparse_file(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return set(archive.namelist()) >= _PARTS
    except (zipfile.BadZipFile, OSError, ValueError):
        return False  # for the reader of arrays to say what is wrong


def _read(path: Path) -> Any:
    from scipy import sparse

    from .readers.arrays import members_of

    parts = members_of(path)
    form = bytes(np.asarray(parts["format"]).tobytes()).replace(b"\0", b"").decode("ascii", "replace")
    if form not in _COMPRESSED:
        raise InvalidInputError(
            f"{path} must hold a sparse matrix by rows or columns, got {form!r}. Write it as "
            "scipy.sparse.save_npz(path, X.tocsr())."
        )
    make = sparse.csr_array if form == "csr" else sparse.csc_array
    try:
        shape = tuple(int(n) for n in parts["shape"])
        matrix = make((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise FileFormatError(
            f"{path} must be a sparse matrix of scipy.sparse.save_npz, got {error}. Write it again."
        ) from error
    return _checked(matrix, str(path))


def _checked(matrix: Any, what: str) -> Any:
    from scipy import sparse

    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{what} must hold rows of numbers, got {matrix.ndim} axes of {matrix.dtype}. Convert it."
        )
    if not min(matrix.shape):
        raise InvalidInputError(f"{what} must have a row and a column, got shape {matrix.shape}. Check it.")
    require_memory(16 * matrix.nnz, f"{what} by rows", "Take fewer rows.")
    rows = sparse.csr_array(matrix, dtype=np.float64)
    if not np.isfinite(rows.data).all():
        n = int(np.count_nonzero(~np.isfinite(rows.data)))
        raise InvalidInputError(
            f"{what} must be finite, got {plural(n, 'value')} that are not. Correct them in X.data."
        )
    largest = float(np.abs(rows.data).max(initial=0.0))
    require(largest < LARGEST, what, f"of magnitude below {LARGEST:.0e}", largest, "Rescale it.")
    return rows


def reduce_rows(
    matrix: Any, name: str, rank: int | None, fitted: Reduction | None, *, by_cosine: bool = False
) -> RawTable:
    """A sparse table as its principal components, by the axes of the fitted one if it has any.

    Those of rows that are compared by cosine are of directions, around the origin: the cosines of components
    are near those of the rows, however long these are.
    """
    reduction = _fit(matrix, rank, by_cosine) if fitted is None else fitted
    columns = [f"component{j}" for j in range(len(reduction.axes))]
    frame = pd.DataFrame(reduction.apply(matrix), columns=columns)
    return RawTable(frame, name, one_unit=True, reduction=reduction)


def _fit(matrix: Any, rank: int | None, by_cosine: bool) -> Reduction:
    """Principal axes of the table around its mean, or of the directions of its rows around the origin.

    Nothing is formed that is dense: ``O(nnz)`` in each of some rounds.
    """
    n, m = matrix.shape
    most = min(n, m) - 1
    if most < 1:
        raise InvalidInputError(
            f"a sparse table must have at least 2 rows and 2 columns, got {n} x {m}. Give it as X.toarray()."
        )
    wanted = min(RANK, most) if rank is None else require_count("rank", rank, most=most)
    size = 8 * (4 * wanted + 4) * (n + m)
    require_memory(size, "the components of the sparse table", "Choose a lower rank=...")
    matrix = _of_length_one(matrix) if by_cosine else matrix
    mean = np.zeros(m) if by_cosine else np.asarray(matrix.sum(axis=0)).ravel() / n
    axes, values = _leading(matrix, mean, wanted)
    total = float((matrix.data**2).sum() - n * (mean**2).sum())
    kept = f"{min(values.sum() / total, 1.0):.0%}" if total > 0 else "all"
    notice(
        f"a sparse table of {n:,} x {m:,} is reduced to {plural(len(axes), 'principal component')}, which "
        f"keep {kept} of {'the squared lengths of its rows, each made 1' if by_cosine else _VARIANCE}. "
        "rank=... sets their number."
    )
    return Reduction(mean, axes)


def _of_length_one(matrix: Any) -> Any:
    from scipy import sparse

    units = np.abs(matrix).max(axis=1).toarray().ravel()
    units[units == 0] = 1.0  # an empty row has no direction
    scaled = sparse.diags_array(1.0 / units) @ matrix  # first, so that no square overflows
    lengths = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    lengths[lengths == 0] = 1.0
    return (sparse.diags_array(1.0 / lengths) @ scaled).tocsr()


def _leading(matrix: Any, mean: Floats, rank: int) -> tuple[Floats, Floats]:
    """Principal axes (r, m) and variances times n, by Lanczos over the shorter side of the table."""
    from ..linalg import fixed_signs, top_eigenpairs

    n, m = matrix.shape
    transposed = matrix.T.tocsr()

    def times(v: Floats) -> Floats:
        return np.asarray(matrix @ v - mean @ v)

    def back(u: Floats) -> Floats:
        return np.asarray(transposed @ u - np.multiply.outer(mean, u.sum(axis=0)))

    if m <= n:
        values, vectors = top_eigenpairs(lambda v: back(times(v)), m, rank)
    else:
        values, vectors = top_eigenpairs(lambda u: times(back(u)), n, rank)
        vectors = back(vectors) / np.sqrt(np.maximum(values, np.finfo(float).tiny))
    known = values > _ROUNDING * values[0]
    if values[0] <= 0 or not known.any():
        raise InvalidInputError(
            "a sparse table must have rows that differ, got equal ones. Check its source."
        )
    return np.ascontiguousarray(fixed_signs(vectors[:, known]).T), values[known]


# ---- Rows that stay sparse -----------------------------------------------------------------------


def stays_sparse(metric: str, rank: int | None, preparation: Preparation | None) -> bool:
    """Whether the rows of a sparse table are kept: by cosine, and no number of components is asked for."""
    if preparation is not None:
        return preparation.sparse_columns is not None
    return metric == SPARSE_METRIC and rank is None


def sparse_table(matrix: Any, name: str, roles: Roles, fitted: Preparation | None) -> Table:
    """The rows of a sparse matrix as they are; new ones have the columns of the fitted ones."""
    for what in ("target", "index", "features", "labels", "drop"):
        given = getattr(roles, what) or None
        require(given is None, what, "None for a sparse table", given, "Its columns have no names.")
    rows = SparseRows.of(matrix)
    if fitted is not None and rows.m != fitted.sparse_columns:
        raise InvalidInputError(
            f"the sparse table must have the {fitted.sparse_columns} columns of the fitted one, got "
            f"{rows.m}. Give it the same columns, in the same order."
        )
    if rows.n_empty:
        notice(
            f"the sparse table has {plural(rows.n_empty, 'empty row')}, at distance 1 from all others that "
            "are not. Leave them out if they mean nothing."
        )
    preparation = _preparation(rows.m) if fitted is None else fitted
    return Table(
        X=rows,
        y=None,
        feature_names=preparation.feature_names,
        row_names=tuple(map(str, range(len(rows)))),
        class_names=(),
        name=name,
        scaling="none",
        preparation=preparation,
        metric=SPARSE_METRIC,
    )


def _preparation(m: int) -> Preparation:
    none = np.empty(0)
    return Preparation(
        columns=(),
        target=None,
        index=None,
        drop=(),
        class_names=(),
        nominal="onehot",
        missing="raise",
        scaling="none",
        fill=none,
        scale=Scale(none, none),
        metric=SPARSE_METRIC,
        sparse_columns=m,
    )
