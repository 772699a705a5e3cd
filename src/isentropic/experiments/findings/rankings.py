"""Which tables rank methods over data sets, and what the tests say: as printed, and as they are defined."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from types import MappingProxyType

import numpy as np

from ..._core.values import Floats
from ..classifiers import EIGHT
from ..statistics import (
    ROPE,
    Posterior,
    RankTest,
    critical_difference,
    effect,
    pairwise,
    rank_test,
    signed_rank_posterior,
)
from .results import CellResult, TableResult

RANKED = ("accuracy", "kappa", "silhouette", "R²", *EIGHT)  # measures of which more is better
LEVEL = 0.05
COLUMNS_IN_WORDS = MappingProxyType({"printed": "as printed", "ours": "by the same protocol run again"})
FEWEST_METHODS, FEWEST_BLOCKS = 3, 3

Groups = tuple[tuple[str, tuple[str, ...]], ...]  # a name, and the tables that are ranked together under it


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Methods ranked over blocks, by one column of the page."""

    name: str  # the tables, as the source numbers them
    column: str  # "printed", "ours" or "honest"
    how: str  # that column in words
    by_data: bool  # whether a block is a data set, and not one of several cells of it
    blocks: str  # how many, in words
    test: RankTest
    difference: float  # critical, at the level .05
    nemenyi: Floats
    uncorrected: Floats  # two-sided normal tests of mean ranks
    conover: Floats
    wilcoxon: Floats  # corrected by Holm
    means: tuple[float, ...]
    data: tuple[str, ...]  # the data sets of the blocks, each once, in order
    scores: Floats  # data sets by methods: means over the blocks of each
    posteriors: Mapping[str, Posterior]  # of the first against each other method, over data sets
    rope: float  # scores that differ by less are level there


def rankings(
    results: Sequence[TableResult], rope: float = ROPE, together: Groups | None = None
) -> tuple[Ranking, ...]:
    """Of every group of tables that ranks methods: by what is printed, by ours, by the honest column.

    ``together`` are the groups of the source; without them each table is one.

    What is printed is ranked over the source's blocks and, where these are several for a data set, over data
    sets too. Methods without a number in a column are left out of it, then blocks that are not complete.
    """
    found: list[Ranking] = []
    for name, group in _groups(results, together):
        cells = [one for result in group for one in result.cells if one.cell.measure in RANKED]
        several = len({one.cell.measure for one in cells}) > 1
        in_words = {**COLUMNS_IN_WORDS, "honest": group[0].table.honest}
        for column in in_words:
            made = [
                _ranking(name, column, in_words[column], cells, by_data, rope)
                for by_data in ((False, True) if several else (True,))
            ]
            found += [one for one in made if one is not None]
    return tuple(found)


def _groups(results: Sequence[TableResult], together: Groups | None) -> list[tuple[str, list[TableResult]]]:
    by_source: dict[str, dict[str, TableResult]] = {}
    for result in results:
        by_source.setdefault(result.table.source, {})[result.table.name] = result
    found = []
    for source, tables in by_source.items():
        groups = tuple((name, (name,)) for name in tables) if together is None else together
        for name, names in groups:
            members = [tables[one] for one in names if one in tables]
            if members:
                found.append((f"{source}:{name}".rstrip(":"), members))
    return found


def _value(one: CellResult, column: str) -> float | None:
    return one.cell.printed if column == "printed" else getattr(one, column)


