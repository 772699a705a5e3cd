"""Settings, threads, blocks of rows, the memory budget."""

import sys
import threading
from itertools import accumulate
from types import SimpleNamespace

import numpy as np
import pytest
import threadpoolctl
from hypothesis import given
from hypothesis import strategies as st
from joblib import Parallel, cpu_count, delayed
from threadpoolctl import ThreadpoolController, threadpool_info

from assertions import assert_grammar
from isentropic._core import runtime as _runtime
from isentropic._core.errors import InvalidInputError, MemoryBudgetError
from isentropic._core.runtime import (
    Config,
    config_context,
    free_memory,
    generator,
    get_config,
    memory_budget,
    one_blas_thread,
    require_memory,
    row_blocks,
    set_config,
    used_memory,
    worker_threads,
)

# ---- settings ----------------------------------------------------------------------------------


def test_settings_nest_and_come_back():
    outside = get_config()
    with config_context(memory_limit=1000) as outer:
        assert get_config() is outer
        assert outer.memory_limit == 1000
        with config_context(memory_fraction=0.5) as inner:
            assert (inner.memory_limit, inner.memory_fraction) == (1000, 0.5)
            with config_context(memory_limit=None):
                assert get_config().memory_limit is None
            assert get_config() is inner
        assert get_config() is outer
    assert get_config() == outside
    assert outside == Config()


def test_settings_come_back_after_an_error():
    with pytest.raises(KeyError), config_context(memory_limit=5):
        raise KeyError
    assert get_config() == Config()


@pytest.mark.parametrize(
    ("changes", "name", "got"),
    [
        ({"memory": 5}, "setting", "memory"),
        ({"memory_fraction": 0}, "memory_fraction", 0),
        ({"memory_fraction": 1.01}, "memory_fraction", 1.01),
        ({"memory_fraction": float("nan")}, "memory_fraction", float("nan")),
        ({"memory_limit": 0}, "memory_limit", 0),
        ({"memory_limit": -1}, "memory_limit", -1),
    ],
)
def test_settings_out_of_range_are_refused_and_change_nothing(changes, name, got):
    with pytest.raises(InvalidInputError) as caught, config_context(**changes):
        pytest.fail("a wrong setting was taken")
    assert_grammar(caught.value, name, got)
    assert get_config() == Config()


def test_the_whole_memory_is_a_share():
    with config_context(memory_fraction=1) as config:
        assert config.memory_fraction == 1


def test_settings_of_one_thread_are_not_those_of_another():
    seen = []
    with config_context(memory_limit=77):
        thread = threading.Thread(target=lambda: seen.append(get_config().memory_limit))
        thread.start()
        thread.join()
    assert seen == [None]


# ---- threads -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_jobs", "threads"),
    [(None, 8), (1, 1), (3, 3), (8, 8), (9, 8), (1000, 8), (-1, 8), (-2, 7), (-8, 1), (-9, 1), (-1000, 1)],
)
def test_n_jobs_counts_as_in_joblib(monkeypatch, n_jobs, threads):
    monkeypatch.setattr(_runtime, "_usable_cores", lambda: 8)
    assert worker_threads(n_jobs) == threads


def test_one_thread_does_not_ask_how_many_cores_there_are(monkeypatch):
    monkeypatch.setattr(_runtime, "_usable_cores", lambda: pytest.fail("asked the system"))
    assert worker_threads(1) == 1


def blas_threads():
    return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]


def test_blas_is_on_one_thread_within_and_as_before_after():
    before = blas_threads()
    for _ in range(2):  # found anew, and remembered
        with one_blas_thread():
            assert blas_threads() == [1] * len(before)
        assert blas_threads() == before


def test_libraries_are_looked_for_again_only_after_an_import(monkeypatch):
    searches = []
    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", spy(searches, ThreadpoolController))
    _runtime._loaded_libraries.cache_clear()
    for _ in range(3):
        with one_blas_thread():
            pass
    assert len(searches) == 1
    monkeypatch.setitem(sys.modules, "a_module_that_is_new", SimpleNamespace())
    with one_blas_thread():
        pass
    assert len(searches) == 2


def spy(calls, function):
    def called():
        calls.append(1)
        return function()

    return called


def test_none_is_all_cores_here():
    assert worker_threads(None) == worker_threads(-1) == cpu_count()


@pytest.mark.parametrize("n_jobs", [0, 1.0, "2", True, False])
def test_n_jobs_is_a_non_zero_integer(n_jobs):
    with pytest.raises(InvalidInputError) as caught:
        worker_threads(n_jobs)
    assert_grammar(caught.value, "n_jobs", n_jobs)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_inside_a_parallel_worker_none_is_one(backend):
    counts = Parallel(n_jobs=2, backend=backend)(delayed(worker_threads)(n) for n in (None, None, 2))
    assert counts == [1, 1, min(2, cpu_count())]


