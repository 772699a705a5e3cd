"""Worker processes: calls by name, ends of all kinds, and shares of the cores."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import worker_stub

from isentropic import config_context
from isentropic._core import workers
from isentropic._core.runtime import memory_share
from isentropic._core.workers import (
    Worker,
    WorkerEndedError,
    WorkerError,
    WorkerPool,
    map_in_workers,
    worker_pool,
)


@pytest.fixture
def worker():
    made = Worker()
    yield made
    made.stop()
    made.close()


def test_a_function_is_called_by_name_and_what_it_tells_is_heard(worker):
    on_message = []
    assert worker.call("worker_stub:square", 3, on_message=on_message.append) == 9
    assert on_message == [("squaring", 3)]
    pid, threads = worker.call("worker_stub:pid_and_environment")
    assert pid != os.getpid()
    assert threads == {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def test_what_goes_wrong_in_a_function_leaves_the_process_as_it_was(worker, tmp_path):
    with pytest.raises(WorkerError, match="KeyError: 'x'"):
        worker.call("worker_stub:failing", "x")
    with pytest.raises(WorkerError, match="no attribute 'absent'"):
        worker.call("worker_stub:absent")
    with pytest.raises(WorkerError, match="pickle"):
        worker.call("worker_stub:square", lambda: 3)
    assert worker.call("worker_stub:print_and_wait", tmp_path / "log", 0.0) == "answer"
    assert worker.call("worker_stub:square", 2) == 4


def test_another_process_takes_the_place_of_one_that_died_and_is_prepared_too(worker, tmp_path):
    log = tmp_path / "log"
    worker.prepare("worker_stub:print_and_wait", log, 0.0)
    assert worker.call("worker_stub:square", 2) == worker.call("worker_stub:square", -2) == 4
    assert len(worker_stub.pids(log)) == 1
    with pytest.raises(
        WorkerEndedError, match=r"Its process was ended by SIGKILL: it may have run out of memory\."
    ):
        worker.call("worker_stub:dying", 0)
    assert worker.call("worker_stub:square", 3) == 9
    assert len(set(worker_stub.pids(log))) == 2


def test_a_process_that_cannot_be_started_is_a_reason(worker, monkeypatch):
    monkeypatch.setattr(workers.sys, "executable", "/nowhere/python")
    with pytest.raises(WorkerError, match="was not started"):
        worker.call("worker_stub:square", 3)


def test_a_pool_gives_results_in_order_whatever_happens_to_a_worker():
    with worker_pool(2) as made:
        assert not made.is_running
        assert list(made.map("worker_stub:square", [(i,) for i in range(20)])) == [i * i for i in range(20)]
        assert made.is_running
        assert list(made.map("worker_stub:square", [])) == []
        with worker_pool(2) as inner:
            assert inner is made
        process = made.workers[0]._process
        assert process is not None
    assert process.poll() is not None
    with worker_pool(1) as none:
        assert none is None


def test_what_a_worker_cannot_do_is_done_here(monkeypatch):
    monkeypatch.setenv("ISENTROPIC_WORKER_TEST", "1")  # which the workers inherit
    with worker_pool(2) as made:
        made.load("worker_stub")
        monkeypatch.delenv("ISENTROPIC_WORKER_TEST")
        while not made.is_running:
            time.sleep(0.01)
        assert list(map_in_workers("worker_stub:unlike", lambda n: [(i,) for i in range(8)])) == list(
            range(8)
        )


def test_a_pool_shares_the_cores(monkeypatch):
    made = WorkerPool(8)
    assert (made.n_processes, made.n_threads, len(made.workers)) == (8, 1, 7)
    assert made.limit(4) == 4
    assert (made.n_threads, len(made.workers)) == (2, 3)


def test_processes_share_the_memory():
    with config_context(memory_limit=2**30, memory_in_all=True):
        assert memory_share(4) == {"memory_limit": 2**28, "memory_in_all": True}
    with config_context(memory_limit=None, memory_fraction=0.6):
        assert memory_share(2) == {"memory_fraction": 0.3}


SCRIPT = """
from isentropic._core.workers import worker_pool
with worker_pool(2) as made:
    list(made.map("worker_stub:print_and_wait", [({log!r}, 600.0)] * 4))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_whatever_ends_the_first(tmp_path, number):
    log = str(tmp_path / "log")
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(log=log)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until(lambda: len(set(worker_stub.pids(log))) == 2)
    process.send_signal(number)
    process.wait(timeout=60)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in worker_stub.pids(log)))


def until(holds, seconds=60.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