def _ranking(
    name: str, column: str, how: str, cells: Sequence[CellResult], by_data: bool, rope: float
) -> Ranking | None:
    """None where there are too few methods or data sets to rank: eight cells of one set are one opinion."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for one in cells:
        value = _value(one, column)
        if value is not None:
            rows.setdefault((one.cell.dataset, one.cell.measure), {})[one.cell.method] = value
    methods, blocks, cells_of = complete(rows)
    data = tuple(dict.fromkeys(dataset for dataset, _ in blocks))
    members = [[i for i, block in enumerate(blocks) if block[0] == one] for one in data]
    means = np.array([cells_of[at].mean(axis=0) for at in members])
    scores = means if by_data else cells_of
    if len(methods) < FEWEST_METHODS or len(means) < FEWEST_BLOCKS or np.ptp(scores, axis=1).max() == 0:
        return None
    test = rank_test(scores, methods)
    return Ranking(
        name,
        column,
        how,
        by_data,
        f"{len(data)} data sets" if by_data else f"{len(scores)} cells of {len(data)} data sets",
        test,
        critical_difference(len(methods), len(scores)),
        pairwise(scores, "nemenyi"),
        pairwise(scores, "normal"),
        pairwise(scores, "conover"),
        pairwise(scores, "wilcoxon"),
        tuple(scores.mean(axis=0).tolist()),
        data,
        means,
        _posteriors(means, test, rope),
        rope,
    )


def _posteriors(scores: Floats, test: RankTest, rope: float) -> dict[str, Posterior]:
    """Of the method with the best mean rank against each other one."""
    first = int(np.argmin(test.average_ranks))
    return {
        name: signed_rank_posterior(scores[:, first], scores[:, i], rope)
        for i, name in enumerate(test.methods)
        if i != first
    }


def complete(
    rows: Mapping[tuple[str, str], Mapping[str, float]],
) -> tuple[list[str], list[tuple[str, str]], Floats]:
    """Methods that have a number in most blocks, and the blocks in which all of these have one."""
    counts: dict[str, int] = {}
    for row in rows.values():
        for method in row:
            counts[method] = counts.get(method, 0) + 1
    most = max(counts.values(), default=0)
    methods = [method for method, count in counts.items() if 2 * count >= most]
    blocks = [block for block, row in rows.items() if all(method in row for method in methods)]
    return methods, blocks, np.array([[rows[block][method] for method in methods] for block in blocks])


@dataclass(frozen=True, slots=True)
class Against:
    """The first of a ranking against another method: p-values of four tests, effect, probabilities."""

    p_uncorrected: float
    p_nemenyi: float
    p_conover: float
    p_wilcoxon_holm: float
    won: int  # data sets
    tied: int
    lost: int
    rank_biserial: float
    better: float
    level: float
    worse: float


def against(ranking: Ranking, name: str) -> Against:
    """The first of it against the method of that name."""
    methods, first = ranking.test.methods, first_of(ranking)
    at = methods.index(first), methods.index(name)
    found, sure = effect(ranking.scores, methods, first, name), ranking.posteriors[name]
    return Against(
        float(ranking.uncorrected[at]),
        float(ranking.nemenyi[at]),
        float(ranking.conover[at]),
        float(ranking.wilcoxon[at]),
        found.wins,
        found.ties,
        found.losses,
        found.rank_biserial,
        sure.first,
        sure.level,
        sure.second,
    )


def first_of(ranking: Ranking) -> str:
    """The method with the best mean rank."""
    return ranking.test.methods[int(np.argmin(ranking.test.average_ranks))]


RANK_COLUMNS = (
    "tables", "column", "blocks", "n_blocks", "friedman_p", "iman_davenport_p", "critical_difference",
    "method", "mean_rank", "mean", "against", *(field.name for field in fields(Against)),
)  # fmt: skip


def rank_rows(found: Sequence[Ranking]) -> list[tuple[object, ...]]:
    """Every method of every ranking from the first on, for a CSV file; the first has none to be against."""
    rows: list[tuple[object, ...]] = []
    for ranking in found:
        test, first = ranking.test, first_of(ranking)
        head = (ranking.name, ranking.column, ranking.blocks, test.n_blocks, test.friedman_p,
                test.iman_davenport_p, ranking.difference)  # fmt: skip
        for i in np.argsort(test.average_ranks, kind="stable").tolist():
            name = test.methods[i]
            compared: tuple[object, ...] = (None,) * (1 + len(fields(Against)))
            if name != first:
                compared = (first, *astuple(against(ranking, name)))
            rows.append((*head, name, test.average_ranks[i], ranking.means[i], *compared))
    return rows


# ---- P-values that a source prints, beside what the tests give as they are defined ---------------


@dataclass(frozen=True, slots=True)
class ClaimedP:
    """A p-value as a source prints it."""

    tables: str  # the group of tables that it is of, by the name of the group
    test: str  # as the source calls it
    pair: str  # "A vs B", or all methods
    printed: str  # "0.03", or "< 1e-3"


@dataclass(frozen=True, slots=True)
class PrintedP:
    """A p-value of a source beside what its printed numbers give."""

    table: str
    test: str  # as the source calls it
    pair: str
    printed: str
    uncorrected: float | None  # of a pair: a normal test of mean ranks, over the blocks of the source
    as_defined: float | None  # the test by its definition, over the same blocks
    by_data: float | None  # likewise, with one block for each data set
    n_blocks: int
    n_data: int

    @property
    def claims(self) -> bool:
        """Whether it is below .05 as printed, be it as "< 1e-3"."""
        return float(self.printed.lstrip("< ")) < LEVEL

    @property
    def lost(self) -> bool:
        """Whether it is not so by the test as it is defined, over data sets."""
        return self.claims and self.by_data is not None and self.by_data >= LEVEL

    @property
    def is_uncorrected(self) -> bool:
        """Whether it is what a normal test without correction gives, to two digits."""
        given = self.uncorrected
        return given is not None and math.isclose(float(self.printed.lstrip("< ")), given, rel_tol=0.02)


def printed_p(
    found: Sequence[Ranking], claims: Sequence[ClaimedP], other_names: Mapping[str, str] | None = None
) -> tuple[PrintedP, ...]:
    """Every p-value that a source claims of what is ranked, beside what its printed numbers give.

    ``other_names`` are those of methods in the pairs, where the tables have others.
    """
    lines: list[PrintedP] = []
    printed: dict[str, list[Ranking]] = {}
    for ranking in found:
        if ranking.column == "printed":
            printed.setdefault(ranking.name, []).append(ranking)
    for name, (first, *others) in printed.items():
        by_data = others[0] if others else first
        sizes = (first.test.n_blocks, by_data.test.n_blocks)
        lines += [
            PrintedP(
                name,
                one.test,
                one.pair,
                one.printed,
                *_recomputed(one.pair, first, by_data, other_names or {}),
                *sizes,
            )
            for one in claims
            if one.tables == name.partition(":")[2]
        ]
    return tuple(lines)


def _recomputed(
    pair: str, first: Ranking, by_data: Ranking, other_names: Mapping[str, str]
) -> tuple[float | None, float | None, float | None]:
    if " vs " not in pair:
        return None, first.test.friedman_p, by_data.test.friedman_p
    at, apart = (_positions(ranking.test.methods, pair, other_names) for ranking in (first, by_data))
    return (
        None if at is None else float(first.uncorrected[at]),
        None if at is None else float(first.nemenyi[at]),
        None if apart is None else float(by_data.nemenyi[apart]),
    )


def _positions(methods: Sequence[str], pair: str, other_names: Mapping[str, str]) -> tuple[int, int] | None:
    names = [name if name in methods else other_names.get(name, name) for name in pair.split(" vs ")]
    if any(name not in methods for name in names):
        return None
    return methods.index(names[0]), methods.index(names[1])
