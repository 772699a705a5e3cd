"""Mixed tables: by which metric rows are compared, and how columns of text and missing values enter it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd

from ..._core.errors import require
from ..notices import notice, plural
from .columns import Column
from .encoding import Encoded, describe_columns
from .row_profiles import require_numbers
from .tails import Transform, transformed, with_transforms
from .units import name_unit, same_unit

FILLING = ("median", "ppca", "mean")  # ways with missing values that make complete rows of numbers


@dataclass(frozen=True, slots=True)
class Choices:
    """How columns become numbers, as far as it is a matter of choice."""

    metric: str  # what is asked for
    nominal: str
    missing: str
    dates: str
    scaling: str
    weights: Mapping[str, float] | None = None  # by name of column
    rows: str = "values"
    tails: str = "auto"

    def settled(self, frame: pd.DataFrame, *, one_unit: bool) -> tuple[Choices, tuple[Column, ...]]:
        """The choices for the features of a table, ``"auto"`` decided and said, and its columns.

        Gower's metric takes levels as codes, numbers as they are, and holes as holes.
        """
        if self.metric == "gower":
            self._require_free()
            missing = "drop" if self.missing == "drop" else "keep"
            choices = replace(self, nominal="coded", missing=missing, scaling="none")
            return choices, describe_columns(frame, "coded", self.dates)
        if self.metric != "auto":
            return self, describe_columns(frame, self.nominal, self.dates)
        columns = describe_columns(frame, "coded", self.dates)  # any number of levels
        n_holes = int(frame.isna().to_numpy().sum())
        fills = n_holes > 0 and self.missing == "raise"
        if fills:
            notice(
                f"the table has {plural(n_holes, 'missing value')}: the median takes their place, and one "
                "more feature of the column says that it was missing. missing='drop' leaves the rows out; "
                "metric='gower' compares rows where both have a value."
            )
        return replace(self, metric="euclidean", missing="median" if fills else self.missing), columns

    def shaped(self, encoded: Encoded, *, one_unit: bool) -> tuple[Choices, Encoded]:
        """Choices with ``"auto"`` of scaling and rows decided by the numbers; heavy tails brought in."""
        if self.rows not in ("auto", "values"):
            require_numbers(encoded.columns, self.rows)
            whole = "standard" if self.rows == "shares" else "none"
            return replace(self, scaling=whole if self.scaling == "auto" else self.scaling), encoded
        choices = replace(self, rows="values")
        if self.scaling == "auto" and not one_unit:
            choices, encoded = choices._one_unit(encoded, directions=self.rows == "auto")
        if choices.scaling == "auto":
            choices = replace(choices, scaling="none" if one_unit else "standard")
            bring_in = self.tails != "keep" and not one_unit
        else:
            bring_in = self.tails == "log" or (self.tails == "auto" and self.metric == "gower")
        return choices, with_transforms(encoded, self.tails) if bring_in else encoded

    def _one_unit(self, encoded: Encoded, *, directions: bool) -> tuple[Choices, Encoded]:
        """Columns of one unit are not scaled one by one; counts are taken by their logarithms."""
        if any(column.kind != "number" for column in encoded.columns):
            return self, encoded
        unit = same_unit(encoded.X, [column.name for column in encoded.columns])
        if unit is None:
            return self, encoded
        unit = unit if directions else replace(unit, directions=False)
        name_unit(unit, len(encoded.columns))
        if unit.log1p:
            encoded = transformed(encoded, {j: Transform("log1p") for j in range(len(encoded.columns))})
        return replace(self, scaling="none", rows="unit" if unit.directions else "values"), encoded

    def _require_free(self) -> None:
        hint = "It takes missing values as they are. For filled ones, choose metric='euclidean'."
        must_be = "raise, keep or drop for metric='gower'"
        require(self.missing not in FILLING, "missing", must_be, self.missing, hint)
        hint = "A date is one column of it. For cycles, choose metric='euclidean'."
        require(self.dates == "number", "dates", "number for metric='gower'", self.dates, hint)
        hint = "It scales every column by its range."
        require(self.scaling in ("auto", "none"), "scaling", "none for metric='gower'", self.scaling, hint)
        hint = "It compares columns. For rows as a whole, choose metric='euclidean'."
        require(self.rows in ("auto", "values"), "rows", "values for metric='gower'", self.rows, hint)
