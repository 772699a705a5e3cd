"""Missing values: an error that counts them, rows left out, means filled in, or kept as NaN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import InvalidInputError
from .._values import Floats, Table
from .encoding import Encoded
from .notices import counted, listed, notice, plural
from .preparation import Preparation
from .roles import Parts
from .scaling import column_means
from .targets import encode_target


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Complete rows before scaling."""

    X: Floats  # (n, m), nothing missing but what is to be kept so
    y: npt.NDArray[Any] | None
    row_names: tuple[str, ...]
    class_names: tuple[str, ...]
    fill: Floats  # (m,) means of the features

    def table(self, name: str, preparation: Preparation) -> Table:
        """The table; scales ``X`` in place."""
        return Table(
            X=preparation.scale.apply(self.X),
            y=self.y,
            feature_names=preparation.feature_names,
            row_names=self.row_names,
            class_names=self.class_names,
            name=name,
            scaling=preparation.scaling,
            preparation=preparation,
        )


def complete_rows(
    encoded: Encoded,
    parts: Parts,
    class_names: tuple[str, ...],
    missing: str,
    table: str,
    fill: Floats | None = None,
) -> Rows:
    """Rows with nothing missing, unless it is kept; ``fill`` are the means of the fitted table, if any."""
    X, row_names = encoded.X, parts.row_names
    y = None if parts.target is None else encode_target(parts.target, class_names)
    if np.isfinite(X).all() and (y is None or np.isfinite(y).all()):
        fill = column_means(X) if fill is None else fill
        return Rows(X, _codes(y, class_names), row_names, class_names, fill)
    encoded.require_finite(table)
    gaps = np.isnan(X)
    unlabelled = np.zeros(len(X), dtype=bool) if y is None else np.isnan(y)
    if missing == "raise" or (missing != "drop" and unlabelled.any()):
        _refuse(encoded, gaps.any(axis=1) | unlabelled, unlabelled, parts.target_name, missing, table)
    if missing == "drop":
        keep = ~(gaps.any(axis=1) | unlabelled)
        _require_rows(keep, encoded, table)
        notice(f"{plural(int((~keep).sum()), 'row')} of {len(keep)} with missing values left out.")
        X, y = X[keep], None if y is None else y[keep]
        row_names = tuple(name for name, kept in zip(row_names, keep, strict=True) if kept)
        gaps = np.isnan(X)
        y, class_names = (y, class_names) if fill is not None else _used_classes(y, class_names)
    fill = _present_means(X, gaps, encoded, table, missing) if fill is None else fill
    if missing != "keep":
        X[gaps] = np.broadcast_to(fill, X.shape)[gaps]
    return Rows(X, _codes(y, class_names), row_names, class_names, fill)


def _codes(y: Floats | None, class_names: tuple[str, ...]) -> npt.NDArray[Any] | None:
    return y.astype(np.int64) if y is not None and class_names else y


def _used_classes(y: Floats | None, class_names: tuple[str, ...]) -> tuple[Floats | None, tuple[str, ...]]:
    """The classes that still have rows."""
    if y is None or not class_names:
        return y, class_names
    used, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.float64), tuple(class_names[int(code)] for code in used)


def _refuse(
    encoded: Encoded,
    incomplete: npt.NDArray[np.bool_],
    unlabelled: npt.NDArray[np.bool_],
    target: str | None,
    missing: str,
    table: str,
) -> None:
    counts = encoded.missing_counts()
    if target is not None and unlabelled.any():
        counts[target] = int(unlabelled.sum())
    remedy = f"Choose missing='drop' to leave out {plural(int(incomplete.sum()), 'row')}, "
    if unlabelled.any():
        remedy += f"which is the only remedy for the target {target!r}"
        got = {str(target): counts[str(target)]} if missing != "raise" else counts
    else:
        remedy += "missing='mean' to fill in the mean of each feature, or missing='keep' and the method "
        remedy += "probabilistic-pca, which maps rows with holes"
        got = counts
    total = plural(sum(got.values()), "missing value")
    raise InvalidInputError(f"{table} must be complete, got {total}: {counted(got)}. {remedy}.")


def _require_rows(keep: npt.NDArray[np.bool_], encoded: Encoded, table: str) -> None:
    if not keep.any():
        raise InvalidInputError(
            f"{table} must have a row with nothing missing for missing='drop', got none: "
            f"{counted(encoded.missing_counts())}. Choose missing='mean', or drop=[...] the emptiest columns."
        )


def _present_means(
    X: Floats, gaps: npt.NDArray[np.bool_], encoded: Encoded, table: str, missing: str
) -> Floats:
    present = len(X) - gaps.sum(axis=0)
    empty = [
        column.name for column, n in zip(encoded.columns, present[encoded.firsts], strict=True) if n == 0
    ]
    if empty:
        raise InvalidInputError(
            f"{table} must have a value in every column for missing={missing!r}, got none in "
            f"{listed(empty)}. Leave them out: drop=[{listed(empty)}]."
        )
    # means of what is there: zeros do not count, and n / present corrects for their number
    means: Floats = column_means(np.where(gaps, 0.0, X)) * (len(X) / present)
    return means
