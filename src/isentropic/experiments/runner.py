"""Many tasks, in this process or several, each kept as soon as it is done."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any

from .._core.errors import IsentropicError, require
from .._core.runtime import (
    ProgressCallback,
    config_context,
    get_config,
    memory_budget,
    one_blas_thread,
    worker_threads,
)
from .store import ABSENT, OutcomeStore, source_mark
from .tasks import Outcome, Refused, Task, time_left, time_left_text

# ---- One task done: in this process, or in one of its own that takes and answers lines of JSON ----
#
# A process of its own has its share of the cores and of the memory, and BLAS on one thread, and may die: what
# it worked on then has a reason, and another takes its place. It ends with the process that started it.


_BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_THREADS = ("NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT")


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
            given = _work(task.work)(**task.arguments)
        measures = {name: float(value) for name, value in given.items()}
        lost = [name for name, value in measures.items() if not math.isfinite(value)]
        require(not lost, "every measure", "finite", {name: measures[name] for name in lost})
    except Exception as error:  # whatever a method raises, the other tasks are done
        measures, reason, keep = {}, _message_of(error), isinstance(error, Refused)
    return Outcome(measures, time.perf_counter() - began, reason), keep


def _work(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _message_of(error: Exception) -> str:
    return str(error) if isinstance(error, IsentropicError) else f"{type(error).__name__}: {error}"


# ---- a process of its own ----------------------------------------------------------------------


class Worker:
    """A process that does tasks one after the other, started when it is first asked."""

    def __init__(self, store: OutcomeStore | None, n_workers: int, n_threads: int) -> None:
        self._folder = "" if store is None else str(store.folder)
        self._shares = (n_workers, n_threads)
        self._process: subprocess.Popen[str] | None = None
        self._over = False

    def __call__(self, task: Task) -> Outcome | None:
        """As :func:`attempt`; a process that dies of the task is a reason."""
        began = time.perf_counter()
        if self._over:
            return None
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        answer = ""
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(asdict(task)) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        if not answer.endswith("\n"):
            how = _ended(process.wait())
            self.forget()
            return Outcome({}, time.perf_counter() - began, f"Its process {how}.")
        fields = json.loads(answer)
        return None if fields is None else Outcome(**fields)

    def stop(self) -> None:
        """End the process for good, whatever it does: what it has finished is kept."""
        self._over = True
        process = self._process
        if process is not None:
            process.kill()

    def forget(self) -> None:
        """Wait for a process that ends, and close its pipes."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(BrokenPipeError), process:
                pass

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, self._folder],
                env={**os.environ, **_environment(*self._shares)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C is for the caller, who ends it
            )
        return self._process


def _environment(n_workers: int, n_threads: int) -> dict[str, str]:
    """Threads and memory of one of several, and modules from where the caller has them."""
    found = dict.fromkeys(_BLAS, "1") | dict.fromkeys(_THREADS, str(n_threads))
    found["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    budget = memory_budget()
    return found if budget is None else {**found, "ISENTROPIC_MEMORY": f"{budget / n_workers / 2**30:.6f}"}


def _ended(code: int) -> str:
    if code >= 0:
        return f"ended with the code {code}"
    name = signal.Signals(-code).name
    return f"was ended by {name}" + (": it may have run out of memory" if name == "SIGKILL" else "")


def _serve(folder: str) -> None:
    """Answer each line of stdin; what the work prints goes nowhere, so that answers stay whole."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    store = OutcomeStore.at(folder) if folder else None
    lines: SimpleQueue[str] = SimpleQueue()
    Thread(target=_listen, args=(lines,), daemon=True).start()
    while True:
        fields = json.loads(lines.get())
        task = Task(**{**fields, "data": tuple(fields["data"])})
        outcome = attempt(task, store)
        answers.write(json.dumps(None if outcome is None else asdict(outcome)) + "\n")
        answers.flush()


def _listen(lines: SimpleQueue[str]) -> None:
    """Hand on what is asked; when who asks is gone, however that ended, so is this process at once."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)  # what is finished is kept, and a claim goes with the process


if __name__ == "__main__":
    _serve(sys.argv[1])


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
    with _crew(store, min(n_jobs, len(left)), end) as answers, config_context(progress=None):
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
def _crew(
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
    workers = [Worker(store, n_workers, n_threads) for _ in range(n_workers)]
    idle: SimpleQueue[Worker] = SimpleQueue()
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
            worker.stop()  # a thread that waits for its answer reads the end of it
        pool.shutdown(wait=True)
        for worker in workers:
            worker.forget()
