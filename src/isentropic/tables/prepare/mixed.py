"""Mixed tables: whether rows are compared by Gower's metric, and how their columns become numbers for it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import pandas as pd

from ..._errors import TableWarning, require
from ..notices import notice, plural
from .columns import Column
from .encoding import describe_columns

FILLING = ("median", "ppca", "mean")  # ways with missing values that make complete rows of numbers


@dataclass(frozen=True, slots=True)
class Choices:
    """How columns become numbers, as far as it is a matter of choice."""

    metric: str  # what is asked for
    nominal: str
    missing: str
    dates: str
    scaling: str

    def settled(self, frame: pd.DataFrame, *, one_unit: bool) -> tuple[Choices, tuple[Column, ...]]:
        """The choices for the features of a table, ``"auto"`` decided and said, and its columns.

        Gower's metric takes levels as codes, numbers as they are, and holes as holes.
        """
        if self.metric not in ("auto", "gower"):
            return self, describe_columns(frame, self.nominal, self.dates)
        columns = describe_columns(frame, "coded", self.dates)
        if self.metric == "auto" and not self._suits_gower(frame, columns, one_unit):
            choices = replace(self, metric="euclidean")
            if all(column.kind != "nominal" for column in columns):
                return choices, columns
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TableWarning)  # said already
                return choices, describe_columns(frame, self.nominal, self.dates)
        self._require_free()
        missing = "drop" if self.missing == "drop" else "keep"
        return Choices("gower", "coded", missing, self.dates, "none"), columns

    def _suits_gower(self, frame: pd.DataFrame, columns: tuple[Column, ...], one_unit: bool) -> bool:
        """Text beside numbers, or holes that nothing is said of; a scale that is asked for is meant."""
        if self.scaling != "auto" or self.dates != "number":
            return False
        if one_unit or self.nominal != "onehot" or self.missing in FILLING:
            return False
        n_levels = sum(column.kind == "nominal" for column in columns)
        n_holes = int(frame.isna().to_numpy().sum()) if self.missing != "drop" else 0
        is_mixed = 0 < n_levels < len(columns)
        if is_mixed or n_holes:
            what = [f"{plural(n_levels, 'column')} of text beside numbers"] if is_mixed else []
            what += [plural(n_holes, "missing value")] if n_holes else []
            filled = " and missing='median'" if n_holes else ""
            notice(
                f"the table has {' and '.join(what)}: rows are compared by Gower's metric, column by column, "
                "where both have a value. For one-hot levels and standardised numbers: "
                f"metric='euclidean'{filled}."
            )
        return is_mixed or n_holes > 0

    def _require_free(self) -> None:
        hint = "It takes missing values as they are. For filled ones, choose metric='euclidean'."
        must_be = "raise, keep or drop for metric='gower'"
        require(self.missing not in FILLING, "missing", must_be, self.missing, hint)
        hint = "A date is one column of it. For cycles, choose metric='euclidean'."
        require(self.dates == "number", "dates", "number for metric='gower'", self.dates, hint)
        hint = "It scales every column by its range."
        require(self.scaling in ("auto", "none"), "scaling", "none for metric='gower'", self.scaling, hint)
