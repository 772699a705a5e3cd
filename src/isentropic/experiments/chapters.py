"""Tables of one or several sources as they are shown: chapter by chapter, each with what survives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .catalogue import SOURCES
from .rankings import PrintedP, Ranking, printed_p, rankings
from .results import TableResult, collected
from .sentences import survives
from .values import Outcome, PublishedTable, Task


@dataclass(frozen=True, slots=True, eq=False)
class Chapter:
    """One source: what survives of it, its tables, its rankings, its p-values."""

    name: str
    title: str
    sentences: tuple[str, ...]
    results: tuple[TableResult, ...]
    rankings: tuple[Ranking, ...]
    p_values: tuple[PrintedP, ...]


def chapters_of(
    tables: Sequence[PublishedTable], outcomes: Mapping[Task, Outcome], *, quick: bool = False
) -> tuple[Chapter, ...]:
    """A chapter for each source, in the order of the tables."""
    by_source: dict[str, list[PublishedTable]] = {}
    for table in tables:
        by_source.setdefault(table.source, []).append(table)
    return tuple(_chapter(source, group, outcomes, quick) for source, group in by_source.items())


def _chapter(
    source: str, tables: Sequence[PublishedTable], outcomes: Mapping[Task, Outcome], quick: bool
) -> Chapter:
    results = tuple(collected(table, outcomes, quick) for table in tables)
    found = rankings(results)
    title = SOURCES[source].title if source in SOURCES else tables[0].title
    p_values = printed_p(found)
    return Chapter(source, title, survives(results, found, p_values), results, found, p_values)
