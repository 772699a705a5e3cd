"""What survives of a source, in plain words and with intervals, computed from its tables run again."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..._core.values import Floats
from ...comparison.presentation import p_value
from ...comparison.presentation import table_decimal as number
from ..statistics import ROPE
from ..studies import Source
from ..tasks import Outcome, PublishedTable, Task, duration, time_left
from .rankings import LEVEL, PrintedP, Ranking, first_of, printed_p, rankings
from .results import FAR, NEAR, ROUNDING, CellResult, Reached, TableResult, collected, reached

_NAMED = 3  # methods that a sentence can name


def survives(
    results: Sequence[TableResult], found: Sequence[Ranking], p_values: Sequence[PrintedP] = ()
) -> tuple[str, ...]:
    """First sentences of a page: how much is met, who leads and whether honestly, what chance gives."""
    sentences = [*_counts(results)]
    names = dict.fromkeys(ranking.name for ranking in found)
    for name in names:
        sentences += _ranked([ranking for ranking in found if ranking.name == name])
    sentences += _claims(p_values)
    for result in results:
        sentences += [*_permuted(result), *_random(result), *result.facts]
    sentences += [] if names else _honest(results)
    sentences += _absent(results)
    return tuple(sentences)


def unfinished(done: Mapping[Task, Outcome], left: Sequence[Task]) -> list[str]:
    """Of a run that was not brought to its end: how much is there, and what the rest would take."""
    if not left:
        return []
    seconds, span = sum(outcome.seconds for outcome in done.values()), time_left(done, left)
    sentence = (
        f"Not all was run: {len(done):,} of {len(done) + len(left):,} pieces of work are done, "
        f"in {duration(seconds, seconds)} of work"
    )
    sentence += "." if span is None else f"; the others would take {duration(*span)} more, of one process."
    return [f"{sentence} Cells without a number of ours say so, and all below is of what was run."]


def _counts(results: Sequence[TableResult]) -> list[str]:
    compared = [one for result in results for one in result.compared]
    if not compared:
        return []
    same = sum(result.n_same for result in results)
    near, far = (sum(one.agreement == kind for one in compared) for kind in (NEAR, FAR))
    text = f"Of {len(compared):,} printed numbers that were computed again, {same:,} are met"
    if near or far:
        text += f"; {near:,} {'is' if near == 1 else 'are'} off by at most .02, and {far:,} by more"
    return [f"{text}.", *_reasons([one for one in compared if one.agreement in (NEAR, FAR)])]


def _reasons(differing: Sequence[CellResult]) -> list[str]:
    rounding = sum(one.reason == ROUNDING for one in differing)
    unexplained = sum(one.is_open for one in differing)
    parts = [f"{rounding:,} may be rounding alone"] if rounding else []
    parts += [f"{unexplained:,} {'is' if unexplained == 1 else 'are'} not explained"] if unexplained else []
    return [f"Of those that differ {', and '.join(parts)}."] if parts else []


# ---- who leads -----------------------------------------------------------------------------------


def _ranked(group: Sequence[Ranking]) -> list[str]:
    """Of one group of tables: the leader as printed, run again, and on rows that were not seen."""
    columns = {ranking.column: ranking for ranking in group if ranking.by_data}
    sentences = []
    for column, ranking in columns.items():
        sentence = f"{ranking.name} {ranking.how} ({ranking.blocks}): {_leader(ranking)}."
        if column == "honest" and "printed" in columns:
            sentence += _place(columns["printed"], ranking)
        sentences.append(sentence)
    return sentences


def _leader(ranking: Ranking) -> str:
    """Who is first, how far from the next, and which of the others differ by Nemenyi's test."""
    test = ranking.test
    order = np.argsort(test.average_ranks, kind="stable")
    first, second = int(order[0]), int(order[1])
    sentence = (
        f"{test.methods[first]} is first with mean {number(ranking.means[first])} and mean rank "
        f"{test.average_ranks[first]:.2f}, before {test.methods[second]} with {number(ranking.means[second])}"
        f" and {test.average_ranks[second]:.2f}"
    )
    others = len(test.methods) - 1
    apart = int((ranking.nemenyi[first] < LEVEL).sum())
    if test.friedman_p >= LEVEL:
        return f"{sentence}; the methods do not differ (Friedman p = {p_value(test.friedman_p)})"
    return f"{sentence}; it differs from {apart} of {others} others (Nemenyi, p < .05)"


def _place(printed: Ranking, honest: Ranking) -> str:
    """Where the printed leader stands honestly, and what is printed for it on the same data."""
    method, test = first_of(printed), honest.test
    if method not in test.methods or first_of(honest) == method:
        return ""
    at, first = test.methods.index(method), int(np.argmin(test.average_ranks))
    p = p_value(float(honest.nemenyi[at, first]))
    return (
        f" {method}, printed as first, has mean {number(honest.means[at])} and mean rank "
        f"{test.average_ranks[at]:.2f} (p = {p} against the first{_printed_there(printed, honest, method)})."
    )


