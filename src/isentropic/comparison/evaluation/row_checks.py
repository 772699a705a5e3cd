"""What is found out about single rows of a map: tests against chance, walks, the maps of other seeds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..._core.errors import DeadlineError
from ..._core.values import Floats
from ...distances import Metric
from ...quality import map_jumps, row_tests, shared_neighbors
from .row_trust import RowTrust
from .runs import Run

_FEWEST = 8  # rows of a map that are tested


def with_row_tests(run: Run, X: Floats, seed: int, n_jobs: int | None, metric: Metric = "euclidean") -> Run:
    """Every compared row tested against random places; nothing of too few rows to test."""
    if run.quality is None or run.quality.n < _FEWEST:
        return run
    found = row_tests(
        X, run.embedding, metric=metric, rows=run.quality.rows, random_state=seed, n_jobs=n_jobs
    )
    return replace(run, row_trust=RowTrust(found.p, found.by_chance))


def with_walks(
    run: Run, place: Callable[[Floats], Any] | None, X: Floats, count: int, seed: int, n_jobs: int | None
) -> Run:
    """Whether the map jumps on the way from a row to its neighbour, where it can place new rows."""
    if place is None or run.row_trust is None:
        return run
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows that nobody gave
            sample = min(count, len(X))
            found = map_jumps(place, X, run.embedding, sample=sample, random_state=seed, n_jobs=n_jobs)
    except DeadlineError:
        raise
    except Exception as error:  # the map is there all the same
        said = f"Whether the map jumps was not measured: {type(error).__name__}: {error}"
        return replace(run, warnings=(*run.warnings, said))
    return replace(run, row_trust=replace(run.row_trust, walked=found.rows, jumps=found.jumps))


def with_other_seeds(run: Run, maps: Sequence[Floats], n_jobs: int | None) -> Run:
    """Of each compared row: the share of its neighbours that it does not have in the map of every seed."""
    if run.embedding is None or run.quality is None or run.row_trust is None or not maps:
        return run
    found = shared_neighbors([run.embedding, *maps], run.quality.n_neighbors[0], n_jobs=n_jobs)
    return replace(run, row_trust=replace(run.row_trust, unsteady=1.0 - found.shares[run.quality.rows]))
