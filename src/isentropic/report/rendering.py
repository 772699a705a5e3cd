"""``page``: a comparison as one self-contained HTML page, without network or server."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from .._core.arguments import require_kind
from .._core.errors import require, require_extra
from .._core.values import Integers, Table
from ..comparison import Mark, PageData, Run, Verdict
from ..comparison.evaluation.runs import parameters, require_runs
from ..comparison.page_data import DistanceOverlay, FullMap, plane_coordinates
from ..comparison.presentation import decimal, seconds
from ..comparison.verdict import text
from ..comparison.verdict.judging import relation_of_columns
from ..quality import check_selection
from ..registry import METHODS
from .collect import first_screen
from .collect.first_screen import map_sections
from .collect.scores import (
    accuracy_columns,
    classifiers,
    columns,
    every_measure,
    first_k,
    groups,
    null_strips,
)
from .payload.diagrams import curves, diagrams, legends, parameter_curve
from .payload.packed_arrays import pack, pack_points, round_numbers
from .payload.page_columns import code_columns, pack_columns
from .payload.page_rows import describe_rows, full_map, kinds, near_counts, palette, row_scores

_SCRIPTS = (
    "slices.js", "sheets.js", "charts.js", "labels.js", "maps.js", "coloring.js", "page.js",
    # further panels: page.js says what they may use
    "explaining.js", "selecting.js", "groups.js", "rows.js", "overlay.js", "pair.js", "saving.js",
    "start.js",
)  # fmt: skip
_FACTS = (
    "command", "versions", "seconds", "date", "preset", "preset_text", "seed", "n_seeds", "dimensions",
    "warnings", "how_to_misread", "resumed", "rows", "notes", "columns",
)  # fmt: skip
_MOST_RINGS = 200  # scattered rows that are marked one by one


def page(
    table: Table,
    runs: Sequence[Run],
    verdict: Verdict,
    page_data: PageData,
    facts: Mapping[str, Any],
    *,
    color: str | None = None,
    copies: Integers | None = None,
    comparing: tuple[int, int] | None = None,
) -> str:
    """The report as one HTML file: answer, maps, measures, columns and how it was computed.

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
    page_data
        What ``isentropic.comparison.collect_page_data`` finds of them: rows to draw, neighbours, diagrams.
    facts
        How it was done: command, versions, seconds, date, preset, seed, dimensions, notes; and ``columns``,
        for each column of the source its name, role, why, kind, missing, change, share of the distance and
        the command that changes it. What is missing is left out.
    color
        The column, or the target, that colours the maps at first; by default the classes, if there are some.
    copies
        For each row how many rows are identical to it, itself included; points that stand for several are
        larger.
    comparing
        Of a preliminary page: how many methods are compared, and how many are to be. Such a page says so, and
        reloads itself.
    """
    require_runs(table, runs)
    require_kind("verdict", verdict, Verdict, "Give comparison.verdict(runs).")
    require(
        copies is None or len(copies) == len(table.X), "copies", f"of {len(table.X):,} rows", copies,
        hint="Give one count for each row of the table.",
    )  # fmt: skip
    require_kind("page_data", page_data, PageData, "Give comparison.collect_page_data(table, runs, verdict).")
    facts = {**dict.fromkeys(_FACTS), **facts}
    payload = _payload(table, runs, verdict, page_data, facts, color, copies)
    scripts = "\n".join(asset(name) for name in _SCRIPTS)
    return template("page.html").render(
        table=table, runs=runs, methods=METHODS, verdict=verdict, shown=verdict.shown, facts=facts,
        **_answer(table, runs, verdict, facts, payload), **_page_maps(runs, verdict, page_data, payload),
        # scores
        columns=columns(runs, accuracy_columns(runs) if table.class_names else None),
        groups=groups(runs), nulls=[null_strips(run) for run in runs],
        classifiers=classifiers(runs) if table.class_names else [], measures=every_measure(runs),
        number=decimal, seconds=seconds, **_about(runs), preliminary=_preliminary(comparing),
        # what makes it a page
        data=_json(payload), style=asset("page.css") + asset("panels.css"), script=scripts,
        script_hash=_hash(scripts),
    )  # fmt: skip


_RELOAD = '<meta http-equiv="refresh" content="5">'
_SO_FAR = "Preliminary, comparing: {} of {} methods."
_INTERRUPTED = "Interrupted after {} of {} methods."


def _preliminary(comparing: tuple[int, int] | None) -> dict[str, str] | None:
    return None if comparing is None else {"reload": _RELOAD, "so_far": _SO_FAR.format(*comparing)}


def interrupted_page(text: str, comparing: tuple[int, int]) -> str:
    """A preliminary page that stays: it says why, and no longer reloads itself."""
    return text.replace(_RELOAD, "", 1).replace(
        _SO_FAR.format(*comparing), _INTERRUPTED.format(*comparing), 1
    )


def _answer(
    table: Table, runs: Sequence[Run], verdict: Verdict, facts: Mapping[str, Any], payload: dict[str, Any]
) -> dict[str, Any]:
    """What the first screen says."""
    screen = first_screen
    return {
        "points": screen.point_sentence(table, facts, has_copies=payload["copies"] is not None),
        "names": screen.titles(runs, verdict), "ratings": screen.ratings_of(runs, verdict),
        "grades": screen.grades, "bar": screen.bar, "levels": text.GRADE_LABELS,
        "group_levels": text.GROUP_LABELS, "groups_title": text.GROUPS, "test_labels": text.TEST_LABELS,
        "dots": screen.tradeoff(runs, verdict), "plot": screen.PLOT,
        "group_names": payload["groups"] if verdict.groups.level == "yes" else [],
    }  # fmt: skip


def _page_maps(
    runs: Sequence[Run], verdict: Verdict, page_data: PageData, payload: dict[str, Any]
) -> dict[str, Any]:
    """What the maps show, and how much of the table the page holds."""
    rows, given, full = payload["rows"], payload["given"]["columns"], payload["full"]
    return {
        "n_drawn": len(page_data.rows), "n_diagram": page_data.n_pictured, "n_maps": len(payload["maps"]),
        "grid": _grid(len(payload["maps"])), "map_sections": map_sections(runs, verdict), "full": full,
        "regions": payload["regions"], "n_given": payload["given"]["n_all"],
        "n_columns": len(rows["columns"]), "n_left_out": rows["n_left_out"],
        "n_neighbors": rows["neighbors"]["k"], "recall": rows["neighbors"]["recall"],
        "n_stored_rows": len(page_data.rows) if full is None else full["n_drawn"],
        "n_stored_columns": len(given) + (rows["classes"] is not None),
    }  # fmt: skip


def _about(runs: Sequence[Run]) -> dict[str, Any]:
    """What the runs have in common: how they were scored, and what is known of their table."""
    return {
        "sampled": any(run.quality is not None and not run.quality.exact for run in runs),
        "seeded": any(run.repeats for run in runs),
        "relation": relation_of_columns(runs),
    }


def _grid(n_maps: int) -> int:
    """Maps in a line: three, or four where that leaves fewer gaps."""
    return 4 if n_maps in (4, 7, 8) or n_maps > 9 else 3


# ---- data of the page --------------------------------------------------------------------------


def _payload(
    table: Table,
    runs: Sequence[Run],
    verdict: Verdict,
    page_data: PageData,
    facts: Mapping[str, Any],
    color: str | None,
    copies: Integers | None,
) -> dict[str, Any]:
    rows = page_data.rows
    full = page_data.full_map
    at_top = None if verdict.shown is None else runs[verdict.shown]
    marked = rows if full is None else full.rows
    at_top = at_top if full is None else full.run
    maps = _maps(table, runs, verdict, page_data)
    given, n_all = code_columns(table, rows)
    return {
        "rows": describe_rows(table, rows, page_data.neighbors, color, given),
        "given": pack_columns(given, n_all), "shares": _shares(facts), "maps": maps,
        "shown": verdict.shown, "k": first_k(runs), "palette": palette(), "curves": legends(),
        "regions": [_region(at_top, mark, marked, full) for mark in page_data.marks],
        "full": None if full is None else full_map(full, len(runs), table, maps, given),
        "table": table.name, "overlay": _overlay(page_data.overlay), "copies": _copies(copies, rows),
        "groups": _groups(page_data) if verdict.groups.level != "no" else [],
        "group_answer": verdict.groups.sentence,
        "named_groups": verdict.recommended is not None and verdict.groups.level != "no",
        "kinds": kinds(maps, rows, at_top, page_data.agreed),
    }  # fmt: skip


def _maps(table: Table, runs: Sequence[Run], verdict: Verdict, page_data: PageData) -> list[dict[str, Any]]:
    """Points, curves, pictures and scores of single rows, of every run that gave a map."""
    names, rows = first_screen.titles(runs, verdict), page_data.rows
    measured = [
        (i, run, run.embedding, run.quality)
        for i, run in enumerate(runs)
        if run.embedding is not None and run.quality is not None
    ]
    scored = row_scores([run for _, run, _, _ in measured], len(table.X), rows)
    return [
        {
            "run": i, "name": names[i], "parameters": parameters(run),
            **pack_points(plane_coordinates(embedding)[rows]), "dimensions": embedding.shape[1],
            "curves": curves(quality), **diagrams(page_data.pictures[i]), "trials": parameter_curve(run),
            **scores, **near_counts(run, len(table.X), rows),
        }
        for (i, run, embedding, quality), scores in zip(measured, scored, strict=True)
    ]  # fmt: skip


def _shares(facts: Mapping[str, Any]) -> dict[str, float]:
    """Share of each column in the distance between rows, where it is known."""
    return {one["name"]: one["share"] for one in facts["columns"] or () if one.get("share") is not None}


def _copies(copies: Integers | None, rows: Integers) -> str | None:
    """How many rows each point stands for; None where each stands for one."""
    if copies is None or not (copies[rows] > 1).any():
        return None
    return pack(copies[rows], "u4")


def _region(run: Run | None, mark: Mark | None, rows: Integers, full: FullMap | None) -> dict[str, Any]:
    """Outline of the rows of one caveat on the shown map."""
    if mark is None or run is None or run.embedding is None:
        return {"rows": "", "n": 0, "outline": [], "kept": 0.0, "worst": False, "ringed": False}
    shown_rows = rows if full is None else np.concatenate([full.rows, full.others])
    points, n = plane_coordinates(run.embedding)[shown_rows], len(mark.rows)
    # the coordinates of the page, as pack_points has them
    scale = float(np.ptp(points, axis=0).max()) or 1.0
    outline = (mark.region.outline - np.tile(points.min(axis=0), 2)) / scale
    return {
        "rows": pack(np.flatnonzero(np.isin(rows, mark.rows)), "u4"), "n": n, "worst": mark.worst,
        "outline": round_numbers(outline.ravel(), 4), "kept": mark.region.damaged_inside / n,
        "ringed": not len(outline) and not mark.worst and n <= _MOST_RINGS,
    }  # fmt: skip


def _overlay(overlay: DistanceOverlay | None) -> dict[str, Any] | None:
    """Distances in the data between the drawn rows, in steps."""
    if overlay is None or overlay.top == 0.0:
        return None
    return {
        "metric": overlay.metric, "top": overlay.top, "codes": pack(overlay.codes, "u1"),
        "landmarks": None if overlay.landmarks is None else len(overlay.landmarks),
    }  # fmt: skip


def _groups(page_data: PageData) -> list[dict[str, Any]]:
    """Groups of the shown map, by their rows on the page, with the share of true neighbors inside."""
    found = []
    for group in page_data.groups or ():
        check = check_selection(page_data.neighbors, group.rows)
        found.append({
            "name": group.name, "rows": pack(group.rows, "u4"), "n": len(group.rows),
            "stability": group.stability, "lines": list(group.lines),
            "inside": round(check.inside, 4), "chance": round(check.chance, 4),
        })  # fmt: skip
    return found


# ---- text of the page --------------------------------------------------------------------------


def _json(payload: Any) -> str:
    """JSON that cannot end the element it stands in, whatever the names of rows and columns are."""
    text = json.dumps(payload, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def asset(name: str) -> str:
    """A file beside this one."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


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
