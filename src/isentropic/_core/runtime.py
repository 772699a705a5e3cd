"""What a computation may use and how it reports: threads, memory budget, progress, Ctrl-C.

Nothing here computes. Long loops run through :func:`row_blocks`, which reports progress and lets
Ctrl-C in between two blocks.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import (
    DeadlineError,
    InvalidInputError,
    MemoryBudgetError,
    is_whole,
    message,
    require,
    require_flag,
    require_number,
)

if TYPE_CHECKING:
    import numpy as np
    from threadpoolctl import ThreadpoolController

logger = logging.getLogger("isentropic")

ProgressCallback = Callable[[str, int, int], None]

_SPARE = 64 * 2**20  # bytes of a limit in all, for what is too small to be asked for


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of the current context; change them with :func:`config_context`."""

    memory_fraction: float = 0.7  # share of the free memory that one computation may take
    memory_limit: int | None = None  # bytes; replaces the share of the free memory when given
    memory_in_all: bool = False  # the limit is that of the process: what it holds already counts
    progress: ProgressCallback | None = None  # called as progress(what, done, total)
    deadline: float | None = None  # by time.perf_counter(): later work is stopped between two blocks of rows


_of_context: ContextVar[Config | None] = ContextVar("isentropic_config", default=None)
_of_process: Config | None = None


def get_config() -> Config:
    """The settings in force here: of the context, else of the process."""
    return _of_context.get() or _of_process or _from_environment()


def set_config(**changes: Any) -> None:
    """Change settings of the whole process, all its threads included, where no context says otherwise.

    Processes that are started later begin anew: ``ISENTROPIC_MEMORY``, in GiB, reaches them too.
    """
    global _of_process
    _of_process = _changed(_of_process or _from_environment(), changes)


def _from_environment() -> Config:
    given = os.environ.get("ISENTROPIC_MEMORY")
    if not given:
        return Config()
    try:
        gib = float(given)
    except ValueError:
        gib = 0.0
    require(0 < gib < float("inf"), "ISENTROPIC_MEMORY", "a positive number of GiB", given)
    return Config(memory_limit=int(gib * 2**30))


def _changed(config: Config, changes: dict[str, Any]) -> Config:
    known = list(Config.__dataclass_fields__)
    for name in changes:
        require(name in known, "setting", f"one of {', '.join(known)}", name)
    config = replace(config, **changes)
    require_number("memory_fraction", config.memory_fraction, "a number in (0, 1]", above=0, most=1)
    require_flag("memory_in_all", config.memory_in_all)
    must_be = "a function of (what, done, total), or None"
    hint = "Give progress=lambda what, done, total: print(what, done, total)."
    require(config.progress is None or callable(config.progress), "progress", must_be, config.progress, hint)
    if config.deadline is not None:
        must_be = "None, or a time of time.perf_counter()"
        require_number("deadline", config.deadline, must_be, least=-math.inf)
    if config.memory_limit is None:
        return config
    must_be = "a positive number of bytes or None"
    limit = require_number("memory_limit", config.memory_limit, must_be, least=1)
    return replace(config, memory_limit=int(limit))  # 2e9 is a size


@contextmanager
def config_context(**changes: Any) -> Iterator[Config]:
    """Change settings for a ``with`` block: those of :class:`Config`, as ``memory_limit`` or ``progress``.

    They hold in this thread only. :func:`set_config` is for the process.

    >>> import isentropic
    >>> with isentropic.config_context(memory_limit=2**30) as config:
    ...     config.memory_limit
    1073741824
    """
    config = _changed(get_config(), changes)
    token = _of_context.set(config)
    try:
        yield config
    finally:
        _of_context.reset(token)


def checked_jobs(n_jobs: int | None) -> int | None:
    """Raise unless it is a number of threads, or None."""
    fits = n_jobs is None or (is_whole(n_jobs) and n_jobs != 0)
    require(fits, "n_jobs", "a non-zero integer or None", n_jobs)
    return n_jobs


