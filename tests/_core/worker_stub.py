"""Functions that a worker is asked to call."""

import os
import signal
import time
from pathlib import Path

from isentropic._core.workers import send_message


def square(x):
    send_message(("squaring", x))
    return x * x


def pid_and_environment():
    return os.getpid(), {name: os.environ[name] for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}


def failing(x):
    raise KeyError(x)


def dying(_):
    os.kill(os.getpid(), signal.SIGKILL)


def print_and_wait(log, seconds):
    os.write(1, b"not an answer\n")
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(seconds)
    return "answer"


def pids(log):
    return [int(line) for line in Path(log).read_text().splitlines()] if Path(log).exists() else []


def unlike(x):
    """Another answer in a process of its own, and none of what cannot be pickled."""
    return (lambda: x) if x == 2 and "ISENTROPIC_WORKER_TEST" in os.environ else x
