"""The verdict's sentences: plain words first, numbers after them, and none that its numbers gainsay."""

from __future__ import annotations

from collections.abc import Sequence

from .bars import GLOBAL_BAR, kept_size, local_bar
from .distrust import why_none, without_one
from .rivals import DIGITS, keeping, measure_of, recommended_for, score_of, told_apart, value_of
from .runs import Run
from .standings import Standing
from .words import in_plain_words, local_name, name_of, with_bar, written_apart

_SHOWN = 3  # digits: to the reader scores are equal that the page writes alike
_NOUNS = {"overall": "the order of distances", "coarse": "coarse neighbourhoods", "local": "neighbourhoods"}


def headline(runs: Sequence[Run], standings: Sequence[Standing], recommended: int | None) -> str:
    """Which map, and what it keeps, in words that need no measure to be known; the numbers after them."""
    if recommended is None:
        return why_none(runs, standings)
    run = runs[recommended]
    return f"Recommended: {name_of(run)}. {in_plain_words(run)} {standings[recommended].text}"


def reasons(
    runs: Sequence[Run],
    standings: Sequence[Standing],
    recommended: int | None,
    best_global: int | None,
    shown: int | None,
) -> tuple[str, ...]:
    """Why this map and what else to know of it, or what to do without one; which maps are worth nothing."""
    found = []
    if recommended is not None:
        what = recommended_for(standings[recommended])
        found.append(_why(runs, standings, recommended, what))
        found.append(
            _local_reason(runs, standings, recommended)
            if what == "overall"
            else _global_reason(standings, recommended, best_global)
        )
    elif shown is not None:
        found.extend(without_one(runs, standings, shown))
    worthless = [s.method for s in standings if s.worthless]
    if worthless:
        found.append(f"Worthless, no better than chance: {', '.join(worthless)}.")
    elif recommended is None and shown is not None:
        found.append("All are better than chance, but that alone says little.")
    unrelated = [s.method for s in standings if s.unrelated]
    if recommended is not None and unrelated:
        found.append(
            f"Perhaps noise, as the columns cannot be told from unrelated ones: {', '.join(unrelated)}."
        )
    failed = [s.text for s in standings if not s.keeps]
    return (*found, *failed)


# ---- why this one ------------------------------------------------------------------------------


def _why(runs: Sequence[Run], standings: Sequence[Standing], recommended: int, by: str) -> str:
    """Why it is this one: its score, how many others were in question, and how far the next is behind."""
    rivals = keeping(standings, by)
    nearer = max(rivals, key=lambda s: (round(score_of(s, by), DIGITS), s.run == recommended))
    if nearer.run != recommended:
        return _though_less(runs, standings, recommended, nearer, by)
    equal, following = _others(rivals, recommended, by)
    scored = _scored(runs[recommended], standings[recommended], by, following)
    said = f"; {' and '.join(equal)} as much" if equal else ""
    if following is not None:
        said += _behind(runs, standings[recommended], following, by)
    return f"{_among(standings, recommended, by)}: {scored}{said}."


def _among(standings: Sequence[Standing], recommended: int, by: str) -> str:
    """Of how many maps it keeps most, or that it is the only one."""
    n_rivals, what = len(keeping(standings, by)), _NOUNS[by]
    saw = bool(standings[recommended].labels)
    maps = [s for s in standings if s.keeps and bool(s.labels) == saw]
    if n_rivals > 1:
        return f"Of {n_rivals} {_which(standings, recommended, by)} it keeps most"
    unseen = ", not having seen the classes" if not saw and any(s.labels for s in standings) else ""
    if len(maps) == 1:
        return f"It keeps {what}{unseen}"
    # others may reach the bar and be noise, or no better than chance
    alone = "keeps" if not any(_reaches(s, by) for s in maps if not s.trusted) else "is to be trusted for"
    return f"It alone of {len(maps)} maps {alone} {what}{unseen}"


def _which(standings: Sequence[Standing], recommended: int, by: str) -> str:
    unseen = not standings[recommended].labels and any(s.labels for s in standings)
    return f"maps that keep {_NOUNS[by]}{' and did not see the classes' if unseen else ''}"


def _reaches(found: Standing, by: str) -> bool:
    return found.keeps in (("global", "both") if by == "overall" else ("local", "both"))


