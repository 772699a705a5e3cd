"""Encoding: a frame becomes a matrix, one feature per number, date or level; NaN marks what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._errors import InvalidInputError
from .._runtime import require_memory
from .._values import Floats
from .columns import UNSEEN, Column, describe, encode, is_number
from .notices import counted, listed, notice, plural
from .precision import name_rounded


def describe_columns(frame: pd.DataFrame, nominal: str) -> tuple[Column, ...]:
    """The kind of each column, in order."""
    return tuple(
        Column(name, "number") if is_number(dtype) else describe(frame[name], name, nominal)
        for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Encoded:
    """The matrix of a table before scaling, and which features each column became."""

    X: Floats  # (n, m), NaN where missing
    firsts: npt.NDArray[np.int64]  # (n_columns,) the first feature of each column
    columns: tuple[Column, ...]
    nominal: str

    def width(self, column: Column) -> int:
        """How many features a column became."""
        return len(column.feature_names(self.nominal))

    def levels(self) -> list[slice]:
        """The features of each column that became one for each of its levels."""
        if self.nominal != "onehot":
            return []
        spans = zip(self.columns, self.firsts.tolist(), strict=True)
        return [slice(a, a + self.width(column)) for column, a in spans if column.kind == "nominal"]

    def missing_counts(self) -> dict[str, int]:
        """Missing values of each column that has any."""
        return self._counts(np.isnan(self.X[:, self.firsts]))

    def require_finite(self, table: str) -> None:
        """Raise when a value is infinite: that is an error of the source, not a missing value."""
        infinite = self._counts(np.isinf(self.X[:, self.firsts]))
        if infinite:
            raise InvalidInputError(
                f"{table} must be finite, got {plural(sum(infinite.values()), 'infinite value')}: "
                f"{counted(infinite)}. Correct them in the source, or leave them empty and choose "
                "missing='drop' or 'mean'."
            )

    def _counts(self, flags: npt.NDArray[np.bool_]) -> dict[str, int]:
        totals = flags.sum(axis=0)
        return {column.name: int(n) for column, n in zip(self.columns, totals, strict=True) if n}


def encode_columns(frame: pd.DataFrame, columns: Sequence[Column], nominal: str, table: str) -> Encoded:
    """``O(n m)``; the memory of the matrix is asked for before it is spent."""
    widths = [len(column.feature_names(nominal)) for column in columns]
    firsts = np.concatenate([[0], np.cumsum(widths)])
    n, m = len(frame), int(firsts[-1])
    require_memory(
        16 * n * m,
        f"{table} as {n} x {m} numbers",
        "Leave out columns: drop=[...], or choose nominal='coded'.",
    )
    name_rounded(frame, columns)
    kinds = dict(zip(frame.columns, frame.dtypes, strict=True))
    if all(is_number(kinds[column.name]) and column.kind == "number" for column in columns):
        names = [column.name for column in columns]
        chosen = frame if names == list(frame.columns) else frame[names]
        X = chosen.to_numpy(dtype=np.float64, na_value=np.nan)
        return Encoded(np.array(X, order="C"), firsts[:-1], tuple(columns), nominal)
    X = np.empty((n, m))
    for column, first, width in zip(columns, firsts, widths, strict=False):
        values = encode(frame[column.name], column)
        _question_unseen(frame[column.name], values, column, nominal)
        is_onehot = column.kind == "nominal" and nominal == "onehot"
        X[:, first : first + width] = _one_hot(values, width) if is_onehot else values[:, None]
    return Encoded(X, firsts[:-1], tuple(columns), nominal)


def _one_hot(codes: Floats, width: int) -> Floats:
    rows: Floats = (codes[:, None] == np.arange(width)).astype(np.float64)
    rows[np.isnan(codes)] = np.nan
    return rows


def _question_unseen(series: pd.Series, codes: Floats, column: Column, nominal: str) -> None:
    unseen = (codes == UNSEEN) & (column.kind == "nominal")
    if not unseen.any():
        return
    strays = f"{listed(series[unseen].unique())} in {plural(int(unseen.sum()), 'row')}"
    if nominal == "coded":
        raise InvalidInputError(
            f"column {column.name!r} must hold the levels of the fitted table ({listed(column.levels)}), got "
            f"{strays}. Correct them, leave them empty and choose missing='drop' or 'mean', or fit with "
            "nominal='onehot'."
        )
    notice(
        f"column {column.name!r} has levels that the fitted table had not: {strays}. "
        "They count as none of the known levels."
    )
