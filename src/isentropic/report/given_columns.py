"""The columns of the table as they were given, for the page to say by which of them a selection differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._values import Floats, Integers, Table
from ..comparison.explained_columns import Column, columns_of
from .arrays import packed

MOST_BYTES = 2_800_000  # that the columns take together, a third less than their text
_FEW_VALUES = 512  # of a column, where all values of all columns are too many
_LONGEST_LEVEL = 60


def given_columns(table: Table, rows: Integers) -> dict[str, Any]:
    """Codes of the drawn rows in every column that fits, and what the codes stand for.

    A code is the rank of a value among those that occur, so all that ranks say is exact. What does not
    fit is left out: first the values between every few hundredth, then columns, those that vary least
    first. ``O(n m log n)``.
    """
    columns = columns_of(table, labels=True)
    coded = [_coded(column, rows) for column in columns]
    n_values = None if sum(map(_n_bytes, coded)) <= MOST_BYTES else _FEW_VALUES
    coded = [_thinned(one, n_values) for one in coded]
    kept = _fitting(coded, _variances(table, columns))
    return {"columns": [_packed(coded[j]) for j in kept], "n_all": len(columns)}


def with_label(table: Table, column: str | None) -> Table:
    """The table with a column as a label that is none of its features, whatever else it was."""
    columns = tuple(
        replace(one, role="label") if one.name == column and one.role in ("ignored", "name") else one
        for one in table.columns
    )
    return replace(table, columns=columns)


def places(given: dict[str, Any]) -> dict[str, int]:
    """Where each of them is, by name."""
    return {one["name"]: j for j, one in enumerate(given["columns"])}


def _coded(column: Column, rows: Integers) -> dict[str, Any]:
    drawn = column.values[rows]
    there = ~np.isnan(drawn)
    values: Floats = np.arange(float(len(column.levels)))
    codes = drawn
    if not column.levels:
        values, ranks = np.unique(drawn[there], return_inverse=True)
        codes = np.zeros(len(drawn))
        codes[there] = ranks
    levels = [
        level if len(level) <= _LONGEST_LEVEL else level[: _LONGEST_LEVEL - 1] + "…"
        for level in column.levels
    ]
    kind = "u1" if len(values) < 256 else "u2"  # the last code says that a value is missing
    missing = np.iinfo(kind).max
    codes = np.where(there, np.nan_to_num(codes), missing)
    return {
        "name": column.name, "levels": levels, "kind": kind, "codes": codes, "n": len(values),
        "values": values, "dates": column.dates, "label": column.label,
    }  # fmt: skip


def _thinned(one: dict[str, Any], most: int | None) -> dict[str, Any]:
    """With ``most`` values evenly by rank, the first and the last among them."""
    if most is None or one["n"] <= most or one["levels"]:
        return one
    return {**one, "values": one["values"][np.linspace(0, one["n"] - 1, most).round().astype(int)]}


def _n_bytes(one: dict[str, Any]) -> int:
    told = sum(map(len, one["levels"])) if one["levels"] else 8 * len(one["values"])
    return len(one["codes"]) * np.dtype(one["kind"]).itemsize + told


def _variances(table: Table, columns: Sequence[Column]) -> Floats:
    """Of the numbers that were embedded; columns of levels come first."""
    at = {name: j for j, name in enumerate(table.feature_names)}
    variances = np.nan_to_num(table.X.var(axis=0), nan=np.inf)  # with holes
    return np.array(
        [
            np.inf if column.levels or column.name not in at else variances[at[column.name]]
            for column in columns
        ]
    )


def _fitting(coded: Sequence[dict[str, Any]], variances: Floats) -> list[int]:
    order = np.argsort(-variances, kind="stable")
    room = np.cumsum([_n_bytes(coded[j]) for j in order]) <= MOST_BYTES
    return sorted(order[room].tolist())


def _packed(one: dict[str, Any]) -> dict[str, Any]:
    told = {"levels": one["levels"]} if one["levels"] else {"values": packed(one["values"], "f8")}
    return {
        "name": one["name"], "kind": one["kind"], "n": one["n"],
        "codes": packed(one["codes"], one["kind"]), **told, **({"dates": True} if one["dates"] else {}),
        **({"label": True} if one["label"] else {}),
    }  # fmt: skip
