"""``page``: everything about a comparison on one page of HTML that needs neither network nor server."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from .._extras import require_extra
from .._values import Floats, Integers, Table
from ..comparison import Fact, Run, Verdict
from ..comparison.standings import FINE_BAR, RELATED
from ..quality import Quality
from ..registry import METHODS
from .arrays import packed, packed_points, packed_shares, rounded
from .colors import palette
from .diagrams import DIAGRAM_ROWS, curves, diagrams, legends, parameter_curve
from .regions import damaged_region
from .rows import described_rows, drawn_rows
from .scores import columns, data_accuracy, every_measure, first_k, number, seconds, strips

_SCRIPTS = ("maps.js", "charts.js", "page.js")
_FACTS = (
    "command", "versions", "seconds", "date", "preset", "preset_text", "seed", "n_seeds", "dimensions",
    "warnings", "how_to_misread", "resumed",
)  # fmt: skip
_MOST_RINGS = 200  # scattered rows that are marked one by one
_FULL_COLOR = 99  # the percentile of a damage that has the full colour: one bad row must not hide all others


def page(
    table: Table, runs: Sequence[Run], verdict: Verdict, facts: Mapping[str, Any], *, color: str | None = None
) -> str:
    """The report as one HTML file: verdict, maps, curves and what was done.

    The same arguments give the same bytes. All text is escaped; scripts other than ours cannot run, and
    nothing is fetched (a content security policy in the page forbids both). Beyond 50,000 rows a stratified
    sample is drawn. ``O(n m)`` beside the true neighbours of the drawn rows.

    Parameters
    ----------
    table
        What was embedded.
    runs
        One for each method; failed ones become rows of the table with their reason.
    verdict
        What ``isentropic.comparison.verdict`` says of these runs.
    facts
        How it was done: command, versions, seconds, date, preset, seed, dimensions, notes. What is missing is
        left out.
    color
        The column, or the target, that colours the maps at first; by default the classes, if there are some.
    """
    rows = drawn_rows(table)
    shown = verdict.shown
    payload = _payload(table, runs, verdict, rows, color)
    known = payload["rows"]
    scripts = "\n".join(_asset(name) for name in _SCRIPTS)
    return _template().render(
        # what was compared
        table=table, runs=runs, names=run_names(runs), methods=METHODS, verdict=verdict, shown=shown,
        facts={**dict.fromkeys(_FACTS), **facts},
        # what is drawn
        n_drawn=len(rows), n_diagram=min(len(rows), DIAGRAM_ROWS), grid=_grid(len(payload["maps"])),
        n_columns=len(known["columns"]), n_neighbors=known["neighbors"]["k"],
        recall=known["neighbors"]["recall"], regions=payload["regions"],
        # scores
        columns=columns(runs, bool(table.class_names)), data_accuracy=data_accuracy(runs),
        strips=[] if shown is None else strips(runs, shown), measures=every_measure(runs),
        number=number, seconds=seconds, related=RELATED, fine=FINE_BAR, **_about(runs),
        # what makes it a page
        data=_json(payload), style=_asset("page.css"), script=scripts, script_hash=_hash(scripts),
    )  # fmt: skip


def _about(runs: Sequence[Run]) -> dict[str, Any]:
    """What the runs have in common: how they were scored, and what is known of their table."""
    return {
        "sampled": any(run.quality is not None and not run.quality.exact for run in runs),
        "seeded": any(run.repeats for run in runs),
        "relation": next((run.relation for run in runs if run.relation is not None), None),
    }


def run_names(runs: Sequence[Run]) -> list[str]:
    """The method of each run, and what tells it from other runs of the same method."""
    methods = [run.method for run in runs]
    return [
        run.method if methods.count(run.method) == 1 else f"{run.method} ({parameters(run)})" for run in runs
    ]


def parameters(run: Run) -> str:
    """
    >>> parameters(Run("isomap", {"n_neighbors": 12}, None, 0.1, None))
    'n_neighbors=12'
    """
    return ", ".join(f"{key}={value}" for key, value in run.params.items()) or "defaults"


def _grid(n_maps: int) -> int:
    """Maps in a line: three, or four where that leaves fewer gaps."""
    return 4 if n_maps in (4, 7, 8) or n_maps > 9 else 3


# ---- data of the page --------------------------------------------------------------------------


def _payload(
    table: Table, runs: Sequence[Run], verdict: Verdict, rows: Integers, color: str | None
) -> dict[str, Any]:
    names = run_names(runs)
    measured = [
        (i, run, run.embedding, run.quality)
        for i, run in enumerate(runs)
        if run.embedding is not None and run.quality is not None
    ]
    few = drawn_rows(table, DIAGRAM_ROWS)
    maps = []
    for i, run, embedding, quality in measured:
        points = _plane(embedding)
        maps.append({
            "run": i, "name": names[i], "parameters": parameters(run), **packed_points(points[rows]),
            "dimensions": embedding.shape[1], "curves": curves(quality), **diagrams(table, few, embedding),
            "trials": parameter_curve(run),
        })  # fmt: skip
    for kind, scores in _damages(measured, len(table.X)).items():
        known = np.concatenate([one[np.isfinite(one)] for one in scores]) if scores else np.zeros(0)
        top = float(f"{np.percentile(known, _FULL_COLOR):.2g}") if len(known) else 1.0
        for entry, one in zip(maps, scores, strict=True):
            entry[kind] = {"values": packed_shares(one[rows], 0.0, top or 1.0), "high": top or 1.0}
    return {
        "rows": described_rows(table, rows, color), "maps": maps,
        "shown": verdict.shown, "k": first_k(runs), "palette": palette(), "curves": legends(),
        "regions": _regions(runs, verdict, rows),
    }  # fmt: skip


def _plane(embedding: Floats) -> Floats:
    """The first two coordinates, or the only one over the row number."""
    if embedding.shape[1] >= 2:
        return embedding[:, :2]
    n = len(embedding)
    spread = float(np.ptp(embedding)) or 1.0
    return np.column_stack([embedding[:, 0], np.arange(n) / max(1, n - 1) * spread / 2])


def _damages(measured: Sequence[Any], n: int) -> dict[str, list[Floats]]:
    """False neighbours and tears of every row in every map; NaN where a row was not sampled."""
    found: dict[str, list[Floats]] = {"false": [], "tears": []}
    for _, run, _, quality in measured:
        share = run.false_share
        sides = (
            ("false", quality.false_neighbors[:, 0] if share is None else share),
            ("tears", quality.tears[:, 0]),
        )
        for kind, values in sides:
            scores = np.full(n, np.nan)
            scores[quality.rows] = values
            found[kind].append(scores)
    return found


def _regions(runs: Sequence[Run], verdict: Verdict, rows: Integers) -> list[dict[str, Any]]:
    """Where each of the worst facts is, in the map at the top, and which drawn rows it is about.

    A fact about more than half of all rows has no place; what is marked then are the worst tenth of them.
    """
    run = None if verdict.shown is None else runs[verdict.shown]
    return [_region(run, fact, rows) for fact in verdict.worst]


def _region(run: Run | None, fact: Fact, rows: Integers) -> dict[str, Any]:
    about: Integers = np.asarray(fact.rows, np.int64)
    if run is None or run.embedding is None or run.quality is None or len(about) == 0:
        return {"rows": "", "n": 0, "outline": [], "kept": 0.0, "worst": False, "ringed": False}
    points = _plane(run.embedding)
    common = len(about) > len(run.quality.rows) / 2
    if common:
        damage = _damage(run, run.quality, fact.kind)
        about = run.quality.rows[np.argsort(-damage, kind="stable")[: max(1, len(damage) // 10)]]
    flags = np.zeros(len(points), bool)
    flags[about] = True
    known = run.quality.rows  # where scores were sampled, other rows are neither right nor wrong
    region = damaged_region(points[known], flags[known])
    drawn = points[rows]
    scale = (
        float(np.ptp(drawn, axis=0).max()) or 1.0
    )  # the coordinates of the page, as packed_points has them
    outline = (region.outline - np.tile(drawn.min(axis=0), 2)) / scale
    return {
        "rows": packed(np.flatnonzero(flags[rows]), "u4"), "n": len(about), "worst": common,
        "outline": rounded(outline.ravel(), 4), "kept": region.damaged_inside / len(about),
        "ringed": not len(outline) and not common and len(about) <= _MOST_RINGS,
    }  # fmt: skip


def _damage(run: Run, quality: Quality, kind: str) -> Floats:
    """What the rows of a fact suffer from, for each of the compared rows."""
    strangers, torn = quality.false_neighbors[:, 0], quality.tears[:, 0]
    if kind == "false" and run.false_share is not None:
        return run.false_share + strangers / 1e3  # of equal shares the worse strangers
    return {"strangers": strangers, "torn": torn}.get(kind, strangers + torn)


# ---- text of the page --------------------------------------------------------------------------


def _json(payload: Any) -> str:
    """JSON that cannot end the element it stands in, whatever the names of rows and columns are."""
    text = json.dumps(payload, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """What the policy of the page knows our script by."""
    return b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _template() -> Any:
    require_extra("report", "The page")
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_asset("page.html"))
