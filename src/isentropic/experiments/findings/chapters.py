"""Tables of one or several sources as they are shown: chapter by chapter, each with what survives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..bayesian import ROPE
from ..sources import Source
from ..values import Outcome, PublishedTable, Task
from .aims import Reached, reached
from .printed_p import PrintedP, printed_p
from .rankings import Ranking, rankings
from .results import TableResult, collected
from .sentences import survives, unfinished


@dataclass(frozen=True, slots=True, eq=False)
class Chapter:
    """One source: what survives of it, its tables, its rankings, its p-values, and what they reach."""

    name: str
    title: str
    sentences: tuple[str, ...]
    results: tuple[TableResult, ...]
    rankings: tuple[Ranking, ...]
    p_values: tuple[PrintedP, ...]
    reached: tuple[Reached, ...] = ()


def chapters_of(
    tables: Sequence[PublishedTable],
    outcomes: Mapping[Task, Outcome],
    *,
    sources: Mapping[str, Source] | None = None,
    quick: bool = False,
    left: Collection[Task] = (),
    rope: float = ROPE,
) -> tuple[Chapter, ...]:
    """A chapter for each source, in the order of the tables.

    ``sources`` say what is theirs: titles, aims, p-values; a table of none of them stands for itself.
    ``left`` are tasks that were not run; scores that differ by less than ``rope`` count as level.
    """
    by_source: dict[str, list[PublishedTable]] = {}
    for table in tables:
        by_source.setdefault(table.source, []).append(table)
    left = frozenset(left)
    return tuple(
        _chapter(_source(name, group, sources or {}), group, outcomes, quick, left, rope)
        for name, group in by_source.items()
    )


def _source(name: str, tables: Sequence[PublishedTable], known: Mapping[str, Source]) -> Source:
    return known.get(name) or Source(name, tables[0].title, lambda: tuple(tables))


def _chapter(
    source: Source,
    tables: Sequence[PublishedTable],
    outcomes: Mapping[Task, Outcome],
    quick: bool,
    left: frozenset[Task],
    rope: float,
) -> Chapter:
    results = tuple(collected(table, outcomes, quick, left) for table in tables)
    found = rankings(results, rope, source.groups)
    p_values = printed_p(found, source.p_values(), source.other_names)
    own = {task: outcomes[task] for table in tables for task in table.tasks(quick) if task in outcomes}
    rest = tuple(dict.fromkeys(task for result in results for task in result.left))
    first = [fact for result in results if result.table.leads for fact in result.facts]
    others = [one for one in survives(results, found, p_values) if one not in first]
    sentences = (*unfinished(own, rest), *first, *others)
    aims = reached(source.aims, results)
    aims += () if source.more_aims is None else source.more_aims(results, own)
    return Chapter(source.name, source.title, sentences, results, found, p_values, aims)
