"""``ComparisonPlan``: which methods are compared, on which rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..._core.values import Floats, Integers, Table
from ...distances import Metric, is_gower, rows_of
from ...registry import METHODS
from ..evaluation.candidates import Candidate, Methods, as_candidates
from ..evaluation.data import Data
from ..evaluation.duplicate_rows import DuplicateRows
from ..presets import LARGE, MIXED, MIXED_SAMPLE_ROWS, SAMPLE_ROWS, Preset, methods_of
from .cost_model import SAMPLE_SHARE, TimeLimit, measure_unit_cost, rows_in_time
from .progress import ALL_ROWS, step_kinds

MostRows = int | None | Literal["auto"]


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonPlan:
    """The candidates, the rows they are compared on, and the preset for so many rows."""

    candidates: tuple[Candidate, ...]
    data: Data  # all different rows, or a sample of them
    preset: Preset
    rows: Integers | None  # the sample, of the different rows
    full_data: Data  # the different rows
    notes: tuple[str, ...]
    unit_cost: float  # seconds of the measures of 1,000 rows; 0 where time does not count
    copies: DuplicateRows | None  # of identical rows; None: no row is repeated

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        methods: Methods | None,
        preset: Preset,
        seed: int,
        most_rows: MostRows,
        metric: Metric,
        limit: TimeLimit | None,
        n_jobs: int | None,
    ) -> ComparisonPlan:
        notes: tuple[str, ...] = ()
        everything = given = Data.of(X, y, seed, metric, measured=False)
        copies = DuplicateRows.of(given.X, given.classes)
        if copies is not None:
            everything = Data.of(*given.select_rows(copies.rows), seed, metric, measured=False)
            notes = (copies.message(),)
        rows, most = None, _n_compared(most_rows, len(everything.X), metric)
        unit_cost = 0.0 if limit is None else measure_unit_cost(everything, n_jobs)
        if limit is not None and most_rows == "auto" and metric != "precomputed":
            count = len(methods_of(preset, most, has_classes=False) if methods is None else list(methods))
            most = _n_compared_in_time(len(everything.X), count, limit, unit_cost, metric)
        if most < len(everything.X):
            strata = strata_of(everything.X, everything.classes)
            rows = stratified_rows(strata, most, seed)
            preset = preset.for_sample
        if is_gower(metric) and most > MIXED:
            preset = preset.for_mixed
        preset = preset.for_rows(most)
        with_copies = given.X if copies is not None and rows is None else None
        data = Data.of(*everything.select_rows(rows), seed, metric, with_copies=with_copies)
        if methods is None:
            has_classes, of_columns = everything.classes is not None, data.is_euclidean
            methods = methods_of(preset, most, has_classes=has_classes, of_columns=of_columns)
            if len(everything.X) > LARGE:
                methods, left_out = _for_large_tables(methods)
                notes += left_out
            costly = preset.too_costly(methods, most)
            notes += _costly_messages(costly)
            methods = {name: preset.params_of(name, most) for name in methods if name not in costly}
        candidates = as_candidates(methods)
        if not data.is_euclidean:
            candidates = tuple(candidate.with_metric(metric) for candidate in candidates)
        return cls(candidates, data, preset, rows, everything, notes, unit_cost, copies)

    @property
    def steps(self) -> dict[str, list[str]]:
        """Kinds of steps by method; of a sample those of the map of all rows too."""
        steps = {
            candidate.label: step_kinds(candidate, self.preset, len(self.data.X))
            for candidate in self.candidates
        }
        return steps if self.rows is None else {**steps, ALL_ROWS: ["map of all", "measures of all"]}


def _n_compared(most_rows: MostRows, n_rows: int, metric: Metric) -> int:
    """Number of rows that are compared."""
    if metric == "precomputed":
        return n_rows
    if most_rows == "auto":
        sample = MIXED_SAMPLE_ROWS if is_gower(metric) else SAMPLE_ROWS
        return n_rows if n_rows <= LARGE else sample
    return n_rows if most_rows is None else min(most_rows, n_rows)


def _n_compared_in_time(
    n_rows: int, n_methods: int, limit: TimeLimit, unit_cost: float, metric: Metric
) -> int:
    """Number of rows that are compared in the time; all, where that takes no more than a sample."""
    sample = MIXED_SAMPLE_ROWS if is_gower(metric) else SAMPLE_ROWS
    left = max(limit.ends(unit_cost) - time.perf_counter(), 1.0)
    found = rows_in_time(n_rows, n_methods, left, unit_cost, sample)
    return (
        found if found == n_rows else rows_in_time(n_rows, n_methods, SAMPLE_SHARE * left, unit_cost, sample)
    )


def _costly_messages(names: Sequence[str]) -> tuple[str, ...]:
    text = (
        f"Not compared, as they would take longer than most others together: {', '.join(names)}. Name them "
        "among the methods, or take the preset thorough, to have them."
    )
    return (text,) if names else ()


def _for_large_tables(methods: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Methods of a preset that are made for large tables, and a sentence on the others.

    The others could map a sample, but in more time than all other methods together.
    """
    others = [name for name in methods if METHODS[name].max_rows <= LARGE]
    note = f"Not compared, as they are made for fewer rows: {', '.join(others)}."
    return tuple(name for name in methods if name not in others), (note,) if others else ()


# ---- Stratified samples of rows: in proportion from each class, or from each tenth of a column ----


_TENTHS = 10


def stratified_rows(strata: Integers, most: int, seed: int) -> Integers:
    """Sample ``most`` rows from all strata in proportion, at least one of each; in order.

    Of the same strata and seed, fewer rows are among those that are more.

    >>> import numpy as np
    >>> found = stratified_rows(np.array([0, 0, 0, 0, 0, 1]), 3, seed=0)
    >>> len(found), 5 in found
    (3, True)
    """
    n = len(strata)
    if n <= most:
        return np.arange(n)
    random = np.random.default_rng(seed)
    # Rows in random order within their stratum, placed evenly from 0 to 1: the first `most` of all have each
    # stratum in proportion. The first row of every stratum comes before everything else.
    order = random.permutation(n)
    order = order[np.argsort(strata[order], kind="stable")]
    sizes = np.bincount(strata)
    sizes = sizes[sizes > 0]
    within = np.concatenate([np.arange(size) for size in sizes])
    place = (within + 0.5) / np.repeat(sizes, sizes)
    place[within == 0] = 0.0
    return np.sort(order[np.argsort(place, kind="stable")[:most]])


def strata_of(X: Floats, classes: Integers | None, target: Floats | None = None) -> Integers:
    """Strata of the rows: classes; without them tenths of the target, or of the column that varies most.

    Rows of no class, -1, are a stratum too.
    """
    if classes is not None:
        codes = np.asarray(classes, np.int64)
        return codes - min(0, int(codes.min()))
    numbers = target
    if numbers is None:  # what is missing counts as 0
        numbers = X[:, int(np.argmax(np.nan_to_num(np.nanvar(X, axis=0))))]
    numbers = np.nan_to_num(numbers)
    borders = np.quantile(numbers, np.linspace(0, 1, _TENTHS + 1)[1:-1])
    return np.searchsorted(borders, numbers)


def select_rows(table: Table, rows: Integers) -> Table:
    """Select rows of a table, in the given order."""
    return replace(
        table,
        X=np.ascontiguousarray(rows_of(table.X, rows, table.metric)),
        y=None if table.y is None else table.y[rows],
        row_names=tuple(table.row_names[row] for row in rows),
        other_columns=None if table.other_columns is None else table.other_columns.iloc[rows],
    )
