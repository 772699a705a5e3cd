"""How the maps stand on the page: in the order of the verdict, the many others by their family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...comparison import Run, Verdict
from ...comparison.verdict.choice import rank_maps
from ...registry import METHODS
from .class_scores import groups

MOST_FIRST = 8  # maps that are shown at once; the others come on request


@dataclass(frozen=True, slots=True)
class Shelf:
    """Maps that belong together: those shown at once, and the others by family, by position of their runs."""

    title: str
    note: str
    first: tuple[int, ...]
    others: tuple[tuple[str, tuple[int, ...]], ...]  # name of a family, its maps


def shelves(runs: Sequence[Run], verdict: Verdict) -> list[Shelf]:
    """All maps, the best first; eight are shown at once, or all where only one is left."""
    order = [rating.run for rating in rank_maps(verdict.ratings, verdict.shown)]
    n_first = len(order) if len(order) <= MOST_FIRST + 1 else MOST_FIRST
    first, others = order[:n_first], order[n_first:]
    return [
        Shelf(
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
