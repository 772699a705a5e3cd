"""P-values that the sources print, beside what the tests give as they are defined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from .printed import records
from .rankings import LEVEL, TOGETHER, Ranking

_OTHER_NAMES = MappingProxyType(
    {"ISOMAP-KL": "ISO-KL", "Kernel PCA": "KPCA", "ISOMAP": "ISO", "Laplacian Eigenmaps": "LAP", "LE": "LAP"}
)
_P_TABLES = MappingProxyType({"8-9": "000_table10", "11-12": "000_table13"})


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


def printed_p(found: Sequence[Ranking]) -> tuple[PrintedP, ...]:
    """Every p-value that the sources print, beside what their printed numbers give."""
    lines: list[PrintedP] = []
    printed: dict[str, list[Ranking]] = {}
    for ranking in found:
        if ranking.column == "printed":
            printed.setdefault(ranking.name, []).append(ranking)
    for name, (first, *others) in printed.items():
        by_data = others[0] if others else first
        source, _, table = name.partition(":")
        sizes = (first.test.n_blocks, by_data.test.n_blocks)
        lines += [
            PrintedP(name, test, pair, value, *_recomputed(pair, first, by_data), *sizes)
            for test, pair, value in _source_p(source, table)
        ]
    return tuple(lines)


def _recomputed(
    pair: str, first: Ranking, by_data: Ranking
) -> tuple[float | None, float | None, float | None]:
    if " vs " not in pair:
        return None, first.test.friedman_p, by_data.test.friedman_p
    at, apart = _positions(first.test.methods, pair), _positions(by_data.test.methods, pair)
    return (
        None if at is None else float(first.uncorrected[at]),
        None if at is None else float(first.nemenyi[at]),
        None if apart is None else float(by_data.nemenyi[apart]),
    )


def _source_p(source: str, table: str) -> list[tuple[str, str, str]]:
    """Test, pair and p-value, as a source prints them of a group of tables."""
    if source not in TOGETHER:
        return []
    found = []
    for row in records("prose_pvalues"):
        same = row["table"].partition(" (")[0] == table.partition(" (")[0]
        if row["source"] == source and same and row["p_value"]:
            relation = "" if row["relation"] == "=" else f"{row['relation']} "
            found.append((row["test"], row["pair"], f"{relation}{row['p_value']}"))
    if source == "000" and table in _P_TABLES:
        found += [("Nemenyi", row["method"], row["value"]) for row in records(_P_TABLES[table])]
    return found


def _positions(methods: Sequence[str], pair: str) -> tuple[int, int] | None:
    names = [name if name in methods else _OTHER_NAMES.get(name, name) for name in pair.split(" vs ")]
    if any(name not in methods for name in names):
        return None
    return methods.index(names[0]), methods.index(names[1])
