"""Comparisons within a time: what is planned, what is stopped, what is said."""

import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from isentropic import compare
from isentropic._errors import DeadlineError, InvalidInputError
from isentropic._runtime import config_context, require_memory, row_blocks
from isentropic.comparison import PRESETS, planning
from isentropic.comparison.comparing import compared
from isentropic.comparison.planning import Estimate, exponent, planned, rows_in_time
from isentropic.comparison.presets import SAMPLE_ROWS
from isentropic.comparison.tasks import as_tasks
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
    monkeypatch.setattr("isentropic.comparison.timed._estimates", lambda *given: known)
    found = compared(X, None, {"dear": Slow(), "fast": Slow()}, PRESETS["quick"], seconds=3600)
    assert [run.method for run in found.runs] == ["fast"]
    assert found.notes == ("Left out for time: dear.",)


def test_the_bar_comes_to_its_end_without_those_left_out(X, monkeypatch, tmp_path):
    known = {"fast": Estimate(1e-6, 1, 1.0), "dear": Estimate(1e6, 1, 1.0)}
    monkeypatch.setattr("isentropic.comparison.timed._estimates", lambda *given: known)
    methods = {"dear": Slow(), "long": Slow(), "fast": Slow(), "pca": {}}
    compare(X, methods={"pca": {}}, folder=tmp_path, preset="quick")  # to be read back
    seen = []
    with config_context(progress=lambda what, done, total: seen.append((done, total))):
        found = compared(X, None, methods, PRESETS["quick"], seconds=3600, folder=tmp_path)
    assert found.notes == ("Left out for time: dear, long.",)
    assert {total for _, total in seen} == {seen[-1][0]}
    assert seen == sorted(seen)


@pytest.mark.parametrize("tune", [False, True])
def test_methods_refused_for_memory_are_named_in_one_line(X, tune):
    preset = replace(PRESETS["quick"], tune=tune, budget=3)
    limited = {"large": Large(), "fast": Slow(), "larger": Large(rows=10)}
    found = compared(X, None, limited, preset)
    assert [run.failed for run in found.runs] == [True, False, True]
    assert found.runs[0].reason.startswith("left out for memory. ")
    assert "large needs 1024 TiB of memory, the budget is" in found.runs[0].reason
    assert ("No set of parameters gave a map." in found.runs[0].reason) is tune
    assert found.notes == ("Left out for memory: large, larger.",)


def test_there_is_one_map_at_least(X, monkeypatch):
    monkeypatch.setattr("isentropic.comparison.timed._AT_LEAST", 3600.0)
    found = compared(X, None, {"dear": Slow(), "dearer": Slow()}, PRESETS["standard"], seconds=1e-3)
    (run,) = found.runs
    assert run.method == "dear"
    assert not run.failed
    assert found.notes[0] == "Left out for time: dearer."


def test_enough_time_changes_nothing(X, tmp_path):
    alone = compare(X, methods=["pca", "isomap"], budget=2)
    told = []
    within = compare(X, methods=["pca", "isomap"], budget=2, seconds=3600, folder=tmp_path)
    again = compare(
        X, methods=["pca", "isomap"], budget=2, seconds=2, folder=tmp_path,
        on_run=lambda run, back: told.append(back),
    )  # fmt: skip
    for one, other, third in zip(alone, within, again, strict=True):
        np.testing.assert_array_equal(one.embedding, other.embedding)
        assert one.quality.to_json() == other.quality.to_json() == third.quality.to_json()
    assert told == [True, True]  # what is kept takes no time


# ---- plans -------------------------------------------------------------------------------------


def test_estimates_grow_between_what_is_measured_and_what_the_registry_says():
    found = Estimate.measured(lambda n: 1e-3 * n, 10_000, 2.0, twice=True)
    assert found.power == pytest.approx(1.5)
    assert found.of(800) == pytest.approx(0.8)
    assert found.of(8_000) == pytest.approx(0.8 * 10**1.5)
    assert found.of(100) == pytest.approx(0.8)  # never less than what was measured
    once = Estimate.measured(lambda n: 1.0, 10_000, 2.0, twice=False)
    assert once.of(2_000) == pytest.approx(10**1.5)


def test_settings_and_seeds_give_way_before_the_method_does(monkeypatch):
    monkeypatch.setattr(planning.time, "perf_counter", lambda: 0.0)
    (task,) = as_tasks(["umap"])
    preset = PRESETS["standard"]
    one = Estimate(1.0, 1_000, 1.0)  # 3 seeds and 5 settings are 8 seconds, 1.5 times that 12
    seen = [planned(task, preset, 1_000, one, 0.0, ends, last=True) for ends in (13.0, 10.0, 2.0, 1.0)]
    assert [plan and (plan.preset.tune, plan.preset.n_seeds, plan.fewer) for plan in seen] == [
        (True, 3, False),
        (True, 1, True),
        (False, 1, True),
        None,
    ]
    assert planned(task, preset, 1_000, one, 0.0, 100.0, last=False).ends == 50.0


def test_rows_follow_the_time():
    found = [rows_in_time(50_000, 10, seconds, 0.2) for seconds in (1, 20, 200, 5_000)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (500, SAMPLE_ROWS)
    assert rows_in_time(300, 10, 1, 5.0) == 300
    assert exponent(as_tasks({"mine": Slow()})[0]) == 2.0


@pytest.mark.parametrize("seconds", [0, -1, "5m", np.nan])
def test_times_that_cannot_be(X, seconds):
    with pytest.raises(InvalidInputError, match="seconds"):
        compare(X, methods=["pca"], seconds=seconds)
