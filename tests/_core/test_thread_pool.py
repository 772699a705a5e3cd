"""Threads share the rows of a kernel: each row once, whoever is busy, and errors reach the caller."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic._core import thread_pool
from isentropic._core.thread_pool import block_size, run_rows, share, threads
from isentropic.kernels import _jit
from isentropic.kernels._jit import parallel_kernel, rows
from processes import run

WAIT = 30  # seconds after which a test that hangs fails


def counting(taken, n, size, counts):
    """What a compiled loop does, in Python; a lock takes the place of the atomic addition."""
    while True:
        with LOCK:
            block, taken[0] = taken[0], taken[0] + 1
        if block * size >= n:
            return
        counts[block * size : min((block + 1) * size, n)] += 1


LOCK = threading.Lock()


@parallel_kernel
def halved(values, out):
    n = len(values)
    shift = values[0]
    for i in rows(n):
        out[i] += (values[i] - shift) / 2


@parallel_kernel
def twice(values):
    """Two loops, with Python between them."""
    n = len(values)
    first, second = np.zeros(n), np.zeros(n)
    for i in rows(n):
        first[i] = 2 * values[i]
    total = first.sum()
    for j in rows(n):
        second[j] = first[j] - total
    return second


def nested(out):
    if len(out) > 1:
        for i in rows(len(out)):
            out[i] = i


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 1000, 70_000])
def test_every_row_is_taken_once(n, n_jobs, monkeypatch):
    monkeypatch.setattr(thread_pool, "_count", lambda: n_jobs)
    counts, values = np.zeros(n, int), np.arange(n, dtype=float)
    run_rows(counting, n, counts)
    assert (counts == 1).all()
    if n:
        out = np.ones(n)
        halved(values, out)
        assert_array_equal(out, 1 + values / 2)


def test_blocks_depend_on_the_number_of_rows_alone():
    sizes = [block_size(n) for n in (0, 1, 64, 65, 6400, 10**9)]
    assert sizes == [1, 1, 1, 2, 100, 256]


def test_what_stands_between_two_loops_is_done():
    values = np.arange(5.0)
    assert_array_equal(twice(values), 2 * values - 20)


def test_a_loop_that_would_not_be_compiled_is_refused():
    if _jit.numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled with the JIT off")
    with pytest.raises(SyntaxError, match="inside another statement of nested"):
        parallel_kernel(nested)(np.zeros(3))


def test_a_kernel_waits_for_no_thread_that_has_not_begun(monkeypatch):
    """Both threads of the pool are busy elsewhere, as beside another program; the caller does all of it."""
    monkeypatch.setattr(thread_pool, "_pool", thread_pool._Pool())
    monkeypatch.setattr(thread_pool, "_count", lambda: 3)
    busy, free = threading.Semaphore(0), threading.Event()

    def blocked(taken, n, size):
        busy.release()
        assert free.wait(WAIT)

    caller = threading.Thread(target=run_rows, args=(blocked, 3))
    caller.start()
    assert all(busy.acquire(timeout=WAIT) for _ in range(3))  # the caller and two threads of the pool
    counts = np.zeros(100, int)
    run_rows(counting, 100, counts)
    assert (counts == 1).all()
    free.set()
    caller.join(WAIT)
    assert not caller.is_alive()


@pytest.mark.parametrize("here", [False, True])
def test_an_error_of_any_thread_reaches_the_caller_and_the_pool_goes_on(here, monkeypatch):
    monkeypatch.setattr(thread_pool, "_count", lambda: 2)
    caller, began = threading.current_thread(), threading.Barrier(2, timeout=WAIT)

    def failing(taken, n, size):
        began.wait()
        if (threading.current_thread() is caller) == here:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_rows(failing, 2)
    counts = np.zeros(10, int)
    run_rows(counting, 10, counts)
    assert (counts == 1).all()


def test_threads_are_those_of_the_innermost_context():
    before = thread_pool._count()
    with threads(1) as outer:
        with threads(None) as inner:
            assert thread_pool._count() == inner == before
        assert thread_pool._count() == outer == 1
    assert thread_pool._count() == before


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_shared_work_is_done_once_and_its_kernels_stay_on_their_thread(n_jobs, monkeypatch):
    done, inside = [], set()

    def work(i):
        inside.add(thread_pool._count())
        counts = np.zeros(70, int)
        run_rows(counting, 70, counts)
        done.append((i, counts.sum()))

    monkeypatch.setattr(thread_pool._local, "count", n_jobs, raising=False)
    share(work, 9)
    assert sorted(done) == [(i, 70) for i in range(9)]
    assert inside == {1}
    assert thread_pool._count() == n_jobs


def test_an_error_of_shared_work_reaches_the_caller():
    with pytest.raises(ZeroDivisionError), threads(2):
        share(lambda i: 1 // (i - 3), 5)


def test_a_process_uses_no_more_threads_than_it_may():
    script = """
from isentropic._core.thread_pool import threads
with threads(2) as count:
    print(count)
"""
    assert run(script, NUMBA_NUM_THREADS="1").stdout.split() == ["1"]
