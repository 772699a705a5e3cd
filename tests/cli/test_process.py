"""The command as a process: what it imports, pipes, terminals, Ctrl-C."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STUBS = Path(__file__).with_name("stubs.py")


def finished(*command, **options):
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


def test_the_help_needs_typer_and_nothing_else():
    done = finished("-c", "import sys, isentropic.cli; print(*sys.modules)")
    heavy = {"numpy", "pandas", "scipy", "sklearn", "numba", "rich", "matplotlib", "joblib"}
    assert heavy & set(done.stdout.split()) == set()


def test_the_module_is_the_command():
    done = finished("-m", "isentropic", "methods", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)[0]["name"] == "pca"


def test_in_a_pipe_there_is_no_bar_and_no_colour(tmp_path):
    command = (STUBS, "embed", "builtin:iris", "-m", "stub", "-p", "does=work", "-o", tmp_path / "map.csv")
    done = finished(*command)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 3


def test_debug_logs_what_is_done_and_how_long_it_took(tmp_path):
    command = ("embed", "builtin:iris", "-m", "stub", "-p", "does=work", "-o", tmp_path / "map.csv")
    done = finished(STUBS, "--debug", *command)
    assert done.returncode == 0
    assert re.search(r"^isentropic: second: 3 rows in \d\.\d{3} s$", done.stderr, re.MULTILINE)
    command = ("embed", "builtin:iris", "-m", "stub", "-p", "does=exceed", "-o", tmp_path / "map.csv")
    done = finished(STUBS, "--debug", *command)
    assert re.search(
        r"^isentropic: All distances: .* [EPT]iB of memory, the budget is ", done.stderr, re.MULTILINE
    )


def test_a_reader_that_leaves_early_causes_no_traceback():
    listing = subprocess.Popen(
        [sys.executable, "-m", "isentropic", "methods"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    listing.stdout.close()
    stderr = listing.stderr.read()
    listing.wait(timeout=60)
    listing.stderr.close()
    assert b"Traceback" not in stderr


def everything(descriptor):
    """All that a terminal shows until its last writer is gone."""
    shown = b""
    with open(descriptor, "rb", buffering=0) as file, contextlib.suppress(OSError):
        while data := file.read(4096):
            shown += data
    return shown


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_the_bars_name_the_stages_and_go_away(tmp_path):
    import pty

    terminal, its_end = pty.openpty()
    out = tmp_path / "map.csv"
    command = [sys.executable, STUBS, "embed", "builtin:iris", "-m", "stub", "-p", "does=work", "-o", out]
    process = subprocess.Popen(
        [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=its_end, stderr=its_end
    )
    os.close(its_end)
    shown = everything(terminal)
    assert process.wait(timeout=60) == 0
    assert b"first" in shown
    assert b"second" in shown
    assert shown.rindex(b"\x1b[2K") < shown.index(b"iris: 150 rows")


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("does", ["wait", "grind"])
def test_ctrl_c_during_a_long_fit(tmp_path, does):
    out = tmp_path / "map.csv"
    out.write_text("old", encoding="utf-8")
    command = [sys.executable, STUBS, "embed", "builtin:iris", "-m", "stub", "-p", f"does={does}", "-o", out]
    process = subprocess.Popen(
        [str(part) for part in command],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "STUBS_SAY": "1"},
    )
    try:
        assert process.stderr.readline() == "fitting\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert stderr == "Interrupted. No file is half-written.\n"
    assert out.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["map.csv"]
