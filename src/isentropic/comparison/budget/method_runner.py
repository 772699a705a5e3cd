"""``MethodRunner``: methods evaluated side by side, in this process and in workers, each on one thread.

The runs are those of one process, bit by bit. A method that cannot be sent to another process is evaluated in
this one. One whose worker died has another worker to itself, once all others are done; one that was refused
for memory has all of it, in this process. What learns from classes comes after the others, on all cores: its
permutations are shared among them.
"""

from __future__ import annotations

import logging
import pickle
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from ..._core.errors import MemoryBudgetError
from ..._core.runtime import config_context, get_config, logger, memory_share, one_blas_thread, used_memory
from ..._core.workers import (
    FEWEST_ROWS,
    Answer,
    Call,
    PendingCalls,
    Worker,
    WorkerEndedError,
    WorkerError,
    WorkerPool,
)
from ..evaluation.candidates import Candidate
from ..evaluation.method_evaluation import Evaluation
from ..evaluation.runs import FOR_MEMORY, Run, RunCache
from ..evaluation.worker_calls import BEGIN, EVALUATE, TEST_JUMPS, Setting, Warned
from ..presets import Preset
from .progress import Progress

_LEAST_ROOM = 256 * 2**20  # bytes of a limit in all for each process: libraries, compiled code, one method
_COPIES = 6  # of the table
_SHORTEST = 20.0  # seconds of a time limit that leaves time to start workers

MakeEvaluation = Callable[[Candidate, Preset], Evaluation]
RunsByLabel = dict[str, tuple[Run, bool]]  # by label, each with whether it was read back


@dataclass(frozen=True, slots=True)
class Turn:
    """A method whose turn it is, by which preset and until when."""

    candidate: Candidate
    preset: Preset
    ends: float | None = None  # by the clock of time.perf_counter

    @property
    def seconds(self) -> float | None:
        """What is left of its time."""
        return None if self.ends is None else self.ends - time.perf_counter()


TakeTurn = Callable[[Candidate, bool], Turn | None]  # of a candidate, and whether it is the last one
OnDone = Callable[[Candidate, Run, float], None]  # with the seconds that it took


