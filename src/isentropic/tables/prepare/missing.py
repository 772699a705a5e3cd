"""Missing values: an error that counts them, rows left out, values filled in, or kept as NaN."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..._core.errors import InvalidInputError, count_text, listing, notice, plural, require
from ..._core.values import ColumnSummary, Floats, Table
from ..class_labels import encode_target
from .column_scaling import Scale, column_means, row_profiles
from .encoding import Encoded
from .preparation import Preparation
from .roles import Parts


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Complete rows, scaled or not yet."""

    X: Floats  # (n, m), nothing missing but what is to be kept so
    y: npt.NDArray[Any] | None
    row_names: tuple[str, ...]
    class_names: tuple[str, ...]
    fill: Floats  # (m,) what takes the place of missing values, before scaling
    others: pd.DataFrame  # all columns but the features, as they were read

    def scaled(self, scale: Scale) -> Rows:
        """The rows, scaled in place."""
        return replace(self, X=scale.apply(self.X))

    def as_profiles(self, encoded: Encoded, rows: str) -> Rows:
        """The same with the numbers of each row as shares, a profile or a direction; flags stay."""
        if rows == "values":
            return self
        X = self.X.copy()
        X[:, encoded.firsts] = row_profiles(X[:, encoded.firsts], rows)
        return replace(self, X=X)

    def table(
        self, name: str, preparation: Preparation, missing: str, columns: tuple[ColumnSummary, ...]
    ) -> Table:
        """The table of scaled rows, the last holes filled in by the factors of the preparation."""
        X = self.X
        if missing == "ppca" and preparation.factors is not None:
            X = preparation.factors.filled(X)
        return Table(
            X=X,
            y=self.y,
            feature_names=preparation.feature_names,
            row_names=self.row_names,
            class_names=self.class_names,
            name=name,
            scaling=preparation.scaling,
            preparation=preparation,
            metric=preparation.row_metric,
            columns=columns,
            other_columns=self.others,
        )


def complete_rows(
    encoded: Encoded,
    parts: Parts,
    class_names: tuple[str, ...],
    missing: str,
    table: str,
    fitted: Preparation | None = None,
) -> Rows:
    """Rows with nothing missing but what is kept, or filled in when it is scaled; ``fitted`` says by what."""
    fill = None if fitted is None else fitted.fill
    X, row_names, others = encoded.X, parts.row_names, parts.others
    y = None if parts.target is None else encode_target(parts.target, class_names)
    if y is not None:
        _name_unlabelled(np.isnan(y), parts.target_name, missing)
    if np.isfinite(X).all() and (y is None or missing != "drop" or np.isfinite(y).all()):
        fill = _fill(encoded, np.isnan(X), missing) if fill is None else fill
        return Rows(X, _codes(y, class_names), row_names, class_names, fill, others)
    encoded.require_finite(table)
    gaps = np.isnan(X)
    if missing == "raise":
        _refuse(encoded, int(gaps.any(axis=1).sum()), table, fitted)
    if missing == "drop":
        keep: npt.NDArray[np.bool_] = np.asarray(~gaps.any(axis=1))
        keep = keep if y is None else keep & ~np.isnan(y)
        _require_rows(keep, encoded, table)
        notice(f"{plural(int((~keep).sum()), 'row')} of {len(keep)} with missing values left out.")
        X, y, others = X[keep], None if y is None else y[keep], others.iloc[np.flatnonzero(keep)]
        row_names = tuple(name for name, kept in zip(row_names, keep, strict=True) if kept)
        gaps = np.isnan(X)
        y, class_names = (y, class_names) if fill is not None else _used_classes(y, class_names)
    if fill is None:
        _require_values(gaps, encoded, table, missing)
        fill = _fill(replace(encoded, X=X), gaps, missing)
    elif missing == "median":
        _name_unflagged(encoded, gaps)
    if missing not in ("keep", "ppca"):
        X[gaps] = np.broadcast_to(fill, X.shape)[gaps]
    return Rows(X, _codes(y, class_names), row_names, class_names, fill, others)


def _name_unlabelled(unlabelled: npt.NDArray[np.bool_], target: str | None, missing: str) -> None:
    """Warn of rows without a target; raise if no row has one."""
    count, n = int(unlabelled.sum()), len(unlabelled)
    must_be = f"a column with a value in some row, unlike {target!r}"
    require(count < n, "target", must_be, f"{n} missing", "Leave the target out to map the rows without it.")
    if count and missing != "drop":
        notice(
            f"{plural(count, 'row')} of {n} without the target {target!r}: mapped but not scored. "
            "missing='drop' leaves them out."
        )


