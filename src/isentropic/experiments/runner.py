"""Many tasks, in this process or several, each kept as soon as it is done."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from queue import SimpleQueue

from .._core.errors import IsentropicError, require
from .._core.runtime import (
    ProgressCallback,
    config_context,
    get_config,
    one_blas_thread,
    worker_threads,
)
from .._core.workers import Worker, WorkerError, function_named
from .store import ABSENT, OutcomeStore, source_mark
from .tasks import Outcome, Refused, Task, time_left, time_left_text

# ---- One task done: in this process, or in one of its own ----
#
# A process of its own may die: what it worked on then has a reason, and another takes its place.


def attempt(task: Task, store: OutcomeStore | None) -> Outcome | None:
    """The outcome, read or computed and kept; None where another process is at work on it."""
    if store is None:
        return perform(task)[0]
    with store.claimed(task) as ours:
        if not ours:
            return None
        kept = store.read(task)  # it may have been finished since the caller looked
        if kept is not None:
            return kept
        outcome, keep = perform(task)
        if keep:
            store.write(task, outcome)
        return outcome


def perform(task: Task) -> tuple[Outcome, bool]:
    """Call the work; the outcome, and whether it is one to keep: a failure is tried again."""
    began = time.perf_counter()
    measures: dict[str, float] = {}
    reason, keep = "", True
    try:
        with warnings.catch_warnings(), one_blas_thread():
            warnings.simplefilter("ignore")  # there is nobody to read them among hundreds of tasks
            given = function_named(task.work)(**task.arguments)
        measures = {name: float(value) for name, value in given.items()}
        lost = [name for name, value in measures.items() if not math.isfinite(value)]
        require(not lost, "every measure", "finite", {name: measures[name] for name in lost})
    except Exception as error:  # whatever a method raises, the other tasks are done
        measures, reason, keep = {}, _message_of(error), isinstance(error, Refused)
    return Outcome(measures, time.perf_counter() - began, reason), keep


def _message_of(error: Exception) -> str:
    return str(error) if isinstance(error, IsentropicError) else f"{type(error).__name__}: {error}"


# ---- a process of its own ----------------------------------------------------------------------


class _TaskWorker:
    """A process that does tasks one after the other; one that dies of a task is a reason."""

    def __init__(self, store: OutcomeStore | None, n_workers: int, n_threads: int) -> None:
        self._store = store
        self.process = Worker(n_workers, n_threads)

    def __call__(self, task: Task) -> Outcome | None:
        """As :func:`attempt`."""
        began = time.perf_counter()
        try:
            outcome: Outcome | None = self.process.call(f"{__name__}:attempt", task, self._store)
        except WorkerError as error:
            return Outcome({}, time.perf_counter() - began, str(error))
        return outcome


_PAUSE = 0.5  # seconds between two looks at what other processes are doing
_OFTEN = 1.0  # seconds between two reports

Answers = Iterator[tuple[Task, Outcome | None]]  # None: another process is at work on it


def run(
    tasks: Iterable[Task],
    store: OutcomeStore | None = None,
    n_jobs: int | None = 1,
    progress: ProgressCallback | None = None,
    seconds: float | None = None,
) -> dict[Task, Outcome]:
    """Do every task that the store does not hold; outcomes of all, in the order given.

    ``n_jobs`` processes (None: a core each) share the cores; results do not depend on it. Several calls, in
    whatever processes, may share a store: a task is done by one of them, and the others wait for it last.
    After Ctrl-C, or kill -9, the next call goes on from what is finished. ``progress(what, done, total)`` is
    told how much time is left, as a range. After ``seconds`` the processes are ended, and the outcomes are
    those of what is done until then; 0 gives what is kept. Tasks whose data are not here come first: they
    end at once, with a reason, which they have too where there was no time for them.

    >>> task = Task("mine", "", "coins", "guess", "published", "builtins:dict", {"accuracy": 0.5})
    >>> run([task])[task].measures
    {'accuracy': 0.5}
    """
    wanted = list(dict.fromkeys(tasks))
    n_jobs = worker_threads(n_jobs)
    found: dict[Task, Outcome] = {}
    if store is not None:
        found = {task: kept for task in wanted if (kept := store.read(task)) is not None}
    left = sorted((task for task in wanted if task not in found), key=_has_data)
    report = _reporter(wanted, n_jobs, progress or get_config().progress)
    report(found)
    end = math.inf if seconds is None else time.monotonic() + seconds
    with _task_workers(store, min(n_jobs, len(left)), end) as answers, config_context(progress=None):
        while left and time.monotonic() < end:
            for task, outcome in answers(left):
                if outcome is not None:
                    found[task] = outcome
                    report(found)
            left = [task for task in left if task not in found]
            if left:
                time.sleep(_PAUSE)
    found |= {task: Outcome({}, reason=_absence(task)) for task in left if not _has_data(task)}
    return {task: found[task] for task in wanted if task in found}


def _has_data(task: Task) -> bool:
    return not _missing(task)


def _missing(task: Task) -> list[str]:
    """Sources of a task that are not here; OpenML may still have them."""
    return [
        source for source in task.data if not source.startswith("builtin:") and source_mark(source) == ABSENT
    ]


def _absence(task: Task) -> str:
    """The reason of a task for which there was no time, and no data here either."""
    return f"{', '.join(_missing(task))} is not in the data folder, and was not looked for elsewhere."


def _reporter(
    wanted: Sequence[Task], n_jobs: int, progress: ProgressCallback | None
) -> Callable[[Mapping[Task, Outcome]], None]:
    """Tells what is found so far, at most once in a second: an estimate takes a pass over all tasks."""
    last = -_OFTEN

    def report(found: Mapping[Task, Outcome]) -> None:
        nonlocal last
        now = time.monotonic()
        if progress is None or (now - last < _OFTEN and len(found) < len(wanted)):
            return
        last = now
        left = [task for task in wanted if task not in found]
        progress(time_left_text(time_left(found, left, n_jobs)), len(found), len(wanted))

    return report


@contextmanager
def _task_workers(
    store: OutcomeStore | None, n_workers: int, end: float
) -> Iterator[Callable[[Sequence[Task]], Answers]]:
    """What answers tasks, as they are done: this process, or several that end with the block.

    Where the work has an end, it is done by processes that can be ended, be it one.
    """
    if n_workers < 2 and math.isinf(end):
        yield lambda tasks: ((task, attempt(task, store)) for task in tasks)
        return
    n_workers = max(n_workers, 1)
    n_threads = max(1, worker_threads(None) // n_workers)
    workers = [_TaskWorker(store, n_workers, n_threads) for _ in range(n_workers)]
    idle: SimpleQueue[_TaskWorker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def ask(task: Task) -> Outcome | None:
        worker = idle.get()
        try:
            return worker(task)
        finally:
            idle.put(worker)

    pool = ThreadPoolExecutor(n_workers)

    def answers(tasks: Sequence[Task]) -> Answers:
        asked = {pool.submit(ask, task): task for task in tasks}
        rest = None if math.isinf(end) else max(end - time.monotonic(), 0.0)
        with suppress(TimeoutError):
            for future in as_completed(asked, rest):
                yield asked[future], future.result()

    try:
        yield answers
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.process.stop()  # a thread that waits for its answer reads the end of it
        pool.shutdown(wait=True)
        for worker in workers:
            worker.process.close()
