"""The first screen of the page: what a point is, grades as bars, the trade-off of all maps, their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..._core.values import Table
from ...comparison import Grade, Rating, Run, Verdict
from ...comparison.evaluation.runs import parameters
from ...comparison.verdict import text
from ...comparison.verdict.choice import rank_maps
from ...registry import METHODS
from .scores import groups

_FEW_COLUMNS = 5  # that are named in the sentence on what a point is
_LONGEST_NAME = 24
# the trade-off picture, in pixels: its plot, and what a letter of a name takes
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 132, 26, 12, 8, 22
PLOT = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM}
_LETTER, _LINE = 7.0, 9.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A map in the trade-off picture, in pixels; its name is left out where there is no room."""

    run: int
    title: str
    x: float
    y: float
    x_range: tuple[float, float] | None
    y_range: tuple[float, float] | None
    shown: bool
    text: str
    label: tuple[float, float, str] | None  # x, y and text-anchor of the name


def titles(runs: Sequence[Run], verdict: Verdict) -> list[str]:
    """The usual name of each method, with parameters where two maps have the same name."""
    found = [run.method for run in runs]
    for rating in verdict.ratings:
        found[rating.run] = rating.title
    return [
        f"{title} ({parameters(run)})" if found.count(title) > 1 else title
        for title, run in zip(found, runs, strict=True)
    ]


def ratings_of(runs: Sequence[Run], verdict: Verdict) -> list[Rating | None]:
    """The rating of each run, by position."""
    found: list[Rating | None] = [None for _ in runs]
    for rating in verdict.ratings:
        found[rating.run] = rating
    return found


def grades(rating: Rating | None) -> list[Grade]:
    """Those that a map has: neighbours first."""
    if rating is None:
        return []
    return [grade for grade in (rating.neighbors, rating.distances) if grade is not None]


def bar(grade: Grade) -> dict[str, float]:
    """Where chance ends and where the map ends, in percent of a bar of ten blocks.

    >>> bar(Grade("neighbors", "", "good", "", 0.934, 0.07, score=0.93))
    {'chance': 7.0, 'value': 93.4}
    """
    chance, value = (round(100 * min(1.0, max(0.0, share)), 1) for share in (grade.chance, grade.value))
    return {"chance": chance, "value": max(chance, value)}


# ---- what a point is ---------------------------------------------------------------------------


def point_sentence(table: Table, facts: Mapping[str, Any], *, has_copies: bool = False) -> str:
    """What a point is, which columns decide its place, and which were not used."""
    known = facts.get("columns") or []
    features = [one["name"] for one in known if one["role"] == "feature"] or _feature_columns(table)
    unused = [one["name"] for one in known if one["role"] in ("target", "label")]
    if not known and table.y is not None:
        unused = [getattr(table.preparation, "target", None) or "the target"]
    rows = len(table.X) if has_copies else facts.get("rows") or len(table.X)
    if table.metric == "precomputed":
        decide = "The given distances decide the places"
    else:
        decide = (
            f"{_names_text(features, 'columns')} {'decides' if len(features) == 1 else 'decide'} the places"
        )
    spared = f"; {_names_text(unused, 'other columns')} {'was' if len(unused) == 1 else 'were'} not used"
    rows_said = f"{rows:,} different rows" if has_copies else f"{rows:,} rows"
    larger = " Larger points stand for several identical rows." if has_copies else ""
    return f"Each point is one of {rows_said}. {decide}{spared if unused else ''}.{larger}"


def _feature_columns(table: Table) -> list[str]:
    prepared = table.preparation
    return list(table.feature_names) if prepared is None else [column.name for column in prepared.columns]


def _names_text(names: Sequence[str], many: str) -> str:
    """
    >>> _names_text(["a", "b", "c"], "columns"), _names_text(list("abcdefgh"), "columns")
    ('a, b and c', '8 columns')
    """
    if len(names) > _FEW_COLUMNS:
        return f"{len(names):,} {many}"
    short = [name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in names]
    return " and ".join([*([", ".join(short[:-1])] if short[:-1] else []), *short[-1:]])


# ---- how the map was chosen --------------------------------------------------------------------