# ---- blocks ------------------------------------------------------------------------------------


@given(n_rows=st.integers(0, 500), size=st.integers(1, 600), adapt=st.booleans(), seconds=st.floats(0, 10))
def test_blocks_cover_every_row_once(n_rows, size, adapt, seconds):
    covered = []
    for block in row_blocks(n_rows, "rows", size=size, adapt=adapt, seconds=seconds):
        assert block.stop > block.start
        covered.extend(range(block.start, block.stop))
    assert covered == list(range(n_rows))


@given(n_rows=st.integers(1, 500), size=st.integers(1, 60))
def test_blocks_that_do_not_adapt_have_one_size(n_rows, size):
    lengths = [block.stop - block.start for block in row_blocks(n_rows, "rows", size=size)]
    assert lengths[:-1] == [size] * (len(lengths) - 1)
    assert 1 <= lengths[-1] <= size


@given(elapsed=st.lists(st.floats(0, 100), min_size=200, max_size=200), size=st.integers(1, 9))
def test_blocks_that_adapt_are_multiples_of_the_size(elapsed, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_runtime, "time", _clock(elapsed))
        lengths = [block.stop - block.start for block in row_blocks(200, "rows", size=size, adapt=True)]
    for before, length in zip([size, *lengths], lengths[:-1], strict=False):
        assert length % size == 0
        assert length >= size
        assert length <= 4 * before


def _clock(elapsed):
    """Takes the place of the module time: blocks take so long."""
    ends = list(accumulate(elapsed))
    times = iter([0.0, *(t for end in ends for t in (end, end))])  # a block begins where the last one ended
    return SimpleNamespace(perf_counter=lambda: next(times))


@pytest.mark.parametrize(("seconds", "grows"), [(0.001, True), (10.0, False)])
def test_quick_blocks_grow_and_slow_ones_shrink(monkeypatch, seconds, grows):
    monkeypatch.setattr(_runtime, "time", _clock([0.001] * 3 + [seconds] * 2000))
    lengths = [block.stop - block.start for block in row_blocks(3000, "rows", size=2, adapt=True)]
    assert lengths[:4] == [2, 8, 32, 128]
    assert (lengths[5] > 128) == grows
    assert (lengths[5] < 128) == (not grows)


def test_blocks_report_progress():
    events = []
    with config_context(progress=lambda what, done, total: events.append((what, done, total))):
        events.extend(block.start for block in row_blocks(7, "neighbours", size=3))
    expected = [
        ("neighbours", 0, 7),
        0,
        ("neighbours", 3, 7),
        3,
        ("neighbours", 6, 7),
        6,
        ("neighbours", 7, 7),
    ]
    assert events == expected


def test_no_rows_report_once():
    reports = []
    with config_context(progress=lambda *report: reports.append(report)):
        assert list(row_blocks(0, "rows", size=3)) == []
    assert reports == [("rows", 0, 0)]


def test_an_interrupt_gets_out_between_two_blocks():
    done = []

    def interrupt(what, so_far, total):
        if so_far >= 4:
            raise KeyboardInterrupt

    with config_context(progress=interrupt), pytest.raises(KeyboardInterrupt):
        done.extend(block.start for block in row_blocks(10, "rows", size=2))
    assert done == [0, 2]


# ---- memory ------------------------------------------------------------------------------------


def test_what_fits_is_not_refused():
    with config_context(memory_limit=1000):
        require_memory(1000, "Nothing much", "Take less.")


def test_a_refusal_has_the_numbers_and_the_next_step():
    with config_context(memory_limit=3 * 2**30), pytest.raises(MemoryBudgetError) as caught:
        require_memory(5 * 2**40, "All distances of 800,000 rows", "Take a sample.")
    assert str(caught.value) == (
        "All distances of 800,000 rows needs 5 TiB of memory, the budget is 3 GiB. Take a sample. "
        "Or raise the budget: isentropic.config_context(memory_limit=...)."
    )


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (2**20, "1 MiB"),
        (2**30 + 2**29, "1.5 GiB"),
        (3000 * 2**40, "3000 TiB"),
    ],
)
def test_bytes_are_readable(n_bytes, text):
    assert _runtime._readable(n_bytes) == text


def test_a_limit_in_all_counts_what_the_process_holds(monkeypatch):
    monkeypatch.setattr("isentropic._core.runtime.used_memory", lambda: 300 * 2**20)
    with config_context(memory_limit=2**30):
        assert memory_budget() == 2**30
        with config_context(memory_in_all=True):
            assert memory_budget() == (1024 - 300 - 64) * 2**20
            with pytest.raises(MemoryBudgetError, match="needs 700 MiB of memory, the budget is 660 MiB"):
                require_memory(700 * 2**20, "All distances", "Take a sample.")
    with config_context(memory_limit=2**20, memory_in_all=True):
        assert memory_budget() == 0


