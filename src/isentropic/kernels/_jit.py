"""The only module that imports numba.

``kernel`` compiles a helper, ``parallel_kernel`` a loop over :data:`rows` that Python calls. Both are
cached on disk, keep the meaning of NaN and infinity, and compile on first use.

The process that compiles a kernel runs another copy of it than those that load it from disk: the optimiser
has seen the first one once, the second one twice. Both must give the same bits, so helpers are always
inlined, and quotients stay quotients.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numba

from .._runtime import worker_threads

# Reassociation and FMA are welcome; NaN and inf keep their meaning.
_FLAGS = {"nsz", "contract", "afn", "reassoc"}

kernel = numba.njit(fastmath=_FLAGS, cache=True, forceinline=True)
rows = numba.prange

_MOST_THREADS: int = getattr(numba.config, "NUMBA_NUM_THREADS")  # noqa: B009 (numba sets it at run time)

# numba's fallback layer "workqueue" aborts the process when two threads run parallel kernels.
_one_at_a_time = threading.RLock()
_layer_is_threadsafe = False


def parallel_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that loops over :data:`rows`, safe to call from several threads."""
    compiled = numba.njit(fastmath=_FLAGS, cache=True, parallel=True)(function)

    @wraps(function)
    def call(*args: Any) -> Any:
        with threadsafe():
            return compiled(*args)

    return call


@contextmanager
def threadsafe() -> Iterator[None]:
    """Take turns with other threads while the threading layer is, or may turn out to be, workqueue."""
    global _layer_is_threadsafe
    if _layer_is_threadsafe:
        yield
        return
    with _one_at_a_time:
        yield
        _layer_is_threadsafe = _layer_in_use() not in (None, "workqueue")


def _layer_in_use() -> str | None:
    try:
        return str(numba.threading_layer())
    except ValueError:  # no parallel kernel has run yet
        return None


@contextmanager
def threads(n_jobs: int | None) -> Iterator[int]:
    """Run the kernels of a ``with`` block on the threads that ``n_jobs`` means."""
    before = numba.get_num_threads()
    count = min(worker_threads(n_jobs), _MOST_THREADS)
    numba.set_num_threads(count)
    try:
        yield count
    finally:
        numba.set_num_threads(before)