def _though_less(
    runs: Sequence[Run], standings: Sequence[Standing], recommended: int, nearer: Standing, by: str
) -> str:
    """A map keeps a little more, which may be chance; this one keeps more of larger neighbourhoods."""
    n_rivals = len(keeping(standings, by))
    less, more = written_apart(*(value_of(runs[i], "rnx_auc") for i in (nearer.run, recommended)))
    scored = _scored(runs[recommended], standings[recommended], by, nearer)
    other = written_apart(score_of(nearer, by), score_of(standings[recommended], by))[0]
    return (
        f"Of {n_rivals} {_which(standings, recommended, by)} it has {scored}; {nearer.method} has {other}, "
        "too near to tell them apart, but keeps less of larger neighbourhoods: area under R_NX "
        f"{less} against {more}."
    )


def _scored(run: Run, found: Standing, by: str, other: Standing | None) -> str:
    """Its score beside perfection and chance, with as many digits as tell it from that of the other."""
    assert run.quality is not None
    own = written_apart(score_of(found, by), score_of(other or found, by))[0]
    if by == "overall":
        return f"tau {own} (1 is perfect, 0 is chance)"
    k = kept_size(run.quality)
    chance = run.baseline.get(measure_of(run, by), (0.0, 0.0))[1]
    beside = f"chance at most {chance:.2f}" if chance >= 0.005 else "0 is chance"
    return f"{local_name(k)} {own} (1 is perfect, {beside})"


def _others(rivals: Sequence[Standing], recommended: int, by: str) -> tuple[list[str], Standing | None]:
    """Names of the maps that score as the recommended one, as far as is shown, and the next below."""
    own = next(round(score_of(s, by), _SHOWN) for s in rivals if s.run == recommended)
    others = [s for s in rivals if s.run != recommended]
    equal = [s for s in others if round(score_of(s, by), _SHOWN) == own]
    lower = [s for s in others if s not in equal]
    return [s.method for s in equal], max(lower, key=lambda s: score_of(s, by), default=None)


def _behind(runs: Sequence[Run], found: Standing, following: Standing, by: str) -> str:
    """The next map, with what its distance is worth."""
    apart = told_apart(runs[found.run], runs[following.run], by)
    worth = {None: "", True: ", clearly less", False: ", too near to tell them apart"}[apart]
    behind = written_apart(score_of(following, by), score_of(found, by))[0]
    return f"; next is {following.method} with {behind}{worth}"


# ---- what else to know of it -------------------------------------------------------------------


def _local_reason(runs: Sequence[Run], standings: Sequence[Standing], recommended: int) -> str:
    """What a map that is recommended for the order of distances must not be read for."""
    below = [s for s in standings if s.keeps in ("global", "neither") and not s.labels]
    best = max(below or [standings[recommended]], key=lambda s: score_of(s, "local"))
    quality = runs[best.run].quality
    assert quality is not None
    return (
        "No map to be trusted keeps enough of the neighbourhoods, so do not read which rows are next to each "
        f"other. Most keeps {best.method}: {local_name(quality.n_neighbors[0])} "
        f"{with_bar(score_of(best, 'local'), local_bar(quality.n))}."
    )


def _global_reason(standings: Sequence[Standing], recommended: int, best_global: int | None) -> str:
    if best_global is None:
        best = max(
            (s for s in standings if s.overall is not None), key=lambda s: s.overall or 0, default=None
        )
        known = best is not None and (best.overall or 0) < GLOBAL_BAR
        tau = with_bar(score_of(best, "overall"), GLOBAL_BAR) if best is not None else ""
        said = f": the best tau is {tau}, of {best.method}" if best is not None and known else ""
        return f"No map to be trusted keeps the order of distances{said}. Do not read gaps between groups."
    found, own = standings[best_global], standings[recommended]
    if best_global == recommended:
        return f"It also keeps the order of distances best: tau {found.overall:.2f}."
    named = [s.method for s in standings if s.trusted and s.run != recommended and _equal(s, found)]
    most, less = written_apart(score_of(found, "overall"), score_of(own, "overall"))
    if own.keeps == "both":
        keep = f"{' and '.join(named)} {'keep' if len(named) > 1 else 'keeps'}"
        return f"It keeps the order of distances too, tau {less}; {keep} it best: tau {most}."
    return f"For distances across the whole table read {' or '.join(named)} instead: tau {most}."


def _equal(one: Standing, other: Standing) -> bool:
    return one.overall is not None and round(one.overall, DIGITS) == round(other.overall or 0.0, DIGITS)
