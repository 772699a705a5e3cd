"""Rows on the page, as plain data: names, classes, columns, neighbors, scores; the map of all rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._core.errors import require_one_of
from ..._core.values import Floats, Integers, Neighbors, Table
from ...comparison import Run
from ...comparison.explain.source_columns import columns_of
from ...comparison.page_data import FullMap, plane_coordinates
from ...comparison.presentation import CLASS_COLORS
from ...quality import SharedNeighbors
from ...quality.row_measures import JUMP
from .packed_arrays import UNKNOWN, pack, pack_points, pack_shares
from .page_columns import MOST_BYTES, CodedColumn, other_columns, target_name

_FULL_COLOR = 99  # the percentile of a damage that has the full colour: one bad row must not hide all others
# the scores of single rows beside damage: their name in the list, what the legend says, whether high is bad
_KINDS = {
    "doubt": ("place by chance (p)", "Share of places on the map that would suit the row as well (p)", True),
    "jump": (
        "jumps",
        f"Jump on the way to a neighbour, by the reach of neighbours on the map (above {JUMP:g}: torn)",
        True,
    ),
    "seeds": ("changes with the seed", "Share of the nearest rows that other seeds do not show", True),
    "agreed": ("agreed by trusted maps", "Share of the nearest rows that every trusted map shows", False),
}


def kinds(
    maps: Sequence[dict[str, Any]], rows: Integers, shown: Run | None, agreed: SharedNeighbors | None
) -> list[dict[str, Any]]:
    """The scores of single rows that any of the maps has; with its values, one that is of all maps."""
    common = {} if agreed is None else {"agreed": pack_scores(agreed.shares[rows], 1.0)}
    notes = _notes(shown, agreed)
    return [
        {
            "kind": kind,
            "title": title,
            "text": words + notes.get(kind, "") + ":",
            "worst": worst,
            "all": common.get(kind),
        }
        for kind, (title, words, worst) in _KINDS.items()
        if kind in common or any(kind in entry for entry in maps)
    ]


def _notes(shown: Run | None, agreed: SharedNeighbors | None) -> dict[str, str]:
    """What is said of all rows at once, of the map at the top."""
    notes = {}
    trust = None if shown is None else shown.row_diagnostics
    if shown is not None and trust is not None:
        notes["doubt"] = (
            f"; about {trust.by_chance:.0%} of the rows of {shown.method} are placed no better than by chance"
        )
        jumping = trust.jumping_share
        if jumping is not None and trust.walked is not None:
            notes["jump"] = f"; {shown.method} jumps at {jumping:.0%} of {len(trust.walked):,} rows"
        if trust.unsteady is not None:
            notes["seeds"] = f"; {trust.unsteady.mean():.0%} on average for {shown.method}"
    if agreed is not None:
        notes["agreed"] = f"; {len(agreed.pairs):,} pairs have each other on all {agreed.n_maps}"
    return notes


def row_scores(runs: Sequence[Run], n: int, rows: Integers) -> list[dict[str, Any]]:
    """For each run that has a map: every score that it has of the drawn ``rows``, by kind, packed.

    One scale for all maps, so that they can be compared.
    """
    found = [scores_of(run, n) for run in runs]
    entries: list[dict[str, Any]] = [{} for _ in runs]
    for kind in dict.fromkeys(kind for scores in found for kind in scores):
        known = np.concatenate([scores[kind] for scores in found if kind in scores])
        known = known[np.isfinite(known)]
        top = float(f"{np.percentile(known, _FULL_COLOR):.2g}") if len(known) else 1.0
        top = 1.0 if kind in ("doubt", "seeds") else top or 1.0
        for entry, scores in zip(entries, found, strict=True):
            if kind in scores:
                entry[kind] = pack_scores(scores[kind][rows], top)
    return entries


def near_counts(run: Run, n: int, rows: Integers) -> dict[str, Any]:
    """Of how many of the nearest points on the map each drawn row is close to in the data, where known."""
    quality = run.quality
    near = getattr(quality, "near_neighbors", None)
    if quality is None or near is None or len(near) != len(quality.rows) or not near.size:
        return {}
    k = quality.n_neighbors[0]
    counts = _spread(n, quality.rows, np.floor(near[:, 0] * k + 1e-9))[rows]
    return {"near": {"k": k, "counts": pack(np.where(np.isnan(counts), UNKNOWN, counts), "u1")}}


def pack_scores(values: Floats, top: float) -> dict[str, Any]:
    return {"values": pack_shares(values, 0.0, top), "high": top}


def scores_of(run: Run, n: int) -> dict[str, Floats]:
    """By kind, of all n rows; NaN where a row was not sampled."""
    quality, trust, share = run.quality, run.row_diagnostics, run.false_share
    assert quality is not None
    near = quality.false_neighbors[:, 0] if share is None else share
    scores = {"false": _spread(n, quality.rows, near), "tears": _spread(n, quality.rows, quality.tears[:, 0])}
    if trust is not None:
        scores["doubt"] = _spread(n, quality.rows, trust.p)
        if trust.walked is not None and trust.jumps is not None:
            scores["jump"] = _spread(n, trust.walked, trust.jumps)
        if trust.unsteady is not None:
            scores["seeds"] = _spread(n, quality.rows, trust.unsteady)
    return scores


def _spread(n: int, rows: Integers, values: Floats) -> Floats:
    scores = np.full(n, np.nan)
    scores[rows] = values
    return scores


# ---- rows ----------------------------------------------------------------------------------------


_COLUMN_BYTES = 1_200_000  # what columns to colour by may take
_FEWEST_COLUMNS = 8
_LONGEST_NAME = 80


def describe_rows(
    table: Table, rows: Integers, neighbors: Neighbors, color: str | None, given: Sequence[CodedColumn]
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
        "codes": pack(codes[rows], "u1"),
        "counts": counts,
        "grouped": n_grouped,
    }


def class_codes(table: Table, classes: Integers) -> tuple[Integers, list[str], int]:
    """Codes as the page has them, their names, and how many classes share the last one.

    Rows without a class, which have the code -1, are a class of their own.
    """
    names, all_classes = list(table.class_names), np.asarray(table.y, np.int64)
    if (all_classes < 0).any():
        names.append("no class")
        classes, all_classes = (np.where(c < 0, len(names) - 1, c) for c in (classes, all_classes))
    if len(names) <= MOST_CLASSES:
        return classes, names, 0
    counts = np.bincount(all_classes, minlength=len(names))
    retained = np.sort(np.argsort(-counts, kind="stable")[: MOST_CLASSES - 1])
    n_grouped = len(names) - len(retained)
    code_of = np.full(len(names), len(retained))
    code_of[retained] = np.arange(len(retained))
    return code_of[classes], [names[code] for code in retained] + [f"{n_grouped} smaller classes"], n_grouped


def _columns(
    table: Table, rows: Integers, color: str | None, given: Sequence[CodedColumn]
) -> tuple[list[dict[str, Any]], int | None]:
    """Columns to colour by, all that fit, and the place of the one asked for.

    A target of numbers comes first, then the features in the order of the table, then columns that are no
    features. Features that vary most have precedence, and the one asked for is there in any case. A column of
    text is one column, not one for each level.
    """
    names, target = table.feature_names, target_name(table)
    place = {one.name: j for j, one in enumerate(given)}
    others = [one for one in given if not one.is_feature]
    if color == target and color not in names:
        color = None  # the classes, or the target of numbers, which come first anyway
    require_color("color", table, color)
    texts = {feature: name for feature, name in text_features(table).items() if name in place}
    room = max(_FEWEST_COLUMNS, _COLUMN_BYTES // max(1, len(rows)))
    spread = np.argsort(-np.nan_to_num(table.X.var(axis=0), nan=np.inf), kind="stable")
    ranked = [j for j in spread.tolist() if names[j] not in texts]
    retained = {*ranked[:room], *(j for j in ranked if names[j] in place)}
    columns = {one.name: _source_column(one, place[one.name]) for one in others if one.name == target}
    for j, name in enumerate(names):
        text = texts.get(name)
        if text is not None and text not in columns:
            columns[text] = _source_column(given[place[text]], place[text])
        if j in retained or (name == color and name not in columns):
            known = place.get(name)
            columns[name] = (
                _column(name, table.X[rows, j], _in_given_units(table, rows, j))
                if known is None
                else _source_column(given[known], known)
            )
    columns |= {one.name: _source_column(one, place[one.name]) for one in others if one.name != target}
    return list(columns.values()), list(columns).index(color) if color in columns else None


def _source_column(one: CodedColumn, place: int) -> dict[str, Any]:
    """A column that the page holds as it was given; of numbers, the ends of its colours."""
    found = {"name": _short(one.name), "given": place, **({} if one.is_feature else {"other": True})}
    if one.levels:
        return found
    ends = (float(one.values[0]), float(one.values[-1])) if one.n else (0.0, 0.0)
    return {**found, **_ends(*ends)}


def _n_left_out(table: Table, columns: Sequence[Mapping[str, Any]]) -> int:
    """Features that the page does not colour by, themselves or as levels of a column."""
    offered, texts = {column["name"] for column in columns}, text_features(table)
    return sum(_short(texts.get(name, name)) not in offered for name in table.feature_names)


def require_color(name: str, table: Table, color: str | None) -> None:
    """Raise for a column to colour by that is not there."""
    if color is not None:
        target = [] if table.y is None else [target_name(table)]
        others = [column.name for column in other_columns(table)]
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


def _in_given_units(table: Table, rows: Integers, j: int) -> tuple[float, float]:
    """The ends of a feature among these rows, as the table was given."""
    known = table.X[rows, j][np.isfinite(table.X[rows, j])]
    ends = np.array([[known.min()], [known.max()]]) if len(known) else np.zeros((2, 1))
    low, high = (ends if table.preparation is None else table.preparation.in_given_units(ends, j))[:, 0]
    return float(low), float(high)


def _column(name: str, values: np.ndarray, ends: tuple[float, float]) -> dict[str, Any]:
    """A feature of which the page holds colours only."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    return {"name": _short(name), "values": pack_shares(values, low, high), **_ends(*ends)}


