"""What a worker process of a comparison does: it holds the table, evaluates methods, and keeps their maps."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..._core.runtime import config_context, set_config
from ..._core.workers import send_message
from ..budget.progress import Progress
from ..presets import Preset
from .candidates import Candidate
from .data import Data
from .method_evaluation import Evaluation
from .runs import Run, RunCache

BEGIN, EVALUATE, TEST_JUMPS = (f"{__name__}:{name}" for name in ("begin", "evaluate", "with_map_jumps"))


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What all evaluations of a comparison have in common."""

    data: Data
    criterion: str
    seed: int
    n_threads: int
    holds_maps: bool  # whether ``transform`` is held of each method, for the one that is shown
    memory: dict[str, Any]  # settings: the share of this process


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning as it was raised, to be raised again in the main process."""

    text: str
    category: type[Warning]
    file: str
    line: int


_setting: Setting | None = None
_maps: dict[str, Callable[..., Any]] = {}


def begin(setting: Setting) -> None:
    """Hold the table of a comparison, in place of that of an earlier one."""
    global _setting
    _setting = setting
    _maps.clear()
    set_config(**setting.memory)


def evaluate(
    candidate: Candidate, preset: Preset, cache: RunCache, seconds: float | None
) -> tuple[Run, list[Warned]]:
    """Evaluate and cache a method, within so many seconds; with what it warned about.

    Raises where this process does not know the method.
    """
    if candidate.make is not None:
        candidate.make()
    deadline = None if seconds is None else time.perf_counter() + seconds
    with warnings.catch_warnings(record=True) as caught, config_context(deadline=deadline):
        warnings.simplefilter("always")
        run = _evaluation(candidate, preset).compute(cache)
    found = (Warned(str(one.message), one.category, one.filename, one.lineno) for one in caught)
    return run, list(dict.fromkeys(found))


def with_map_jumps(candidate: Candidate, preset: Preset, run: Run) -> Run:
    """The Run with the test for jumps of the map that is held here."""
    return _evaluation(candidate, preset).with_map_jumps(run, None)


def _evaluation(candidate: Candidate, preset: Preset) -> Evaluation:
    setting = _setting
    assert setting is not None  # a worker begins with it
    maps = _maps if setting.holds_maps else None
    given = (setting.data, preset, setting.criterion, setting.seed, setting.n_threads)
    return Evaluation(candidate, *given, RemoteProgress(None, 0), maps)


class RemoteProgress(Progress):
    """Progress that the main process counts."""

    __slots__ = ()

    def start(self, what: str) -> None:
        send_message(("start", what))

    def update(self, what: str, done: int = 0) -> None:
        send_message(("update", what, done))

    def finish(self, label: str) -> None:
        send_message(("finish", label))
