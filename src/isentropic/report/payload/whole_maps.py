"""The map of all rows of a large table, beside maps of a sample of them, as the page draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._core.values import Table
from ...comparison.explain.source_columns import columns_of
from ...comparison.page_data import FullMap, plane_coordinates
from .arrays import packed, packed_points
from .drawn_rows import class_codes
from .given_columns import MOST_BYTES, CodedColumn, other_columns
from .row_scores import near_counts, packed_scores, scores_of


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
        scores[kind] = packed_scores(values[full.rows], high)
    codes = None if full.other_classes is None else class_codes(table, full.other_classes)[0]
    return {
        "run": run, "name": found.method, **packed_points(points), **scores,
        **near_counts(found, len(found.embedding), full.rows), "n_all": len(found.embedding),
        "n_drawn": len(points), "others": None if codes is None else packed(codes, "u1"),
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
            found[place] = packed(one.codes_of(columns[one.name]), one.kind)
    return found
