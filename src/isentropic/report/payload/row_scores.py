"""Scores of single rows by which the page colours a map: false neighbors, tears, chance, jumps, seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._core.values import Floats, Integers
from ...comparison import Run
from ...quality import SharedNeighbors
from ...quality.rows.jumps import JUMP
from .packed_arrays import UNKNOWN, pack, pack_shares

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
