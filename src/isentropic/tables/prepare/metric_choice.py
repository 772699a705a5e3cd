"""The choice of metric and scaling by what a table holds: columns of one unit, counts, mixed types.

Columns of one unit are pixels, spectra, genes, embeddings, answers on one scale. Standardising them would
give a pixel at the rim of an image, or a gene that hardly varies, the weight of one that tells rows apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..._core.errors import notice, plural, require
from ..._core.values import Floats
from .column_scaling import require_numbers
from .columns import Column
from .encoding import Encoded, describe_columns
from .tails import Transform, apply_transforms, with_transforms

MANY = 20  # number columns that vary: fewer are measures of different things more often than not
MANY_NUMBERED = 10  # the same for columns that are numbered through, as pixel_12 or x7
MANY_COUNTS = 50  # columns of a table of counts, as of genes or words
_ALIKE = 3.0  # times that the upper quartile of the columns' largest values may exceed the lower one
_LARGEST = 3.0  # times that the largest value of a column may exceed the upper quartile
_STRAYS = 0.02  # share of columns that may exceed it: of thousands, some have an outlier
_NUMBERED = re.compile(r"(?P<prefix>\D*?)(?P<number>\d+(?:[._]\d+)*)(?:\D{0,3})")
_MOST_ROWS = 2_000  # that are looked at, spread over the table
_LENGTHS = (0.02, 0.5)  # coefficient of variation of the lengths of embeddings: below, lengths are equal


@dataclass(frozen=True, slots=True)
class SameUnit:
    """The unit that the columns of a table share, and how it is used."""

    what: str  # in words
    log1p: bool = False  # counts: their logarithms are compared
    directions: bool = False  # embeddings: rows are compared by angle


def same_unit(X: Floats, names: Sequence[str]) -> SameUnit | None:
    """The kind of unit that all columns share, or None; ``X`` has a numeric column for each name.

    Columns share a unit where their largest absolute values are alike (quartiles within a factor of 3, at
    most 2% of them 3 times as large as the upper one), for 20 columns or more, or 10 that are
    numbered through; where all are counts that are not, for 50 or more, their logarithms are compared.
    """
    if X.shape[1] < MANY_NUMBERED:
        return None
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), _MOST_ROWS)).astype(int))
    sample = np.nan_to_num(X[rows], nan=0.0, posinf=0.0, neginf=0.0)
    varies = np.ptp(sample, axis=0) > 0
    n_varying = int(varies.sum())
    numbered = are_numbered(names)
    if n_varying < (MANY_NUMBERED if numbered else MANY):
        return None
    sample = sample[:, varies]
    if _are_alike(sample, numbered=numbered):
        return _alike_unit(sample, numbered)
    if n_varying >= MANY_COUNTS and _are_counts(sample):
        return SameUnit("counts in one unit", log1p=True)
    return None


def are_numbered(names: Sequence[str]) -> bool:
    """Whether names are a prefix and a number, nearly all with the same prefix: x0, x1; 850, 852 (nm)."""
    found = [match for match in map(_NUMBERED.fullmatch, names) if match is not None]
    if len(found) < 0.9 * len(names):
        return False
    prefixes = [match["prefix"] for match in found]
    most = max(set(prefixes), key=prefixes.count)
    return prefixes.count(most) >= 0.9 * len(names)


def _are_alike(sample: Floats, *, numbered: bool) -> bool:
    largest = np.abs(sample).max(axis=0)
    lower, upper = np.quantile(largest, [0.25, 0.75])
    if int((largest > _LARGEST * upper).sum()) > _STRAYS * len(largest):
        return False
    return bool(upper <= _ALIKE * lower) or (numbered and len(largest) >= MANY and bool((sample >= 0).all()))


def _are_counts(sample: Floats) -> bool:
    if (sample < 0).any() or sample.max() < 20:
        return False
    return bool((sample == np.floor(sample)).mean() > 0.99)


def _alike_unit(sample: Floats, numbered: bool) -> SameUnit:
    values = np.unique(sample[: min(len(sample), 200)])
    if len(values) <= 2:
        return SameUnit("yes or no (two values) in every column")
    if numbered and sample.shape[1] >= MANY and _are_embeddings(sample):
        return SameUnit("vectors of numbered columns, of both signs and alike in spread", directions=True)
    return SameUnit(f"numbers of one range, up to {np.abs(sample).max():.3g}")


def _are_embeddings(sample: Floats) -> bool:
    spread = sample.std(axis=0)
    lengths = np.sqrt((sample**2).sum(axis=1))
    variation = float(lengths.std() / max(lengths.mean(), np.finfo(float).tiny))
    both_signs = 0.2 <= float((sample < 0).mean()) <= 0.8
    alike = bool(np.quantile(spread, 0.9) <= 3.0 * np.quantile(spread, 0.1))
    return both_signs and alike and _LENGTHS[0] < variation <= _LENGTHS[1]


def name_unit(unit: SameUnit, n_columns: int) -> None:
    """One line on the choice, and the option that overrules it."""
    done = "so they are not scaled one by one"
    if unit.log1p:
        done = "so rows are compared by log(1 + x), which is not scaled column by column"
    if unit.directions:
        done = "so rows are compared by their directions (cosine): each is divided by its length"
    notice(f"the {n_columns} columns are {unit.what}, {done}. scaling='standard' scales each column.")


# ---- choices -------------------------------------------------------------------------------------


FILLING = ("median", "ppca", "mean")  # ways with missing values that make complete rows of numbers


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices of how columns become numbers."""

    metric: str  # what is asked for
    nominal: str
    missing: str
    dates: str
    scaling: str
    weights: Mapping[str, float] | None = None  # by name of column
    rows: str = "values"
    tails: str = "auto"

    def resolve(self, frame: pd.DataFrame, *, one_unit: bool) -> tuple[Choices, tuple[Column, ...]]:
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

    def for_shape(self, encoded: Encoded, *, one_unit: bool) -> tuple[Choices, Encoded]:
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
            encoded = apply_transforms(encoded, {j: Transform("log1p") for j in range(len(encoded.columns))})
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
