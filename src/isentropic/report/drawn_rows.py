"""What the page knows of each row that is drawn: name, class, columns, true neighbours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._errors import require_one_of
from .._values import Integers, Neighbors, Table
from ..comparison.explained_columns import label_columns
from .arrays import packed, packed_shares
from .colors import MOST_CLASSES

_COLUMN_BYTES = 1_200_000  # what columns to colour by may take
_FEWEST_COLUMNS = 8
_LONGEST_NAME = 80


def described_rows(
    table: Table, rows: Integers, neighbors: Neighbors, color: str | None, given: Mapping[str, int]
) -> dict[str, Any]:
    """Everything about the drawn rows that does not depend on a map; ``given`` has values of some columns."""
    names = [_short(table.row_names[row]) for row in rows]
    columns, asked = _columns(table, rows, color, given)
    return {
        "n": len(rows),
        "n_all": len(table.X),
        "names": names,
        "classes": _classes(table, rows),
        "columns": columns,
        "asked": asked,
        "n_left_out": _n_left_out(table, columns),
        "neighbors": _neighbors(neighbors),
    }


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _classes(table: Table, rows: Integers) -> dict[str, Any] | None:
    """Codes of the classes in their order; the smallest of too many share the last code."""
    if table.y is None or not table.class_names:
        return None
    codes, names, n_grouped = class_codes(table, np.asarray(table.y, np.int64))
    counts = np.bincount(codes[rows], minlength=len(names)).tolist()
    return {
        "names": [_short(name) for name in names],
        "codes": packed(codes[rows], "u1"),
        "counts": counts,
        "grouped": n_grouped,
    }


def class_codes(table: Table, classes: Integers) -> tuple[Integers, list[str], int]:
    """Codes as the page has them, their names, and how many classes share the last one."""
    drawn = table.drawn_classes
    if drawn is None:
        return classes, [], 0
    every, names = np.asarray(drawn[0], np.int64), list(drawn[1])
    classes = np.where(classes < 0, len(table.class_names), classes)
    if len(names) <= MOST_CLASSES:
        return classes, names, 0
    counts = np.bincount(every, minlength=len(names))
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_CLASSES - 1])
    n_grouped = len(names) - len(kept)
    code_of = np.full(len(names), len(kept))
    code_of[kept] = np.arange(len(kept))
    return code_of[classes], [names[code] for code in kept] + [f"{n_grouped} smaller classes"], n_grouped


def _columns(
    table: Table, rows: Integers, color: str | None, given: Mapping[str, int]
) -> tuple[list[dict[str, Any]], int | None]:
    """Columns to colour by, all that fit, and the place of the one asked for.

    Those that vary most have precedence, and the one asked for is there in any case. They stand in the
    order of the table, after a target of numbers. A column of text is one column, not one for each level.
    """
    names: Sequence[str] = table.feature_names
    target = target_name(table)
    if color == target and color not in names:
        color = None  # the classes, or the target of numbers, which come first anyway
    require_color("color", table, color)
    texts = {feature: name for feature, name in text_features(table).items() if name in given}
    room = max(_FEWEST_COLUMNS, _COLUMN_BYTES // max(1, len(rows)))
    spread = np.argsort(-np.nan_to_num(table.X.var(axis=0), nan=np.inf), kind="stable")
    ranked = [j for j in spread.tolist() if names[j] not in texts]
    kept = {*ranked[:room], *(j for j in ranked if names[j] in given)}
    columns: dict[str, dict[str, Any]] = {}
    ends = _ends(table, rows)
    for j, name in enumerate(names):
        text = texts.get(name)
        if text is not None and text not in columns:
            columns[text] = {"name": _short(text), "given": given[text]}
        if j in kept or (name == color and name not in columns):
            columns[name] = _column(name, table.X[rows, j], ends[:, j].tolist(), given.get(name))
    columns |= _label_columns(table, rows, given)
    asked = list(columns).index(color) if color in columns else None
    if table.y is not None and not table.class_names:
        of_target = _column(target, np.asarray(table.y, float)[rows])
        return [of_target, *columns.values()], None if asked is None else asked + 1
    return list(columns.values()), asked


def _label_columns(table: Table, rows: Integers, given: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """Columns that are no features, by name: levels as they are given, numbers in their own unit."""
    return {
        column.name: {"name": _short(column.name), "given": given[column.name]}
        if column.levels
        else _column(column.name, column.values[rows], given=given[column.name])
        for column in label_columns(table)
        if column.name in given
    }


def _n_left_out(table: Table, columns: Sequence[Mapping[str, Any]]) -> int:
    """Features that the page does not colour by, themselves or as levels of a column."""
    offered, texts = {column["name"] for column in columns}, text_features(table)
    return sum(_short(texts.get(name, name)) not in offered for name in table.feature_names)


def require_color(name: str, table: Table, color: str | None) -> None:
    """Raise for a column to colour by that is not there."""
    if color is not None:
        target = [] if table.y is None else [target_name(table)]
        others = [] if table.other_columns is None else map(str, table.other_columns.columns)
        known = [*table.feature_names, *text_features(table).values(), *target, *others]
        require_one_of(name, color, list(dict.fromkeys(known)))


def text_features(table: Table) -> dict[str, str]:
    """Of each feature that stands for levels, the column of text that has them."""
    prepared = table.preparation
    if prepared is None:
        return {}
    return {
        feature: column.name
        for column in prepared.columns
        if column.kind == "nominal"
        for feature in column.feature_names(prepared.nominal)
    }


def target_name(table: Table) -> str:
    """As the table calls it."""
    return getattr(table.preparation, "target", None) or "target"


def _ends(table: Table, rows: Integers) -> np.ndarray:
    """Least and largest number of every feature (2, m) among these rows, as the table was given."""
    X = table.X[rows]
    known = np.isfinite(X)
    low, high = (np.where(known, X, fill) for fill in (np.inf, -np.inf))
    ends = np.stack([low.min(axis=0), high.max(axis=0)])
    ends[~np.isfinite(ends)] = 0.0
    return ends if table.preparation is None else np.asarray(table.preparation.in_given_units(ends))


def _column(
    name: str, values: np.ndarray, ends: Sequence[float] | None = None, given: int | None = None
) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    ends = [low, high] if ends is None else ends
    digits = _digits(*ends)
    return {
        "name": _short(name),
        **({"values": packed_shares(values, low, high)} if given is None else {"given": given}),
        "low": float(f"{ends[0]:.{3 + digits}g}"),
        "high": float(f"{ends[1]:.{3 + digits}g}"),
        "digits": digits,
    }


def _digits(low: float, high: float) -> int:
    """Digits that tell numbers between the two ends apart: three, and those that all of them share.

    >>> _digits(0.0, 5.0), _digits(1e9, 1e9 + 5)
    (3, 12)
    """
    span, largest = high - low, max(abs(low), abs(high))
    if not 0 < span < largest:
        return 3
    return min(14, 3 + math.floor(math.log10(largest)) - math.floor(math.log10(span)))


def _neighbors(found: Neighbors) -> dict[str, Any]:
    """The nearest rows in the data, among those drawn."""
    n_rows, k = found.indices.shape
    kind = "u2" if n_rows <= 65_536 else "u4"
    return {"k": k, "kind": kind, "indices": packed(found.indices, kind), "recall": round(found.recall, 3)}