def test_what_a_process_holds_grows_with_what_it_holds():
    before = used_memory()
    held = np.ones(2**23)
    assert used_memory() - before >= 0.9 * held.nbytes or before == 0


def test_the_budget_is_a_share_of_the_free_memory(monkeypatch):
    monkeypatch.setattr(_runtime, "free_memory", lambda: 1000)
    assert memory_budget() == 700
    with config_context(memory_fraction=0.25):
        assert memory_budget() == 250
    with config_context(memory_limit=123):
        assert memory_budget() == 123


def test_an_unknown_budget_refuses_nothing(monkeypatch):
    monkeypatch.setattr(_runtime, "free_memory", lambda: None)
    assert memory_budget() is None
    require_memory(2**80, "Everything", "Take less.")


@pytest.mark.parametrize(
    ("system", "container", "free"),
    [(9, 5, 5), (5, 9, 5), (9, None, 9), (None, 5, 5), (None, None, None), (9, 0, 0)],
)
def test_the_tighter_limit_counts(monkeypatch, system, container, free):
    monkeypatch.setattr(_runtime, "_system_free", lambda: system)
    monkeypatch.setattr(_runtime, "_container_free", lambda: container)
    assert free_memory() == free


def test_free_memory_of_this_machine_is_plausible():
    free = free_memory()
    assert free is None or 2**20 < free < 2**60


# ---- what the system says ----------------------------------------------------------------------


@pytest.fixture
def system_files(tmp_path, monkeypatch):
    """Files that take the place of those of the system: what is not written does not exist."""
    monkeypatch.setattr(_runtime, "Path", lambda path: tmp_path / str(path).lstrip("/"))

    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="ascii")

    return write


def test_available_memory_is_read_in_kibibytes(system_files):
    system_files("proc/meminfo", "MemTotal:       2000 kB\nMemFree:   1 kB\nMemAvailable:   1500 kB\n")
    assert _runtime._system_free() == 1500 * 1024
    system_files("proc/meminfo", "MemTotal:       2000 kB\n")
    assert _runtime._system_free() is None


def test_without_such_a_file_the_pages_count(system_files, monkeypatch):
    monkeypatch.setattr(_runtime.os, "sysconf_names", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 2}, raising=False)
    monkeypatch.setattr(
        _runtime.os, "sysconf", {"SC_PHYS_PAGES": 10, "SC_PAGE_SIZE": 4096}.get, raising=False
    )
    assert _runtime._system_free() == 40960
    monkeypatch.setattr(_runtime.os, "sysconf_names", {})
    assert _runtime._system_free() is None


def test_the_limit_of_a_container(system_files):
    assert _runtime._container_free() is None
    system_files("sys/fs/cgroup/memory.max", "max\n")
    system_files("sys/fs/cgroup/memory.current", "300\n")
    assert _runtime._container_free() is None
    system_files("sys/fs/cgroup/memory.max", "1000\n")
    assert _runtime._container_free() == 700
    system_files("sys/fs/cgroup/memory.current", "1300\n")
    assert _runtime._container_free() == 0


def test_settings_of_the_process_reach_every_thread(monkeypatch):
    monkeypatch.setattr(_runtime, "_of_process", None)
    seen = []

    def look():
        seen.append(get_config().memory_limit)

    def in_a_thread():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return seen[-1]

    with config_context(memory_limit=5):
        assert in_a_thread() is None  # a context is of its own thread
    set_config(memory_limit=2e9)
    assert in_a_thread() == 2_000_000_000
    assert get_config().memory_limit == 2_000_000_000
    with config_context(memory_limit=7):
        assert get_config().memory_limit == 7


def test_the_environment_sets_the_memory(monkeypatch):
    monkeypatch.setattr(_runtime, "_of_process", None)
    monkeypatch.setenv("ISENTROPIC_MEMORY", "1.5")
    assert get_config().memory_limit == 3 * 2**29
    monkeypatch.setenv("ISENTROPIC_MEMORY", "much")
    with pytest.raises(InvalidInputError, match="ISENTROPIC_MEMORY must be a positive number of GiB"):
        get_config()


@pytest.mark.parametrize("limit", [0, -5, 0.5, True, "2", float("nan"), float("inf")])
def test_what_is_no_size_of_memory(limit):
    with pytest.raises(InvalidInputError, match="memory_limit must be a positive number of bytes or None"):
        set_config(memory_limit=limit)


# ---- chance ------------------------------------------------------------------------------------


def test_no_seed_is_a_fixed_one_and_a_generator_goes_on():
    assert generator(None).randint(2**31) == generator(0).randint(2**31) != generator(1).randint(2**31)
    given = generator(3)
    assert generator(given) is given
