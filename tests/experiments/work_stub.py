"""Work that can be watched: it writes down when it begins, and takes as long as it is told."""

import os
import signal
import time
from pathlib import Path

from isentropic.experiments.tasks import HONEST, Refused, Task


def task(i, work="watched", dataset="coins", method="guess", **arguments):
    return Task("mine", "1", dataset, f"{method}{i}", HONEST, f"work_stub:{work}", {"i": i, **arguments})


def note(log, *words):
    with open(
        log, "a", encoding="utf-8"
    ) as file:  # one short write, so that lines of several processes stay whole
        file.write(" ".join(map(str, words)) + "\n")


def watched(i, log, seconds=0.0):
    note(log, "begin", i, os.getpid())
    time.sleep(seconds)
    return {"i": i, "third": i / 3}


def begun(log):
    """Numbers of the tasks that were begun, in order; again as often as they were."""
    lines = Path(log).read_text(encoding="utf-8").splitlines() if Path(log).exists() else []
    return [int(line.split()[1]) for line in lines]


def refusing(i):
    raise Refused("The table has too many rows for it.")


def failing(i):
    raise KeyError("a column")


def undefined(i):
    return {"kappa": float("nan"), "accuracy": 0.5}


def dying(i):
    os.kill(os.getpid(), signal.SIGKILL)


def talking(i):
    os.write(1, b"not an answer\n")
    return {"i": i}


def threads(i):
    from isentropic._core.runtime import worker_threads

    return {"threads": worker_threads(None), "blas": int(os.environ["OPENBLAS_NUM_THREADS"])}
