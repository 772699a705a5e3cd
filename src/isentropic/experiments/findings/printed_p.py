"""P-values that a source prints, beside what the tests give as they are defined."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .rankings import LEVEL, Ranking


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
