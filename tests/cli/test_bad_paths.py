"""Paths and files that are not what a command needs: one line, an exit code, no traceback."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

STRANGE = os.fsdecode(b"caf\xe9 \x1b[31m")  # a name that is not UTF-8 and steers a terminal
_PCA = ("--index", "id", "-m", "pca")
TABLE = "id,a,b\n" + "\n".join(f"r{i},{i % 5},{i * i % 7}" for i in range(12)) + "\n"


@pytest.fixture
def here(tmp_path, monkeypatch, run) -> Path:
    """A folder with a table, its map, its model, and what leads nowhere."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE, encoding="utf-8")
    done = run("embed", "t.csv", "-m", "pca", "--index", "id", "-o", "map.csv", "--save", "t.isentropic")
    assert done.exit_code == 0
    for name in ("loop.csv", "loop.html", "loop.isentropic", "loop.png"):
        Path(name).symlink_to(name)
    Path("folder.csv").mkdir()
    Path("empty.csv").touch()
    Path("short.npy").write_bytes(b"\x93NUMPY\x01\x00")
    Path("none.npz").write_bytes(b"PK\x03\x04none")
    Path("axes.idx").write_bytes(b"\0\0\x08\xff" + b"\0\0\0\1" * 255)
    return tmp_path


SOURCES = [
    "a\0b.csv", "loop.csv", "folder.csv", "empty.csv", "short.npy", "none.npz", "axes.idx", "no/t.csv",
    "x" * 300 + ".csv", "~nobody-of-this-name/t.csv", f"{STRANGE}.csv", "t.xlsx",
]  # fmt: skip
COMMANDS = {
    "embed": lambda path: ("embed", path, "-m", "pca", "-o", "out.csv"),
    "transform": lambda path: ("transform", "t.isentropic", path, "-o", "out.csv"),
    "quality": lambda path: ("quality", path, "map.csv"),
    "report": lambda path: ("report", path, "-m", "pca", "-o", "out.html"),
    "model of transform": lambda path: ("transform", path, "t.csv", "-o", "out.csv"),
    "map of quality": lambda path: ("quality", "t.csv", path, "--index", "id"),
}


def assert_refused(result) -> None:
    """One line with a next step, or that and the usage where the option itself cannot be."""
    assert result.exit_code in (1, 2)
    *usage, line = result.stderr.splitlines()
    assert re.fullmatch(r"Error: [^\x00-\x1f]+", line)
    assert "bug" not in line
    line.encode()  # as every terminal takes it
    if usage:
        assert usage[0].startswith("Usage:")
    else:
        assert line.endswith((".", "?"))


@pytest.mark.parametrize("path", SOURCES, ids=ascii)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_that_is_no_table(here, run, command, path):
    assert_refused(run(*COMMANDS[command](path)))
    assert not Path("out.csv").exists()


OUTPUTS = {
    "embed": lambda name: ("embed", "t.csv", "-m", "pca", "-o", f"{name}.csv"),
    "save": lambda name: ("embed", "t.csv", "-m", "pca", "-o", "out.csv", "--save", f"{name}.isentropic"),
    "plot": lambda name: ("embed", "t.csv", "-m", "pca", "-o", "out.csv", "--plot", f"{name}.png"),
    "transform": lambda name: ("transform", "t.isentropic", "t.csv", "-o", f"{name}.csv"),
    "quality": lambda name: ("quality", "t.csv", "map.csv", "--index", "id", "--plot", f"{name}.png"),
    "report": lambda name: ("report", "t.csv", "--index", "id", "-m", "pca", "-o", f"{name}.html"),
    "folder": lambda name: (
        "report", "t.csv", "--index", "id", "-m", "pca", "-o", "out.html", "--folder", f"{name}.csv",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ["loop", "a\0b", "x" * 300, "loop.csv/x"], ids=ascii)
@pytest.mark.parametrize("command", OUTPUTS)
def test_a_path_that_cannot_be_written(here, run, command, name):
    assert_refused(run(*OUTPUTS[command](name)))


def test_the_room_is_asked_for_before_the_work(here, run, monkeypatch):
    left = shutil.disk_usage(here)._replace(free=100)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: left)
    for command in OUTPUTS.values():
        result = run(*command("new"))
        assert_refused(result)
        assert "0 KiB are left" in result.stderr


