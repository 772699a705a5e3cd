"""When the command began: with its process, before Python had read a module."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_began: float | None = None


def begin() -> None:
    """The process is one command, and began with it; called by the entry point alone."""
    global _began
    _began = time.perf_counter() - _age()


def command_began() -> float:
    """By the clock of time.perf_counter."""
    return time.perf_counter() if _began is None else _began


def _age() -> float:
    """Seconds that this process has lived; where the system does not tell, that it has computed."""
    with suppress(OSError, ValueError, IndexError, AttributeError):
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        born = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # since the machine was started
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - born, 0.0)
    return time.process_time()
