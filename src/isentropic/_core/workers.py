"""Worker processes: ``Worker`` calls functions by name in a process of its own, ``WorkerPool`` has several.

A worker has its share of the cores and of the memory, and BLAS on one thread. It may die: whoever waits for
it gets the reason, and the next call starts another one. It ends with the process that started it, however
that ended. Functions are named as "module:function", and arguments and results are pickled.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO, Any, Generic, TypeVar

from .runtime import get_config, memory_budget, worker_threads

FEWEST_ROWS = 500  # of a table that is worth workers: of 300 they save a second, of 500 a fifth of the time
_BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_THREADS = ("NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
_LENGTH_BYTES = 8
_COMMAND = "from isentropic._core.workers import serve; serve()"
_MESSAGE, _RESULT, _ERROR = "message", "result", "error"

Heard = Callable[[Any], None]  # called with what a function in a worker tells


class WorkerError(Exception):
    """A call without a result: the function raised, or what it was given or gave cannot be pickled."""


class WorkerEndedError(WorkerError):
    """The process ended during a call."""


class WorkerNotStartedError(WorkerError):
    """There is no process, and the next call would start none either."""


class Worker:
    """A process that makes calls one after the other, started when it is first asked."""

    def __init__(self, n_workers: int = 1, n_threads: int = 1) -> None:
        self._shares = (n_workers, n_threads)
        self._process: subprocess.Popen[bytes] | None = None
        self._first: tuple[str, tuple[Any, ...]] | None = None
        self._is_prepared = False
        self._over = False
        self._lock = Lock()  # one call at a time

    def prepare(self, function: str, *args: Any) -> None:
        """Make this call before the next one, and again in a process that takes the place of this one."""
        self._first, self._is_prepared = (function, args), False

    def call(self, function: str, *args: Any, on_message: Heard | None = None) -> Any:
        """The result of ``function``, called in the process; ``on_message`` gets what it sends meanwhile."""
        with self._lock:
            process = self._started()
            if self._first is not None and not self._is_prepared:
                first, given = self._first
                self._exchange(process, first, given, None)
                self._is_prepared = True
            return self._exchange(process, function, args, on_message)

    def _exchange(
        self, process: subprocess.Popen[bytes], function: str, args: tuple[Any, ...], on_message: Heard | None
    ) -> Any:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            frame = pickle.dumps((function, args), pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # pickle raises whatever the objects do
            raise WorkerError(f"{type(error).__name__}: {error}") from error
        with suppress(OSError):  # it has ended: what it said last is still to be read
            _write(process.stdin, frame)
        while (answer := _read(process.stdout)) is not None:
            kind, value = pickle.loads(answer)
            if kind == _ERROR:
                raise WorkerError(value)
            if kind == _RESULT:
                return value
            if on_message is not None:
                on_message(value)
        how = _ended(process.wait())
        self.close()
        raise WorkerEndedError(f"Its process {how}.")

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def stop(self) -> None:
        """End the process for good, whatever it does: what it has finished is kept."""
        self._over = True
        self.end_processes()

    def end_processes(self) -> None:
        """End the process; the next call starts another one."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Wait for a process that ends, and close its pipes."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError), process:
                pass

    def _started(self) -> subprocess.Popen[bytes]:
        if self._over:
            raise WorkerNotStartedError("Its process was stopped.")
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _COMMAND],  # -P: no module is taken from where we are
                    env={**os.environ, **_environment(*self._shares)},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C is for the caller, who ends it
                )
            except OSError as error:
                raise WorkerNotStartedError(f"Its process was not started: {error}.") from error
            self._is_prepared = False
            if self._over:  # stopped in between
                self._process.kill()
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


# ---- in the process ------------------------------------------------------------------------------

_answers: IO[bytes] | None = None  # of a worker; None in any other process


def send_message(message: Any) -> None:
    """Send a message to whoever waits for the call that is being made; nothing outside a worker."""
    if _answers is not None:
        _write(_answers, pickle.dumps((_MESSAGE, message), pickle.HIGHEST_PROTOCOL))


