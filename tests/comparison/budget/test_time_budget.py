"""Comparisons within a time: what is planned, what is stopped, what is said."""

import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from isentropic import compare
from isentropic._core.errors import DeadlineError, InvalidInputError, TimeBudgetWarning
from isentropic._core.runtime import config_context, require_memory, row_blocks
from isentropic.comparison import PRESETS
from isentropic.comparison.budget import cost_model
from isentropic.comparison.budget.cost_model import (
    Estimate,
    TimeLimit,
    cost_exponent,
    measuring_seconds,
    order_by_cost,
    plan_method,
    rows_in_time,
)
from isentropic.comparison.budget.progress import Progress
from isentropic.comparison.budget.time_budget import FullEvaluation, _updated_cost, evaluate_full_in_time
from isentropic.comparison.evaluation.candidates import as_candidates
from isentropic.comparison.evaluation.data import Data
from isentropic.comparison.evaluation.runs import Run, RunCache
from isentropic.comparison.method_comparison import run_comparison
from isentropic.comparison.presets import SAMPLE_ROWS
from isentropic.selection import select


class Slow(BaseEstimator):
    """Takes its time for each of ten blocks."""

    def __init__(self, seconds=0.0, rows=0, n_neighbors=10):
        self.seconds = seconds  # of a block, for more rows than these
        self.rows = rows
        self.n_neighbors = n_neighbors

    def fit_transform(self, X, y=None):
        for _ in row_blocks(10, "slow", size=1):
            time.sleep(self.seconds if len(X) > self.rows else 0.0)
        return X[:, :2].copy()


class Large(Slow):
    """Does not fit the memory."""

    def fit_transform(self, X, y=None):
        require_memory(2**50, "large", "Take fewer rows.")


@pytest.fixture
def X(rng):
    return np.column_stack([rng.normal(size=(400, 2)), 0.1 * rng.normal(size=400)])


def test_work_stops_between_blocks_when_its_time_is_over():
    with config_context(deadline=time.perf_counter() + 0.05):
        blocks = row_blocks(100, "counting", size=1)
        next(blocks)
        time.sleep(0.06)
        with pytest.raises(DeadlineError, match="counting: stopped after 1 of 100"):
            next(blocks)


def test_the_last_block_is_not_lost():
    with config_context(deadline=time.perf_counter() - 1):
        with pytest.raises(DeadlineError):
            list(row_blocks(2, "counting", size=2))
        blocks = iter(())
        with config_context(deadline=time.perf_counter() + 0.02):
            blocks = row_blocks(1, "counting", size=1)
            next(blocks)
            time.sleep(0.03)
            assert list(blocks) == []


def test_trials_in_other_threads_know_the_deadline(X):
    with (
        config_context(deadline=time.perf_counter() + 0.2),
        pytest.raises(InvalidInputError, match="Deadline"),
    ):
        select(Slow(0.2), X, {"n_neighbors": [2, 3, 4]}, n_jobs=2)


def test_a_method_whose_time_is_over_is_a_row_with_the_reason(X):
    with config_context(deadline=time.perf_counter()):
        (run,) = compare(X, methods={"slow": Slow()}, tune=False)
    assert run.reason == "stopped after 0 s: the budget."


def test_what_does_not_fit_is_left_out_in_one_line(X, monkeypatch):
    known = {"fast": Estimate(1e-6, 1, 1.0), "dear": Estimate(1e6, 1, 1.0)}
    monkeypatch.setattr("isentropic.comparison.budget.time_budget._estimate_costs", lambda *given: known)
    found = run_comparison(
        X,
        None,
        {"dear": Slow(), "fast": Slow()},
        PRESETS["quick"],
        limit=TimeLimit(time.perf_counter(), 3600),
    )
    assert [run.method for run in found.runs] == ["fast"]
    assert found.notes == ("Left out for time: dear.",)


def test_the_bar_comes_to_its_end_without_those_left_out(X, monkeypatch, tmp_path):
    known = {"fast": Estimate(1e-6, 1, 1.0), "dear": Estimate(1e6, 1, 1.0)}
    monkeypatch.setattr("isentropic.comparison.budget.time_budget._estimate_costs", lambda *given: known)
    methods = {"dear": Slow(), "long": Slow(), "fast": Slow(), "pca": {}}
    compare(X, methods={"pca": {}}, folder=tmp_path, preset="quick")  # to be read back
    seen = []
    with config_context(progress=lambda what, done, total: seen.append((done, total))):
        found = run_comparison(
            X, None, methods, PRESETS["quick"], limit=TimeLimit(time.perf_counter(), 3600), folder=tmp_path
        )
    assert found.notes == ("Left out for time: dear, long.",)
    assert {total for _, total in seen} == {seen[-1][0]}
    assert seen == sorted(seen)


