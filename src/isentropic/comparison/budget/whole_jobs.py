"""The recommended method on all rows of a large table: fitted on all, or on some and the rest placed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..._core.errors import DeadlineError, MemoryBudgetError
from ..._core.runtime import config_context
from ..._core.values import Integers
from ...registry import METHODS
from ..evaluation.fitting import Fit, fitted, placed_map
from ..evaluation.jobs import Job
from ..evaluation.row_checks import with_row_tests
from ..evaluation.runs import Run
from ..evaluation.tasks import Task, plain
from ..store import Store, as_written
from .planning import exponent


@dataclass(frozen=True, slots=True, eq=False)
class WholeJob(Job):
    """One method on all rows, as it was chosen by a sample of them."""

    placing: bool = False  # whether there is no time to fit all rows
    fit_ends: float | None = None  # by the clock of time.perf_counter: later it is stopped

    def of_all(self, like: Run, rows: Integers, store: Store) -> tuple[Run, bool]:
        """The method of a Run of a sample, with the parameters chosen there, on all rows.

        Where it is not made for so many, its cost grows with their square, or they do not fit the memory, it
        is fitted on the ``rows`` of the sample, and the others are placed by ``transform``, each by itself.
        So it is where time is short.
        """
        chosen = {name: like.params[name] for trial in like.trials[:1] for name in trial.params}
        settings = {**self._settings(), "chosen": chosen, "sample": as_written(rows), "placing": self.placing}
        run, read_back = self._kept(store, settings, lambda blank: self._of_all(blank, chosen, rows))
        return replace(run, relation=like.relation, label_test=like.label_test), read_back

    def _of_all(self, blank: Run, params: Mapping[str, Any], rows: Integers) -> Run:
        self.steps.begin(f"{self.task.label}: all rows")
        with config_context(deadline=self.fit_ends):
            fit, n_placed = self._fit_of_all(params, rows)
        self.steps.now(f"{self.task.label}: measures", 1)
        quality = self._assessed(fit)
        run = replace(
            blank,
            params=plain({**self.task.params, **params}),
            seconds=fit.seconds,
            memory_mib=fit.memory_mib,
            embedding=fit.embedding,
            quality=quality,
            baseline=self._baseline(fit),
            warnings=fit.warnings,
            false_share=self._false_shares(fit, quality),
            n_placed=n_placed,
        )
        with suppress(DeadlineError):  # the map stands without them
            run = with_row_tests(run, self.data.X, self.seed, self._threads, self.data.metric)
        return run

    def _fit_of_all(self, params: Mapping[str, Any], rows: Integers) -> tuple[Fit, int]:
        """The map of all rows, and how many of them were placed."""
        n, task = len(self.data.X), self.task
        if task.function is not None or not (self.placing or grows_too_fast(task, n)):
            try:
                return self._fit(params, 0), 0
            except MemoryBudgetError:
                if task.function is not None:
                    raise
        estimator, y = self._estimator(params, 0), self.data.y if task.needs_y else None
        return fitted(lambda: placed_map(estimator, self.data.X, y, rows), n), n - len(rows)


def grows_too_fast(task: Task, n_rows: int) -> bool:
    """Whether a method is not for so many rows, by what the registry says of it."""
    beyond = task.max_rows is not None and n_rows > task.max_rows
    return beyond or (task.label in METHODS and exponent(task) >= 2)