def _ends(low: float, high: float) -> dict[str, Any]:
    digits = _digits(low, high)
    low, high = (float(f"{end:.{3 + digits}g}") for end in (low, high))
    return {"low": low, "high": high, "digits": digits}


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
    return {"k": k, "kind": kind, "indices": pack(found.indices, kind), "recall": round(found.recall, 3)}


# ---- the map of all rows of a large table --------------------------------------------------------


def full_map(
    full: FullMap,
    run: int,
    table: Table,
    maps: Sequence[Mapping[str, Any]],
    given: Sequence[CodedColumn],
) -> dict[str, Any]:
    """Points of the rows that all maps have, then of the others, which are there to be seen only.

    ``run`` is its place after all runs of the sample.
    """
    found = full.run
    assert found.embedding is not None
    assert found.quality is not None
    points = plane_coordinates(found.embedding)[np.concatenate([full.rows, full.others])]
    scores = {}
    for kind, values in scores_of(found, len(found.embedding)).items():
        high = next((entry[kind]["high"] for entry in maps if kind in entry), 1.0)
        scores[kind] = pack_scores(values[full.rows], high)
    codes = None if full.other_classes is None else class_codes(table, full.other_classes)[0]
    return {
        "run": run, "name": found.method, **pack_points(points), **scores,
        **near_counts(found, len(found.embedding), full.rows), "n_all": len(found.embedding),
        "n_drawn": len(points), "others": None if codes is None else pack(codes, "u1"),
        "columns": _other_codes(full.other_table, given),
    }  # fmt: skip


