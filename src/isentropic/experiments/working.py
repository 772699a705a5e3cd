"""One task done: in this process, or in one of its own that takes and answers lines of JSON.

A process of its own has its share of the cores and of the memory, and BLAS on one thread, and may die: what
it worked on then has a reason, and another takes its place. It ends with the process that started it.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any

from .._core.errors import IsentropicError, require
from .._core.runtime import memory_budget, one_blas_thread
from .store import OutcomeStore
from .values import Outcome, Refused, Task

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
        measures, reason, keep = {}, _told(error), isinstance(error, Refused)
    return Outcome(measures, time.perf_counter() - began, reason), keep


def _work(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _told(error: Exception) -> str:
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
