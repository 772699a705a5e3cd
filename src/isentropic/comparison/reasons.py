"""The verdict's sentences: plain words first, numbers after them, and none that its numbers gainsay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .rivals import DIGITS, keeping, measure_of, recommended_for, score_of, told_apart, value_of
from .runs import Run
from .standings import GLOBAL_BAR, LOCAL_BAR, Standing, in_plain_words, kept_size, local_name

_KEPT_GROUPS = 0.5  # R_NX of neighbourhoods that are kept at least by half
_SHOWN = 3  # digits: to the reader scores are equal that the page writes alike


def headline(
    runs: Sequence[Run], standings: Sequence[Standing], recommended: int | None, shown: int | None
) -> str:
    """Which map, and what it keeps, in words that need no measure to be known; the numbers after them."""
    if recommended is not None:
        run = runs[recommended]
        chosen = ", ".join(f"{name}={value}" for name, value in run.params.items())
        name = f"{run.method}{f' ({chosen})' if chosen else ''}"
        return f"Recommended: {name}. {in_plain_words(run)} {standings[recommended].text}"
    if shown is None:
        return "No map is to be trusted: every method failed."
    if any(s.unrelated for s in standings):
        relation = runs[shown].relation
        chance = "" if relation is None else f" (p = {relation[1]:.2f})"
        return (
            "No map of this table is to be trusted: its columns cannot be told from unrelated ones. Rows "
            f"lie no closer together than with each column shuffled by itself{chance}: what a map shows may "
            "be noise."
        )
    if any(s.labels and s.keeps not in ("", "neither") and not s.worthless for s in standings):
        return (
            "No map of this table is to be trusted: those that keep something saw the classes, and what they "
            "show of them is an effect of the labels."
        )
    if any(s.keeps != "neither" for s in standings if s.keeps):
        return "No map of this table is to be trusted: none is better than chance."
    return (
        "No map of this table is to be trusted: none keeps half of the rows that are nearest to a row, nor "
        f"the order of distances. R_NX is less than {LOCAL_BAR:g} for all, tau less than {GLOBAL_BAR:g}."
    )


def reasons(
    runs: Sequence[Run],
    standings: Sequence[Standing],
    recommended: int | None,
    best_global: int | None,
    shown: int | None,
) -> tuple[str, ...]:
    """Why this map, what else to know of it, and which maps are worth nothing."""
    found = []
    if recommended is None and shown is not None:
        best = runs[shown]
        found.append(f"The best of them is {best.method}. {in_plain_words(best)} {standings[shown].text}")
    elif recommended is not None:
        what = recommended_for(standings[recommended])
        found.append(_why(runs, standings, recommended, what))
        found.append(
            _local_reason(runs, standings, recommended)
            if what == "overall"
            else _global_reason(standings, recommended, best_global)
        )
    worthless = [s.method for s in standings if s.worthless]
    if worthless:
        found.append(f"Worthless, no better than chance: {', '.join(worthless)}.")
    elif recommended is None and shown is not None:
        said = _large_groups(runs[shown]) if not any(s.unrelated for s in standings) else ""
        found.append(said or "All are better than chance, but that alone says little.")
    unrelated = [s.method for s in standings if s.unrelated]
    if recommended is not None and unrelated:
        found.append(
            f"Perhaps noise, as the columns cannot be told from unrelated ones: {', '.join(unrelated)}."
        )
    failed = [s.text for s in standings if not s.keeps]
    return (*found, *failed)


def _large_groups(run: Run) -> str:
    """What a map that is not to be trusted may show all the same: groups far larger than neighbourhoods."""
    assert run.quality is not None
    curve, nearest = run.quality.curves.r_nx, run.quality.n_neighbors[0]
    k = int(np.argmax(curve[: run.quality.n // 2])) + 1
    if curve[k - 1] < _KEPT_GROUPS or k < 5 * nearest:
        return ""
    return (
        f"What may be read from it are large groups only: R_NX is greatest, {curve[k - 1]:.2f}, for "
        f"neighbourhoods of {k:,} rows."
    )


def _why(runs: Sequence[Run], standings: Sequence[Standing], recommended: int, by: str) -> str:
    """Why it is this one: its score, how many others were in question, and how far the next is behind."""
    what = {"overall": "the order of distances", "coarse": "coarse neighbourhoods"}.get(by, "neighbourhoods")
    rivals = keeping(standings, by)
    nearer = max(rivals, key=lambda s: (round(score_of(s, by), DIGITS), s.run == recommended))
    saw = bool(standings[recommended].labels)
    n_maps = sum(1 for s in standings if s.keeps and bool(s.labels) == saw)
    if not saw and any(s.labels for s in standings):
        what += " and did not see the classes" if len(rivals) > 1 else ", not having seen the classes"
    scored = _scored(runs[recommended], standings[recommended], by)
    first = f"Of {len(rivals)} maps that keep {what} it keeps most"
    if len(rivals) == 1:
        first = f"It keeps {what}" if n_maps == 1 else f"It alone of {n_maps} maps keeps {what}"
    if nearer.run != recommended:
        areas = (value_of(runs[i], "rnx_auc") for i in (recommended, nearer.run))
        return (
            f"Of {len(rivals)} maps that keep {what} it has {scored}); {nearer.method} has "
            f"{score_of(nearer, by):.2f}, too near to tell them apart, but keeps less of larger "
            "neighbourhoods: area under R_NX {:.2f} against {:.2f}.".format(*reversed([*areas]))
        )
    return f"{first}: {scored}){_compared(runs, rivals, recommended, by)}."


def _scored(run: Run, found: Standing, by: str) -> str:
    """Its score beside perfection and chance, the bracket open."""
    assert run.quality is not None
    own = score_of(found, by)
    if by == "overall":
        return f"tau {own:.2f} (1 is perfect, 0 is chance"
    k = kept_size(run.quality)
    chance = run.baseline.get(measure_of(run, by), (0.0, 0.0))[1]
    beside = f"chance at most {chance:.2f}" if chance > 0 else "0 is chance"
    return f"{local_name(k)} {own:.2f} (1 is perfect, {beside}"


def _compared(runs: Sequence[Run], rivals: Sequence[Standing], recommended: int, by: str) -> str:
    """How the others stand: equal ones by name, and the next with what its distance is worth."""
    own = next(score_of(s, by) for s in rivals if s.run == recommended)
    others = [s for s in rivals if s.run != recommended]
    equal = [s.method for s in others if round(score_of(s, by), _SHOWN) == round(own, _SHOWN)]
    said = f"; {' and '.join(equal)} as much" if equal else ""
    lower = [s for s in others if s.method not in equal]
    if not lower:
        return said
    following = max(lower, key=lambda s: score_of(s, by))
    apart = told_apart(runs[recommended], runs[following.run], by)
    worth = {None: "", True: ", clearly less", False: ", too near to tell them apart"}[apart]
    return f"{said}; next is {following.method} with {score_of(following, by):.2f}{worth}"


def _local_reason(runs: Sequence[Run], standings: Sequence[Standing], recommended: int) -> str:
    """What a map that is recommended for the order of distances must not be read for."""
    below = [s for s in standings if s.keeps in ("global", "neither") and not s.labels]
    best = max(below or [standings[recommended]], key=lambda s: score_of(s, "local"))
    quality = runs[best.run].quality
    assert quality is not None
    return (
        "No map to be trusted keeps half of the neighbourhoods, so do not read which rows are next to each "
        f"other. Most keeps {best.method}: {local_name(quality.n_neighbors[0])} {best.local:.2f}."
    )


def _global_reason(standings: Sequence[Standing], recommended: int, best_global: int | None) -> str:
    if best_global is None:
        best = max(
            (s for s in standings if s.overall is not None), key=lambda s: s.overall or 0, default=None
        )
        known = best is not None and (best.overall or 0) < GLOBAL_BAR
        said = f": the best tau is {best.overall:.2f} ({best.method})" if best is not None and known else ""
        return f"No map to be trusted keeps the order of distances{said}. Do not read gaps between groups."
    if best_global == recommended:
        return f"It also keeps the order of distances best: tau {standings[best_global].overall:.2f}."
    found = standings[best_global]
    same = [s.method for s in standings if s.trusted and s.run != recommended and _equal(s, found)]
    named = " or ".join(same)
    return f"For distances across the whole table read {named} instead: tau {found.overall:.2f}."


def _equal(one: Standing, other: Standing) -> bool:
    return one.overall is not None and round(one.overall, DIGITS) == round(other.overall or 0.0, DIGITS)
