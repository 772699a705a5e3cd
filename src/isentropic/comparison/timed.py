"""Methods compared within a time: the cheapest first, each as far as the time allows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from .._errors import DeadlineError
from .._runtime import config_context
from .jobs import Job
from .planning import LONG, Estimate, Planned, exponent, in_time, planned, said
from .presets import Preset
from .runs import Run
from .steps import count_steps
from .store import Store
from .tasks import Task

_AT_LEAST = 5.0  # seconds that the first method has, whatever the time is

MakeJob = Callable[[Task, Preset], Job]


def runs_in_time(
    tasks: Sequence[Task],
    preset: Preset,
    job: MakeJob,
    store: Store,
    ends: float,
    measures: float,
) -> tuple[dict[str, tuple[Run, bool]], tuple[str, ...]]:
    """Runs by their label, each with whether it was read back; and what was left out, in sentences.

    ``measures`` are the seconds of the measures of a map of all rows that are compared.
    """
    asked = {task.label: job(task, preset) for task in tasks}
    found = {label: run for label, one in asked.items() if (run := one.found(store)) is not None}
    runs = {label: (run, True) for label, run in found.items()}
    by_label = {task.label: task for task in tasks if task.label not in runs}
    n_rows = max((len(one.data.X) for one in asked.values()), default=0)
    estimates = _estimates(list(by_label.values()), preset, job, n_rows, ends)
    if not estimates and not runs:
        estimates = {tasks[0].label: Estimate(0.0, 1, 1.0)}
    for label in [label for label in asked if label not in estimates]:  # read back, or too long for few rows
        _counted(asked[label], asked[label].steps.done)
    fewer = []
    order = in_time(estimates, n_rows)
    for label in order:
        task, began = by_label[label], asked[label].steps.done
        last = label == order[-1]
        plan = planned(task, preset, n_rows, estimates[label], measures, ends, last=last)
        if plan is None and runs:
            _counted(asked[label], began)
            continue
        plan = plan or _one_at_least(preset, ends)
        with config_context(deadline=plan.ends):
            runs[label] = job(task, plan.preset).stored(store)
        _counted(asked[label], began)
        if plan.fewer:
            fewer.append(label)
    left_out = [task.label for task in tasks if task.label not in runs]
    return runs, said(left_out, [task.label for task in tasks if task.label in fewer])


def _counted(asked: Job, began: int) -> None:
    """A method is over, however much of what was asked for is done: so the bar comes to its end."""
    steps = count_steps(asked.task, asked.preset, len(asked.data.X))
    asked.steps.now(asked.task.label, began + steps - asked.steps.done)


def _one_at_least(preset: Preset, ends: float) -> Planned:
    """The cheapest method, once: a report without a map is of no use, even in time."""
    until = max(ends, time.perf_counter() + _AT_LEAST)
    return Planned(replace(preset, tune=False, n_seeds=1), until, fewer=True)


def _estimates(
    tasks: Sequence[Task], preset: Preset, job: MakeJob, n_rows: int, ends: float
) -> dict[str, Estimate]:
    """Of each method, unless it takes long even for few rows: a tenth of the time is for all first fits."""
    long = ends - time.perf_counter() >= LONG
    found = {}
    for position, task in enumerate(tasks):
        left = ends - time.perf_counter()
        until = time.perf_counter() + left / (2 * (len(tasks) - position) + 2)
        one = job(task, preset)
        one.steps.now(f"{task.label}: few rows")
        with suppress(DeadlineError), config_context(deadline=until):
            try:
                found[task.label] = Estimate.measured(one.seconds_of, n_rows, exponent(task), twice=long)
            except DeadlineError:
                raise
            except Exception:  # what is wrong with the method will show on all rows
                found[task.label] = Estimate(0.0, 1, 1.0)
    return found