@pytest.mark.parametrize("tune", [False, True])
def test_methods_refused_for_memory_are_named_in_one_line(X, tune):
    preset = replace(PRESETS["quick"], tune=tune, budget=3)
    limited = {"large": Large(), "fast": Slow(), "larger": Large(rows=10)}
    found = run_comparison(X, None, limited, preset)
    assert [run.failed for run in found.runs] == [True, False, True]
    assert found.runs[0].reason.startswith("left out for memory. ")
    assert "large needs 1024 TiB of memory, the budget is" in found.runs[0].reason
    assert ("No set of parameters gave a map." in found.runs[0].reason) is tune
    assert found.notes == ("Left out for memory: large, larger.",)


def test_there_is_one_map_at_least(X):
    limit = TimeLimit(time.perf_counter(), 1e-3)
    with pytest.warns(TimeBudgetWarning, match="time of 0.001 s cannot be kept.*one method takes about"):
        found = run_comparison(X, None, {"dear": Slow(), "dearer": Slow()}, PRESETS["standard"], limit=limit)
    (run,) = found.runs
    assert run.method == "dear"
    assert not run.failed
    assert found.notes[0] == "Left out for time: dearer."


def test_enough_time_changes_nothing(X, tmp_path):
    alone = compare(X, methods=["pca", "isomap"], budget=2)
    told = []
    within = compare(X, methods=["pca", "isomap"], budget=2, seconds=3600, folder=tmp_path)
    again = compare(
        X, methods=["pca", "isomap"], budget=2, seconds=600, folder=tmp_path,
        on_run=lambda run, back: told.append(back),
    )  # fmt: skip
    for one, other, third in zip(alone, within, again, strict=True):
        np.testing.assert_array_equal(one.embedding, other.embedding)
        assert one.quality.to_json() == other.quality.to_json() == third.quality.to_json()
    assert told == [True, True]  # what is kept takes no time


# ---- plans -------------------------------------------------------------------------------------


def test_estimates_grow_between_what_is_measured_and_what_the_registry_says():
    found = Estimate.from_timings(lambda n: 1e-3 * n, 10_000, 2.0, twice=True)
    assert found.power == pytest.approx(1.5)
    assert found.of(800) == pytest.approx(0.8)
    assert found.of(8_000) == pytest.approx(0.8 * 10**1.5)
    assert found.of(100) == pytest.approx(0.8)  # never less than what was measured
    once = Estimate.from_timings(lambda n: 1.0, 10_000, 2.0, twice=False)
    assert once.of(2_000) == pytest.approx(10**1.5)


def test_settings_and_seeds_give_way_before_the_method_does(monkeypatch):
    monkeypatch.setattr(cost_model.time, "perf_counter", lambda: 0.0)
    (task,) = as_candidates(["umap"])
    preset = PRESETS["standard"]
    one = Estimate(1.0, 1_000, 1.0)  # 3 seeds and 5 settings are 8 seconds, 1.5 times that 12
    seen = [plan_method(task, preset, 1_000, one, 0.0, ends, last=True) for ends in (13.0, 10.0, 2.0, 1.0)]
    assert [plan and (plan.preset.tune, plan.preset.n_seeds, plan.fewer) for plan in seen] == [
        (True, 3, False),
        (True, 1, True),
        (False, 1, True),
        None,
    ]
    assert plan_method(task, preset, 1_000, one, 0.0, 100.0, last=False).ends == 50.0
    # by a pace of 0.1 the measures take 1 s, which with the fit is more than 2 s
    assert plan_method(task, preset, 1_000, one, 0.1, 2.0, last=True) is None


def test_each_family_has_its_turn_before_a_second_of_one_comes():
    seconds = {"pca": 1, "classical-mds": 2, "metric-mds": 3, "umap": 4, "mine": 5, "t-sne": 6, "sdd": 7}
    known = {label: Estimate(float(s), 1, 0.0) for label, s in seconds.items()}
    assert order_by_cost(known, 100) == ["pca", "classical-mds", "umap", "mine", "sdd", "metric-mds", "t-sne"]


