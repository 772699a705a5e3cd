"""Methods side by side: the runs of one process, whatever happens to a worker."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from isentropic import compare, config_context, datasets
from isentropic._core.errors import LowRecallWarning
from isentropic.comparison.budget import method_runner

METHODS = ("pca", "isomap", "umap", "t-sne")


@pytest.fixture
def log(monkeypatch, tmp_path):
    """Small tables take workers, which write down what they do."""
    path = tmp_path / "log"
    monkeypatch.setattr(method_runner, "FEWEST_ROWS", 0)
    monkeypatch.setenv("ISENTROPIC_SIDE_LOG", str(path))
    evaluate_by(monkeypatch, "noted")
    return path


def evaluate_by(monkeypatch, name):
    monkeypatch.setattr(method_runner, "EVALUATE", f"side_stub:{name}")


@pytest.fixture(scope="module")
def table():
    return datasets.load("builtin:wine")


@pytest.fixture(scope="module")
def alone(table):
    return measured(table, METHODS, n_jobs=1)


def measured(table, methods, **options):
    return fields(compare(table.X, table.classes, methods, budget=2, n_seeds=2, **options))


def fields(runs):
    """All of the runs but for seconds and memory."""
    found = [json.loads(run.to_json()) for run in runs]
    for one in found:
        for measured in (one, *one["trials"]):
            measured["seconds"] = measured["memory_mib"] = 0.0
    return found


def lines(log):
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def test_runs_are_equal_bit_by_bit(table, alone, log):
    assert measured(table, METHODS, n_jobs=2) == alone
    assert len(lines(log)) >= 1
    assert {int(line.split()[1]) for line in lines(log)}.isdisjoint({os.getpid()})


def test_one_job_takes_no_worker_and_a_small_table_neither(table, alone, log, monkeypatch):
    assert measured(table, METHODS, n_jobs=1) == alone
    monkeypatch.setattr(method_runner, "FEWEST_ROWS", 10**6)
    assert measured(table, METHODS, n_jobs=2) == alone
    assert lines(log) == []


def test_runs_come_in_order_of_their_ends_and_are_returned_in_that_of_the_methods(table, log):
    told, seen = [], []
    with config_context(progress=lambda what, done, total: seen.append((done, total))):
        runs = compare(
            table.X, methods=METHODS, budget=2, n_seeds=1, n_jobs=2,
            on_run=lambda run, back: told.append((run.method, back)),
        )  # fmt: skip
    assert [run.method for run in runs] == list(METHODS)
    assert sorted(told) == sorted((name, False) for name in METHODS)
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]


def test_what_is_kept_is_read_back_without_a_worker(table, alone, log, tmp_path):
    folder = tmp_path / "runs"
    assert measured(table, METHODS, n_jobs=2, folder=folder) == alone
    before = lines(log)
    assert measured(table, METHODS, n_jobs=2, folder=folder) == alone
    assert lines(log) == before
    assert len(list(folder.glob("*.json"))) == len(METHODS)


def test_a_method_whose_worker_died_has_another_worker(table, alone, log, monkeypatch):
    evaluate_by(monkeypatch, "dying_once")
    assert measured(table, METHODS, n_jobs=2) == alone
    assert len({line.split()[1] for line in lines(log)}) >= 2


def test_a_method_of_which_workers_die_fails_with_the_reason(table, alone, log, monkeypatch):
    evaluate_by(monkeypatch, "dying_always")
    # this process begins with pca, and takes time for it, so that the others are those of the worker
    monkeypatch.setattr(method_runner._Round, "_take", _for_workers(method_runner._Round._take))
    found = measured(table, METHODS, n_jobs=2)
    assert [one["reason"] for one in found] == [
        "", "Its process was ended by SIGKILL: it may have run out of memory.", "", "",
    ]  # fmt: skip
    assert [found[i] for i in (0, 2, 3)] == [alone[i] for i in (0, 2, 3)]


def _for_workers(take):
    """All but the first method are left to workers."""

    def taken(self, *, in_worker):
        while not in_worker and any(one.label != "pca" for one in self._waiting):
            if self._waiting[0].label == "pca":
                break
            time.sleep(0.01)
        return take(self, in_worker=in_worker)

    return taken


@pytest.mark.parametrize("what", ["refused", "failing"])
def test_what_a_worker_cannot_do_this_process_does_again(table, alone, log, monkeypatch, what):
    evaluate_by(monkeypatch, what)
    assert measured(table, METHODS, n_jobs=2) == alone


def test_a_method_that_fits_no_share_of_the_memory_has_all_of_it(table, log):
    with config_context(memory_limit=2**20):
        runs = compare(table.X, methods=["pca", "isomap"], tune=False, n_jobs=2)
    assert not runs[0].failed
    assert lines(log) == []  # a worker would leave too little


def test_functions_and_estimators_of_others_stay_in_this_process(table, log):
    pids = []

    def first_columns(X):
        pids.append(os.getpid())
        return X[:, :2]

    methods = {"pca": {}, "isomap": {}, "mine": first_columns}
    runs = compare(table.X, methods=methods, tune=False, n_jobs=2)
    assert [run.failed for run in runs] == [False] * 3
    assert set(pids) == {os.getpid()}
    assert len(lines(log)) >= 1
    np.testing.assert_array_equal(runs[2].embedding, table.X[:, :2])


def test_warnings_of_a_worker_are_raised_here(table, log, monkeypatch):
    evaluate_by(monkeypatch, "warning")
    monkeypatch.setattr(method_runner._Round, "_take", _for_workers(method_runner._Round._take))
    with pytest.warns(LowRecallWarning, match="careful") as caught:
        compare(table.X, methods=["pca", "isomap", "umap"], tune=False, n_jobs=2)
    assert sorted(str(one.message) for one in caught) == ["isomap: careful", "umap: careful"]


def test_an_error_of_the_caller_ends_the_comparison(table, log):
    def raise_error(run, back):
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        compare(table.X, methods=METHODS, tune=False, n_jobs=2, on_run=raise_error)


def test_within_a_time_that_is_long_enough_all_is_as_without(table, alone, log):
    assert measured(table, METHODS, n_jobs=2, seconds=3600.0) == alone
    assert len(lines(log)) >= 1


def test_methods_that_learn_from_classes_are_tested_by_all_processes(table, log):
    methods = ("pca", "isomap", "lda")
    assert measured(table, methods, n_jobs=2) == measured(table, methods, n_jobs=1)


SCRIPT = """
from isentropic import compare, datasets
from isentropic.comparison.budget import method_runner
method_runner.FEWEST_ROWS, method_runner.EVALUATE = 0, "side_stub:waiting"
table = datasets.load("builtin:iris")
compare(table.X, methods=["pca", "isomap", "umap"], tune=False, n_jobs=2, folder={folder!r})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_end_in_the_middle_leaves_no_process_and_what_is_done(tmp_path, number):
    log, folder = tmp_path / "log", tmp_path / "runs"
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "ISENTROPIC_SIDE_LOG": str(log)}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(folder=str(folder))],
        env={**os.environ, **environment},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until(lambda: lines(log) and len(list(folder.glob("*.json"))) == 2)
    process.send_signal(number)
    process.wait(timeout=60)
    pids = [int(line.split()[1]) for line in lines(log)]
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    assert len(list(folder.glob("*.json"))) == 2


def until(holds, seconds=120.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