def _other_codes(table: Table | None, given: Sequence[CodedColumn]) -> list[str | None]:
    """Of each column the codes of the other rows, to colour them by; None for those that do not fit."""
    found: list[str | None] = [None for _ in given]
    if table is None:
        return found
    columns = {column.name: column for column in [*columns_of(table), *other_columns(table)]}
    room = MOST_BYTES
    for place, one in enumerate(given):
        n_bytes = len(table.X) * np.dtype(one.kind).itemsize
        if one.name in columns and n_bytes <= room:
            room -= n_bytes
            found[place] = pack(one.codes_of(columns[one.name]), one.kind)
    return found


# ---- Colours -------------------------------------------------------------------------------------
#
# Classes have the eight colours of Okabe and Ito (2008), which stay apart for colour-blind readers: at least
# 15 units of CIELAB also under simulated deuteranopia, protanopia and tritanopia. Only the neutral one
# changes with the paper. After eight classes the colours come again in another shape. Numbers have viridis
# without the end that the paper would hide, damage one hue from the paper to vermilion.


CLASSES = {"light": CLASS_COLORS, "dark": (*CLASS_COLORS[:6], "#D9D9D9", CLASS_COLORS[7])}
SHAPES = ("disc", "ring", "cross", "square")
MOST_CLASSES = len(SHAPES) * len(CLASSES["light"])  # the smallest of more are drawn as one

NUMBERS = {
    "light": ("#440154", "#46327E", "#365C8D", "#277F8E", "#1FA187", "#4AC16D", "#9FDA3A", "#D8E219"),
    "dark": ("#7257B5", "#5D6FC0", "#4A8CC0", "#2FA3A8", "#35B779", "#6DCD59", "#B4DE2C", "#FDE725"),
}
DAMAGE = {
    "light": ("#DEDCD6", "#EDBE9B", "#DD7A3C", "#B23A0C", "#5E1A02"),
    "dark": ("#3B3D42", "#6B3F2A", "#B5541F", "#F58A4B", "#FFDCC2"),
}


def palette() -> dict[str, Any]:
    """All of them, as the page reads them."""
    return {"classes": CLASSES, "shapes": SHAPES, "numbers": NUMBERS, "damage": DAMAGE}
