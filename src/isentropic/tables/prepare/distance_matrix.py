"""Distance matrices: a square table of the distances between its rows, which is no table of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..._core.errors import InvalidInputError, notice
from ..._core.values import Floats, Table
from ..class_labels import class_names, encode_target
from ..raw import RawTable
from .column_scaling import Scale
from .columns import Column, is_number, level_text
from .preparation import Preparation
from .roles import Roles

FEWEST = 4  # rows: smaller squares are symmetric by chance
_MOST_ZEROS = 0.2  # off the diagonal: more of them are edges of a graph, not distances
_ROUNDING = 1e-6  # of the largest distance: text files round


@dataclass(frozen=True, slots=True, eq=False)
class DistanceMatrix:
    """Distances between the rows of a table, and the column that names these, if there is one."""

    D: Floats  # (n, n), symmetric, 0 on the diagonal
    columns: tuple[str, ...]
    names: str | None


def distance_matrix(frame: pd.DataFrame) -> DistanceMatrix | None:
    """The distances of a table that is square, symmetric and non-negative with a zero diagonal, or None.

    Rows go by the names of the columns, in a column of their own or in the index of the frame, or by their
    numbers. A triangle with empty cells above or below counts, too.
    """
    n = len(frame)
    if n < FEWEST or not n <= frame.shape[1] <= n + 1:
        return None
    names = _naming_column(frame) if frame.shape[1] == n + 1 else None
    if frame.shape[1] == n + 1 and names is None:
        return None
    numbers = frame if names is None else frame.drop(columns=names)
    row_names = list(map(str, frame.index if names is None else numbers.columns))
    is_numbered = isinstance(frame.index, pd.RangeIndex) and names is None
    if not is_numbered and row_names != list(map(str, numbers.columns)):
        return None
    D = _square_of(numbers)
    if D is None or (D[~np.eye(n, dtype=bool)] == 0).mean() > _MOST_ZEROS:
        return None
    return DistanceMatrix(D, tuple(map(str, numbers.columns)), names)


def _naming_column(frame: pd.DataFrame) -> str | None:
    """The first column whose values are the names of the others, in their order."""
    for name in (frame.columns[0], frame.columns[-1], *frame.columns[1:-1]):
        others = [str(column) for column in frame.columns if column != name]
        if frame[name].notna().all() and list(map(level_text, frame[name])) == others:
            return str(name)
    return None


def _square_of(frame: pd.DataFrame) -> Floats | None:
    if not all(map(is_number, frame.dtypes)):
        return None
    return square(frame.to_numpy(dtype=np.float64, na_value=np.nan))


def square(values: Floats) -> Floats | None:
    """The symmetric matrix of a square or a triangle of distances; None where it is none of both."""
    D = np.array(values, dtype=np.float64)
    D = np.where(np.isnan(D), D.T, D)
    diagonal = np.diagonal(D).copy()
    np.fill_diagonal(D, np.where(np.isnan(diagonal), 0.0, diagonal))
    if not np.isfinite(D).all() or (D < 0).any():
        return None
    largest = float(D.max(initial=0.0))
    close = _ROUNDING * largest
    if largest == 0 or np.abs(np.diagonal(D)).max() > close or np.abs(D - D.T).max() > close:
        return None
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    return D


def recognize_distances(raw: RawTable, roles: Roles, metric: str) -> DistanceMatrix | None:
    """The distances between rows that a table holds, where that is what it holds, and a notice of it."""
    if metric not in ("auto", "euclidean", "precomputed") or raw.one_unit:
        return None
    frame = raw.frame.drop(columns=[name for name in {*roles.drop, roles.target} if name in raw.frame])
    if metric == "precomputed":
        return require_distances(frame, raw.name)
    found = distance_matrix(frame)
    if found is None:
        return None
    n = len(found.D)
    what = f"{raw.name} is a square of {n} x {n} numbers, symmetric, with zeros on its diagonal"
    if metric == "auto":
        notice(f"{what}: it is read as the distances between its rows. metric='euclidean' reads features.")
        return found
    notice(f"{what}, and is read as features. metric='precomputed' reads the distances between its rows.")
    return None


def require_distances(frame: pd.DataFrame, table: str) -> DistanceMatrix:
    """The distances of a table that is said to hold them; raises for one that does not."""
    n = len(frame)
    names = _naming_column(frame) if frame.shape[1] == n + 1 else None
    numbers = frame if names is None else frame.drop(columns=names)
    D = _square_of(numbers) if numbers.shape == (n, n) else None
    if D is None:
        raise InvalidInputError(
            f"{table} must be a square of distances for metric='precomputed', non-negative and symmetric "
            f"with zeros on its diagonal, got {n} rows and {frame.shape[1]} columns. Leave out "
            "others with drop=[...], or choose metric='euclidean' for a table of features."
        )
    return DistanceMatrix(D, tuple(map(str, numbers.columns)), names)


def distances_table(raw: RawTable, roles: Roles, found: DistanceMatrix) -> Table:
    """The table of distances, its rows named; the target, if there is one, stays beside it."""
    target = raw.frame[roles.target] if roles.target is not None else None
    classes = () if target is None else class_names(target)
    y = None if target is None else encode_target(target, classes)
    if y is not None and np.isnan(y).any():
        raise InvalidInputError(
            f"target {roles.target!r} must have a value for every row of a distance matrix, got "
            f"{int(np.isnan(y).sum())} without. Leave it out, or fill them in."
        )
    n = len(found.D)
    preparation = Preparation(
        columns=tuple(Column(name, "number") for name in found.columns),
        target=roles.target,
        index=found.names,
        drop=roles.drop,
        class_names=classes,
        nominal="onehot",
        missing="raise",
        scaling="none",
        fill=np.zeros(n),
        scale=Scale(np.zeros(n), np.ones(n)),
        metric="precomputed",
    )
    is_numbered = found.names is None and isinstance(raw.frame.index, pd.RangeIndex)
    return Table(
        X=found.D,
        y=y.astype(np.int64) if y is not None and classes else y,
        feature_names=found.columns,
        row_names=tuple(map(str, raw.frame.index)) if is_numbered else found.columns,
        class_names=classes,
        name=raw.name,
        scaling="none",
        preparation=preparation,
        metric="precomputed",
    )
