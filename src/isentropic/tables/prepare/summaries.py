"""The table of columns: of every column of the source its role, why, its kind and what was done to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from shlex import quote
from typing import Literal, get_args

import numpy as np
import pandas as pd
from pandas.api import types

from ..._core.errors import plural
from ..._core.values import ColumnSummary, Role, Table
from .column_scaling import shares_by_column
from .columns import Column, is_number
from .dates import texts_of
from .preparation import Preparation
from .roles import Parts, RoleAssignment
from .suspects import looks_like_dates

ROLES: tuple[str, ...] = get_args(Role)
_SCALED = {
    "standard": "standardised",
    "minmax": "scaled to 0 to 1",
    "robust": "centred at the median, divided by the interquartile range",
    "none": "",
}
_TRANSFORMED = {
    "log": "logarithm",
    "log1p": "logarithm of 1 + x",
    "asinh": "inverse hyperbolic sine",
}
_FILLED = {"median": "the median", "mean": "the mean", "ppca": "a factor model of the other columns"}
# reasons that no option beside those given overrules
_FIXED = ("asked for", "left out as asked", "no value in any row", "the same value in every row")
_FEW_LEVELS = 100  # text with more of them is no set of levels


def summarize_fitted(
    found: RoleAssignment, parts: Parts, preparation: Preparation, missing: Mapping[str, int]
) -> tuple[ColumnSummary, ...]:
    """Summaries of every column of a fitted table; ``missing`` counts the missing values of the features."""
    columns = {column.name: column for column in preparation.columns}
    return tuple(
        _of_feature(columns[name], found.why[name], missing.get(name, 0), preparation)
        if name in columns
        else _of_other(parts.others[name], role, found.why[name])
        for name, role in found.roles.items()
    )


def with_shares(table: Table) -> Table:
    """The table, its columns with their shares of the mean distance between rows."""
    shares = shares_by_column(table)
    columns = tuple(replace(one, share=shares.get(one.name)) for one in table.columns)
    preparation = replace(table.preparation, summaries=columns)
    return replace(table, columns=columns, preparation=preparation)


def new_summaries(
    preparation: Preparation, parts: Parts, missing: Mapping[str, int]
) -> tuple[ColumnSummary, ...]:
    """Summaries of the columns of new rows: as in the fitted table, with their own missing values."""
    known = {one.name: one for one in preparation.summaries}
    columns = {column.name: column for column in preparation.columns}
    roles = _known_roles(preparation) | {parts.target_name: "target"}
    found: list[ColumnSummary] = []
    for column in columns.values():
        one = known.get(column.name) or _of_feature(column, "", 0, preparation)
        found.append(replace(one, missing=missing.get(column.name, 0)))
    for name in parts.others.columns:
        role = roles.get(name)
        why = known[name].why if name in known else "not in the fitted table" if role is None else ""
        found.append(_of_other(parts.others[name], role or "ignored", why))
    order = {one.name: place for place, one in enumerate(preparation.summaries)}
    return tuple(sorted(found, key=lambda one: order.get(one.name, len(order))))


def _known_roles(preparation: Preparation) -> dict[str | None, Role]:
    """Roles of the columns of the fitted table that are not features."""
    roles: dict[str | None, Role] = dict.fromkeys(preparation.drop, "ignored")
    roles |= dict.fromkeys(preparation.labels, "label")
    return roles | {preparation.index: "name", preparation.target: "target"}


def _of_feature(column: Column, why: str, missing: int, preparation: Preparation) -> ColumnSummary:
    if column.kind == "nominal":
        kind: Literal["levels", "ordered", "date", "number"] = "ordered" if column.ordered else "levels"
        reason = f"{plural(len(column.levels), 'ordered level' if column.ordered else 'level')}"
    else:
        kind, reason = column.kind, "dates" if column.kind == "date" else "numbers"
    return ColumnSummary(
        column.name, "feature", why or reason, kind, missing,
        change_of(column, missing, preparation), None, "" if why in _FIXED else option("label", column.name),
    )  # fmt: skip


def change_of(column: Column, missing: int, preparation: Preparation) -> str:
    """The treatment of a column: encoding, scaling, and filling of missing values."""
    steps = []
    if column.kind == "nominal":
        coded = "ranks of the levels" if column.ordered else "numbers of the levels"
        steps.append("0/1 for each level" if column.has_levels(preparation.nominal) else coded)
        if preparation.metric == "gower":
            steps = ["ranks of the levels"] if column.ordered else []
    if column.transform is not None:
        steps.append(_TRANSFORMED[column.transform.kind])
    if column.kind == "date":
        steps.append("days since 1970" + "".join(f", cycle of the {cycle}" for cycle in column.cycles))
    is_gower = preparation.metric == "gower" and column.kind != "nominal"
    steps.append("divided by its range" if is_gower else _SCALED[preparation.scaling])
    if missing and preparation.missing in _FILLED:
        steps.append(f"{plural(missing, 'missing value')} filled with {_FILLED[preparation.missing]}")
    return ", ".join(step for step in steps if step)


def _of_other(values: pd.Series, role: Role, why: str) -> ColumnSummary:
    name = str(values.name)
    empty = () if is_number(values.dtype) else (isinstance(value, str) and not value for value in values)
    missing = int(values.isna().sum()) + sum(empty)
    command = "" if role == "target" or why in _FIXED else option("keep", name)
    return ColumnSummary(name, role, why, _kind_of(values), missing, command=command)


def _kind_of(values: pd.Series) -> Literal["number", "date", "levels", "ordered", "text"]:
    if is_number(values.dtype):
        return "number"
    if types.is_datetime64_any_dtype(values.dtype):
        return "date"
    if isinstance(values.dtype, pd.CategoricalDtype):
        return "ordered" if values.cat.ordered else "levels"
    texts = pd.Series(texts_of(values.dropna()), dtype=object)
    if looks_like_dates(texts):
        return "date"
    n_levels = texts.nunique()
    return "levels" if n_levels <= min(_FEW_LEVELS, max(10.0, np.sqrt(len(texts)))) else "text"


def option(name: str, column: str) -> str:
    """The option that gives a column another role, as a shell takes it."""
    return f"--{name}={quote(column)}" if column.startswith("-") else f"--{name} {quote(column)}"
