"""Criteria of parameter selection: measures of the map against the data, without labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from .. import quality
from .._core.errors import require_count, require_one_of
from .._core.values import DistanceRows, Floats
from ..quality.inputs import both_sides
from ..quality.measures import OF_PAIRS, OF_RANKS, MeasureSpec, kinds
from ..quality.pairs.pairwise import pair_measures

MOST_ROWS = 1_000  # "auto" compares with all others: enough to tell parameters apart


@dataclass(frozen=True, slots=True)
class Criterion:
    """A measure of a map: ``score(X, Z, k, sample, n_jobs)`` with X as distances of rows."""

    name: str
    better: Literal["higher", "lower"]
    summary: str
    score: Callable[[DistanceRows, Floats, int, int | None, int | None], float]


def _of_ranks(kind: MeasureSpec) -> Callable[..., float]:
    def score(X: DistanceRows, Z: Floats, k: int, sample: int | None, n_jobs: int | None) -> float:
        found = quality.assess(X, Z, n_neighbors=k, sample=sample, measures="ranks", n_jobs=n_jobs)
        return found.measures[kind.names((k,))[0]].value

    return score


def _of_pairs(kind: MeasureSpec) -> Callable[..., float]:
    def score(X: DistanceRows, Z: Floats, k: int, sample: int | None, n_jobs: int | None) -> float:
        samples_pairs = (
            sample is not None and kind.source == "pair order"
        )  # sums over all pairs take little time
        n_pairs = min(sample * 1_000, X.n * (X.n - 1) // 2) if samples_pairs and sample is not None else None
        sides = both_sides(X, Z, n_jobs=n_jobs)
        return pair_measures([kind.name], *sides, n_pairs=n_pairs, n_jobs=n_jobs)[kind.name].value

    return score


def _criterion(kind: MeasureSpec) -> Criterion:
    assert kind.better != "nearer"
    score = _of_pairs(kind) if kind.source in OF_PAIRS else _of_ranks(kind)
    return Criterion(kind.name, kind.better, kind.aim, score)


CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {kind.name: _criterion(kind) for kind in kinds(*OF_RANKS, *OF_PAIRS) if kind.aim}
)


def checked_criterion(criterion: Any) -> Criterion:
    """The criterion of this name, or the given one."""
    if isinstance(criterion, Criterion):
        return criterion
    require_one_of("criterion", criterion, CRITERIA)
    return CRITERIA[criterion]


def rows_to_compare(sample: Any, n: int) -> int | None:
    """How many rows are compared with all others; None for all."""
    if sample is None:
        return None
    if isinstance(sample, str) and sample == "auto":
        return MOST_ROWS if n > MOST_ROWS else None
    return require_count("sample", sample, f"'auto', None or an integer from 2 to {n}", least=2, most=n)
