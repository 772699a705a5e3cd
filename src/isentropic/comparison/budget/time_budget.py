"""Comparison within a time limit: the cheapest method of each family first, each as far as time allows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from ..._core.errors import DeadlineError
from ..._core.runtime import config_context
from ..evaluation.candidates import Candidate
from ..evaluation.method_evaluation import STOPPED, Evaluation
from ..evaluation.runs import Run
from ..presets import Preset
from ..run_cache import RunCache
from .cost_model import (
    LONG_BUDGET,
    Estimate,
    cost_exponent,
    measuring_seconds,
    order_by_cost,
    plan_method,
    time_messages,
)
from .progress import count_steps

_MOST_DRIFT = 4.0  # times: so far the cost may change from one method to the next, and be believed

MakeEvaluation = Callable[[Candidate, Preset], Evaluation]
RunsByLabel = dict[str, tuple[Run, bool]]  # by label, each with whether it was read back


def evaluate_in_time(
    candidates: Sequence[Candidate],
    preset: Preset,
    evaluation: MakeEvaluation,
    cache: RunCache,
    ends: float,
    unit_cost: float,
    notify: Callable[[Run, bool], None],
) -> tuple[RunsByLabel, tuple[str, ...]]:
    """Evaluate methods until the time is over: Runs by label, and sentences on what was left out.

    ``unit_cost`` is that of the measures here and now; it is updated after each method, as the machine may
    become busy.
    """
    asked = {candidate.label: evaluation(candidate, preset) for candidate in candidates}
    found = {label: run for label, one in asked.items() if (run := one.read_cached(cache)) is not None}
    runs: RunsByLabel = {label: (run, True) for label, run in found.items()}
    for run in found.values():
        notify(run, True)
    by_label = {candidate.label: candidate for candidate in candidates if candidate.label not in runs}
    n_rows = max((len(one.data.X) for one in asked.values()), default=0)
    estimates = _estimate_costs(list(by_label.values()), preset, evaluation, n_rows, ends, unit_cost)
    for label in [label for label in asked if label not in estimates]:  # read back, or too long for few rows
        _mark_done(asked[label], asked[label].progress.done)
    fewer = []
    order = order_by_cost(estimates, n_rows)
    for label in order:
        began, last = asked[label].progress.done, label == order[-1]
        plan = plan_method(by_label[label], preset, n_rows, estimates[label], unit_cost, ends, last=last)
        if plan is not None:
            since = time.perf_counter()
            with config_context(deadline=plan.ends):
                runs[label] = evaluation(by_label[label], plan.preset).run_cached(cache)
            notify(*runs[label])
            unit_cost = _updated_cost(runs[label][0], n_rows, time.perf_counter() - since, unit_cost)
            fewer += [label] * plan.fewer
        _mark_done(asked[label], began)
    if all(run.reason.startswith(STOPPED) for run, _ in runs.values()):
        label = (order or [candidate.label for candidate in candidates])[0]
        runs[label] = _evaluate_cheapest(evaluation, by_label[label], preset, cache)
        notify(*runs[label])
        fewer = [label]
    left_out = [candidate.label for candidate in candidates if candidate.label not in runs]
    return runs, time_messages(
        left_out, [candidate.label for candidate in candidates if candidate.label in fewer]
    )


def _evaluate_cheapest(
    evaluation: MakeEvaluation, candidate: Candidate, preset: Preset, cache: RunCache
) -> tuple[Run, bool]:
    """Evaluate the cheapest method once, however long it takes: a report without a map is of no use."""
    with config_context(deadline=None):
        return evaluation(candidate, replace(preset, tune=False, n_seeds=1)).run_cached(cache)


def _updated_cost(run: Run, n_rows: int, seconds: float, unit_cost: float) -> float:
    """The unit cost as it was in a method: what was not fitting was measuring."""
    if run.failed or run.trials:  # trials overlap, and take no time that could be measured
        return unit_cost
    ratio = (seconds - run.seconds * (1 + len(run.repeats))) / measuring_seconds(n_rows, unit_cost)
    return unit_cost * min(max(ratio, 1 / _MOST_DRIFT), _MOST_DRIFT)


def _mark_done(asked: Evaluation, began: int) -> None:
    """Count all steps of a method as done, so that the progress bar comes to its end."""
    steps = count_steps(asked.candidate, asked.preset, len(asked.data.X))
    asked.progress.update(asked.candidate.label, began + steps - asked.progress.done)


def _estimate_costs(
    candidates: Sequence[Candidate],
    preset: Preset,
    evaluation: MakeEvaluation,
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
        one = evaluation(candidate, preset)
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