class MethodRunner:
    """Evaluates candidates, with a pool of workers where that takes less time."""

    def __init__(
        self,
        make_evaluation: MakeEvaluation,
        setting: Setting,
        cache: RunCache,
        progress: Progress,
        worker_pool: WorkerPool | None,
    ) -> None:
        self._make, self._setting, self._cache = make_evaluation, setting, cache
        self._progress, self._pool = progress, worker_pool
        self._holders: dict[str, Worker] = {}  # which worker has the fitted map of a method
        self._late: list[Warned] = []

    def run(
        self, candidates: Sequence[Candidate], turn: TakeTurn, done: OnDone, *, seconds: float | None = None
    ) -> None:
        """Evaluate the candidates; ``turn`` says how each is, and may leave it out.

        With ``seconds``, all that there are, they are handed out in their order.
        """
        shared = [candidate for candidate in candidates if _can_be_sent(candidate)]
        if seconds is None:
            shared = [candidate for candidate in shared if not candidate.needs_y]
        n = self._n_processes(len(shared), seconds)
        left = list(candidates)
        with one_blas_thread():
            if n > 1:
                names = {candidate.label for candidate in shared}
                left = _Round(self, n, names, turn, done, in_order=seconds is not None).run(candidates)
            for place, candidate in enumerate(left):
                self._here(turn(candidate, place == len(left) - 1), done)

    def _n_processes(self, n_methods: int, seconds: float | None) -> int:
        """How many processes evaluate methods; 1 where more would take longer, or do not fit the memory."""
        worker_pool, X, config = self._pool, self._setting.data.X, get_config()
        if worker_pool is None or len(X) < FEWEST_ROWS or logger.isEnabledFor(logging.DEBUG):
            return 1  # a worker writes no log
        if seconds is not None and seconds < _SHORTEST:
            return 1
        if n_methods < 2:
            return 1
        # of two methods or more for each process, short ones make up for a long one
        n = min(worker_pool.limit(max(2, n_methods // 2)), n_methods)
        if config.memory_limit is None:
            return n
        held = used_memory() if config.memory_in_all else 0
        return min(n, config.memory_limit // (held + _LEAST_ROOM + _COPIES * X.nbytes))

    def _here(self, turn: Turn | None, done: OnDone) -> None:
        """Evaluate a method in this process alone, with all cores and the whole memory."""
        if turn is None:
            return
        began = time.perf_counter()
        with config_context(deadline=turn.ends):
            run = self._make(turn.candidate, turn.preset).compute(self._cache)
        done(turn.candidate, run, time.perf_counter() - began)

    def with_map_jumps(self, run: Run, candidate: Candidate, preset: Preset, cache: RunCache | None) -> Run:
        """The Run with its test for jumps, by the process that has the fitted map."""
        one, worker = self._make(candidate, preset), self._holders.get(candidate.label)
        if worker is not None and worker.is_running:
            with suppress(WorkerError):  # it is fitted again
                tested: Run = worker.call(TEST_JUMPS, candidate, preset, run)
                if cache is not None:
                    one.write_cached(cache, tested)
                return tested
        return one.with_map_jumps(run, cache)

    def end_processes(self) -> None:
        """Give back the memory of the workers where there is a limit of it."""
        if self._pool is not None and get_config().memory_limit is not None:
            self._pool.end_processes()


class _Round:
    """Candidates handed out to this process and to workers, one after the other to whoever is free."""

    def __init__(
        self,
        runner: MethodRunner,
        n_processes: int,
        shared: set[str],
        turn: TakeTurn,
        done: OnDone,
        *,
        in_order: bool,
    ) -> None:
        assert runner._pool is not None
        self._runner, self._pool, self._n = runner, runner._pool, n_processes
        self._shared, self._turn, self._done, self._in_order = shared, turn, done, in_order
        self._waiting: list[Candidate] = []
        self._lock = Lock()
        self._lost: list[tuple[Turn, str]] = []  # whose worker died, and how
        self._again: list[Candidate] = []  # for this process, once it is alone
        self._error: BaseException | None = None
        self._looking = False

    def run(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Evaluate them; returned are those that need this process for themselves."""
        runner, worker_pool = self._runner, self._pool
        alone = [one for one in candidates if one.needs_y and not self._in_order]
        self._waiting = [one for one in candidates if one not in alone]
        share = memory_share(self._n)
        for worker in worker_pool.workers[: self._n - 1]:
            worker.prepare(BEGIN, replace(runner._setting, n_threads=worker_pool.n_threads, memory=share))
        self._talk: PendingCalls[Turn] = worker_pool.ask(self._for_worker, self._hear, self._n - 1)
        runner._progress.side_by_side, runner._progress.between = self._n, self._look
        with config_context(**share):
            while (turn := self._take(in_worker=False)) is not None:
                self._evaluate(turn)
            self._talk.finish(self._take_answer)
            self._raise_late()
        runner._progress.side_by_side, runner._progress.between = 1, None
        self._retry()
        if self._again:
            worker_pool.end_processes()
            runner._holders.clear()
        return [*self._again, *alone]

    # ---- whose turn it is ----

    def _take(self, *, in_worker: bool) -> Turn | None:
        """The next turn of this process or of a worker.

        Workers begin at the end, where the presets have what takes long: a page needs the quick ones first.
        """
        with self._lock:
            while self._waiting:
                places = [
                    i for i, one in enumerate(self._waiting) if not in_worker or one.label in self._shared
                ]
                if not places:
                    return None
                only_here = [i for i in places if self._waiting[i].label not in self._shared]
                place = places[-1] if in_worker and not self._in_order else (only_here or places)[0]
                candidate = self._waiting.pop(place)
                turn = self._turn(candidate, not self._waiting)
                if turn is not None:
                    return turn
            return None

    def _for_worker(self, _: Worker) -> Call[Turn] | None:
        turn = self._take(in_worker=True)
        return None if turn is None else self._call(turn)

    def _call(self, turn: Turn) -> Call[Turn]:
        given = (turn.candidate, turn.preset, self._runner._cache, turn.seconds)
        return Call(turn, EVALUATE, given)

    def _evaluate(self, turn: Turn) -> None:
        """In this process, each fit on as many threads as in a worker; beside the last one cores are free."""
        runner, began, n_threads = self._runner, time.perf_counter(), self._pool.n_threads
        one = runner._make(turn.candidate, turn.preset)
        if not turn.candidate.foreign:
            one = replace(one, fit_threads=n_threads, n_jobs=n_threads if self._waiting else one.n_jobs)
        with config_context(deadline=turn.ends):
            run = one.compute(runner._cache)
        self._take_run(turn, run, time.perf_counter() - began, None)
        self._raise_late()

    # ---- what workers say ----

    def _hear(self, message: tuple[Any, ...]) -> None:
        kind, *given = message
        getattr(self._runner._progress, kind)(*given)

    def _look(self) -> None:
        """See between two steps of a method what others have done; an error there is none of the method."""
        if self._looking or self._error is not None:
            return
        self._looking = True
        try:
            with warnings.catch_warnings(), config_context(deadline=None):
                warnings.simplefilter("ignore")  # the method listens to warnings
                self._talk.poll(self._take_answer)
        except Exception as error:
            self._error = error
        finally:
            self._looking = False

    def _take_answer(self, answer: Answer[Turn]) -> None:
        if isinstance(answer.error, WorkerEndedError):
            self._lost.append((answer.about, str(answer.error)))
        elif answer.error is not None:  # no worker, or none that knows the method
            self._again.append(answer.about.candidate)
        else:
            run, warned = answer.result
            self._runner._late += warned
            self._take_run(answer.about, run, answer.seconds, answer.worker)

    def _take_run(self, turn: Turn, run: Run, seconds: float, worker: Worker | None) -> None:
        if _was_refused_memory(run):
            self._again.append(turn.candidate)
            return
        if worker is not None:
            self._runner._holders[turn.candidate.label] = worker
        self._done(turn.candidate, run, seconds)

    def _raise_late(self) -> None:
        """Raise what was held back while a method was evaluated: an error, and the warnings of workers."""
        if self._error is not None:
            raise self._error
        late, self._runner._late = self._runner._late, []
        for one in late:
            warnings.warn_explicit(one.text, one.category, one.file, one.line)

    # ---- what is done again ----

    def _retry(self) -> None:
        """Give a method whose worker died a worker to itself; one that dies again is the reason."""
        lost, self._lost = self._lost, []
        for turn, _ in lost:
            calls = iter([self._call(turn)])
            talk = self._pool.ask(lambda _, calls=calls: next(calls, None), self._hear, 1)  # type: ignore[misc]
            talk.finish(self._take_answer)
            self._raise_late()
        for turn, reason in self._lost:
            failed = self._runner._make(turn.candidate, turn.preset).failed(reason)
            self._done(turn.candidate, failed, 0.0)


def _can_be_sent(candidate: Candidate) -> bool:
    """Whether another process can evaluate it: what is not of ours may depend on the state of this one."""
    if candidate.foreign:
        return False
    try:
        pickle.dumps(candidate)
    except Exception:  # whatever its parameters raise
        return False
    return True


def _was_refused_memory(run: Run) -> bool:
    """Whether it, or one of its settings, did not fit the share of the memory."""
    refused = f"{MemoryBudgetError.__name__}: "
    return run.reason.startswith(FOR_MEMORY) or any(trial.reason.startswith(refused) for trial in run.trials)
