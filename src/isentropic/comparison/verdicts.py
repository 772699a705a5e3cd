"""Which map to trust, how much, and where not: from Runs to plain sentences.

A map is trusted for what :mod:`~isentropic.comparison.standings` says that it keeps. Recommended is, of the
maps that keep neighbourhoods, the one that keeps most, by R_NX(10); of those that cannot be told from it, the
one with the greatest area under R_NX for all k. If none keeps them, it is the one that keeps most of coarse
ones; if none keeps those, the one with the greatest tau. Whether it is better than the next beyond what other
rows would give is said too.

Maps that saw the classes are judged by the same measures, and apart: one of them is recommended only if no
map that did not see them is to be trusted, and never one that shows an effect of the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .class_verdicts import about_classes
from .criticisms import Fact, worst_facts
from .reasons import headline, reasons
from .rivals import best, best_first, in_question, keeping, settled
from .runs import Run, require_all_runs
from .standings import Standing, standing
from .whole_verdicts import parted, with_whole


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
    require_all_runs(runs)
    runs, whole = parted(runs)
    return with_whole(_judged(runs), runs, whole)


def _judged(runs: Sequence[Run]) -> Verdict:
    standings = tuple(standing(run, position) for position, run in enumerate(runs))
    rivals = in_question(standings)
    order = best_first(rivals)
    best_local = next((s.run for s in keeping(order, "local") or keeping(order, "coarse")), None)
    chosen = None if best_local is None else settled(runs, rivals, best_local)
    best_global = best(keeping(rivals, "overall"), "overall", chosen)
    recommended = best_global if chosen is None else chosen
    shown = recommended if recommended is not None or not order else order[0].run
    return Verdict(
        recommended=recommended,
        best_local=best_local,
        best_global=best_global,
        shown=shown,
        headline=headline(runs, standings, recommended),
        reasons=reasons(runs, rivals, recommended, best_global, shown),
        worst=() if shown is None else worst_facts(runs[shown]),
        standings=standings,
        classes=about_classes(runs, standings),
    )