def tradeoff(runs: Sequence[Run], verdict: Verdict) -> list[Dot]:
    """Every map by what it keeps: distances across, neighbours upwards, both from chance to perfect."""
    names = titles(runs, verdict)
    found = [rating for rating in verdict.ratings if rating.neighbors and rating.distances]
    order = sorted(found, key=lambda rating: (rating.run != verdict.shown, rating.run))
    dots = [_dot(rating, names[rating.run], rating.run == verdict.shown) for rating in order]
    return _place_labels(dots)[::-1]  # the map that is shown lies on top


def _dot(rating: Rating, name: str, shown: bool) -> Dot:
    near, far = rating.neighbors, rating.distances
    assert near is not None
    assert far is not None
    return Dot(
        rating.run, name, _x(far, far.value), _y(near, near.value), _range(far, _x), _range(near, _y), shown,
        text.tradeoff(name, near, far), None,
    )  # fmt: skip


def _x(grade: Grade, value: float) -> float:
    return round(LEFT + _beyond_chance(grade, value) * (WIDTH - LEFT - RIGHT), 1)


def _y(grade: Grade, value: float) -> float:
    return round(HEIGHT - BOTTOM - _beyond_chance(grade, value) * (HEIGHT - TOP - BOTTOM), 1)


def _beyond_chance(grade: Grade, value: float) -> float:
    return min(1.0, max(0.0, (value - grade.chance) / max(1e-9, 1 - grade.chance)))


def _range(grade: Grade, place: Callable[[Grade, float], float]) -> tuple[float, float] | None:
    if grade.low is None or grade.high is None:
        return None
    return place(grade, grade.low), place(grade, grade.high)


def _place_labels(dots: Sequence[Dot]) -> list[Dot]:
    """Names to the right, the left, above or below, where they meet no dot and no other name."""
    taken = [(dot.x - 6, dot.y - 6, dot.x + 6, dot.y + 6) for dot in dots]
    found = []
    for dot in dots:
        wide = _LETTER * len(dot.title)
        places = (
            (dot.x + 9, dot.y + 4, "start"), (dot.x - 9, dot.y + 4, "end"),
            (dot.x + 7, dot.y - 5, "start"), (dot.x + 7, dot.y + 13, "start"), (dot.x - 7, dot.y - 5, "end"),
            (dot.x - 7, dot.y + 13, "end"), (dot.x, dot.y - 9, "middle"), (dot.x, dot.y + 17, "middle"),
        )  # fmt: skip
        label = None
        for x, y, anchor in places:
            left = x - {"start": 0.0, "end": wide, "middle": wide / 2}[anchor]
            box = (left, y - _LINE, left + wide, y + 1)
            inside = LEFT <= box[0] and box[2] <= WIDTH and box[1] >= -2 and box[3] <= HEIGHT - BOTTOM + 4
            if inside and not any(_meet(box, other) for other in taken):
                taken.append(box)
                label = (round(x, 1), round(y, 1), anchor)
                break
        found.append(replace(dot, label=label))
    return found


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


# ---- order of the maps ---------------------------------------------------------------------------


MOST_FIRST = 8  # maps that are shown at once; the others come on request


@dataclass(frozen=True, slots=True)
class MapSection:
    """Maps that belong together: those shown at once, and the others by family, by position of their runs."""

    title: str
    note: str
    first: tuple[int, ...]
    others: tuple[tuple[str, tuple[int, ...]], ...]  # name of a family, its maps


def map_sections(runs: Sequence[Run], verdict: Verdict) -> list[MapSection]:
    """All maps, the best first; eight are shown at once, or all where only one is left."""
    order = [rating.run for rating in rank_maps(verdict.ratings, verdict.shown)]
    n_first = len(order) if len(order) <= MOST_FIRST + 1 else MOST_FIRST
    first, others = order[:n_first], order[n_first:]
    return [
        MapSection(
            group.title,
            group.note,
            tuple(i for i in first if i in group.runs),
            _by_family(runs, [i for i in others if i in group.runs]),
        )
        for group in groups(runs)
    ]


def family_name(run: Run) -> str:
    """That of its method; none for one that is not in the registry."""
    method = METHODS.get(run.method)
    return "" if method is None else method.family


def _by_family(runs: Sequence[Run], positions: Sequence[int]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Families in the order of their best maps."""
    names = dict.fromkeys(family_name(runs[i]) for i in positions)
    return tuple(
        (name or "other", tuple(i for i in positions if family_name(runs[i]) == name)) for name in names
    )
