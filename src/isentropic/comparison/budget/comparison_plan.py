"""What a comparison has to do: which methods, on which rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..._core.values import Integers
from ...distances import Metric, is_gower
from ...registry import METHODS
from ..evaluation.candidates import Methods, Task, as_tasks
from ..evaluation.data import Data
from ..evaluation.duplicate_rows import Copies
from ..presets import LARGE, MIXED, MIXED_SAMPLE_ROWS, SAMPLE_ROWS, Preset, methods_of
from .cost_model import FOR_THE_SAMPLE, Limit, measured_pace, rows_in_time
from .progress import ALL_ROWS, steps_of
from .stratified_sample import strata_of, stratified_rows

MostRows = int | None | Literal["auto"]


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What is to be done: which methods on which rows."""

    tasks: tuple[Task, ...]
    data: Data  # all different rows, or a sample of them
    preset: Preset
    rows: Integers | None  # the sample, of the different rows
    all: Data  # the different rows
    notes: tuple[str, ...]
    pace: float  # seconds of the measures of 1,000 rows; 0 where time does not count
    copies: Copies | None  # of identical rows; None: no row is repeated

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
        limit: Limit | None,
        n_jobs: int | None,
    ) -> Work:
        notes: tuple[str, ...] = ()
        everything = given = Data.of(X, y, seed, metric, measured=False)
        copies = Copies.of(given.X, given.classes)
        if copies is not None:
            everything = Data.of(*given.taken(copies.rows), seed, metric, measured=False)
            notes = (copies.note(),)
        rows, most = None, _most(most_rows, len(everything.X), metric)
        pace = 0.0 if limit is None else measured_pace(everything, n_jobs)
        if limit is not None and most_rows == "auto" and metric != "precomputed":
            count = len(methods_of(preset, most, has_classes=False) if methods is None else list(methods))
            most = _most_in_time(len(everything.X), count, limit, pace, metric)
        if most < len(everything.X):
            strata = strata_of(everything.X, everything.classes)
            rows = stratified_rows(strata, most, seed)
            preset = preset.of_sample
        if is_gower(metric) and most > MIXED:
            preset = preset.of_mixed
        preset = preset.for_rows(most)
        with_copies = given.X if copies is not None and rows is None else None
        data = Data.of(*everything.taken(rows), seed, metric, with_copies=with_copies)
        if methods is None:
            has_classes, of_columns = everything.classes is not None, data.is_euclidean
            methods = methods_of(preset, most, has_classes=has_classes, of_columns=of_columns)
            if len(everything.X) > LARGE:
                methods, left_out = _for_large_tables(methods)
                notes += left_out
            costly = preset.too_costly(methods, most)
            notes += _said_of_costly(costly)
            methods = {name: preset.params_of(name, most) for name in methods if name not in costly}
        tasks = as_tasks(methods)
        if not data.is_euclidean:
            tasks = tuple(task.by_metric(metric) for task in tasks)
        return cls(tasks, data, preset, rows, everything, notes, pace, copies)

    @property
    def steps(self) -> dict[str, list[str]]:
        """Kinds of steps, by method; of a sample those of the map of all rows, too."""
        steps = {task.label: steps_of(task, self.preset, len(self.data.X)) for task in self.tasks}
        return steps if self.rows is None else {**steps, ALL_ROWS: ["map of all", "measures of all"]}


def _most(most_rows: MostRows, n_rows: int, metric: Metric) -> int:
    """How many of the rows are compared."""
    if metric == "precomputed":
        return n_rows
    if most_rows == "auto":
        sample = MIXED_SAMPLE_ROWS if is_gower(metric) else SAMPLE_ROWS
        return n_rows if n_rows <= LARGE else sample
    return n_rows if most_rows is None else min(most_rows, n_rows)


def _most_in_time(n_rows: int, n_methods: int, limit: Limit, pace: float, metric: Metric) -> int:
    """How many of the rows are compared in the time; all, where that takes no more than a sample."""
    sample = MIXED_SAMPLE_ROWS if is_gower(metric) else SAMPLE_ROWS
    left = max(limit.ends(pace) - time.perf_counter(), 1.0)
    found = rows_in_time(n_rows, n_methods, left, pace, sample)
    return found if found == n_rows else rows_in_time(n_rows, n_methods, FOR_THE_SAMPLE * left, pace, sample)


def _said_of_costly(names: Sequence[str]) -> tuple[str, ...]:
    text = (
        f"Not compared, as they would take longer than most others together: {', '.join(names)}. Name them "
        "among the methods, or take the preset thorough, to have them."
    )
    return (text,) if names else ()


def _for_large_tables(methods: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of a preset that are not for small tables only, and a sentence on the others.

    A sample they could map, but in more time than all other methods together.
    """
    others = [name for name in methods if METHODS[name].max_rows <= LARGE]
    note = f"Not compared, as they are made for fewer rows: {', '.join(others)}."
    return tuple(name for name in methods if name not in others), (note,) if others else ()