def serve() -> None:
    """Answer the calls on stdin; what a function prints goes nowhere, so that answers stay whole."""
    global _answers
    _answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    calls: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(calls,), daemon=True).start()
    while True:
        _write(_answers, _answer(calls.get()))


def _answer(call: bytes) -> bytes:
    try:
        function, args = pickle.loads(call)
        return pickle.dumps((_RESULT, function_named(function)(*args)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # who asked decides what to do about it
        return pickle.dumps((_ERROR, f"{type(error).__name__}: {error}"))


def _listen(calls: SimpleQueue[bytes]) -> None:
    """Hand on what is asked; when who asks is gone, however that ended, so is this process at once."""
    with suppress(OSError):
        while (call := _read(sys.stdin.buffer)) is not None:
            calls.put(call)
    os._exit(0)  # what is finished is kept, and a claim goes with the process


def load(module: str) -> None:
    """Import a module, for calls to come."""
    import_module(module)


def function_named(name: str) -> Callable[..., Any]:
    """
    >>> function_named("math:floor")(1.5)
    1
    """
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def _write(pipe: IO[bytes], frame: bytes) -> None:
    pipe.write(len(frame).to_bytes(_LENGTH_BYTES, "big") + frame)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes | None:
    """The next frame; None at the end."""
    try:
        head = pipe.read(_LENGTH_BYTES)
        length = int.from_bytes(head, "big")
        frame = pipe.read(length) if len(head) == _LENGTH_BYTES else b""
    except ValueError:  # closed by the thread that ended the process
        return None
    return frame if head and len(frame) == length else None


# ---- several -------------------------------------------------------------------------------------

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """What a worker is to do, and for what."""

    about: T
    function: str
    args: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What came of a call: a result, or the error, in the worker that was asked."""

    about: T
    worker: Worker
    result: Any = None
    seconds: float = 0.0
    error: WorkerError | None = None


class WorkerPool:
    """This process and the workers beside it, which share the cores: one process for each."""

    def __init__(self, n_processes: int) -> None:
        self._n_cores = n_processes
        self.workers: list[Worker] = []
        self.n_processes = self.limit(n_processes)

    @property
    def n_threads(self) -> int:
        """Threads of each process."""
        return max(1, self._n_cores // self.n_processes)

    def limit(self, most: int) -> int:
        """Have at most so many processes, unless they run already; how many there are."""
        if not self.is_running:
            self.n_processes = max(1, min(most, self._n_cores))
            self.workers = [Worker(self.n_processes, self.n_threads) for _ in range(self.n_processes - 1)]
        return self.n_processes

    @property
    def is_running(self) -> bool:
        """Whether a worker has been started, so that the next call costs no start."""
        return any(worker.is_running for worker in self.workers)

    def load(self, module: str) -> None:
        """Start the workers and let them import a module, while this process goes on."""
        self.ask(_once(Call(None, f"{__name__}:{load.__name__}", (module,))), lambda _: None)

    def ask(
        self, next_call: Callable[[Worker], Call[T] | None], on_message: Heard, most: int | None = None
    ) -> PendingCalls[T]:
        """Let each worker do what ``take`` hands out until that is None; it is called in other threads."""
        return PendingCalls(self.workers[:most], next_call, on_message)

    def map(self, function: str, calls: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """Results of the calls in order, made by all processes; what a worker cannot do is done here."""
        left, lock = iter(range(len(calls))), Lock()
        found: dict[int, Any] = {}

        def here(i: int) -> None:
            found[i] = function_named(function)(*calls[i])

        def next_call(_: Worker | None) -> Call[int] | None:
            with lock:
                i = next(left, None)
            return None if i is None else Call(i, function, calls[i])

        def done(answer: Answer[int]) -> None:
            if answer.error is None:
                found[answer.about] = answer.result
            else:
                here(answer.about)

        talk = self.ask(next_call, lambda _: None)
        try:
            for i in range(len(calls)):
                while i not in found:
                    call = next_call(None)
                    if call is None:
                        talk.wait(done)
                    else:
                        here(call.about)
                        talk.poll(done)
                yield found.pop(i)
        finally:
            left = iter(())

    def end_processes(self) -> None:
        """End the processes, which gives back their memory; the next call starts others."""
        for worker in self.workers:
            worker.end_processes()
        for worker in self.workers:
            worker.close()

    def stop(self) -> None:
        """End the processes for good."""
        for worker in self.workers:
            worker.stop()
        for worker in self.workers:
            worker.close()


def _once(call: Call[T]) -> Callable[[Worker], Call[T] | None]:
    """Hands out a call once to each worker."""
    asked: set[int] = set()

    def next_call(worker: Worker) -> Call[T] | None:
        first = id(worker) not in asked
        asked.add(id(worker))
        return call if first else None

    return next_call


class PendingCalls(Generic[T]):
    """Workers at work: what they say is handled in this thread, when it has time for it."""

    def __init__(
        self, workers: Sequence[Worker], next_call: Callable[[Worker], Call[T] | None], on_message: Heard
    ) -> None:
        self._events: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._next_call, self._on_message, self._open = next_call, on_message, len(workers)
        for worker in workers:
            Thread(target=self._ask, args=(worker,), daemon=True).start()

    def _ask(self, worker: Worker) -> None:
        try:
            while (call := self._next_call(worker)) is not None:
                answer = self._answer(worker, call)
                self._events.put(("answer", answer))
                if isinstance(answer.error, WorkerNotStartedError):
                    return
        finally:
            self._events.put(("end", None))

    def _answer(self, worker: Worker, call: Call[T]) -> Answer[T]:
        began = time.perf_counter()
        try:
            result = worker.call(call.function, *call.args, on_message=self._put_message)
        except WorkerError as error:
            return Answer(call.about, worker, None, time.perf_counter() - began, error)
        return Answer(call.about, worker, result, time.perf_counter() - began)

    def _put_message(self, message: Any) -> None:
        self._events.put(("message", message))

    def poll(self, done: Callable[[Answer[T]], None]) -> None:
        """Handle what is there now."""
        with suppress(Empty):
            while True:
                self._handle(*self._events.get_nowait(), done)

    def finish(self, done: Callable[[Answer[T]], None]) -> None:
        """Handle all until nobody is at work."""
        while self._open:
            self.wait(done)

    def wait(self, done: Callable[[Answer[T]], None]) -> None:
        """Handle the next event, or return after a second: some systems let Ctrl-C in only then."""
        with suppress(Empty):
            self._handle(*self._events.get(timeout=1.0), done)

    def _handle(self, kind: str, value: Any, done: Callable[[Answer[T]], None]) -> None:
        if kind == "message":
            self._on_message(value)
        elif kind == "answer":
            done(value)
        else:
            self._open -= 1


_of_context: ContextVar[WorkerPool | None] = ContextVar("isentropic_worker_pool", default=None)


@contextmanager
def worker_pool(n_jobs: int | None) -> Iterator[WorkerPool | None]:
    """Workers for the calls of a block, one process for each core that ``n_jobs`` means; None for one core.

    A block within takes those of the outer one. They are started when they are asked, and end with the block.
    """
    outer = _of_context.get()
    n_processes = worker_threads(n_jobs)
    if outer is not None or n_processes < 2:
        yield outer
        return
    made = WorkerPool(n_processes)
    token = _of_context.set(made)
    try:
        yield made
    finally:
        _of_context.reset(token)
        made.stop()


def map_in_workers(
    function: str, calls_on: Callable[[int | None], Sequence[tuple[Any, ...]]], worth: float = 10.0
) -> Iterator[Any]:
    """Results of calls in order, by the workers of the block that is open here, where that takes less time.

    ``calls_on(n_threads)`` gives the calls; None where the cores are theirs alone. Where no worker has been
    started yet, the first call is made here, and the others are shared if they would take ``worth`` seconds.
    """
    workers, calls = _of_context.get(), list(calls_on(None))
    if workers is not None and not workers.is_running and calls:
        began = time.perf_counter()
        yield function_named(function)(*calls.pop(0))
        if (time.perf_counter() - began) * len(calls) < worth or get_config().memory_limit is not None:
            workers = None
    if workers is None:
        yield from (function_named(function)(*args) for args in calls)
    elif calls:
        yield from workers.map(function, list(calls_on(workers.n_threads))[-len(calls) :])
