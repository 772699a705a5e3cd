"""Tasks are done in any number of processes, each once; what fails is a reason."""

import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from work_stub import begun, task

from isentropic import config_context
from isentropic.experiments import runner as running
from isentropic.experiments.runner import run
from isentropic.experiments.store import OutcomeStore
from isentropic.experiments.tasks import Outcome, time_left, time_left_text


def test_equal_outcomes_in_one_process_and_in_several(tmp_path):
    log = str(tmp_path / "log")
    tasks = [task(i, log=log) for i in range(6)]
    alone = run(tasks)
    several = run(tasks, OutcomeStore.at(tmp_path / "results"), n_jobs=2)
    assert list(several) == list(alone) == tasks
    assert [dict(o.measures) for o in several.values()] == [dict(o.measures) for o in alone.values()]
    assert len({line.split()[2] for line in Path(log).read_text().splitlines()}) == 3
    assert run(tasks, OutcomeStore.at(tmp_path / "results")) == several
    assert len(begun(log)) == 12


def test_what_fails_is_a_reason_and_only_a_refusal_is_kept(tmp_path):
    store = OutcomeStore.at(tmp_path)
    tasks = [task(i, work) for i, work in enumerate(("refusing", "failing", "undefined", "absent"))]
    reasons = [outcome.reason for outcome in run(tasks, store).values()]
    assert reasons[0] == "The table has too many rows for it."
    assert reasons[1] == "KeyError: 'a column'"
    assert reasons[2] == "every measure must be finite, got {'kappa': nan}."
    assert "no attribute 'absent'" in reasons[3]
    assert [store.read(one) is not None for one in tasks] == [True, False, False, False]


