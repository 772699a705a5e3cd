"""``RowDiagnostics``: how reliable the place of each row on a map is. To and from JSON.

Rows are tested against random places, maps are followed from a row to its neighbors, and the maps of other
seeds are compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.errors import DeadlineError
from ..._core.files import is_count, is_number, maybe, record, require_fields, several
from ..._core.values import Floats, Integers
from ...distances import EUCLIDEAN, Metric, distances_between, pair_distances
from ...neighbors import nearest_among
from ...quality import Quality, map_jumps, row_tests, shared_neighbors
from ...quality.row_measures import JUMP, doubtful_above

if TYPE_CHECKING:
    from .runs import Run

_FIELDS = {
    "p": several(is_number),
    "by_chance": is_number,
    "walked": maybe(several(is_count)),
    "jumps": maybe(several(is_number)),
    "unsteady": maybe(several(is_number)),
}
is_row_diagnostics = record(**_FIELDS)


@dataclass(frozen=True, slots=True, eq=False)
class RowDiagnostics:
    """Diagnostics of the compared rows of a map, ``quality.rows``: chance, jumps, other seeds."""

    p: Floats  # (s,) of the order of a row's distances in a random place: above 0.05, no better than chance
    by_chance: float  # estimated share of rows that are placed no better than by chance
    walked: Integers | None = None  # (w,) rows tested for jumps, where the method maps new rows
    jumps: Floats | None = None  # (w,) how far the map jumps on the path to a neighbor: above 1.5 it is torn
    unsteady: Floats | None = None  # (s,) share of the neighbors of a row that other seeds do not show

    @property
    def doubtful_share(self) -> float:
        """Share of rows whose p is above 0.05; of fewer than 40 rows, above the least possible p."""
        return float(np.mean(self.p > doubtful_above(len(self.p))))  # of few rows all are tested

    @property
    def jumping_share(self) -> float | None:
        """Share of the tested rows at which the map jumps."""
        return None if self.jumps is None else float(np.mean(self.jumps > JUMP))

    def to_fields(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        values = {name: getattr(self, name) for name in _FIELDS}
        return {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in values.items()}

    @classmethod
    def from_fields(cls, data: dict[str, Any]) -> RowDiagnostics:
        """From plain data; raises ValueError where they do not fit."""
        require_fields(data, _FIELDS)
        kinds = {"p": float, "walked": np.int64, "jumps": float, "unsteady": float}
        arrays = {name: None if data[name] is None else np.array(data[name], kinds[name]) for name in kinds}
        return cls(**{**data, **arrays})

    def require_sound(self, quality: Quality) -> None:
        """Raise ValueError unless it belongs to the compared rows."""
        s, walked, jumps = len(quality.rows), self.walked, self.jumps
        if len(self.p) != s or (self.unsteady is not None and len(self.unsteady) != s):
            raise ValueError(f"its tests of rows are not of the {s} compared ones")
        if (None if walked is None else len(walked)) != (None if jumps is None else len(jumps)):
            raise ValueError("it must have as many jumps as rows tested for jumps, or neither")
        if walked is not None and len(walked) and walked.max() >= quality.n:
            raise ValueError(f"it was tested for jumps at row {walked.max()} of {quality.n}")


# ---- diagnostics of a run ------------------------------------------------------------------------


_FEWEST = 8  # rows of a map that are tested


def with_row_tests(run: Run, X: Floats, seed: int, n_jobs: int | None, metric: Metric = "euclidean") -> Run:
    """The Run with every compared row tested against random places; unchanged with too few rows."""
    if run.quality is None or run.quality.n < _FEWEST:
        return run
    found = row_tests(
        X, run.embedding, metric=metric, rows=run.quality.rows, random_state=seed, n_jobs=n_jobs
    )
    return replace(run, row_diagnostics=RowDiagnostics(found.p, found.by_chance))


def with_jumps(
    run: Run, transform: Callable[[Floats], Any] | None, X: Floats, count: int, seed: int, n_jobs: int | None
) -> Run:
    """The Run with a test for jumps between a row and its neighbor, where it can map new rows."""
    if transform is None or run.row_diagnostics is None:
        return run
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows that nobody gave
            sample = min(count, len(X))
            found = map_jumps(transform, X, run.embedding, sample=sample, random_state=seed, n_jobs=n_jobs)
    except DeadlineError:
        raise
    except Exception as error:  # the map is there all the same
        message = f"Whether the map jumps was not measured: {type(error).__name__}: {error}"
        return replace(run, warnings=(*run.warnings, message))
    return replace(run, row_diagnostics=replace(run.row_diagnostics, walked=found.rows, jumps=found.jumps))


def with_other_seeds(run: Run, maps: Sequence[Floats], n_jobs: int | None) -> Run:
    """The Run with the share of neighbors that a row loses on the maps of other seeds."""
    if run.embedding is None or run.quality is None or run.row_diagnostics is None or not maps:
        return run
    found = shared_neighbors([run.embedding, *maps], run.quality.n_neighbors[0], n_jobs=n_jobs)
    return replace(
        run, row_diagnostics=replace(run.row_diagnostics, unsteady=1.0 - found.shares[run.quality.rows])
    )


# ---- false neighbors -----------------------------------------------------------------------------


_BLOCK = 4_096  # rows whose differences are held at a time


def false_neighbor_rate(
    X: Floats, Z: Floats, quality: Quality, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Floats:
    """Share of the k nearest rows on the map that are not among the k nearest in the data, row by row.

    One that is as near in the data as the k-th there is none that is false: which of equal ones are counted
    among the k nearest is chance.
    """
    rows, k = quality.rows, quality.n_neighbors[0]
    farthest = nearest_among(X[rows], X, k, metric=metric, selves=rows, n_jobs=n_jobs)[1][:, -1]
    near = nearest_among(Z[rows], Z, k, selves=rows, n_jobs=n_jobs)[0]
    apart = np.empty((len(rows), k))
    measure = pair_distances(X, metric, n_jobs)
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        for j in range(k):
            apart[part, j] = _apart(X, rows[part], near[part, j], metric, measure)
    return (apart > farthest[:, None] * (1 + 1e-9)).mean(axis=1)


def _apart(X: Floats, first: Integers, second: Integers, metric: Metric, measure: Any) -> Floats:
    if metric in EUCLIDEAN:
        return np.linalg.norm(X[first] - X[second], axis=1)
    if measure is not None:
        return np.asarray(measure(first, second))
    pairs = zip(first, second, strict=True)
    return np.array([distances_between(X[i : i + 1], X[j : j + 1], metric, 1)[0, 0] for i, j in pairs])
