"""What a comparison has to do: which methods, on which rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._values import Integers
from ..distances import Metric, is_gower
from ..registry import METHODS
from .data import Data
from .planning import rows_in_time, seconds_of_measures
from .presets import LARGE, MIXED, MIXED_SAMPLE_ROWS, SAMPLE_ROWS, Preset, methods_of
from .steps import count_steps
from .strata import strata_of, stratified_rows
from .tasks import Methods, Task, as_tasks

MostRows = int | None | Literal["auto"]


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What is to be done: which methods on which rows."""

    tasks: tuple[Task, ...]
    data: Data  # all rows, or the sample
    preset: Preset
    rows: Integers | None  # the sample
    all: Data
    notes: tuple[str, ...]
    measures: float  # seconds, of 1,000 rows; 0 where time does not count

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
        seconds: float | None,
        n_jobs: int | None,
    ) -> Work:
        notes: tuple[str, ...] = ()
        everything = Data.of(X, y, seed, metric, measured=False)
        rows, most = None, _most(most_rows, len(everything.X), metric)
        measures = 0.0 if seconds is None else seconds_of_measures(everything, n_jobs)
        if seconds is not None and most_rows == "auto":
            count = len(methods_of(preset, most, has_classes=False) if methods is None else list(methods))
            most = rows_in_time(len(everything.X), count, seconds, measures)
        if most < len(everything.X):
            strata = strata_of(everything.X, everything.classes)
            rows = stratified_rows(strata, most, seed)
            preset = preset.of_sample
        if is_gower(metric) and most > MIXED:
            preset = preset.of_mixed
        data = Data.of(*everything.taken(rows), seed, metric)
        if methods is None:
            has_classes, of_columns = everything.classes is not None, data.is_euclidean
            methods = methods_of(preset, most, has_classes=has_classes, of_columns=of_columns)
            if rows is not None:
                methods, notes = _for_large_tables(methods)
        tasks = as_tasks(methods)
        if not data.is_euclidean:
            tasks = tuple(task.by_metric(metric) for task in tasks)
        return cls(tasks, data, preset, rows, everything, notes, measures)

    @property
    def n_steps(self) -> int:
        steps = sum(count_steps(task, self.preset, len(self.data.X)) for task in self.tasks)
        return steps if self.rows is None else steps + 2


def _most(most_rows: MostRows, n_rows: int, metric: Metric) -> int:
    """How many of the rows are compared."""
    if most_rows == "auto":
        sample = MIXED_SAMPLE_ROWS if is_gower(metric) else SAMPLE_ROWS
        return n_rows if n_rows <= LARGE else sample
    return n_rows if most_rows is None else min(most_rows, n_rows)


def _for_large_tables(methods: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of a preset that are not for small tables only, and a sentence on the others.

    A sample they could map, but in more time than all other methods together.
    """
    others = [name for name in methods if METHODS[name].max_rows < LARGE]
    note = f"Not compared, as they are made for fewer rows: {', '.join(others)}."
    return tuple(name for name in methods if name not in others), (note,) if others else ()