def test_rows_follow_the_time():
    found = [rows_in_time(50_000, 10, seconds, 0.2) for seconds in (1, 20, 200, 5_000)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (500, SAMPLE_ROWS)
    assert rows_in_time(50_000, 10, 5_000, 0.2, most=3_000) == 3_000
    assert rows_in_time(300, 10, 1, 5.0) == 300
    four = 4 * measuring_seconds(2_000, 0.2) / 0.35
    assert rows_in_time(50_000, 10, four * 1.001, 0.2) == rows_in_time(50_000, 4, four * 1.001, 0.2) == 2_000
    assert cost_exponent(as_candidates({"mine": Slow()})[0]) == 2.0


def test_the_page_has_its_time_and_so_has_what_came_before(monkeypatch):
    monkeypatch.setattr(cost_model.time, "perf_counter", lambda: 110.0)
    assert TimeLimit(100.0, 60.0).ends(0.1) == 160.0
    assert TimeLimit(100.0, 60.0, page=True).ends(0.1) == 157.0  # a twentieth
    assert TimeLimit(100.0, 60.0, page=True).ends(1.0) == 145.0  # what a page takes at this pace
    assert TimeLimit(100.0, 60.0, page=True).is_feasible(0.1, 500)
    message = (
        "time of 12 s cannot be kept: 10.0 s have passed, and one method and the page take about 2.4 s more"
    )
    with pytest.warns(TimeBudgetWarning, match=f"{message}. Here and now the least is about 14 s."):
        assert not TimeLimit(100.0, 12.0, page=True).is_feasible(0.1, 500)


def test_a_machine_that_becomes_busy_is_seen():
    run = Run("pca", {}, None, seconds=1.0, memory_mib=None, embedding=np.zeros((1_000, 2)))
    expected = measuring_seconds(1_000, 0.1)
    assert _updated_cost(run, 1_000, 1.0 + 2 * expected, 0.1) == pytest.approx(0.2)
    assert _updated_cost(run, 1_000, 1.0 + 99 * expected, 0.1) == pytest.approx(0.4)
    assert _updated_cost(replace(run, embedding=None, reason="stopped"), 1_000, 50.0, 0.1) == 0.1


class Clock:
    """Time that passes where it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Costly(BaseEstimator):
    """By a planted clock: so many seconds for a row that is fitted, others for one that is placed."""

    clock = Clock()

    def __init__(self, fitting=0.0, placing=0.0):
        self.fitting = fitting
        self.placing = placing

    def _passed(self, seconds):
        for _ in row_blocks(10, "costly", size=1):
            Costly.clock.now += seconds / 10

    def fit_transform(self, X, y=None):
        self._passed(self.fitting * len(X))
        return X[:, :2].copy()

    def transform(self, X):
        self._passed(self.placing * len(X))
        return X[:, :2].copy()


@pytest.mark.parametrize(
    ("fitting", "placing", "seconds", "placed"),
    [
        (0.001, 9.0, 10.0, 0),  # fits
        (1.0, 0.001, 150.0, 300),  # a fit of all would not fit the time
        (0.55, 0.001, 200.0, 300),  # it seemed to, and was stopped
        (1.0, 9.0, 120.0, None),  # neither way is in time
    ],
)
def test_all_rows_are_fitted_or_placed_in_the_time_that_is_left(
    X, monkeypatch, fitting, placing, seconds, placed
):
    clock = Costly.clock
    clock.now = 0.0
    monkeypatch.setattr("time.perf_counter", clock)
    monkeypatch.setattr("isentropic.comparison.budget.time_budget.cost_exponent", lambda task: 1.0)
    limit, rows = TimeLimit(0.0, 1e9), 100
    methods = {"costly": Costly(fitting, placing)}
    found = run_comparison(
        X, None, methods, replace(PRESETS["quick"], n_walks=1), limit=limit, most_rows=rows
    )
    like, taken = found.runs[0], found.rows
    assert not like.failed
    job = FullEvaluation(
        as_candidates(methods)[0],
        Data.of(X, None, 0),
        PRESETS["quick"].for_full_table,
        "rnx_auc",
        0,
        1,
        Progress(None, 9),
    )
    began = clock.now
    run, _ = evaluate_full_in_time(job, like, taken, RunCache.at(None, 0), began + seconds)
    if placed is None:
        assert run.reason.startswith("stopped after")
    else:
        assert run.n_placed == placed
        assert not run.failed
    assert clock.now - began <= seconds + 0.1 * max(fitting * 400, placing * 300)  # one block more


@pytest.mark.parametrize("seconds", [0, -1, "5m", np.nan])
def test_times_that_cannot_be(X, seconds):
    with pytest.raises(InvalidInputError, match="seconds"):
        compare(X, methods=["pca"], seconds=seconds)
