"""Finished work is kept and found again: by its words, data and code, whoever was killed meanwhile."""

import multiprocessing
import os
import random
import signal
import time
from dataclasses import replace

import pytest
from work_stub import begun, task

from isentropic._core import cache
from isentropic._core.errors import FileFormatError, StoredRunWarning
from isentropic.experiments import store as stores
from isentropic.experiments.runner import run
from isentropic.experiments.store import OutcomeStore, key_of
from isentropic.experiments.tasks import Outcome

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


@pytest.fixture
def store(tmp_path):
    return OutcomeStore.at(tmp_path / "results")


def test_what_was_written_is_read(store):
    done = Outcome({"accuracy": 0.1 + 0.2}, 1.5)
    assert store.read(task(1)) is None
    store.write(task(1), done)
    assert store.read(task(1)) == done
    assert store.read(task(2)) is None
    assert store.read(replace(task(1), protocol="permuted")) is None


def test_the_key_knows_words_data_and_code(tmp_path, monkeypatch):
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,2\n")
    one = replace(task(1), data=(str(table),))
    keys = {key_of(task(1)), key_of(task(2)), key_of(one), key_of(replace(one, data=("elsewhere.csv",)))}
    table.write_text("a,b\n1,3\n")
    keys.add(key_of(one))
    assert len(keys) == 5
    assert key_of(one) == key_of(replace(one))
    stores.work_mark.cache_clear()
    monkeypatch.setattr(stores, "code_fingerprint", lambda *without: "another code")
    assert key_of(one) not in keys
    stores.work_mark.cache_clear()


def test_code_of_the_work_counts_and_that_of_other_sources_does_not(monkeypatch):
    files = {path.name for path in stores._modules("isentropic.experiments.runner")}
    assert {"runner.py", "store.py", "tasks.py"} <= files
    assert "studies.py" not in files
    assert {path.name for path in stores._modules("work_stub")} == {"work_stub.py", "tasks.py"}


def test_code_of_a_package_counts_as_far_as_the_work_imports_it(tmp_path, monkeypatch):
    texts = {
        "__init__": "", "work": "from . import near\nfrom .inner.deep import f\nimport json, study.whole",
        "near": "from isentropic.experiments import tasks\nfrom isentropic.tables import load",
        "whole": "", "other": "", "inner/__init__": "", "inner/deep": "from ..up import x", "up": "",
        "inner/aside": "",
    }  # fmt: skip
    (tmp_path / "study" / "inner").mkdir(parents=True)
    for name, text in texts.items():
        (tmp_path / "study" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    own = {path for path in stores._modules("study.work") if tmp_path in path.parents}
    names = ("__init__", "work", "near", "whole", "inner/deep", "up")
    assert own == {tmp_path / "study" / f"{name}.py" for name in names}
    engine = {path.name for path in stores._modules("study.work") - own}
    assert engine == {"__init__.py", "tasks.py"}


def test_data_by_name_are_read_from_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ISENTROPIC_DATA", "")
    assert stores.source_mark("builtin:iris") == stores.source_mark("glass") == "no file"
    (tmp_path / "glass.csv").write_text("a,target\n1,2\n")
    entry = '[{"name": "glass", "file": "glass.csv", "n_samples": 1, "n_features": 1, "n_classes": 1}]'
    (tmp_path / "manifest.json").write_text(entry)
    monkeypatch.setenv("ISENTROPIC_DATA", str(tmp_path))
    assert stores.source_mark("glass") != "no file"


def test_a_file_changed_by_hand_is_no_result(store):
    store.write(task(1), Outcome({"accuracy": 0.5}, 1.0))
    (path,) = store.folder.glob("*.json")
    path.write_text(path.read_text().replace("0.5", "0.9"))
    with pytest.warns(StoredRunWarning, match="checksum"):
        assert store.read(task(1)) is None


@pytest.mark.parametrize("number", ["1" + "0" * 400, "[" * 100_000, "NaN", "1e999"])
def test_numbers_that_are_none_are_no_result_though_the_checksum_is_theirs(store, number):
    store.write(task(1), Outcome({"accuracy": 0.5}, 1.0))
    (path,) = store.folder.glob("*.json")
    text = path.read_text().rpartition(f', "{cache.CHECKSUM_FIELD}"')[0] + "}"
    path.write_text(cache._with_checksum(text.replace("0.5", number), key_of(task(1))))
    with pytest.warns(StoredRunWarning, match="computed again"):
        assert store.read(task(1)) is None


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileFormatError, match="cannot be a folder"):
        OutcomeStore.at(tmp_path / "file")


