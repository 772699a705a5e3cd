"""How long the tasks that are left will take, from what the others took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..comparison.budget.progress import Levels, duration, in_words, span_left
from .values import Outcome, Task

__all__ = ["duration", "in_words", "time_left"]


def time_left(
    done: Mapping[Task, Outcome], left: Sequence[Task], n_jobs: int = 1
) -> tuple[float, float] | None:
    """Seconds, from and to; None before anything can be said.

    By :func:`isentropic.comparison.budget.progress.span_left`; the levels of a task are its data and its
    method.
    """
    seen = [(_levels(task), outcome.seconds) for task, outcome in done.items() if not outcome.reason]
    span = span_left(seen, [_levels(task) for task in left])
    return None if span is None else (span[0] / n_jobs, span[1] / n_jobs)


def _levels(task: Task) -> Levels:
    return f"data {task.dataset}", f"method {task.work} {task.method} {task.protocol}"
