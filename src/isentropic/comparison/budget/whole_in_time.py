"""The recommended method on all rows, in the time that is left: fitted if that fits, else placed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from ..._core.values import Integers
from ..evaluation.runs import Run
from ..store import Store
from .pace import pace_of_all, scored_in
from .planning import exponent
from .whole_jobs import WholeJob, grows_too_fast

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
