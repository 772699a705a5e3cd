"""Compiled kernels are kept where that is safe, and work where nothing can be kept."""

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path

import numba
import pytest

from isentropic._core import cache as _cache
from isentropic._core import thread_pool
from isentropic._core.cache import cache_folder, keep, read_cached
from isentropic._core.files import write_together
from isentropic.kernels import _jit
from processes import run

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no owners and modes of this kind")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kernels"


@pytest.fixture(autouse=True)
def said(monkeypatch):
    """What the one line says, each time."""
    lines = []
    monkeypatch.setattr(_cache, "_say_once", lines.append)
    return lines


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A home and a temporary folder of their own; ``find`` searches anew."""
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCALAPPDATA", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


find = cache_folder.__wrapped__


# ---- where -------------------------------------------------------------------------------------


def test_the_folder_that_was_named_comes_first(places):
    assert find(str(places / "named")) == places / "named" / "isentropic"


def test_then_that_of_the_user(places, monkeypatch, said):
    assert places / "home" in find().parents
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(places / "other"))
    assert find() == places / "other" / "isentropic" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # counts for nothing, by its standard
    assert find() == places / "home" / ".cache" / "isentropic" / "kernels"
    assert said == []


@posix
@pytest.mark.parametrize("home", ["missing", "file"])
def test_then_a_temporary_one_that_is_private(places, monkeypatch, home, said):
    (places / "file").touch()
    monkeypatch.setenv("HOME", str(places / home))
    found = find(str(places / "file"))
    assert found == places / "temporary" / f"isentropic-{os.geteuid()}"
    assert found.stat().st_mode & 0o777 == 0o700
    assert not (places / "missing").exists()  # no home is made up
    assert said == []


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o722])
def test_a_folder_that_others_write_to_is_not_used(places, monkeypatch, mode, said):
    monkeypatch.setenv("HOME", str(places / "missing"))
    (places / "temporary" / f"isentropic-{os.geteuid()}").mkdir()
    (places / "temporary" / f"isentropic-{os.geteuid()}").chmod(mode)
    assert find() is None
    assert len(said) == 1


@posix
def test_a_folder_of_another_user_is_not_used(places, monkeypatch, said):
    monkeypatch.setenv("HOME", str(places / "missing"))
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert find(str(places / "named")) is None  # what is made here belongs to me, not to that one
    assert len(said) == 1


@posix
def test_a_link_is_not_followed(places, monkeypatch, said):
    monkeypatch.setenv("HOME", str(places / "missing"))
    (places / "trap").mkdir(mode=0o700)
    (places / "temporary" / f"isentropic-{os.geteuid()}").symlink_to(places / "trap")
    assert find() is None
    assert len(said) == 1


def test_a_full_one_is_passed_over_unless_it_holds_something(places, monkeypatch):
    full = places / "full" / "isentropic"
    writable = _cache._is_writable
    monkeypatch.setattr(_cache, "_is_writable", lambda folder: folder != full and writable(folder))
    assert find(str(places / "full")) != full
    keep(full, "kernel", b"code")
    assert find(str(places / "full")) == full


# ---- what --------------------------------------------------------------------------------------


def test_what_is_kept_is_read_again(folder):
    assert read_cached(folder, "kernel") is None
    keep(folder, "kernel", b"code")
    assert read_cached(folder, "kernel") == b"code"
    keep(folder, "kernel", b"other code")
    assert read_cached(folder, "kernel") == b"other code"
    assert os.listdir(folder) == ["kernel"]


@pytest.mark.parametrize("damaged", [b"", b"short", b"\0" * 40, None])
def test_what_is_damaged_is_not_read(folder, damaged):
    keep(folder, "kernel", b"code" * 100)
    whole = (folder / "kernel").read_bytes()
    (folder / "kernel").write_bytes(whole[:-1] if damaged is None else damaged)
    assert read_cached(folder, "kernel") is None


def test_what_was_kept_under_another_name_is_not_read(folder):
    """It is sound in itself, and would be run with the arguments of another kernel."""
    keep(folder, "kernel", b"code")
    (folder / "kernel").rename(folder / "other")
    assert read_cached(folder, "other") is None
    (folder / "other").rename(folder / "kernel")
    assert read_cached(folder, "kernel") == b"code"


@posix
def test_a_file_that_others_could_write_is_not_read(folder, monkeypatch):
    keep(folder, "kernel", b"code")
    (folder / "kernel").chmod(0o620)
    assert read_cached(folder, "kernel") is None
    (folder / "kernel").chmod(0o600)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert read_cached(folder, "kernel") is None


@posix
def test_a_loose_mask_still_gives_files_of_our_own(folder):
    mask = os.umask(0)
    try:
        keep(folder, "kernel", b"code")
    finally:
        os.umask(mask)
    assert read_cached(folder, "kernel") == b"code"


def test_what_is_compiled_while_results_are_written_is_no_part_of_them(folder):
    with write_together():
        keep(folder, "kernel.cache", b"code")
        assert read_cached(folder, "kernel.cache") == b"code"


def test_writers_at_the_same_time_leave_a_whole_file(folder):
    contents = [bytes([number]) * 200_000 for number in range(4)]
    seen = []

    def write(content):
        for _ in range(10):
            keep(folder, "kernel", content)
            seen.append(read_cached(folder, "kernel"))

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert set(seen) <= set(contents)
    assert os.listdir(folder) == ["kernel"]


def test_what_cannot_be_kept_is_said_and_fails_nothing(tmp_path, said):
    (tmp_path / "file").touch()
    keep(tmp_path / "file" / "kernels", "kernel", b"code")
    assert len(said) == 1
    assert str(tmp_path) in said[0]


def test_what_nobody_uses_for_a_month_goes(folder):
    for name, days in [
        ("new.nbc", 0),
        ("used.nbc", 20),
        ("old.nbc", 31),
        ("read today.nbc", 31),
        ("notes", 31),
    ]:
        keep(folder, name, b"code")
        os.utime(folder / name, (then := time.time() - days * 86_400, then))
    assert read_cached(folder, "read today.nbc") == b"code"
    _cache._prune.cache_clear()
    keep(folder, "newest.nbc", b"code")
    # a folder that NUMBA_CACHE_DIR names may hold files of another kind
    assert sorted(os.listdir(folder)) == ["new.nbc", "newest.nbc", "notes", "read today.nbc", "used.nbc"]


# ---- kernels in a process that has no such place -----------------------------------------------

COUNTS = """
import resource, sys, tempfile
from pathlib import Path
import numpy as np
{before}
from isentropic.kernels.inversions import cell_counts
counts = np.zeros((2, 4), np.int32)
cell_counts(np.arange(8), 2, 1, np.array([0, 4, 8]), counts)
print(counts.sum())
"""
FULL_FROM_THE_START = "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
FULL_LATER = f"""
from isentropic._core.cache import cache_folder
assert cache_folder({{given!r}}) == Path({{given!r}}) / "isentropic"
{FULL_FROM_THE_START}
"""
NOWHERE = "tempfile.tempdir = '/proc/none'"


@posix
@pytest.mark.parametrize("before", [FULL_FROM_THE_START, FULL_LATER, NOWHERE])
def test_kernels_run_where_nothing_can_be_kept(tmp_path, before):
    given = str(tmp_path / "given") if before is FULL_LATER else ""
    script = COUNTS.format(before=before.format(given=given))
    done = run(script, NUMBA_CACHE_DIR=given, HOME="/proc/none", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["8"]
    assert done.stderr.count("\n") == 1
    assert "compiled in memory" in done.stderr
    assert not list(tmp_path.rglob("*.nbc"))


# ---- edited kernels ----------------------------------------------------------------------------

KERNEL = """
import numpy as np
from isentropic.kernels._jit import parallel_kernel, rows
from {dots}bridge import halved

