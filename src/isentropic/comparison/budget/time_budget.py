"""Comparison within a time limit, and the recommended method on all rows of a large table.

The cheapest method of each family comes first, each as far as time allows. The recommended one is then
fitted on all rows, or on the sample, and the other rows are mapped by ``transform``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..._core.errors import DeadlineError, MemoryBudgetError
from ..._core.runtime import config_context
from ..._core.values import Integers
from ...registry import METHODS
from ..evaluation.candidates import Candidate, json_params
from ..evaluation.fitting import Fit, fit_and_map, time_fit
from ..evaluation.method_evaluation import STOPPED, Evaluation
from ..evaluation.row_diagnostics import with_row_tests
from ..evaluation.runs import Run, RunCache, parameter_key
from ..presets import Preset
from .cost_model import (
    LONG_BUDGET,
    Estimate,
    cost_exponent,
    cost_per_full_row,
    measuring_seconds,
    order_by_cost,
    plan_method,
    rows_scorable_in,
    time_messages,
)
from .method_runner import MakeEvaluation, MethodRunner, RunsByLabel, Turn
from .progress import ALL_ROWS

_MOST_DRIFT = 4.0  # times: so far the cost may change from one method to the next, and be believed


def evaluate_in_time(
    candidates: Sequence[Candidate],
    preset: Preset,
    make_evaluation: MakeEvaluation,
    runner: MethodRunner,
    cache: RunCache,
    ends: float,
    unit_cost: float,
    notify: Callable[[Run, bool], None],
) -> tuple[RunsByLabel, tuple[str, ...]]:
    """Evaluate methods until the time is over: Runs by label, and sentences on what was left out.

    ``unit_cost`` is that of the measures here and now; it is updated after each method, as the machine may
    become busy.
    """
    asked = {candidate.label: make_evaluation(candidate, preset) for candidate in candidates}
    runs = read_back(asked, cache, notify)
    by_label = {candidate.label: candidate for candidate in candidates if candidate.label not in runs}
    n_rows = max((len(one.data.X) for one in asked.values()), default=0)
    estimates = _estimate_costs(list(by_label.values()), preset, make_evaluation, n_rows, ends, unit_cost)
    order = order_by_cost(estimates, n_rows)
    fewer = []

    def turn(candidate: Candidate, last: bool) -> Turn | None:
        label = candidate.label
        plan = plan_method(candidate, preset, n_rows, estimates[label], unit_cost, ends, last=last)
        if plan is None:
            return None
        fewer.extend([label] * plan.fewer)
        return Turn(candidate, plan.preset, plan.ends)

    def done(candidate: Candidate, run: Run, seconds: float) -> None:
        nonlocal unit_cost
        runs[candidate.label] = run, False
        notify(run, False)
        unit_cost = _updated_cost(run, n_rows, seconds, unit_cost)

    seconds = ends - time.perf_counter()
    runner.run([by_label[label] for label in order], turn, done, seconds=seconds)
    for label in asked:  # those that were too long for few rows, or for the time that was left
        asked[label].progress.finish(label)
    if all(run.reason.startswith(STOPPED) for run, _ in runs.values()):
        label = (order or [candidate.label for candidate in candidates])[0]
        runs[label] = _evaluate_cheapest(make_evaluation, by_label[label], preset, cache)
        notify(*runs[label])
        fewer = [label]
    left_out = [candidate.label for candidate in candidates if candidate.label not in runs]
    return runs, time_messages(
        left_out, [candidate.label for candidate in candidates if candidate.label in fewer]
    )


def read_back(
    asked: Mapping[str, Evaluation], cache: RunCache, notify: Callable[[Run, bool], None]
) -> RunsByLabel:
    """Runs of methods that are cached."""
    runs: RunsByLabel = {}
    for label, one in asked.items():
        run = one.read_cached(cache)
        if run is not None:
            one.progress.finish(label)
            runs[label] = run, True
            notify(run, True)
    return runs


def _evaluate_cheapest(
    make_evaluation: MakeEvaluation, candidate: Candidate, preset: Preset, cache: RunCache
) -> tuple[Run, bool]:
    """Evaluate the cheapest method once, however long it takes: a report without a map is of no use."""
    with config_context(deadline=None):
        return make_evaluation(candidate, replace(preset, tune=False, n_seeds=1)).run_cached(cache)


def _updated_cost(run: Run, n_rows: int, seconds: float, unit_cost: float) -> float:
    """The unit cost as it was in a method: what was not fitting was measuring."""
    if run.failed or run.trials:  # trials overlap, and take no time that could be measured
        return unit_cost
    ratio = (seconds - run.seconds * (1 + len(run.repeats))) / measuring_seconds(n_rows, unit_cost)
    return unit_cost * min(max(ratio, 1 / _MOST_DRIFT), _MOST_DRIFT)


def _estimate_costs(
    candidates: Sequence[Candidate],
    preset: Preset,
    make_evaluation: MakeEvaluation,
    n_rows: int,
    ends: float,
    unit_cost: float,
) -> dict[str, Estimate]:
    """Estimate the cost of each method from few rows; none for those that take long even there."""
    long = ends - time.perf_counter() >= LONG_BUDGET
    found: dict[str, Estimate] = {}
    for position, candidate in enumerate(candidates):
        left = ends - time.perf_counter() - measuring_seconds(n_rows, unit_cost)
        if left <= 0:
            break
        until = time.perf_counter() + left / (2 * (len(candidates) - position) + 2)
        one = make_evaluation(candidate, preset)
        one.progress.update(f"{candidate.label}: few rows")
        with suppress(DeadlineError), config_context(deadline=until):
            try:
                found[candidate.label] = Estimate.from_timings(
                    one.fit_seconds, n_rows, cost_exponent(candidate), twice=long
                )
            except DeadlineError:
                raise
            except Exception:  # what is wrong with the method will show on all rows
                found[candidate.label] = Estimate(0.0, 1, 1.0)
    return found


# ---- all rows ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class FullEvaluation(Evaluation):
    """Evaluation of the recommended method on all rows, with the parameters chosen on a sample."""

    maps_rest: bool = False  # whether there is no time to fit all rows
    fit_ends: float | None = None  # by the clock of time.perf_counter: later it is stopped

    @property
    def _steps(self) -> str:
        return ALL_ROWS

    def evaluate_full(self, like: Run, rows: Integers, cache: RunCache) -> tuple[Run, bool]:
        """Fit the method of a sample's Run, with the parameters chosen there, on all rows.

        Where it is not made for so many, its cost grows with their square, or they do not fit the memory, it
        is fitted on the ``rows`` of the sample, and the others are mapped by ``transform``, each by itself.
        So it is where time is short.
        """
        chosen = {name: like.params[name] for trial in like.trials[:1] for name in trial.params}
        settings = {
            **self._settings(),
            "chosen": chosen,
            "sample": parameter_key(rows),
            "maps_rest": self.maps_rest,
        }
        run, read_back = self._cached(cache, settings, lambda blank: self._compute_full(blank, chosen, rows))
        return replace(run, relation=like.relation, label_test=like.label_test), read_back

    def _compute_full(self, blank: Run, params: Mapping[str, Any], rows: Integers) -> Run:
        self.progress.start(f"{self.candidate.label}: all rows")
        with config_context(deadline=self.fit_ends):
            fit, n_placed = self._full_fit(params, rows)
        self.progress.update(f"{self.candidate.label}: measures", 1)
        quality = self._assess(fit)
        run = replace(
            blank,
            params=json_params({**self.candidate.params, **params}),
            seconds=fit.seconds,
            memory_mib=fit.memory_mib,
            embedding=fit.embedding,
            quality=quality,
            baseline=self._baseline(fit),
            warnings=fit.warnings,
            false_share=self._false_neighbor_rate(fit, quality),
            n_placed=n_placed,
        )
        with suppress(DeadlineError):  # the map stands without them
            run = with_row_tests(run, self.data.X, self.seed, self._threads, self.data.metric)
        return run

    def _full_fit(self, params: Mapping[str, Any], rows: Integers) -> tuple[Fit, int]:
        """The map of all rows, and how many of them were mapped by ``transform``."""
        n, candidate = len(self.data.X), self.candidate
        if candidate.function is not None or not (self.maps_rest or grows_too_fast(candidate, n)):
            try:
                return self._fit(params, 0), 0
            except MemoryBudgetError:
                if candidate.function is not None:
                    raise
        estimator, y = self._estimator(params, 0), self.data.y if candidate.needs_y else None
        return time_fit(lambda: fit_and_map(estimator, self.data.X, y, rows), n), n - len(rows)


def grows_too_fast(candidate: Candidate, n_rows: int) -> bool:
    """Whether a method is not for so many rows, by what the registry says of it."""
    beyond = candidate.max_rows is not None and n_rows > candidate.max_rows
    return beyond or (candidate.label in METHODS and cost_exponent(candidate) >= 2)


# ---- within a time limit -------------------------------------------------------------------------


_FOR_MEASURES = 0.3  # of the time that is left: so many rows are scored as can be
_FIRST = 0.6  # of the time of fits, for a first one that placing could follow
_OPTIMISM = 1.5  # times: what is thought of a fit of all rows is more often too much


def evaluate_full_in_time(
    evaluation: FullEvaluation, like: Run, rows: Integers, cache: RunCache, ends: float
) -> tuple[Run, bool]:
    """Evaluate the method on all rows by ``ends``; where no way fits, the Run has failed with that reason.

    All rows are fitted where that is thought to fit the time, else those of the sample, and the rest are
    placed, which a fit that was stopped is followed by, too. Fewer rows than usual are compared with
    all others where time is short.
    """
    left = ends - time.perf_counter()
    each = cost_per_full_row(evaluation.data, evaluation.n_jobs) if left > 0 else 1.0
    scored = rows_scorable_in(_FOR_MEASURES * left, each)
    evaluation = replace(evaluation, preset=replace(evaluation.preset, scored_rows=scored))
    fit_ends = ends - scored * each
    for maps_rest, until in _attempts(evaluation, like, fit_ends):
        run, read_back = replace(evaluation, maps_rest=maps_rest, fit_ends=until).evaluate_full(
            like, rows, cache
        )
        if not run.failed:
            break
    return run, read_back


def _attempts(evaluation: FullEvaluation, like: Run, ends: float) -> Iterator[tuple[bool, float]]:
    """Ways to map all rows, in order: whether only the sample is fitted, and until when."""
    n, candidate = len(evaluation.data.X), evaluation.candidate
    if candidate.function is not None:  # it maps no new rows
        yield False, ends
        return
    assert like.embedding is not None
    left = ends - time.perf_counter()
    expected = like.seconds * (n / len(like.embedding)) ** cost_exponent(candidate)
    if not grows_too_fast(candidate, n) and expected <= _OPTIMISM * left:
        yield False, ends - (1 - _FIRST) * left
    yield True, ends