def _codes(y: Floats | None, class_names: tuple[str, ...]) -> npt.NDArray[Any] | None:
    """Whole numbers for classes, -1 for a row without one."""
    return np.nan_to_num(y, nan=-1.0).astype(np.int64) if y is not None and class_names else y


def _used_classes(y: Floats | None, class_names: tuple[str, ...]) -> tuple[Floats | None, tuple[str, ...]]:
    """The classes that still have rows."""
    if y is None or not class_names:
        return y, class_names
    used, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.float64), tuple(class_names[int(code)] for code in used)


def _refuse(encoded: Encoded, n_incomplete: int, table: str, fitted: Preparation | None) -> None:
    counts = encoded.missing_counts()
    dropped = f"missing='drop' to leave out {plural(n_incomplete, 'row')}"
    if fitted is None:
        remedy = (
            "Choose missing='median' to fill in medians and flag what was missing, missing='ppca' to fill in "
            f"what the other columns tell, missing='mean' to fill in means, {dropped}, metric='gower' to "
            "compare rows by what both have, or missing='keep' and the method probabilistic-pca, which maps "
            "rows with holes"
        )
    else:
        remedy = f"Choose missing='mean' to fill in the means of the fitted table, or {dropped}"
    total = plural(sum(counts.values()), "missing value")
    raise InvalidInputError(f"{table} must be complete, got {total}: {count_text(counts)}. {remedy}.")


def _require_rows(keep: npt.NDArray[np.bool_], encoded: Encoded, table: str) -> None:
    if not keep.any():
        raise InvalidInputError(
            f"{table} must have a row with nothing missing for missing='drop', got none: "
            f"{count_text(encoded.missing_counts())}. Choose missing='median', or drop=[...] the "
            "emptiest columns."
        )


def _require_values(gaps: npt.NDArray[np.bool_], encoded: Encoded, table: str, missing: str) -> None:
    present = len(gaps) - gaps.sum(axis=0)
    empty = [
        column.name for column, n in zip(encoded.columns, present[encoded.firsts], strict=True) if n == 0
    ]
    if empty:
        raise InvalidInputError(
            f"{table} must have a value in every column for missing={missing!r}, got none in "
            f"{listing(empty)}. Leave them out: drop=[{listing(empty)}]."
        )


def _fill(encoded: Encoded, gaps: npt.NDArray[np.bool_], missing: str) -> Floats:
    """Values that replace missing ones: the mean, or the median and no level."""
    X = encoded.X
    if missing == "median":
        fill: Floats = np.array([_median(x[~gap]) for x, gap in zip(X.T, gaps.T, strict=True)])
        for part in (part for parts in encoded.groups() for part in parts if part.kind != "number"):
            fill[part.span] = 0.0
        return fill
    if not gaps.any():
        return column_means(X)
    # means of what is there: zeros do not count, and n / present corrects for their number
    with np.errstate(over="ignore"):
        means: Floats = column_means(np.where(gaps, 0.0, X)) * (len(X) / (len(X) - gaps.sum(axis=0)))
    for j in np.flatnonzero(np.isinf(means)):
        means[j] = column_means(X[~gaps[:, j], j : j + 1])[0]
    return means


def _median(values: Floats) -> float:
    """The median, finite for finite values: the mean of two in the middle may overflow."""
    with np.errstate(over="ignore"):
        middle = float(np.median(values))
    return middle if np.isfinite(middle) else 2.0 * float(np.median(values / 2.0))


def _name_unflagged(encoded: Encoded, gaps: npt.NDArray[np.bool_]) -> None:
    """New rows may have holes where the fitted table had none, and so no flag for them."""
    has_gap: npt.NDArray[np.bool_] = np.asarray(gaps[:, encoded.firsts].any(axis=0))
    unflagged = [
        column.name for column, gap in zip(encoded.columns, has_gap, strict=True) if gap and not column.flag
    ]
    if unflagged:
        notice(
            f"columns that were complete in the fitted table have missing values: {listing(unflagged)}. The "
            "median takes their place, with no flag."
        )
