"""The map of all rows of a large table, beside maps of a sample of them, as the page draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._values import Table
from ..comparison.drawings import WholeMap, plane
from .arrays import packed, packed_points
from .drawn_rows import class_codes
from .row_scores import packed_scores, scores_of


def whole_map(whole: WholeMap, run: int, table: Table, maps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Points of the rows that all maps have, then of the others, which are there to be seen only.

    ``run`` is its place after all runs of the sample.
    """
    found = whole.run
    assert found.embedding is not None
    assert found.quality is not None
    points = plane(found.embedding)[np.concatenate([whole.rows, whole.others])]
    scores = {}
    for kind, values in scores_of(found, len(found.embedding)).items():
        high = next((entry[kind]["high"] for entry in maps if kind in entry), 1.0)
        scores[kind] = packed_scores(values[whole.rows], high)
    codes = None if whole.other_classes is None else class_codes(table, whole.other_classes)[0]
    return {
        "run": run, "name": found.method, **packed_points(points), **scores, "n_all": len(found.embedding),
        "n_drawn": len(points), "others": None if codes is None else packed(codes, "u1"),
    }  # fmt: skip
