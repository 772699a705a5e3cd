"""Threads that share the rows of a kernel: each takes the next block as soon as it is free.

Kernels hold no lock of Python's, so that threads run them side by side. A thread that the system keeps
waiting, as beside a busy program, holds up nobody: the others take its blocks, and none waits by spinning.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from queue import SimpleQueue
from typing import Any

import numpy as np

from .runtime import worker_threads

_FEWEST, _LARGEST = 64, 256  # blocks of many rows, rows of a block
_MOST = int(os.environ.get("NUMBA_NUM_THREADS") or 2**31)  # threads that this process may use

_local = threading.local()


def block_size(n: int) -> int:
    """Rows that a thread takes at once: by their number alone, so that no result depends on the threads."""
    return max(1, min(-(-n // _FEWEST), _LARGEST))


@contextmanager
def threads(n_jobs: int | None) -> Iterator[int]:
    """Run the kernels of a ``with`` block on the threads that ``n_jobs`` means."""
    before = _count()
    _local.count = min(worker_threads(n_jobs), _MOST)
    try:
        yield _local.count
    finally:
        _local.count = before


def _count() -> int:
    """Threads of this context; where none was opened, those of the machine."""
    if not hasattr(_local, "count"):
        _local.count = min(worker_threads(None), _MOST)
    return int(_local.count)


def run_rows(kernel: Callable[..., None], n: int, *args: Any) -> None:
    """Call ``kernel(taken, n, size, *args)`` on the threads of this context.

    Each call takes blocks of ``size`` rows, by counting up ``taken[0]``, until none of the n is left.
    """
    size = block_size(n)
    taken = np.zeros(1, np.int64)
    n_threads = min(_count(), -(-n // size))
    if n_threads < 2:
        kernel(taken, n, size, *args)
        return
    work = _Work(lambda: kernel(taken, n, size, *args))
    _pool.offer(work, n_threads - 1)
    try:
        kernel(taken, n, size, *args)
    finally:
        work.close()


def share(work: Callable[[int], None], n: int) -> None:
    """Call ``work(i)`` for every i below n on the threads of this context, each call on one of them.

    What it does holds no lock of Python's for most of the time. Kernels that it calls stay on its thread.
    """
    numbers = count()

    def run(*_: Any) -> None:
        with threads(1):
            while (i := next(numbers)) < n:
                work(i)

    run_rows(run, n)


class _Work:
    """A kernel that several threads run: who has begun is waited for, who comes later finds it closed."""

    def __init__(self, run: Callable[[], None]) -> None:
        self._run: Callable[[], None] | None = run
        self._lock = threading.Lock()
        self._running = 0
        self._ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def join(self) -> None:
        """Run it on this thread, too, unless it is closed."""
        with self._lock:
            run = self._run
            if run is None:
                return
            self._running += 1
        error: BaseException | None = None
        try:
            run()
        except BaseException as caught:
            error = caught
        finally:
            self._ended.put(error)

    def close(self) -> None:
        """Wait for those who have begun; the first of their errors is raised."""
        with self._lock:
            self._run = None
        errors = [self._ended.get() for _ in range(self._running)]
        for error in errors:
            if error is not None:
                raise error


class _Pool:
    """Threads that wait for work, as many as were ever asked for."""

    def __init__(self) -> None:
        self._offers: SimpleQueue[_Work] = SimpleQueue()
        self._count = 0
        self._lock = threading.Lock()

    def offer(self, work: _Work, times: int) -> None:
        if self._count < times:
            self._grow(times)
        for _ in range(times):
            self._offers.put(work)

    def _grow(self, count: int) -> None:
        with self._lock:
            while self._count < count:
                name = f"isentropic-{self._count}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()
                self._count += 1

    def _serve(self) -> None:
        while True:
            self._offers.get().join()


def _new_pool() -> None:
    global _pool
    _pool = _Pool()


_pool = _Pool()
if hasattr(os, "register_at_fork"):  # a child has none of the threads of its parent
    os.register_at_fork(after_in_child=_new_pool)