def test_a_worker_that_dies_is_a_reason_and_the_others_go_on(tmp_path):
    log = str(tmp_path / "log")
    tasks = [
        task(0, "dying"),
        *(task(i, log=log) for i in range(1, 4)),
        task(4, "talking"),
        task(5, "threads"),
    ]
    found = run(tasks, n_jobs=2)
    assert found[tasks[0]].reason == "Its process was ended by SIGKILL: it may have run out of memory."
    assert [found[one].measures["i"] for one in tasks[1:5]] == [1, 2, 3, 4]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert found[tasks[5]].measures == {"threads": max(1, cores // 2), "blas": 1}


SCRIPT = """
from work_stub import task
from isentropic.experiments.runner import run
from isentropic.experiments.store import OutcomeStore
tasks = [task(i, log={log!r}, seconds=0.3 if i < 4 else 600) for i in range(9)]
run(tasks, OutcomeStore.at({folder!r}), n_jobs=2)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_end_in_the_middle_loses_nothing(tmp_path, number):
    """Ctrl-C ends the workers; after kill -9 they end by themselves, at once."""
    log, folder = str(tmp_path / "log"), str(tmp_path / "results")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = SCRIPT.format(log=log, folder=folder)
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stderr=subprocess.PIPE, start_new_session=True
    )
    until(lambda: len(begun(log)) >= 6)
    process.send_signal(number)
    said = process.communicate()[1]
    assert (b"KeyboardInterrupt" in said) == (number == signal.SIGINT)
    tasks = [task(i, log=log, seconds=0.3 if i < 4 else 600) for i in range(9)]
    store = OutcomeStore.at(folder)
    pids = {int(line.split()[2]) for line in Path(log).read_text().splitlines()}
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    assert [i for i in range(9) if store.read(tasks[i]) is not None] == [0, 1, 2, 3]
    before = begun(log)
    assert sorted(before) == [0, 1, 2, 3, 4, 5]
    run(tasks, store, seconds=0)
    assert begun(log) == before
    run(tasks[:4], store)
    assert begun(log) == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_end_that_was_asked_for_gives_what_is_done(tmp_path, n_jobs):
    log, store = str(tmp_path / "log"), OutcomeStore.at(tmp_path / "results")
    tasks = [task(i, log=log, seconds=0.0 if i < 3 else 600.0) for i in range(6)]
    assert run(tasks, store, n_jobs, seconds=0) == {}
    assert begun(log) == []
    assert list(run(tasks[:3], store, n_jobs, seconds=60)) == tasks[:3]
    assert list(run(tasks, store, n_jobs, seconds=4)) == tasks[:3]
    pids = {int(line.split()[2]) for line in Path(log).read_text().splitlines()}
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_what_has_no_data_is_told_first(tmp_path):
    here = tmp_path / "here.csv"
    here.write_text("a,b\n1,2\n")
    tasks = [
        replace(task(i, log=str(tmp_path / "log")), data=(source,))
        for i, source in enumerate(("builtin:iris", str(here), str(tmp_path / "nowhere.csv"), "builtin:wine"))
    ]
    assert list(run(tasks)) == tasks
    assert begun(tmp_path / "log") == [2, 0, 1, 3]
    ((left, outcome),) = run(tasks, seconds=0).items()
    assert left == tasks[2]
    assert outcome.reason.endswith("nowhere.csv is not in the data folder, and was not looked for elsewhere.")


def until(holds, seconds=60.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


# ---- time left ---------------------------------------------------------------------------------


def test_progress_tells_done_total_and_the_time_left(monkeypatch):
    monkeypatch.setattr(running, "_OFTEN", 0.0)
    told = []
    tasks = [task(i, log=os.devnull) for i in range(5)]
    with config_context(progress=lambda *words: told.append(words)):
        run(tasks)
    assert [done for _, done, _ in told] == [0, 1, 2, 3, 4, 5]
    assert {total for *_, total in told} == {5}
    assert told[0][0] == "time left not known yet"
    assert told[-1][0] == "0 s left"


def grid(n_data, n_methods, seconds):
    return {
        task(m, dataset=f"d{d}"): Outcome({}, seconds(d, m)) for d in range(n_data) for m in range(n_methods)
    }


def test_the_time_left_is_that_of_data_and_methods():
    every = grid(6, 5, lambda d, m: 0.5 * 2.0**d * 3.0**m)
    tasks = list(every)
    done = {one: every[one] for k, one in enumerate(tasks) if k % 3}
    left = [one for one in tasks if one not in done]
    truth = sum(every[one].seconds for one in left)
    low, high = time_left(done, left)
    assert low <= truth <= high
    assert high < 6 * low
    assert time_left(done, left, 2) == (low / 2, high / 2)
    assert time_left(dict(list(done.items())[:2]), left) is None


def test_a_method_not_seen_yet_widens_the_range():
    every = grid(6, 3, lambda d, m: 2.0**d * 1.3**m)
    seen = {one: outcome for one, outcome in every.items() if not one.method.endswith("2")}
    known, new = [one for one in seen if one.dataset == "d5"], [one for one in every if one not in seen]
    low, high = time_left(seen, known)
    wide_low, wide_high = time_left(seen, new)
    assert wide_high / wide_low > 1.5 * high / low
    assert wide_low <= sum(every[one].seconds for one in new) <= wide_high


def test_the_range_holds_the_truth_mostly():
    import numpy as np

    hits = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        u, v = random.normal(0, 1.2, 8), random.normal(0, 1.2, 8)
        every = grid(8, 8, lambda d, m, u=u, v=v, r=random: math.exp(u[d] + v[m] + r.normal(0, 0.5)))
        tasks = list(every)
        chosen = set(random.permutation(64)[:24].tolist())
        done = {tasks[k]: every[tasks[k]] for k in chosen}
        left = [one for one in tasks if one not in done]
        low, high = time_left(done, left)
        hits += low <= sum(every[one].seconds for one in left) <= high
    assert hits >= 34


def test_time_in_words():
    assert time_left_text((0.0, 0.4)) == "0 to 1 s left"
    assert time_left_text((100.0, 110.0)) == "100 to 110 s left"
    assert time_left_text((3000.0, 8000.0)) == "0 to 3 h left"
