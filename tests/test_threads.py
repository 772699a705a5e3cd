"""Several threads, forks, Ctrl-C: each in a process of its own, since failure may be an abort."""

import os
import signal
import subprocess
import sys

import pytest

from processes import run

TWO_THREADS_FIT = """
import threading
import numpy as np
from isentropic import Isomap, Knn
X = np.random.default_rng(0).normal(size=(400, 3))
expected = Isomap(8).fit_transform(X)
results = []
def fit(**parameters):
    for _ in range(3):
        results.append((parameters, Isomap(8, **parameters).fit_transform(X)))
works = [threading.Thread(target=fit), threading.Thread(target=fit, kwargs={"n_jobs": 1}),
         threading.Thread(target=fit, kwargs=%s)]
[work.start() for work in works]
[work.join() for work in works]
assert len(results) == 9
assert all((Z == expected).all() for parameters, Z in results if not parameters or "n_jobs" in parameters)
"""


@pytest.mark.parametrize("parameters", ["{'n_landmarks': 50}", "{'neighbors': Knn(8, approximate=True)}"])
def test_threads_that_fit_at_the_same_time_get_the_right_map(parameters):
    done = run(TWO_THREADS_FIT % parameters)
    assert done.returncode == 0, done.stderr


FORKED_FITS = """
import multiprocessing
import os
import threading
import numpy as np
from isentropic import Isomap, Knn
X = np.random.default_rng(0).normal(size=(400, 3))
processes = multiprocessing.get_context("fork")
def maps(deeper):
    yield Isomap(8).fit_transform(X)
    yield Isomap(8, n_jobs=2).fit_transform(X)
    threads = [threading.Thread(target=lambda: found.append(Isomap(8).fit_transform(X))) for _ in range(2)]
    found = []
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    yield from found
    if deeper:
        yield from forked(deeper - 1)
def forked(deeper):
    here, there = processes.Pipe(duplex=False)
    child = processes.Process(target=lambda: there.send(list(maps(deeper))))
    child.start()
    there.close()
    found = here.recv()
    child.join()
    assert child.exitcode == 0, child.exitcode
    return found
%s
expected = Isomap(8).fit_transform(X)
found = forked(1)
assert len(found) == 8 and all((Z == expected).all() for Z in found)
assert (Isomap(8).fit_transform(X) == expected).all()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork() on this system")
def test_a_forked_child_gets_the_map_of_its_parent():
    done = run(FORKED_FITS % "")
    assert done.returncode == 0, done.stderr


LOCK_IS_HELD = """
from isentropic._core import thread_pool
held, done = threading.Event(), threading.Event()
def hold():
    with thread_pool._pool._lock:
        held.set()
        done.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
assert all((Z == forked(0)[0]).all() for Z in forked(0))
done.set()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork() on this system")
def test_a_thread_that_stays_with_the_parent_holds_up_no_child():
    done = run(FORKED_FITS % LOCK_IS_HELD)
    assert done.returncode == 0, done.stderr


LONG_FIT = """
import sys
import numpy as np
from isentropic import Isomap, config_context
X = np.random.default_rng(0).normal(size=(9000, 3))
def progress(what, done, total):
    print(what, done, total, flush=True)
with config_context(progress=progress):
    Isomap(10).fit(X)
print("finished", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process on Windows")
def test_ctrl_c_ends_a_long_fit_between_two_blocks():
    with subprocess.Popen(
        [sys.executable, "-c", LONG_FIT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            if line.startswith("shortest paths") and not line.startswith("shortest paths 0"):
                process.send_signal(signal.SIGINT)
                break
        rest, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert "finished" not in rest
    assert rest.count("shortest paths") <= 4  # what was under way when the signal came, not the other thirty


def test_inside_a_parallel_worker_one_thread_is_used():
    from joblib import Parallel, delayed

    from isentropic._core.runtime import worker_threads

    for backend in ("threading", "loky"):
        assert Parallel(2, backend=backend)(delayed(worker_threads)(None) for _ in range(2)) == [1, 1]