def _printed_there(printed: Ranking, honest: Ranking, method: str) -> str:
    shared = [i for i, data in enumerate(printed.data) if data in honest.data]
    values = printed.scores[shared, printed.test.methods.index(method)]
    return f"; {number(float(values.mean()))} is printed on these" if len(values) else ""


def _honest(results: Sequence[TableResult]) -> list[str]:
    """Of tables that rank nothing: by measure, what is printed and what rows give that were not seen."""
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    methods: dict[tuple[str, str], dict[str, None]] = {}
    for result in results:
        for one in result.cells:
            compared = math.isfinite(one.cell.tolerance)  # times are not
            if compared and one.cell.printed is not None and one.honest is not None:
                key = (one.cell.measure, result.table.honest)
                pairs.setdefault(key, []).append((one.cell.printed, one.honest))
                methods.setdefault(key, {})[one.cell.method] = None
    sentences = []
    for (measure, how), values in pairs.items():
        found = np.array(values)
        printed, honest = found.mean(axis=0)
        lost = interval(found[:, 1] - found[:, 0])
        names = list(methods[measure, how])
        of = f" of {', '.join(names)}" if len(names) <= _NAMED else ""
        sentences.append(
            f"{measure}: mean {number(printed)} as printed, {number(honest)} {how} "
            f"(the {len(found)} cells{of} that have both, difference {lost})."
        )
    return sentences


def _claims(p_values: Sequence[PrintedP]) -> list[str]:
    """How many printed p-values stand, and what they are."""
    claimed, pairs = [one for one in p_values if one.claims], [one for one in p_values if " vs " in one.pair]
    if not claimed:
        return []
    lost = sum(one.lost for one in claimed)
    sentence = (
        f"Of {len(claimed)} printed p-values below .05, {lost} are not below it by the test that they name, "
        "with one block for each data set"
    )
    alike = sum(one.is_uncorrected for one in pairs)
    if alike:
        sentence += f"; {alike} of {len(pairs)} for pairs are those of a normal test without correction"
    return [f"{sentence}."]


# ---- what chance gives ---------------------------------------------------------------------------


def _permuted(result: TableResult) -> list[str]:
    sentences = []
    for method, cells in _by_method(result, "permuted").items():
        values = np.array([one.permuted for one in cells], float)
        sentence = (
            f"{_table(result)}, {method} with labels at random, which mean nothing: "
            f"{cells[0].cell.measure} {_spread(values)}"
        )
        printed = [one.cell.printed for one in cells if one.cell.printed is not None]
        sentence += f"; printed {number(float(np.mean(printed)))} on these" if printed else ""
        honest = [one.honest for one in cells if one.honest is not None]
        if honest:
            sentence += f", and on unseen rows, with their true labels, {number(float(np.mean(honest)))}"
            sentence += "" if len(honest) == len(cells) else f" ({len(honest)} of them)"
        sentences.append(f"{sentence}.")
    return sentences


def _random(result: TableResult) -> list[str]:
    sentences = []
    for method, cells in _by_method(result, "random").items():
        pairs = np.array([(one.random, one.cell.printed) for one in cells if one.cell.printed is not None])
        if len(pairs) < 3:
            continue
        mean, printed = pairs.mean(axis=0)
        sentence = (
            f"{_table(result)}: random projections, the best chosen on the test half as {method} is, have "
            f"mean {number(mean)} where {number(printed)} is printed for {method} ({len(pairs)} data sets"
        )
        if min(np.ptp(pairs, axis=0)) > 0:
            sentence += f", correlation {number(float(np.corrcoef(pairs.T)[0, 1]))}"
        sentences.append(f"{sentence}).")
    return sentences


def _by_method(result: TableResult, column: str) -> dict[str, list[CellResult]]:
    found: dict[str, list[CellResult]] = {}
    for one in result.cells:
        if getattr(one, column) is not None:
            found.setdefault(one.cell.method, []).append(one)
    return found


def _spread(values: Floats) -> str:
    """Mean with its 95% interval over data sets, and from where to where."""
    if len(values) < 2:
        return f"{number(float(values.mean()))} (one data set)"
    ends = f"{number(float(values.min()))} to {number(float(values.max()))}"
    return f"{interval(values)} over {len(values)} data sets ({ends})"


def interval(values: Floats) -> str:
    """Mean and half of its 95% interval (Student's t)."""
    mean = float(values.mean())
    if len(values) < 2:
        return number(mean)
    from scipy.stats import t

    half = float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))
    return f"{number(mean)} ± {number(half)}"


def _absent(results: Sequence[TableResult]) -> list[str]:
    missing = {(data, reason) for result in results for data, _, _, reason in result.failures}
    names = sorted({data for data, _ in missing})
    n_failed = sum(len(result.failures) for result in results)
    if not n_failed:
        return []
    shown = ", ".join(names[:8]) + (" and others" if len(names) > 8 else "")
    pieces = "1 piece" if n_failed == 1 else f"{n_failed:,} pieces"
    return [f"{pieces} of work gave nothing ({shown}): each has its reason below."]


def _table(result: TableResult) -> str:
    return f"{result.table.source}:{result.table.name}"


# ---- Tables of one or several sources as they are shown: chapter by chapter, each with what survives ----


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