@parallel_kernel
def fill(out):
    for i in rows(len(out)):
        out[i] = halved(i)
"""
BRIDGE = """
from isentropic.kernels._jit import kernel
from .helper import scaled

@kernel
def halved(x):
    return scaled(x) / 2
"""
HELPER = """
from isentropic.kernels._jit import kernel

@kernel
def scaled(x):
    return {factor} * x
"""
FILL = """
import numpy as np
from edited{inner} import main
out = np.empty(3)
main.fill(out)
print(out[2], sum(value.stats.cache_hits.total() for value in vars(main).values() if hasattr(value, "stats")))
"""


@pytest.mark.parametrize("inner", ["", ".inner"], ids=["beside", "above"])
def test_an_edited_helper_reaches_the_kernels_that_inline_it(inner, tmp_path):
    package = tmp_path / "edited"
    folder = package / inner.strip(".")
    folder.mkdir(parents=True)
    main = KERNEL.format(dots=".." if inner else ".")
    for path, text in [(package / "__init__", ""), (package / "bridge", BRIDGE),
                       (folder / "__init__", ""), (folder / "main", main)]:  # fmt: skip
        path.with_suffix(".py").write_text(text, encoding="ascii")

    def second(factor):
        (package / "helper.py").write_text(HELPER.format(factor=factor), encoding="ascii")
        done = run(FILL.format(inner=inner), NUMBA_CACHE_DIR=str(tmp_path), PYTHONPATH=_path(tmp_path),
                    PYTHONDONTWRITEBYTECODE="1")  # fmt: skip
        assert done.returncode == 0, done.stderr
        value, hits = done.stdout.split()
        return float(value), int(hits)

    assert second(3) == (3.0, 0)
    assert second(5) == (5.0, 0)
    assert second(3) == (3.0, 1)  # as it was before


CLAIM = """
import sys, time
from pathlib import Path
from isentropic._core import cache
cache._LONGEST_WAIT = float(sys.argv[2])
claimed = cache.claim(Path(sys.argv[1]), "a name")
print(claimed is not None, cache.claim(Path(sys.argv[1]), "another name") is not None, flush=True)
sys.stdin.readline()
cache.end_claim(Path(sys.argv[1]), claimed)
print("ended", flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(_cache.fcntl is None, reason="there are no locks")
@pytest.mark.parametrize("end", ["end_claim", "kill"])
def test_a_claim_lasts_until_it_or_its_process_ends(end, tmp_path, monkeypatch):
    command = [sys.executable, "-c", CLAIM, str(tmp_path), "60"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as other:
        assert other.stdout.readline().split() == ["True", "True"]
        monkeypatch.setattr(_cache, "_LONGEST_WAIT", 0.1)
        assert _cache.claim(tmp_path, "a name") is None
        free = _cache.claim(tmp_path, "a third name")
        assert free is not None
        _cache.end_claim(tmp_path, free)
        monkeypatch.setattr(_cache, "_LONGEST_WAIT", 60.0)
        if end == "kill":
            other.kill()
        else:
            other.stdin.write("\n")
            other.stdin.flush()
            assert other.stdout.readline() == "ended\n"
        claimed = _cache.claim(tmp_path, "a name")
        assert claimed is not None
        _cache.end_claim(tmp_path, claimed)
        other.kill()


def test_without_a_place_for_locks_nothing_is_claimed(tmp_path):
    assert _cache.claim(tmp_path / "missing", "a name") is None
    _cache.end_claim(tmp_path / "missing", None)
    _cache.end_claim(None, None)


COMPILED_TOGETHER = """
import sys, threading
import numpy as np
import main
out = np.empty(3)
sys.stdin.readline()
main.fill(out)
(loop,) = (value for name, value in vars(main).items() if name.startswith("_fill"))
print(out[2], loop.stats.cache_misses.total())
"""
SLOW_TO_COMPILE = """
from isentropic.kernels._jit import kernel, parallel_kernel, rows

@kernel
def scaled(x):
    return {terms}

@parallel_kernel
def fill(out):
    for i in rows(len(out)):
        out[i] = scaled(i)
"""


@pytest.mark.skipif(_cache.fcntl is None, reason="there are no locks")
def test_one_of_two_processes_compiles_a_kernel(tmp_path):
    terms = " + ".join(f"x**{power % 3}" for power in range(200))
    (tmp_path / "main.py").write_text(SLOW_TO_COMPILE.format(terms=terms), encoding="ascii")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": _path(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    command = [sys.executable, "-c", COMPILED_TOGETHER]
    both = [subprocess.Popen(command, **pipes) for _ in range(2)]
    results = [one.communicate("\n")[0].split() for one in _told_to_begin(both)]
    assert results[0][0] == results[1][0]
    assert sorted(misses for _, misses in results) == ["0", "1"]


def _told_to_begin(processes):
    for one in processes:
        one.stdin.write("\n")
        one.stdin.flush()
    return processes


def test_what_a_kernel_inlines_is_part_of_its_digest():
    folder = Path(_jit.__file__).parent
    used = 0
    for path in sorted(folder.rglob("[!_]*.py")):
        name = ".".join(["isentropic.kernels", *path.relative_to(folder).with_suffix("").parts])
        others = {getattr(value, "__module__", None) for value in vars(import_module(name)).values()}
        files = {
            Path(sys.modules[other].__file__) for other in others if str(other).startswith("isentropic.")
        }
        never_inlined = {Path(_jit.__file__), Path(thread_pool.__file__)}
        assert files <= _cache._imported_files(path) | {path} | never_inlined
        used += len(files)
    assert used > 70


def test_a_kernel_is_named_in_machine_code_as_in_any_other_folder():
    """Its last bits depend on that name; two modules of one name would take each other's functions."""
    modules = [path.stem for path in Path(_jit.__file__).parent.rglob("*.py") if path.stem != "__init__"]
    assert len(modules) == len(set(modules))

    def added(x):
        return x + 1

    symbols = {}
    for module in ("isentropic.kernels.some", "isentropic.kernels.deep.er.some", "isentropic.other.some"):
        added.__module__ = module
        compiled = numba.njit(added)
        assert compiled(1) == 2
        (found,) = compiled.overloads.values()
        symbols[module] = re.sub(r"B\d+v\d+", "", found.fndesc.mangled_name)  # the number of this compilation
    here, deeper, elsewhere = symbols.values()
    assert here == deeper
    assert "7kernels4some" in here
    assert "5other4some" in elsewhere


def _path(folder):
    return os.pathsep.join(
        [str(folder), str(Path(_cache.__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    )
