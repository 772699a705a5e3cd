"""Methods compared within a time: the cheapest of each family first, each as far as the time allows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from ..._core.errors import DeadlineError
from ..._core.runtime import config_context
from ..evaluation.candidates import Task
from ..evaluation.method_evaluation import STOPPED, Job
from ..evaluation.runs import Run
from ..presets import Preset
from ..run_cache import Store
from .cost_model import LONG, Estimate, exponent, in_time, measured_in, planned, said
from .progress import count_steps

_STRAYS = 4.0  # times: so far a pace may change from one method to the next, and be believed

MakeJob = Callable[[Task, Preset], Job]
Runs = dict[str, tuple[Run, bool]]  # by label, each with whether it was read back


def runs_in_time(
    tasks: Sequence[Task],
    preset: Preset,
    job: MakeJob,
    store: Store,
    ends: float,
    pace: float,
    told: Callable[[Run, bool], None],
) -> tuple[Runs, tuple[str, ...]]:
    """Runs by their label, each with whether it was read back; and what was left out, in sentences.

    ``pace`` is that of the measures, as it is here and now; it is seen again in each method, as the machine
    may become busy.
    """
    asked = {task.label: job(task, preset) for task in tasks}
    found = {label: run for label, one in asked.items() if (run := one.found(store)) is not None}
    runs: Runs = {label: (run, True) for label, run in found.items()}
    for run in found.values():
        told(run, True)
    by_label = {task.label: task for task in tasks if task.label not in runs}
    n_rows = max((len(one.data.X) for one in asked.values()), default=0)
    estimates = _estimates(list(by_label.values()), preset, job, n_rows, ends, pace)
    for label in [label for label in asked if label not in estimates]:  # read back, or too long for few rows
        _counted(asked[label], asked[label].steps.done)
    fewer = []
    order = in_time(estimates, n_rows)
    for label in order:
        began, last = asked[label].steps.done, label == order[-1]
        plan = planned(by_label[label], preset, n_rows, estimates[label], pace, ends, last=last)
        if plan is not None:
            since = time.perf_counter()
            with config_context(deadline=plan.ends):
                runs[label] = job(by_label[label], plan.preset).stored(store)
            told(*runs[label])
            pace = _seen(runs[label][0], n_rows, time.perf_counter() - since, pace)
            fewer += [label] * plan.fewer
        _counted(asked[label], began)
    if all(run.reason.startswith(STOPPED) for run, _ in runs.values()):
        label = (order or [task.label for task in tasks])[0]
        runs[label] = _one_at_least(job, by_label[label], preset, store)
        told(*runs[label])
        fewer = [label]
    left_out = [task.label for task in tasks if task.label not in runs]
    return runs, said(left_out, [task.label for task in tasks if task.label in fewer])


def _one_at_least(job: MakeJob, task: Task, preset: Preset, store: Store) -> tuple[Run, bool]:
    """The cheapest method, once, however long it takes: a report without a map is of no use, even in time."""
    with config_context(deadline=None):
        return job(task, replace(preset, tune=False, n_seeds=1)).stored(store)


def _seen(run: Run, n_rows: int, seconds: float, pace: float) -> float:
    """The pace as it was in a method: what was not fitting was measuring."""
    if run.failed or run.trials:  # trials overlap, and take no time that could be told
        return pace
    ratio = (seconds - run.seconds * (1 + len(run.repeats))) / measured_in(n_rows, pace)
    return pace * min(max(ratio, 1 / _STRAYS), _STRAYS)


def _counted(asked: Job, began: int) -> None:
    """A method is over, however much of what was asked for is done: so the bar comes to its end."""
    steps = count_steps(asked.task, asked.preset, len(asked.data.X))
    asked.steps.now(asked.task.label, began + steps - asked.steps.done)


def _estimates(
    tasks: Sequence[Task], preset: Preset, job: MakeJob, n_rows: int, ends: float, pace: float
) -> dict[str, Estimate]:
    """Of each method, unless it takes long even for few rows, or one map could not be measured any more."""
    long = ends - time.perf_counter() >= LONG
    found: dict[str, Estimate] = {}
    for position, task in enumerate(tasks):
        left = ends - time.perf_counter() - measured_in(n_rows, pace)
        if left <= 0:
            break
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
