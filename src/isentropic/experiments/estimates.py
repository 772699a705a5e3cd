"""How long the tasks that are left will take, from what the others took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..comparison.budget.progress import Levels, duration, estimate_time_left, time_left_text
from .values import Outcome, Task

__all__ = ["duration", "time_left_text", "time_left"]


def time_left(
    done: Mapping[Task, Outcome], left: Sequence[Task], n_jobs: int = 1
) -> tuple[float, float] | None:
    """Seconds, from and to; None before anything can be said.

    By :func:`isentropic.comparison.budget.progress.estimate_time_left`; the levels of a task are its data
    and its method.
    """
    seen = [(_levels(task), outcome.seconds) for task, outcome in done.items() if not outcome.reason]
    span = estimate_time_left(seen, [_levels(task) for task in left])
    return None if span is None else (span[0] / n_jobs, span[1] / n_jobs)


def _levels(task: Task) -> Levels:
    return f"data {task.dataset}", f"method {task.work} {task.method} {task.protocol}"
