"""By what parameters are chosen: measures of the map against the data; no labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from .. import quality
from .._errors import require_count, require_one_of
from .._values import DistanceRows, Floats

MOST_ROWS = 1_000  # "auto" compares with all others: enough to tell parameters apart


@dataclass(frozen=True, slots=True)
class Criterion:
    """A measure of a map: ``score(X, Z, k, sample, n_jobs)`` with X as distances of rows."""

    name: str
    better: Literal["higher", "lower"]
    summary: str
    score: Callable[[DistanceRows, Floats, int, int | None, int | None], float]


def _of_ranks(measure: str) -> Callable[..., float]:
    def score(X: DistanceRows, Z: Floats, k: int, sample: int | None, n_jobs: int | None) -> float:
        found = quality.assess(X, Z, n_neighbors=k, sample=sample, measures="ranks", n_jobs=n_jobs)
        return found.measures[measure.format(k=k)].value

    return score


def _tau(X: DistanceRows, Z: Floats, k: int, sample: int | None, n_jobs: int | None) -> float:
    n_pairs = None if sample is None else min(sample * 1_000, X.n * (X.n - 1) // 2)
    return quality.kendall_tau(X, Z, n_pairs=n_pairs, n_jobs=n_jobs).value


def _residual_variance(X: DistanceRows, Z: Floats, k: int, sample: int | None, n_jobs: int | None) -> float:
    return quality.residual_variance(X, Z, n_jobs=n_jobs)


CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {
        criterion.name: criterion
        for criterion in (
            Criterion(
                "rnx_auc", "higher", "neighbourhoods of all sizes, small ones most", _of_ranks("rnx_auc")
            ),
            Criterion("kendall_tau", "higher", "the order of all distances", _tau),
            Criterion("residual_variance", "lower", "distances up to a factor", _residual_variance),
            Criterion("trustworthiness", "higher", "no false neighbours", _of_ranks("trustworthiness({k})")),
            Criterion("continuity", "higher", "no torn neighbours", _of_ranks("continuity({k})")),
        )
    }
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
