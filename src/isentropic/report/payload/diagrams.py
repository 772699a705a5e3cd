"""Curves, co-ranking matrices, Shepard diagrams and parameter curves as plain data for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._core.values import Floats, Integers
from ...comparison import Picture, Run
from ...quality import Quality, ShepardPairs
from ...quality.measures import plotted_curves
from .packed_arrays import pack, round_numbers

MOST_K = 200
_SHEPARD_CELLS = 60
_FAINTEST = 8  # times rarer than by chance: the palest shade of ranks
_GEOMETRIC = 8  # times from the least to the greatest parameter, from which on the axis is logarithmic


def curve_ks(n: int) -> Integers:
    """At most 200 values of k from 1 to n - 2, evenly spaced on a logarithmic axis.

    At k = n - 1 every row is a neighbour, and every map perfect.

    >>> curve_ks(5).tolist(), len(curve_ks(100_000)) <= 200
    ([1, 2, 3], True)
    """
    return np.unique(np.rint(np.geomspace(1, max(1, n - 2), MOST_K)).astype(np.int64))


def curves(quality: Quality) -> dict[str, Any]:
    """The curves that are drawn at :func:`curve_ks`, with their 95% band where they were estimated."""
    ks = curve_ks(quality.n)
    measured = [quality.at(int(k)) for k in ks]
    found: dict[str, Any] = {}
    for name in (kind.name for kind in plotted_curves()):
        points = [at[name] for at in measured if name in at]
        found[name] = {"values": round_numbers([point.value for point in points])}
        if not quality.exact:
            found[name]["low"] = round_numbers([np.nan if p.low is None else p.low for p in points])
            found[name]["high"] = round_numbers([np.nan if p.high is None else p.high for p in points])
    return {"k": ks.tolist(), **found}


def legends() -> list[dict[str, Any]]:
    """What each curve is called, and whether 0 is chance, where its axis then begins."""
    return [
        {"name": kind.name, "title": kind.legend[:1].upper() + kind.legend[1:], "chance": kind.range[0] < 0}
        for kind in plotted_curves()
    ]


def diagrams(picture: Picture | None) -> dict[str, Any]:
    """The co-ranking matrix and the Shepard diagram of a map, as pictures on a logarithmic scale."""
    if picture is None:
        return {}
    return {"coranking": _ranks(picture.coranks), "shepard": _shepard(picture.pairs)}


def _shepard(pairs: ShepardPairs) -> dict[str, Any]:
    given, mapped = float(pairs.given.max()) or 1.0, float(pairs.mapped.max()) or 1.0
    counts, _, _ = np.histogram2d(
        pairs.mapped, pairs.given, bins=_SHEPARD_CELLS, range=((0, mapped), (0, given))
    )
    # The line z = d / scale from the origin, in shares of either side of the picture: no square overflows.
    d, z = pairs.given / given, pairs.mapped / mapped
    both = float((d * z).sum())
    slope = float((z * z).sum()) / both if both > 0 else None
    return {
        **_picture(counts[::-1]), "given": float(f"{given:.3g}"), "mapped": float(f"{mapped:.3g}"),
        "slope": None if slope is None else float(f"{slope:.5g}"),
    }  # fmt: skip


def _ranks(counts: Integers) -> dict[str, Any]:
    """Cells by their ratio to chance, which puts equally many pairs everywhere; one scale for all maps."""
    chance = counts.sum() / counts.size
    least, most = chance / _FAINTEST, chance * max(len(counts) / 2, 2.0)
    shade = np.log(np.maximum(counts, 1e-9) / least) / np.log(most / least)
    bytes_ = np.where(counts > 0, 55 + 200 * np.clip(shade, 0, 1), 0)
    return {"size": len(counts), "cells": pack(np.rint(bytes_), "u1"), "most": int(counts.max())}


def _picture(counts: Floats) -> dict[str, Any]:
    """Counts as bytes: 0 where there are none, then from 55 to 255 by their logarithm."""
    top = np.log(counts.max()) or 1.0
    shade = np.where(counts > 0, 55 + 200 * np.log(np.maximum(counts, 1)) / top, 0)
    return {"size": counts.shape[0], "cells": pack(np.rint(shade), "u1"), "most": int(counts.max())}


def parameter_curve(run: Run) -> dict[str, Any] | None:
    """The trials of a selection: on an axis where one parameter of numbers varies, else side by side."""
    if not run.trials:
        return None
    varying = _varying([trial.params for trial in run.trials])
    name = varying[0] if len(varying) == 1 else ""
    xs = [trial.params.get(name) for trial in run.trials]
    numeric = bool(name) and all(isinstance(x, int | float) and not isinstance(x, bool) for x in xs)
    if numeric:
        numbers = np.array(xs, float)
        log = bool(numbers.min() > 0 and numbers.max() >= _GEOMETRIC * numbers.min())
    points: list[dict[str, Any]] = []
    for i, trial in enumerate(run.trials):
        label = (
            ", ".join(f"{key}={trial.params[key]}" for key in varying if key in trial.params) or "defaults"
        )
        points.append({
            "x": float(numbers[i]) if numeric else i, "label": label, "score": trial.score,
            "reason": trial.reason,
            "chosen": all(run.params.get(key) == value for key, value in trial.params.items()),
        })  # fmt: skip
    order = sorted(points, key=lambda point: point["x"])
    return {
        "axis": name if numeric else "what was tried",
        "log": numeric and log,
        "numeric": numeric,
        "criterion": run.criterion,
        "points": order,
    }


def _varying(params: Sequence[Any]) -> list[str]:
    keys = sorted({key for one in params for key in one})
    return [key for key in keys if len({repr(one.get(key)) for one in params}) > 1]
