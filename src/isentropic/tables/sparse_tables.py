"""Sparse tables whose rows stay sparse, for comparison by cosine."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.errors import InvalidInputError, require
from .._core.sparse_rows import SPARSE_METRIC, SparseRows
from .._core.values import Table
from .notices import notice, plural
from .prepare.column_scaling import Scale
from .prepare.preparation import Preparation
from .prepare.roles import Roles


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
