"""The recommended method on all rows of a large table: fitted on all, or on a sample and the rest mapped."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..._core.errors import DeadlineError, MemoryBudgetError
from ..._core.runtime import config_context
from ..._core.values import Integers
from ...registry import METHODS
from ..evaluation.candidates import Task, plain
from ..evaluation.fitting import Fit, fitted, placed_map
from ..evaluation.method_evaluation import Job
from ..evaluation.row_diagnostics import with_row_tests
from ..evaluation.runs import Run
from ..run_cache import Store, as_written
from .cost_model import exponent, pace_of_all, scored_in


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


# ---- within a time limit -------------------------------------------------------------------------


_FOR_MEASURES = 0.3  # of the time that is left: so many rows are scored as can be
_FIRST = 0.6  # of the time of fits, for a first one that placing could follow
_DOUBT = 1.5  # times: what is thought of a fit of all rows is more often too much


def of_all_in_time(job: WholeJob, like: Run, rows: Integers, store: Store, ends: float) -> tuple[Run, bool]:
    """As :meth:`WholeJob.of_all`, over by ``ends``; where no way is, the Run has failed with that reason.

    All rows are fitted where that is thought to fit the time, else those of the sample, and the rest are
    placed, which a fit that was stopped is followed by, too. Fewer rows than usual are compared with
    all others where time is short.
    """
    left = ends - time.perf_counter()
    each = pace_of_all(job.data, job.n_jobs) if left > 0 else 1.0
    scored = scored_in(_FOR_MEASURES * left, each)
    job = replace(job, preset=replace(job.preset, scored_rows=scored))
    fit_ends = ends - scored * each
    for placing, until in _ways(job, like, fit_ends):
        run, read_back = replace(job, placing=placing, fit_ends=until).of_all(like, rows, store)
        if not run.failed:
            break
    return run, read_back


def _ways(job: WholeJob, like: Run, ends: float) -> Iterator[tuple[bool, float]]:
    """Whether rows are placed, and until when; one way after the other."""
    n, task = len(job.data.X), job.task
    if task.function is not None:  # it places no rows
        yield False, ends
        return
    assert like.embedding is not None
    left = ends - time.perf_counter()
    expected = like.seconds * (n / len(like.embedding)) ** exponent(task)
    if not grows_too_fast(task, n) and expected <= _DOUBT * left:
        yield False, ends - (1 - _FIRST) * left
    yield True, ends