def test_a_name_that_is_not_utf8_goes_through_every_command(here, run):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    shutil.copy("t.csv", f"{STRANGE}.csv")
    calls = [
        (
            "embed",
            f"{STRANGE}.csv",
            *_PCA,
            "-o",
            f"{STRANGE}_.csv",
            "--save",
            f"{STRANGE}.isentropic",
            "--plot",
            f"{STRANGE}.svg",
        ),
        ("transform", f"{STRANGE}.isentropic", f"{STRANGE}.csv", "-o", f"{STRANGE}__.csv"),
        ("quality", f"{STRANGE}.csv", f"{STRANGE}_.csv", "--index", "id", "--plot", f"{STRANGE}_.svg"),
        (
            "report",
            f"{STRANGE}.csv",
            "--index",
            "id",
            "-m",
            "pca",
            "-o",
            f"{STRANGE}.html",
            "--folder",
            STRANGE,
        ),
    ]
    for call in calls:
        result = run(*call)
        assert result.exit_code == 0, result.stderr
        assert r"caf\xe9 \x1b[31m" in result.stdout
        assert "\x1b" not in result.stdout + result.stderr
    page = Path(f"{STRANGE}.html").read_text(encoding="utf-8")
    assert r"caf\xe9 \x1b[31m" in page
    found = json.loads(run(*calls[0], "--json").stdout)
    assert found["out"] == f"{STRANGE}_.csv"  # a program gets the very name
    assert found["table"] == r"caf\xe9 \x1b[31m"


def test_a_result_that_does_not_hold_is_said_in_one_line(here, run):
    pytest.importorskip("jinja2")
    call = ("report", "t.csv", "--index", "id", "-m", "pca", "-o", "r.html", "--folder", "runs")
    assert run(*call).exit_code == 0
    (path,) = Path("runs").iterdir()
    path.write_text(path.read_text(encoding="utf-8").replace("0.", "0.9", 1), encoding="utf-8")
    result = run(*call)
    assert result.exit_code == 0
    (line,) = [line for line in result.stderr.splitlines() if "computed again" in line]
    assert line.startswith(f"Warning: {path} is computed again")


CLOSED = """
    import codecs, sys
    from isentropic import datasets
    from isentropic._core.runtime import free_memory, memory_budget

    datasets.load("t.csv", index="id")  # imports what reading takes
    loaded = {name for name in sys.modules if name.startswith("encodings.")}
    assert "encodings.ascii" not in loaded, loaded

    class Closed:
        def find_spec(self, name, path=None, target=None):
            raise ModuleNotFoundError(name)

    sys.meta_path[:] = [Closed()]
    assert free_memory() is None or free_memory() > 0
    print(datasets.load("t.csv", index="id").X.shape)
"""


def test_reading_needs_no_codec_of_a_closed_standard_library(here):
    """As another user, whose rights end at the interpreter after it has started."""
    script = Path("closed.py")
    script.write_text(textwrap.dedent(CLOSED), encoding="utf-8")
    bare = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}
    done = subprocess.run([sys.executable, script], env=bare, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(12, 2)\n"


def test_names_of_columns_that_are_long_or_end_in_many_digits(here, run):
    names = ["row", "9" * 9_000, "x" + "1" * 5_000 + "a", "m0", "m1"]
    lines = [",".join(names), *(f"r{i},{i % 3}.5,{i},{i % 4},{i % 5}" for i in range(12))]
    Path("wide.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run("quality", "t.csv", "wide.csv", "--index", "id", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)