def worker_threads(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means: None is all cores, or one inside a parallel worker.

    Negative numbers count back from all cores, as in joblib: -1 is all of them.
    """
    if checked_jobs(n_jobs) is None:
        return 1 if _inside_parallel_worker() else _usable_cores()
    assert n_jobs is not None
    n_jobs = int(n_jobs)
    if n_jobs == 1:  # asking the system takes longer than a short computation
        return 1
    return min(n_jobs, _usable_cores()) if n_jobs > 0 else max(1, _usable_cores() + 1 + n_jobs)


def _usable_cores() -> int:
    from joblib import cpu_count

    return int(cpu_count())


def _inside_parallel_worker() -> bool:
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return bool(backend.nesting_level) or _inside_dask_task()


def _inside_dask_task() -> bool:
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:  # not in a task
        return False
    return True


def generator(random_state: Any) -> np.random.RandomState:
    """A generator; None is a fixed seed, so that the same call gives the same result."""
    from sklearn.utils import check_random_state  # here, so that the command line starts at once

    try:
        random: np.random.RandomState = check_random_state(0 if random_state is None else random_state)
    except (TypeError, ValueError):
        must_be = "None, a whole number from 0 to 2**32 - 1, or a numpy.random.RandomState"
        raise InvalidInputError(message("random_state", must_be, random_state)) from None
    return random


def seeded(random_state: Any) -> tuple[np.random.RandomState, int]:
    """A generator, and the seed of searches and pairs, which is its first number."""
    random = generator(random_state)
    return random, int(random.randint(2**31 - 1))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS on one thread where its calls are short, or take turns with kernels.

    Its idle threads wait for work by spinning, for tens of milliseconds, and take the cores from the kernels.
    """
    with _loaded_libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _loaded_libraries(n_modules: int) -> ThreadpoolController:
    """Those that have threads. Finding them takes milliseconds, and only an import brings new ones."""
    from threadpoolctl import ThreadpoolController  # here, so that the command line starts at once

    return ThreadpoolController()


def row_blocks(
    n_rows: int, what: str, *, size: int, adapt: bool = False, seconds: float = 0.25
) -> Iterator[slice]:
    """Cut ``n_rows`` into blocks, report progress after each, and let Ctrl-C in between.

    ``adapt`` steers the blocks towards ``seconds`` each, in multiples of ``size``. Leave it off
    where the block size could change the last bit of the result (anything that calls BLAS).
    """
    start, step, total = 0, size, 0.0
    _report(what, 0, n_rows)
    while start < n_rows:
        stop = min(start + step, n_rows)
        began = time.perf_counter()
        yield slice(start, stop)
        _report(what, stop, n_rows)
        start = stop
        elapsed = max(time.perf_counter() - began, 1e-6)
        total += elapsed
        if adapt:
            scale = min(max(seconds / elapsed, 0.5), 4.0)
            step = max(size, int(step * scale) // size * size)
    logger.debug("%s: %s rows in %.3f s", what, f"{n_rows:,}", total)


def _report(what: str, done: int, total: int) -> None:
    config = get_config()
    if config.deadline is not None and done < total and time.perf_counter() > config.deadline:
        raise DeadlineError(f"{what}: stopped after {done:,} of {total:,}, as the time is over.")
    if config.progress is not None:
        config.progress(what, done, total)


def require_memory(n_bytes: int, what: str, alternative: str) -> None:
    """Refuse, before anything is allocated, work that does not fit the memory budget."""
    budget = memory_budget()
    allowed = "no limit" if budget is None else _readable(budget)
    logger.debug("%s: %s of memory, the budget is %s", what, _readable(n_bytes), allowed)
    if budget is not None and n_bytes > budget:
        raise MemoryBudgetError(
            f"{what} needs {_readable(n_bytes)} of memory, the budget is {_readable(budget)}. "
            f"{alternative} Or raise the budget: isentropic.config_context(memory_limit=...)."
        )


def memory_budget() -> int | None:
    """Bytes that one computation may take; None where the system does not tell."""
    config = get_config()
    if config.memory_limit is not None:
        held = _SPARE + used_memory() if config.memory_in_all else 0
        return max(config.memory_limit - held, 0)
    free = free_memory()
    return None if free is None else int(config.memory_fraction * free)


def memory_share(n_processes: int) -> dict[str, Any]:
    """Settings by which each of several processes takes its share of the memory that one may take."""
    config = get_config()
    if config.memory_limit is None:
        return {"memory_fraction": config.memory_fraction / n_processes}
    share = max(config.memory_limit // n_processes, 1)
    return {"memory_limit": share, "memory_in_all": config.memory_in_all}


def used_memory() -> int:
    """Bytes that this process holds now, libraries included; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def free_memory() -> int | None:
    """Bytes that can be allocated now, within the limits of the system and of its container."""
    known = [n for n in (_system_free(), _container_free()) if n is not None]
    return min(known) if known else None


def _system_free() -> int | None:
    try:  # as UTF-8: any other codec is imported at first use, from a place that may be closed by then
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        names = getattr(os, "sysconf_names", {})
        if "SC_PHYS_PAGES" not in names:
            return None
        return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    sizes = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else None


def _container_free() -> int | None:
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text(encoding="utf-8").strip()
        used = (folder / "memory.current").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    if limit == "max":
        return None
    return max(int(limit) - int(used) + _reclaimable(folder), 0)


def _reclaimable(folder: Path) -> int:
    """Bytes of files in the cache, which count as used but are given up when memory is short."""
    try:
        lines = (folder / "memory.stat").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("inactive_file ")), 0)


def _readable(n_bytes: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if n_bytes < 1024 or unit == "TiB":
            break
        n_bytes /= 1024
    return f"{n_bytes:.4g} {unit}"
