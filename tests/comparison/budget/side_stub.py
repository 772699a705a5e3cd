"""Evaluations in a worker that go wrong, and a worker that can be watched."""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from isentropic._core.errors import LowRecallWarning
from isentropic.comparison.evaluation import worker_calls
from isentropic.comparison.evaluation.runs import FOR_MEMORY
from isentropic.comparison.evaluation.worker_calls import Warned


def noted(*given):
    _note("evaluated")
    return worker_calls.evaluate(*given)


def dying_once(*given):
    if _note("died") == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return worker_calls.evaluate(*given)


def dying_always(candidate, *given):
    if candidate.label == "isomap":
        os.kill(os.getpid(), signal.SIGKILL)
    return worker_calls.evaluate(candidate, *given)


def refused(*given):
    run, warned = worker_calls.evaluate(*given)
    return replace(run, embedding=None, quality=None, reason=f"{FOR_MEMORY} No."), warned


def warning(candidate, *given):
    run, warned = worker_calls.evaluate(candidate, *given)
    return run, [*warned, Warned(f"{candidate.label}: careful", LowRecallWarning, __file__, 1)]


def failing(*given):
    raise LookupError("no such method here")


def waiting(*given):
    _note("waiting")
    time.sleep(600)


def _note(what):
    """How often it has happened, this time included."""
    path = Path(os.environ["ISENTROPIC_SIDE_LOG"])
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{what} {os.getpid()}\n")
    return len(path.read_text(encoding="utf-8").splitlines())
