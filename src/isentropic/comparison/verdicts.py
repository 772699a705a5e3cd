"""Which map to trust, how much, and where not: from Runs to plain sentences.

A map is trusted for what :mod:`~isentropic.comparison.standings` says that it keeps. Recommended is, of the
maps that keep local structure, the one with the greatest area under R_NX up to k = 10; of those that cannot
be told from it, the one with the greatest area for all k. If none keeps local structure, it is the one with
the greatest tau. Whether it is better than the next beyond what other rows would give is said too.

Maps that saw the classes are judged by the same measures, and apart: one of them is recommended only if no
map that did not see them is to be trusted, and never one that shows an effect of the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._errors import require
from ..quality.map_differences import spread
from .class_verdicts import about_classes
from .criticisms import Fact, worst_facts
from .runs import Run
from .standings import GLOBAL_BAR, LOCAL_BAR, Standing, in_plain_words, local_name, score, standing
from .whole_verdicts import parted, with_whole

_DIGITS = 6  # scores that agree so far are equal: the earlier map is preferred
_KEPT_GROUPS = 0.5  # R_NX of neighbourhoods that are kept at least by half
_SHOWN = 3  # and to the reader those that the page writes alike


@dataclass(frozen=True, slots=True)
class Verdict:
    """The recommended map, why, and its worst facts; positions are those of the runs."""

    recommended: int | None  # None: no map is to be trusted
    best_local: int | None
    best_global: int | None
    shown: int | None  # the map to look at: the recommended one, or the best of those not to be trusted
    headline: str
    reasons: tuple[str, ...]
    worst: tuple[Fact, ...]  # of the map that is shown
    standings: tuple[Standing, ...]
    classes: tuple[str, ...] = ()  # sentences on the maps that saw the classes; none where there are none
    sampled: str = ""  # of a large table: on which rows its maps were compared, and which one is of all

    @property
    def effects(self) -> tuple[str, ...]:
        """Names of the maps that show an effect of the labels: permuted ones score as well."""
        return tuple(standing.method for standing in self.standings if standing.labels == "effect")

    @property
    def worthless(self) -> tuple[str, ...]:
        """Names of the maps that are no better than chance."""
        return tuple(standing.method for standing in self.standings if standing.worthless)

    @property
    def lines(self) -> tuple[str, ...]:
        """What, why, what else, two facts to beware of; the rows of a sample; maps that saw classes."""
        facts = [f"Beware: {fact.text}" for fact in self.worst]
        rows = [self.sampled] if self.sampled else []
        return (*(self.headline, *self.reasons[:2], *facts)[:5], *rows, *self.classes)


def verdict(runs: Sequence[Run]) -> Verdict:
    """Judge the maps of one table by what they keep of it. ``O(n)`` for each.

    Of a large table the maps of a sample are judged; the map of all rows, which :func:`compare` puts last, is
    that of the recommended method and no rival. Positions are then those among the runs of the sample.

    >>> from isentropic import compare, datasets
    >>> from isentropic.comparison import verdict
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> found = verdict(compare(roll.X, methods=["classical-mds", "isomap"], tune=False))
    >>> [(standing.method, standing.keeps) for standing in found.standings]
    [('classical-mds', 'both'), ('isomap', 'local')]
    >>> found.best_local, found.best_global, found.recommended
    (1, 0, 1)
    """
    require(len(runs) > 0, "runs", "at least one", len(runs))
    runs, whole = parted(runs)
    return with_whole(_judged(runs), runs, whole)


def _judged(runs: Sequence[Run]) -> Verdict:
    standings = tuple(standing(run, position) for position, run in enumerate(runs))
    rivals = in_question(standings)
    trusted = [s for s in rivals if s.trusted]
    best_local = _best([s for s in trusted if s.keeps in ("local", "both")], "local")
    best_global = _best([s for s in trusted if s.keeps in ("global", "both")], "overall")
    recommended = best_global if best_local is None else _settled(runs, rivals, best_local)
    shown = _best(_to_look_at(standings), "local") if recommended is None else recommended
    return Verdict(
        recommended=recommended,
        best_local=best_local,
        best_global=best_global,
        shown=shown,
        headline=_headline(runs, standings, recommended, shown),
        reasons=_reasons(runs, rivals, recommended, best_global, shown),
        worst=() if shown is None else worst_facts(runs[shown]),
        standings=standings,
        classes=about_classes(runs, standings),
    )


def in_question(standings: Sequence[Standing]) -> tuple[Standing, ...]:
    """Those of maps that saw the classes are no rivals where another map is to be trusted."""
    if not any(s.trusted and not s.labels for s in standings):
        return tuple(standings)
    return tuple(replace(s, trusted=s.trusted and not s.labels) for s in standings)


def _to_look_at(standings: Sequence[Standing]) -> list[Standing]:
    """Of maps that are not to be trusted: rather one that did not see the classes."""
    maps = [s for s in standings if s.keeps]
    return [s for s in maps if not s.labels] or maps


def _best(standings: Sequence[Standing], score: str) -> int | None:
    """Position of the greatest score, the first of equal ones."""
    if not standings:
        return None
    return max(standings, key=lambda s: (round(getattr(s, score), _DIGITS), -s.run)).run


def _settled(runs: Sequence[Run], standings: Sequence[Standing], best_local: int) -> int:
    """Of the maps that keep as many near neighbours as the best, as far as can be told, the best of all."""
    tied = [
        s.run
        for s in standings
        if s.trusted
        and s.keeps in ("local", "both")
        and (s.run == best_local or _told_apart(runs[best_local], runs[s.run], "rnx_local") is False)
    ]
    return max(tied, key=lambda i: (round(_value(runs[i], "rnx_auc"), _DIGITS), i == best_local, -i))


# ---- sentences ---------------------------------------------------------------------------------


def _headline(
    runs: Sequence[Run], standings: Sequence[Standing], recommended: int | None, shown: int | None
) -> str:
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
        f"No map of this table is to be trusted: none reaches {LOCAL_BAR:g} on average of T and C, "
        f"nor {GLOBAL_BAR:g} by tau."
    )


def _reasons(
    runs: Sequence[Run],
    standings: Sequence[Standing],
    recommended: int | None,
    best_global: int | None,
    shown: int | None,
) -> tuple[str, ...]:
    reasons = []
    if recommended is None and shown is not None:
        plain = in_plain_words(runs[shown]) if standings[shown].keeps else ""
        reasons.append(f"The best of them, {standings[shown].text} {plain}".rstrip())
    elif recommended is not None:
        by_tau = standings[recommended].keeps == "global"
        reasons.append(_why(runs, standings, recommended, by_tau))
        reasons.append(
            "No map to be trusted keeps neighbourhoods: do not read which rows are next to each other."
            if by_tau
            else _global_reason(standings, recommended, best_global)
        )
    worthless = [s.method for s in standings if s.worthless]
    if worthless:
        reasons.append(f"Worthless, no better than chance: {', '.join(worthless)}.")
    elif recommended is None and shown is not None:
        said = _large_groups(runs[shown]) if not any(s.unrelated for s in standings) else ""
        reasons.append(said or "All are better than chance, but that alone says little.")
    unrelated = [s.method for s in standings if s.unrelated]
    if recommended is not None and unrelated:
        reasons.append(
            f"Perhaps noise, as the columns cannot be told from unrelated ones: {', '.join(unrelated)}."
        )
    failed = [s.text for s in standings if not s.keeps]
    return (*reasons, *failed)


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


def _why(runs: Sequence[Run], standings: Sequence[Standing], recommended: int, by_tau: bool) -> str:
    """Why it is this one: its score, how many others were in question, and how far the next is behind."""
    what = "the order of distances" if by_tau else "neighbourhoods"
    kinds = ("global", "both") if by_tau else ("local", "both")
    rivals = [s for s in standings if s.trusted and s.keeps in kinds]
    nearer = max(rivals, key=lambda s: (round(_score(s, by_tau), _DIGITS), s.run == recommended))
    saw = bool(standings[recommended].labels)
    n_maps = sum(1 for s in standings if s.keeps and bool(s.labels) == saw)
    if not saw and any(s.labels for s in standings):
        what += " and did not see the classes" if len(rivals) > 1 else ", not having seen the classes"
    own = _score(standings[recommended], by_tau)
    if by_tau:
        scored = f"tau {own:.2f} (1 is perfect, 0 is chance"
    else:
        quality, baseline = runs[recommended].quality, runs[recommended].baseline
        chance = max(0.0, baseline.get("rnx_local", (0.0, 0.0))[1])
        name = local_name(10 if quality is None else quality.n_neighbors[0])
        scored = f"{name} {own:.2f} (1 is perfect, chance at most {chance:.2f}"
    first = f"Of {len(rivals)} maps that keep {what} it keeps most"
    if len(rivals) == 1:
        first = f"It keeps {what}" if n_maps == 1 else f"It alone of {n_maps} maps keeps {what}"
    if nearer.run != recommended:
        areas = (_value(runs[i], "rnx_auc") for i in (recommended, nearer.run))
        return (
            f"Of {len(rivals)} maps that keep {what} it has {scored}); {nearer.method} has "
            f"{_score(nearer, by_tau):.2f}, too near to tell them apart, but keeps less of larger "
            "neighbourhoods: area under R_NX {:.2f} against {:.2f}.".format(*reversed([*areas]))
        )
    return f"{first}: {scored}){_compared(runs, rivals, recommended, by_tau)}."


def _compared(runs: Sequence[Run], rivals: Sequence[Standing], recommended: int, by_tau: bool) -> str:
    """How the others stand: equal ones by name, and the next with what its distance is worth."""
    own = next(_score(s, by_tau) for s in rivals if s.run == recommended)
    others = [s for s in rivals if s.run != recommended]
    equal = [s.method for s in others if round(_score(s, by_tau), _SHOWN) == round(own, _SHOWN)]
    said = f"; {' and '.join(equal)} as much" if equal else ""
    lower = [s for s in others if s.method not in equal]
    if not lower:
        return said
    following = max(lower, key=lambda s: _score(s, by_tau))
    told_apart = _told_apart(runs[recommended], runs[following.run], "kendall_tau" if by_tau else "rnx_local")
    worth = {None: "", True: ", clearly less", False: ", too near to tell them apart"}[told_apart]
    return f"{said}; next is {following.method} with {_score(following, by_tau):.2f}{worth}"


def _told_apart(one: Run, other: Run, name: str) -> bool | None:
    """Whether the difference is beyond what other rows would give; None where that was not measured."""
    first, second = one.without.get(name), other.without.get(name)
    if not first or not second or len(first) != len(second):
        return None
    difference = _value(one, name) - _value(other, name)
    return difference > spread(np.subtract(first, second))


def _value(run: Run, name: str) -> float:
    return score(run, name) or 0.0


def _score(found: Standing, by_tau: bool) -> float:
    value = found.overall if by_tau else found.local
    return 0.0 if value is None else value


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
    return one.overall is not None and round(one.overall, _DIGITS) == round(other.overall or 0.0, _DIGITS)
