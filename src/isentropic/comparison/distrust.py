"""What is said where no map is to be trusted: why, what the best of them shows, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .bars import GLOBAL_BAR, are_related, local_bar
from .rivals import score_of
from .runs import Run
from .standings import Standing
from .words import in_plain_words, local_name, with_bar

_KEPT_GROUPS = 0.5  # R_NX of neighbourhoods that are kept at least by half
_LARGE = 5  # times the nearest rows: groups that are far larger than neighbourhoods

_WHY = {
    "failed": "No map is to be trusted: every method failed. Why, and what to do, is said of each.",
    "chance": (
        "No map of this table is to be trusted: none is better than the same points in random places."
    ),
    "unrelated": (
        "No map of this table is to be trusted: its columns cannot be told from unrelated ones. Rows lie no "
        "closer together than with each column shuffled by itself{p}: what a map shows may be noise."
    ),
    "effect": (
        "No map of this table is to be trusted: those that keep something saw the classes, and what they "
        "show of them is an effect of the labels."
    ),
    "untested": (
        "No map of this table is to be trusted: those that keep something saw the classes, and whether what "
        "they show of them is more than an effect of the labels was not tested."
    ),
    "little": (
        "No map of this table is to be trusted: none keeps enough of the rows that are nearest to a row, nor "
        "the order of distances.{numbers}"
    ),
}
_OTHER_COLUMNS = (
    "What next: look at the columns one by one, leave out those that are noise, or bring more rows, as few "
    "rows of a bent sheet cannot be told from noise."
)
_NEXT = {
    "chance": _OTHER_COLUMNS,
    "unrelated": _OTHER_COLUMNS,
    "effect": (
        "What next: compare methods that do not see the classes, or bring columns that tell them apart."
    ),
    "untested": "What next: compare methods that do not see the classes, which need no such test.",
    "little": (
        "What next: compare more methods (the preset thorough), or only the columns that matter, as a flat "
        "map cannot keep what has many dimensions. Which rows are near, ask the table, not a map."
    ),
}


def why_none(runs: Sequence[Run], standings: Sequence[Standing]) -> str:
    """The headline of a verdict that trusts no map."""
    case = _case(runs, standings)
    known = [run.relation[1] for run in runs if run.relation is not None]
    p = f" (p = {known[0]:.2f})" if known else ""
    return _WHY[case].format(p=p, numbers=_greatest(runs, standings) if case == "little" else "")


def without_one(runs: Sequence[Run], standings: Sequence[Standing], shown: int) -> tuple[str, str]:
    """What the map that is shown keeps, and what to do next."""
    case, run = _case(runs, standings), runs[shown]
    which = f"The best of them is {run.method}." if case != "chance" else f"Shown is {run.method}."
    groups = _large_groups(run) if case in ("little", "effect", "untested") else ""
    return f"{which} {in_plain_words(run)} {standings[shown].text}{groups}", _NEXT[case]


def _case(runs: Sequence[Run], standings: Sequence[Standing]) -> str:
    maps = [s for s in standings if s.keeps]
    if not maps:
        return "failed"
    if all(s.worthless for s in maps):
        return "chance"
    saw = {s.labels for s in maps if s.keeps != "neither" and not s.worthless and not s.unrelated}
    otherwise = "little" if are_related(runs[maps[0].run]) else "unrelated"
    return next((labels for labels in ("effect", "untested") if labels in saw), otherwise)


def _greatest(runs: Sequence[Run], standings: Sequence[Standing]) -> str:
    """The scores that come nearest to what is asked, of maps that beat chance: all are less."""
    maps = [s for s in standings if s.keeps and not s.worthless]
    quality = runs[maps[0].run].quality
    assert quality is not None
    near = max(score_of(s, "local") for s in maps)
    said = f"{local_name(quality.n_neighbors[0])} is {with_bar(near, local_bar(quality.n))}"
    if any(s.overall is not None for s in maps):
        said += f", the greatest tau {with_bar(max(score_of(s, 'overall') for s in maps), GLOBAL_BAR)}"
    return f" The greatest {said}."


def _large_groups(run: Run) -> str:
    """What a map that is not to be trusted may show all the same: groups far larger than neighbourhoods."""
    assert run.quality is not None
    curve, nearest = run.quality.curves.r_nx, run.quality.n_neighbors[0]
    k = int(np.argmax(curve[: run.quality.n // 2])) + 1
    if curve[k - 1] < _KEPT_GROUPS or k < _LARGE * nearest:
        return ""
    return (
        f" What may be read from it are large groups only: R_NX is greatest, {curve[k - 1]:.2f}, for "
        f"neighbourhoods of {k:,} rows."
    )