# ---- claims ------------------------------------------------------------------------------------


def test_a_claim_is_ones_own_and_leaves_nothing(store):
    with store.claimed(task(1)) as ours, store.claimed(task(1)) as again, store.claimed(task(2)) as other:
        assert (ours, again, other) == (True, False, True)
    with store.claimed(task(1)) as ours:
        assert ours
    assert list(store.folder.iterdir()) == []


def forked(target, *arguments):
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments)
    process.start()
    return process


def hold(store, ready):
    with store.claimed(task(1)) as ours:
        ready.put(ours)
        time.sleep(60)


def test_a_dead_process_keeps_no_claim(store):
    ready = multiprocessing.get_context("fork").SimpleQueue()
    process = forked(hold, store, ready)
    assert ready.get()
    with store.claimed(task(1)) as ours:
        assert not ours
    assert len([*OutcomeStore.at(store.folder).folder.glob(".*.claim")]) == 1  # it lives, and is left alone
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with store.claimed(task(1)) as ours:
        assert ours
    (store.folder / ".of-one-that-died-0123456789abcdef0123.claim").touch()
    assert [*OutcomeStore.at(store.folder).folder.iterdir()] == []


def test_a_name_that_was_removed_in_between_is_no_lock(store, monkeypatch):
    """Who opened the file just before its owner removed it must not believe that it has the task."""
    removed = []
    lock = stores._lock

    def removing(file):
        if not removed:
            removed.extend(store.folder.glob(".*.claim"))
            removed[0].unlink()
        return lock(file)

    monkeypatch.setattr(stores, "_lock", removing)
    with store.claimed(task(1)) as ours:
        assert ours
        assert list(store.folder.glob(".*.claim")) == removed  # made anew, and locked
        monkeypatch.setattr(stores, "_lock", lock)
        with store.claimed(task(1)) as again:
            assert not again


# ---- kill -9 -----------------------------------------------------------------------------------


def kept(store, tasks):
    return {one.arguments["i"] for one in tasks if store.read(one) is not None}


def test_killed_twenty_times_nothing_finished_is_lost_or_begun_again(store, tmp_path):
    """Two processes share the work, and both are killed in the middle of it, twenty times."""
    log, draws, n = tmp_path / "log", random.Random(0), 200
    tasks = [task(i, log=str(log), seconds=0.01) for i in range(n)]
    finished = set()
    for _ in range(20):
        before = len(begun(log))
        pair = [forked(run, tasks, store) for _ in range(2)]
        while len(begun(log)) < before + 3:  # by two processes: one is finished
            time.sleep(0.005)
        time.sleep(draws.uniform(0.0, 0.02))
        for process in pair:
            assert process.is_alive()
            process.kill()
            process.join()
        assert finished.isdisjoint(begun(log)[before:])
        now = kept(store, tasks)
        assert finished <= now
        finished = now
    assert 20 <= len(finished)
    before = len(begun(log))
    found = run(tasks, store)
    assert sorted(begun(log)[before:]) == sorted(set(range(n)) - finished)  # each of the others once
    assert [found[one].measures["third"] for one in tasks] == [i / 3 for i in range(n)]
    assert run(tasks, store) == found
    assert len(begun(log)) == before + n - len(finished)


def test_two_processes_share_the_work(store, tmp_path):
    log = tmp_path / "log"
    tasks = [task(i, log=str(log), seconds=0.02) for i in range(12)]
    pair = [forked(run, tasks, store) for _ in range(2)]
    for process in pair:
        process.join()
    assert sorted(begun(log)) == list(range(12))
    pids = {line.split()[2] for line in log.read_text().splitlines()}
    assert len(pids) == 2


def test_files_of_others_that_are_called_claims_stay(tmp_path):
    with_key = ".mine-0123456789abcdef0123.claim"
    (tmp_path / ".notes.claim").touch()
    (tmp_path / with_key).write_text("mine", encoding="utf-8")
    (tmp_path / f".a{with_key}").symlink_to("elsewhere")
    (tmp_path / f".b{with_key}").mkdir()
    before = sorted(tmp_path.iterdir())
    OutcomeStore.at(tmp_path)
    assert sorted(tmp_path.iterdir()) == before
