"""A bound on the processor time that a piece of work may take."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .values import Refused

_AGAIN = 0.05  # seconds of processor time after which a signal that was not heard is repeated


@contextmanager
def cpu_limit(seconds: float, what: str) -> Iterator[None]:
    """Refuse what takes more seconds of processor time, all threads together, than this.

    The clock is the system's (SIGPROF), which Python hears between two steps of its own: kernels work in
    blocks, so it is late by a block. Outside the main thread, and where there is no such clock, nothing is
    bounded.

    >>> with cpu_limit(0.05, "counting"):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    ...
    isentropic.experiments.values.Refused: counting takes more than 0.05 s of processor time.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    refused = Refused(f"{what} takes more than {seconds:g} s of processor time.")
    over = False

    def end(*_: Any) -> None:
        nonlocal over
        over = True
        signal.setitimer(signal.ITIMER_PROF, 0)
        raise refused

    before = signal.signal(signal.SIGPROF, end)
    # again and again: a signal that another thread receives may not be heard while this one computes
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    except Exception:  # numba turns what is raised as a kernel returns into an error of its own
        if over:
            raise refused from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
