"""``page``: everything about a comparison on one page of HTML that needs neither network nor server."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from .._arguments import require_kind
from .._extras import require_extra
from .._values import Integers, Table
from ..comparison import Drawing, Group, Mark, Run, Verdict
from ..comparison.drawings import WholeMap, plane
from ..comparison.lenses import Lens
from ..comparison.runs import parameters, require_runs, run_names
from ..comparison.verdict.thresholds import RELATED
from ..registry import METHODS
from .arrangement import family_name, shelves
from .arrays import packed, packed_points, rounded
from .class_scores import accuracy_columns, classifiers, groups, null_strips
from .colors import palette
from .diagrams import curves, diagrams, legends, parameter_curve
from .drawn_rows import described_rows
from .given_columns import given_columns, places, with_label
from .row_scores import kinds, row_scores
from .scores import columns, every_measure, first_k, number, seconds, strips
from .whole_maps import whole_map

_SCRIPTS = (
    "slices.js", "sheets.js", "charts.js", "maps.js", "coloring.js", "page.js",
    # further panels: page.js says what they may use
    "explaining.js", "selecting.js", "groups.js", "rows.js", "lens.js", "pair.js", "saving.js",
    "start.js",
)  # fmt: skip
_FACTS = (
    "command", "versions", "seconds", "date", "preset", "preset_text", "seed", "n_seeds", "dimensions",
    "warnings", "how_to_misread", "resumed", "rows", "notes",
)  # fmt: skip
_MOST_RINGS = 200  # scattered rows that are marked one by one


def page(
    table: Table,
    runs: Sequence[Run],
    verdict: Verdict,
    drawing: Drawing,
    facts: Mapping[str, Any],
    *,
    color: str | None = None,
) -> str:
    """The report as one HTML file: verdict, maps, curves and what was done.

    The same arguments give the same bytes. All text is escaped; scripts other than ours cannot run, and
    nothing is fetched (a content security policy in the page forbids both). ``O(n m)``.

    Parameters
    ----------
    table
        What was embedded.
    runs
        One for each method; failed ones become rows of the table with their reason.
    verdict
        What ``isentropic.comparison.verdict`` says of these runs.
    drawing
        What ``isentropic.comparison.drawing`` finds of them: which rows to draw, their neighbours, pictures.
    facts
        How it was done: command, versions, seconds, date, preset, seed, dimensions, notes. What is missing is
        left out.
    color
        The column, or the target, that colours the maps at first; by default the classes, if there are some.
    """
    require_runs(table, runs)
    require_kind("verdict", verdict, Verdict, "Give comparison.verdict(runs).")
    require_kind("drawing", drawing, Drawing, "Give comparison.drawing(table, runs, verdict).")
    rows, shown = drawing.rows, verdict.shown
    table = with_label(table, color)  # what is to colour is on the page, also a column that was left out
    payload = _payload(table, runs, verdict, drawing, color)
    known = payload["rows"]
    scripts = "\n".join(asset(name) for name in _SCRIPTS)
    return template("page.html").render(
        # what was compared
        table=table, runs=runs, names=run_names(runs), methods=METHODS, verdict=verdict, shown=shown,
        facts={**dict.fromkeys(_FACTS), **facts},
        # what is drawn
        n_drawn=len(rows), n_diagram=drawing.n_pictured, grid=_grid(len(payload["maps"])),
        shelves=shelves(runs, verdict), families=[family_name(run) for run in runs],
        n_given=payload["given"]["n_all"],
        n_columns=len(known["columns"]), n_left_out=known["n_left_out"], n_neighbors=known["neighbors"]["k"],
        recall=known["neighbors"]["recall"], regions=payload["regions"], whole=payload["whole"],
        # scores
        columns=columns(runs, accuracy_columns(runs) if table.class_names else None),
        groups=groups(runs), nulls=[null_strips(run) for run in runs],
        classifiers=classifiers(runs) if table.class_names else [],
        strips=[] if shown is None else strips(runs, shown), measures=every_measure(runs),
        number=number, seconds=seconds, related=RELATED, **_about(runs),
        # what makes it a page
        data=_json(payload), style=asset("page.css") + asset("panels.css"), script=scripts,
        script_hash=_hash(scripts),
    )  # fmt: skip


def _about(runs: Sequence[Run]) -> dict[str, Any]:
    """What the runs have in common: how they were scored, and what is known of their table."""
    return {
        "sampled": any(run.quality is not None and not run.quality.exact for run in runs),
        "seeded": any(run.repeats for run in runs),
        "relation": next((run.relation for run in runs if run.relation is not None), None),
    }


def _grid(n_maps: int) -> int:
    """Maps in a line: three, or four where that leaves fewer gaps."""
    return 4 if n_maps in (4, 7, 8) or n_maps > 9 else 3


# ---- data of the page --------------------------------------------------------------------------


def _payload(
    table: Table, runs: Sequence[Run], verdict: Verdict, drawing: Drawing, color: str | None
) -> dict[str, Any]:
    names, rows = run_names(runs), drawing.rows
    whole = drawing.whole
    at_top = None if verdict.shown is None else runs[verdict.shown]
    marked = rows if whole is None else whole.rows
    at_top = at_top if whole is None else whole.run
    measured = [
        (i, run, run.embedding, run.quality)
        for i, run in enumerate(runs)
        if run.embedding is not None and run.quality is not None
    ]
    maps = []
    for i, run, embedding, quality in measured:
        points = plane(embedding)
        maps.append({
            "run": i, "name": names[i], "parameters": parameters(run), **packed_points(points[rows]),
            "dimensions": embedding.shape[1], "curves": curves(quality), **diagrams(drawing.pictures[i]),
            "trials": parameter_curve(run),
        })  # fmt: skip
    scored = row_scores([run for _, run, _, _ in measured], len(table.X), rows)
    maps = [{**entry, **scores} for entry, scores in zip(maps, scored, strict=True)]
    given = given_columns(table, rows)
    return {
        "rows": described_rows(table, rows, drawing.neighbors, color, places(given)), "given": given,
        "maps": maps,
        "shown": verdict.shown, "k": first_k(runs), "palette": palette(), "curves": legends(),
        "regions": [_region(at_top, mark, marked, whole) for mark in drawing.marks],
        "whole": None if whole is None else whole_map(whole, len(runs), table, maps),
        "table": table.name, "lens": _lens(drawing.lens),
        "groups": [_group(group) for group in drawing.groups or ()],
        "kinds": kinds(maps, rows, at_top, drawing.agreed),
    }  # fmt: skip


def _region(run: Run | None, mark: Mark | None, rows: Integers, whole: WholeMap | None) -> dict[str, Any]:
    """Where one of the worst facts is, in the map at the top, and which drawn rows it is about."""
    if mark is None or run is None or run.embedding is None:
        return {"rows": "", "n": 0, "outline": [], "kept": 0.0, "worst": False, "ringed": False}
    drawn = rows if whole is None else np.concatenate([whole.rows, whole.others])
    points, n = plane(run.embedding)[drawn], len(mark.rows)
    # the coordinates of the page, as packed_points has them
    scale = float(np.ptp(points, axis=0).max()) or 1.0
    outline = (mark.region.outline - np.tile(points.min(axis=0), 2)) / scale
    return {
        "rows": packed(np.flatnonzero(np.isin(rows, mark.rows)), "u4"), "n": n, "worst": mark.worst,
        "outline": rounded(outline.ravel(), 4), "kept": mark.region.damaged_inside / n,
        "ringed": not len(outline) and not mark.worst and n <= _MOST_RINGS,
    }  # fmt: skip


def _lens(lens: Lens | None) -> dict[str, Any] | None:
    """Distances in the data between the drawn rows, in steps."""
    if lens is None or lens.top == 0.0:
        return None
    return {
        "metric": lens.metric, "top": lens.top, "codes": packed(lens.codes, "u1"),
        "landmarks": None if lens.landmarks is None else len(lens.landmarks),
    }  # fmt: skip


def _group(group: Group) -> dict[str, Any]:
    """One of the groups found in the map at the top, by the drawn rows that it has."""
    return {
        "name": group.name, "rows": packed(group.rows, "u4"), "n": len(group.rows),
        "stability": group.stability, "lines": list(group.lines),
    }  # fmt: skip


# ---- text of the page --------------------------------------------------------------------------


def _json(payload: Any) -> str:
    """JSON that cannot end the element it stands in, whatever the names of rows and columns are."""
    text = json.dumps(payload, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def asset(name: str) -> str:
    """A file beside this one."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """What the policy of the page knows our script by."""
    return b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def template(name: str) -> Any:
    """A page of ours, in which every value is escaped and none may be missing."""
    require_extra("report", "The page")
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(asset(name))
